"""What users see: one frozen Struct per kind of event, none inheriting from another.

Every event carries `turn` (0 for the first message of a stream) and `choice`; events of a call carry
`index`, our own dense number of that call within its choice, never the wire's. `to_json` gives the log
line of an event. A repr shows the length of argument text, never the text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, Union, cast

import msgspec
from msgspec.structs import replace

from wholecall.feedback import as_tool_result, describe_call, describe_dropped
from wholecall.vocabulary import (
    Anomaly,
    BuiltinKind,
    DropReason,
    EditKind,
    FaultKind,
    Flag,
    Kind,
    Status,
    TurnReason,
)

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ArgsT = TypeVar("ArgsT", default=dict[str, Any])
else:  # what only a type checker knows is the default
    from typing import TypeVar

    ArgsT = TypeVar("ArgsT")

__all__ = [
    "ArgsT",
    "ArgumentsDelta",
    "ArgumentsReset",
    "BuiltinToolCall",
    "CustomToolCall",
    "Edit",
    "Event",
    "ReasoningDelta",
    "ServerToolCall",
    "StreamFault",
    "TextDelta",
    "ToolCall",
    "ToolCallCancelled",
    "ToolCallDropped",
    "ToolCallStarted",
    "TurnFinished",
    "TurnStarted",
]

# Fields whose text is argument text (or may hold it): a repr shows their length only.
_SECRET = frozenset(
    {"delta", "raw_arguments", "arguments", "input", "raw", "error", "detail", "extra", "text", "typed"}
)


def _to_json(event: msgspec.Struct) -> bytes:
    r"""Return the event as one compact JSON line: non-ASCII kept, lone surrogates as `\\udXXX`."""
    try:
        return msgspec.json.encode(event)
    except UnicodeEncodeError:
        builtins = msgspec.to_builtins(event)
        text = json.dumps(builtins, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "backslashreplace")


def _shown(name: str, value: object) -> str:
    if name in _SECRET and value is not None:
        size = len(value) if isinstance(value, (str, bytes, dict, list)) else 1
        return f"{name}=<{size}>"
    return f"{name}={value!r}"


def _repr(self: msgspec.Struct) -> str:
    fields = (_shown(name, getattr(self, name)) for name in self.__struct_fields__)
    return f"{type(self).__name__}({', '.join(fields)})"


class Edit(msgspec.Struct, frozen=True, gc=False):
    """One change that made argument text readable.

    Attributes:
        kind: what was changed.
        offset: where, in characters from the start of the raw argument text.
    """

    kind: EditKind
    offset: int


class TurnStarted(msgspec.Struct, frozen=True, tag_field="type", tag="turn_started"):
    """A message begins. `id` and `model` are the provider's, None where it names none."""

    turn: int
    choice: int
    dialect: str
    id: str | None = None
    model: str | None = None

    to_json = _to_json


class ToolCallStarted(msgspec.Struct, frozen=True, tag_field="type", tag="tool_call_started"):
    """A call has a final name and begins to receive arguments; exactly one terminal event follows.

    `id` may still be None: some servers send it last.
    """

    turn: int
    choice: int
    index: int
    id: str | None
    name: str
    kind: Kind = "function"

    to_json = _to_json


class ArgumentsDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="arguments_delta"):
    """A piece of JSON text as it arrived, to show, never to parse or to execute."""

    turn: int
    choice: int
    index: int
    delta: str

    to_json = _to_json
    __repr__ = _repr


class ArgumentsReset(msgspec.Struct, frozen=True, tag_field="type", tag="arguments_reset"):
    """A restatement replaced what the deltas showed; `raw_arguments` is the text now in force."""

    turn: int
    choice: int
    index: int
    raw_arguments: str

    to_json = _to_json
    __repr__ = _repr


class ToolCall(msgspec.Struct, Generic[ArgsT], frozen=True, tag_field="type", tag="tool_call"):
    """A whole call, safe to execute.

    With tools known, `ToolCall[T]` says what `value` is: an object of the type that describes the tool.

    Attributes:
        id: the id to answer with; minted (flag `id_generated`) where the wire sent none.
        name: the tool's name.
        arguments: the decoded object, decoded once.
        raw_arguments: the argument text in force, byte for byte.
        status: `exact`, `normalised`, `recovered` or `empty`.
        namespace: the tool's namespace where the wire has one.
        edits: what was changed to read the text (status `normalised` or `recovered`).
        flags: what was odd about the call, sorted.
        extra: provider fields to send back untouched, such as thought signatures.
        typed: what the tool's own type made of the arguments, unset without one; read `value` instead.
    """

    turn: int
    choice: int
    index: int
    id: str
    name: str
    arguments: dict[str, Any]
    raw_arguments: str
    status: Status
    namespace: str | None = None
    edits: tuple[Edit, ...] = ()
    flags: tuple[Flag, ...] = ()
    extra: dict[str, Any] | None = None
    typed: Any = msgspec.UNSET

    @property
    def value(self) -> ArgsT:
        """The arguments as the tool's type: a Struct, a model, keyword arguments; else the `arguments`."""
        return cast("ArgsT", self.arguments if self.typed is msgspec.UNSET else self.typed)

    def to_json(self) -> bytes:
        """Return the call as one compact JSON line; `typed` is left out, it says nothing new."""
        return _to_json(self if self.typed is msgspec.UNSET else replace(self, typed=msgspec.UNSET))

    def describe(self, *, include_raw: bool = False) -> str:
        """Return how the call was read, in a line: status, edits, flags; the argument text only if asked for."""
        return describe_call(self, include_raw)

    __repr__ = _repr


class CustomToolCall(msgspec.Struct, frozen=True, tag_field="type", tag="custom_tool_call"):
    """A whole call of a free-text tool; `input` is never parsed."""

    turn: int
    choice: int
    index: int
    id: str
    name: str
    input: str
    namespace: str | None = None
    flags: tuple[Flag, ...] = ()
    extra: dict[str, Any] | None = None

    to_json = _to_json
    __repr__ = _repr


class BuiltinToolCall(msgspec.Struct, frozen=True, tag_field="type", tag="builtin_tool_call"):
    """A whole call of a tool that the provider defines and the client executes."""

    turn: int
    choice: int
    index: int
    id: str
    kind: BuiltinKind
    arguments: dict[str, Any]
    flags: tuple[Flag, ...] = ()
    extra: dict[str, Any] | None = None

    to_json = _to_json
    __repr__ = _repr


class ServerToolCall(msgspec.Struct, frozen=True, tag_field="type", tag="server_tool_call"):
    """A whole call that the provider executes itself: nothing to run, nothing to answer.

    The exception is the flag `needs_approval`: the provider waits for a yes.
    """

    turn: int
    choice: int
    index: int
    id: str
    name: str
    arguments: dict[str, Any]
    raw_arguments: str
    flags: tuple[Flag, ...] = ()
    extra: dict[str, Any] | None = None

    to_json = _to_json
    __repr__ = _repr


class ToolCallDropped(msgspec.Struct, frozen=True, tag_field="type", tag="tool_call_dropped"):
    """A call that must not be executed, with the reason and all of its text.

    Attributes:
        id: the wire's id, None where it sent none.
        name: the wire's name, None where it sent none.
        raw_arguments: the argument text as it arrived (cut at `Limits.max_raw_bytes` for oversized calls).
        detail: a sentence for people; it never holds argument text.
    """

    turn: int
    choice: int
    index: int
    id: str | None
    name: str | None
    kind: Kind
    raw_arguments: str
    reason: DropReason
    detail: str = ""

    def describe(self, *, include_raw: bool = False) -> str:
        """Return what to tell the model: that the call was not executed, why, and what to do about it.

        Args:
            include_raw: whether to quote the argument text, as the JSON object `{"INVALID_JSON": text}`.
        """
        return describe_dropped(self, include_raw)

    def as_tool_result(self, dialect: str, *, include_raw: bool = False) -> dict[str, Any]:
        """Return the error result that answers the call in the next request, in the shape of the dialect.

        Args:
            dialect: the name of the dialect that the next request is written in.
            include_raw: as for `describe`, which gives the text.

        Returns:
            A tool message (Chat Completions), an item (Responses), a content block (Anthropic, Converse), a
            part (Gemini), or whatever else the dialect answers a call with.

        Raises:
            UnknownDialect: the dialect has no such results.
            ValueError: the call has no id, or no name, where the dialect answers by it.
        """
        return as_tool_result(self, dialect, include_raw)

    to_json = _to_json
    __repr__ = _repr


class ToolCallCancelled(msgspec.Struct, frozen=True, tag_field="type", tag="tool_call_cancelled"):
    """The provider takes back a call that it sent before; not a terminal event."""

    turn: int
    choice: int
    id: str

    to_json = _to_json


class TextDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="text_delta"):
    """A piece of the visible answer."""

    turn: int
    choice: int
    text: str

    to_json = _to_json
    __repr__ = _repr


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="reasoning_delta"):
    """A piece of the model's reasoning."""

    turn: int
    choice: int
    text: str

    to_json = _to_json
    __repr__ = _repr


class TurnFinished(msgspec.Struct, frozen=True, tag_field="type", tag="turn_finished"):
    """The last event of each choice of a turn, also after a fault, an abort or an empty stream.

    Attributes:
        reason: why the turn ended, in our words; calls outrank what the provider claims.
        provider_reason: what the provider said, verbatim.
        n_calls: calls of this choice that were emitted, whoever executes them.
        n_dropped: calls of this choice that were dropped.
        usage: the provider's token counts, untouched.
        anomalies: what was odd about the turn, sorted.
    """

    turn: int
    choice: int
    reason: TurnReason
    provider_reason: str | None = None
    n_calls: int = 0
    n_dropped: int = 0
    usage: dict[str, Any] | None = None
    anomalies: tuple[Anomaly, ...] = ()

    to_json = _to_json


class StreamFault(msgspec.Struct, frozen=True, tag_field="type", tag="stream_fault"):
    """Trouble on the wire.

    Attributes:
        kind: what kind of trouble.
        detail: a sentence for people.
        error: the provider's error object, untouched.
        fatal: whether the stream is over; every open call was dropped.
        raw: the beginning of the bytes that caused it, as text.
    """

    turn: int
    choice: int
    kind: FaultKind
    detail: str
    error: Any = None
    fatal: bool = False
    raw: str = ""

    to_json = _to_json
    __repr__ = _repr


Event = Union[
    TurnStarted,
    ToolCallStarted,
    ArgumentsDelta,
    ArgumentsReset,
    ToolCall[ArgsT],
    CustomToolCall,
    BuiltinToolCall,
    ServerToolCall,
    ToolCallDropped,
    ToolCallCancelled,
    TextDelta,
    ReasoningDelta,
    TurnFinished,
    StreamFault,
]
