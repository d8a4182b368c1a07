"""The events of a Responses stream: their views, the kinds that add nothing, and the deltas of some of them.

Nearly every event is a piece of text or of a call, or one of the three that begin and end a function call. `COMMON`
reads those, and nothing else, into narrow views; refused events are read by the wide view, to the same deltas.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Union, final

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, reasons
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.openai.responses import items
from wholecall.types import CUT_REASONS, Kind

# Text of a call, in pieces and whole: (field of the whole text, kind).
DONE_EVENTS: Final[dict[str | None, tuple[str, Kind]]] = {
    "response.function_call_arguments.done": ("arguments", "function"),
    "response.custom_tool_call_input.done": ("input", "custom"),
    "response.mcp_call_arguments.done": ("arguments", "server"),
}
PIECES: Final[Pieces] = {
    '"response.function_call_arguments.delta"': "delta",
    '"response.custom_tool_call_input.delta"': "delta",
}
FRAGMENTS = (
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
)

# Families of events that add nothing: the finished item or the finished response restates them.
_QUIET_FAMILIES = (
    "output_text",
    "content_part",
    "refusal",
    "reasoning_summary_part",
    "reasoning_summary_text",
    "reasoning_text",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "code_interpreter_call_code",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "shell_call_command",
    "shell_call_output_content",
    "apply_patch_call_operation_diff",
    "audio",
)
_QUIET_PREFIXES = ("ping", "keepalive", "rate_limits.", "codex.")
QUIET = (*_QUIET_PREFIXES, *(f"response.{family}." for family in _QUIET_FAMILIES))


_Label = Union[str, None]
_Number = Union[int, None]


_Text = Annotated[str, msgspec.Meta(min_length=1)]


# The narrow views; their fields are in the order of the wire, which reads fastest. Members that hold objects and are
# not theirs must be absent. Pieces in a row have their `run` and their `item_id` in common.


class _Common(msgspec.Struct, gc=False, kw_only=True):
    sequence_number: _Number = None
    item: None = None
    response: None = None


@final
class TextPiece(_Common, gc=False, kw_only=True, tag="response.output_text.delta"):
    """A piece of text, in any item."""

    item_id: ClassVar[None] = None
    run: ClassVar[str] = "text"
    delta: _Text
    stream_id: None = None


class ThoughtPiece(_Common, gc=False, kw_only=True):
    """A piece of reasoning, or of its summary; an item's pieces are one text."""

    run: ClassVar[str] = "reasoning"
    item_id: _Number = msgspec.field(name="output_index", default=None)
    delta: _Text
    stream_id: None = None


class _SummaryPiece(ThoughtPiece, gc=False, tag="response.reasoning_summary_text.delta"):
    """A piece of a summary."""


class _ReasoningPiece(ThoughtPiece, gc=False, tag="response.reasoning_text.delta"):
    """A piece of open reasoning."""


class CallPiece(_Common, gc=False, kw_only=True):
    """A piece of a call; one that has the call's id, too, is read as any event is."""

    item_id: _Label = None
    run: _Number = msgspec.field(name="output_index", default=None)
    delta: _Text
    call_id: None = None
    stream_id: None = None


class _ArgumentsPiece(CallPiece, gc=False, tag=FRAGMENTS[0]):
    """A piece of a function's arguments."""


class _InputPiece(CallPiece, gc=False, tag=FRAGMENTS[1]):
    """A piece of a custom tool's input."""


class _ServerPiece(CallPiece, gc=False, tag=FRAGMENTS[2]):
    """A piece of the arguments of a server's tool."""


class ArgumentsDone(_Common, gc=False, kw_only=True, tag="response.function_call_arguments.done"):
    """The whole text of a function's arguments."""

    type: ClassVar[str] = "response.function_call_arguments.done"
    run: ClassVar[str] = "no piece"
    delta: ClassVar[None] = None
    item_id: _Label = None
    output_index: _Number = None
    call_id: _Label = None
    arguments: str
    name: Any = None
    stream_id: None = None


class _CallItem(_Common, gc=False, kw_only=True):
    run: ClassVar[str] = "no piece"
    delta: ClassVar[None] = None
    output_index: _Number = None
    item: items.FunctionCall  # type: ignore[assignment] # the others have none
    stream_id: None = None


class CallAdded(_CallItem, gc=False, tag="response.output_item.added"):
    """The item of a function call as it is added."""

    type: ClassVar[str] = "response.output_item.added"


class CallDone(_CallItem, gc=False, tag="response.output_item.done"):
    """The finished item of a function call."""

    type: ClassVar[str] = "response.output_item.done"


class Event(msgspec.Struct, gc=False):
    """The view of any event; its first fields are in the order of the most common event."""

    type: str | None = None
    sequence_number: Any = None
    item_id: Any = None
    output_index: Any = None
    delta: Any = None
    call_id: Any = None
    name: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT
    input: msgspec.Raw = decode.NO_TEXT
    item: items.Item | None = None
    response: items.Response | None = None
    error: Any = None
    object: Any = None
    stream_id: Any = None


class _FlatError(msgspec.Struct, gc=False):
    """An `error` event of the older form, without an `error` object."""

    code: Any = None
    message: Any = None
    param: Any = None


COMMON = msgspec.json.Decoder(
    Union[
        TextPiece,
        _SummaryPiece,
        _ReasoningPiece,
        _ArgumentsPiece,
        _InputPiece,
        _ServerPiece,
        ArgumentsDone,
        CallAdded,
        CallDone,
    ]
)
DECODER = msgspec.json.Decoder(Event)
BODY_DECODER = msgspec.json.Decoder(
    items.Response
)  # a whole, non-streamed body is a response at the top level
ERROR_DECODER = msgspec.json.Decoder(_FlatError)

_TROUBLE = frozenset({"incomplete", "failed", "cancelled"})


def outcome_of(event_type: str, status: object) -> str:
    """Read how a response ended: a failure in the event's name or in the status outranks success."""
    named = event_type.rpartition(".")[2]
    if named in _TROUBLE:
        return named
    return status if type(status) is str and status in _TROUBLE else "completed"


def finish_of(response: Any, outcome: str) -> deltas.Finish:
    """Report why a completed or incomplete response ended."""
    if outcome == "completed":
        return deltas.Finish(0, "stop", outcome)
    known = reasons.turn_reason((response.incomplete_details or items.Details()).reason)
    if known is None:
        return deltas.Finish(0, "length", outcome)
    reason, provider_reason = known
    # A response that calls itself incomplete was cut, for any word (quirk 76).
    return deltas.Finish(0, reason if reason in CUT_REASONS else "length", provider_reason)


def whole_text(event: Event | ArgumentsDone) -> list[deltas.Delta]:
    """Return the deltas of the done event of a call's text."""
    field, kind = DONE_EVENTS[event.type]
    raw, name = getattr(event, field), None if event.name is None else name_label(event.name)
    text = raw if type(raw) is str else decode.wire_text(raw)
    index, alias = index_label(event.output_index), id_label(event.item_id)
    id_ = None if event.call_id is None else id_label(event.call_id)
    if text:
        return [deltas.CallWhole(0, index, alias, id_, name, text, deltas.DONE, kind)]
    labels: list[deltas.Delta] = [deltas.CallSeen(0, index, alias, id_, name, kind)] if name else []
    return [*labels, deltas.CallClosed(0, index, id_ if alias is None else alias, of_text=True)]


def added(event: Event) -> list[deltas.Delta]:
    """Return the deltas of an item that is added."""
    item = event.item or items.Item()
    if items.is_call(item):
        return [items.call_delta(item, index_label(event.output_index), deltas.OBJECT, skeleton=True)]
    if item.type == "message":
        return [deltas.TextBegan(0)]
    return items.answered(item) if item.type in items.QUIET_ITEMS else [deltas.Noted(0, "unknown_events")]
