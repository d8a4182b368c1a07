"""The events of a Responses stream: the views of them, which say nothing new, and what some of them say.

Nearly every event is a piece of text or of a call. `PIECES` reads those, and nothing else, into a narrow view;
what it refuses is read by the wide one.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Union

import msgspec

from wholecall.deltas import DONE, OBJECT, CallSeen, CallWhole, Delta, Finish, Noted
from wholecall.dialects.decode import NO_TEXT, wire_text
from wholecall.dialects.labels import HIGHEST_INDEX, id_label, index_label, name_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.responses_items import QUIET_ITEMS, Details, Item, Response, call_delta, is_call
from wholecall.vocabulary import Kind

__all__ = [
    "BODY_DECODER",
    "DECODER",
    "DONE_EVENTS",
    "ERROR_DECODER",
    "FRAGMENTS",
    "PIECES",
    "QUIET",
    "Event",
    "Piece",
    "TextPiece",
    "added",
    "finish_of",
    "outcome_of",
    "whole_text",
]

# Text of a call, in pieces and whole: (field of the whole text, kind).
DONE_EVENTS: Final[dict[str | None, tuple[str, Kind]]] = {
    "response.function_call_arguments.done": ("arguments", "function"),
    "response.custom_tool_call_input.done": ("input", "custom"),
    "response.mcp_call_arguments.done": ("arguments", "server"),
}
FRAGMENTS = (
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
)

# Families of events that say nothing new: the finished item or the finished response restates them.
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


class Piece(msgspec.Struct, gc=False, kw_only=True):
    """A piece of text or of a call."""

    sequence_number: Union[int, None] = None
    item_id: Union[str, None] = None
    output_index: Union[Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_INDEX)], None] = None
    delta: Annotated[str, msgspec.Meta(min_length=1)]
    stream_id: Any = None

    def to_event(self) -> Event:
        """Return the piece as the wide view has it."""
        tag = str(type(self).__struct_config__.tag)
        return Event(
            tag, self.sequence_number, self.item_id, self.output_index, self.delta, stream_id=self.stream_id
        )


class TextPiece(Piece, gc=False, tag="response.output_text.delta"):
    """A piece of text."""


class _ArgumentsPiece(Piece, gc=False, tag=FRAGMENTS[0]):
    """A piece of a function's arguments."""


class _InputPiece(Piece, gc=False, tag=FRAGMENTS[1]):
    """A piece of a custom tool's input."""


class _ServerPiece(Piece, gc=False, tag=FRAGMENTS[2]):
    """A piece of the arguments of a server's tool."""


class Event(msgspec.Struct, gc=False):
    """The view of an event; the first fields stand in the order of the most common one, which reads fastest."""

    type: str | None = None
    sequence_number: Any = None
    item_id: Any = None
    output_index: Any = None
    delta: Any = None
    name: Any = None
    arguments: msgspec.Raw = NO_TEXT
    input: msgspec.Raw = NO_TEXT
    item: Item | None = None
    response: Response | None = None
    error: Any = None
    object: Any = None
    stream_id: Any = None


class _FlatError(msgspec.Struct, gc=False):
    """An `error` event of the older form, without an `error` object."""

    code: Any = None
    message: Any = None
    param: Any = None


PIECES = msgspec.json.Decoder(Union[TextPiece, _ArgumentsPiece, _InputPiece, _ServerPiece])
DECODER = msgspec.json.Decoder(Event)
BODY_DECODER = msgspec.json.Decoder(Response)  # a whole, non-streamed body is a response at the top level
ERROR_DECODER = msgspec.json.Decoder(_FlatError)

_TROUBLE = frozenset({"incomplete", "failed", "cancelled"})
_CUT = frozenset({"length", "content_filter"})


def outcome_of(event_type: str, status: object) -> str:
    """Read how a response ended: trouble in the event's name or in the status outranks success."""
    named = event_type.rpartition(".")[2]
    if named in _TROUBLE:
        return named
    return status if type(status) is str and status in _TROUBLE else "completed"


def finish_of(response: Response, outcome: str) -> Finish:
    """Say why a completed or incomplete response ended."""
    if outcome == "completed":
        return Finish(0, "stop", outcome)
    known = turn_reason((response.incomplete_details or Details()).reason)
    if known is None:
        return Finish(0, "length", outcome)
    reason, provider_reason = known
    # A response that calls itself incomplete was cut, whatever the word (quirk 76).
    return Finish(0, reason if reason in _CUT else "length", provider_reason)


def whole_text(event: Event) -> list[Delta]:
    """Return what the done event of a call's text says."""
    field, kind = DONE_EVENTS[event.type]
    text, name = wire_text(getattr(event, field)), name_label(event.name)
    index, alias = index_label(event.output_index), id_label(event.item_id)
    if text:
        return [CallWhole(0, index, alias, None, name, text, DONE, kind)]
    return [CallSeen(0, index, alias, None, name, kind)] if name else []


def added(event: Event) -> list[Delta]:
    """Return what an item says when it is added."""
    item = event.item or Item()
    if is_call(item):
        return [call_delta(item, index_label(event.output_index), OBJECT, skeleton=True)]
    return [] if item.type in QUIET_ITEMS else [Noted(0, "unknown_events")]
