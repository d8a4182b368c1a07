"""The events of calls: they begin, receive arguments, and end in exactly one terminal event."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Generic, Literal, Union, cast

import msgspec
from msgspec.structs import replace

from wholecall.calls.arguments.partial import PartialArguments
from wholecall.calls.arguments.progress import ProgressScanner
from wholecall.calls.arguments.verdict import ArgsT, Edit
from wholecall.calls.output.describe import as_tool_result, describe_call, describe_dropped
from wholecall.discreet import call_repr, discreet_repr, to_line
from wholecall.types import BuiltinKind, DropReason, Flag, Kind, Status


class ToolCallStarted(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="tool_call_started"):
    """A call has a final name and begins to receive arguments; exactly one terminal event follows.

    `id` may still be None: some servers send it last.
    """

    type: ClassVar[Literal["tool_call_started"]] = "tool_call_started"
    turn: int
    choice: int
    index: int
    id: str | None
    name: str
    kind: Kind = "function"

    to_json = to_line


class ArgumentsDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="arguments_delta"):
    """A piece of JSON text as it arrived, to show, never to parse or to execute."""

    type: ClassVar[Literal["arguments_delta"]] = "arguments_delta"
    turn: int
    choice: int
    index: int
    delta: str

    to_json = to_line
    __repr__ = discreet_repr


class ArgumentsReset(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="arguments_reset"):
    """A restatement replaced the text that the deltas showed; `raw_arguments` is the text now in force."""

    type: ClassVar[Literal["arguments_reset"]] = "arguments_reset"
    turn: int
    choice: int
    index: int
    raw_arguments: str

    to_json = to_line
    __repr__ = discreet_repr


class ArgumentsProgress(msgspec.Struct, frozen=True, tag_field="type", tag="arguments_progress"):
    """Progress of arguments that are still arriving, decoded; to show, never to execute (`live`, `watch`).

    Attributes:
        path: the place in the arguments: keys and indices from the top.
        delta: more text of the string that is open there; the deltas of one path add up to the string.
        closed: whether the value at the path is finished; it never changes again.
        value: the finished value, None while it is open, and for a watched string.
        resets: how often the call's text was replaced so far (`ArgumentsReset`): with a higher count, everything shown
            before is void.
    """

    type: ClassVar[Literal["arguments_progress"]] = "arguments_progress"
    turn: int
    choice: int
    index: int
    path: tuple[Union[str, int], ...]
    delta: str = ""
    closed: bool = False
    value: Any = None
    resets: int = 0

    to_json = to_line
    __repr__ = discreet_repr


class ToolCall(msgspec.Struct, Generic[ArgsT], frozen=True, tag_field="type", tag="tool_call"):
    """A whole call, safe to execute.

    With tools known, `ToolCall[T]` gives the type of `value`: an object of the type that describes the tool.

    Attributes:
        id: the id to answer with; minted (flag `id_generated`) where the wire sent none.
        name: the tool's name.
        arguments: the decoded object, decoded once.
        raw_arguments: the argument text in force, byte for byte.
        status: `exact`, `normalised`, `recovered` or `empty`.
        namespace: the tool's namespace where the wire has one.
        edits: the changes made to read the text (status `normalised` or `recovered`).
        flags: oddities of the call, sorted.
        extra: provider fields to send back unchanged, such as thought signatures.
        typed: the arguments as the tool's own type, unset without one; read `value` instead.
    """

    type: ClassVar[Literal["tool_call"]] = "tool_call"
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

    kind: ClassVar[Literal["function"]] = "function"
    DERIVED: ClassVar[frozenset[str]] = frozenset({"typed"})  # snapshots hold no objects of the caller

    @property
    def value(self) -> ArgsT:
        """The arguments as the tool's type: a Struct, a model, keyword arguments; otherwise the `arguments`."""
        return cast("ArgsT", self.arguments if self.typed is msgspec.UNSET else self.typed)

    def to_json(self) -> bytes:
        """Return the call as one compact JSON line; `typed` is left out, because it adds nothing."""
        return to_line(self if self.typed is msgspec.UNSET else replace(self, typed=msgspec.UNSET))

    def describe(self, *, include_raw: bool = False) -> str:
        """Return how the call was read, in a line: status, edits, flags; the argument text only if requested."""
        label = f"{self.name} ({self.id})"
        return describe_call(label, self.status, self.edits, self.flags, self.raw_arguments, include_raw)

    __repr__ = call_repr


class CustomToolCall(msgspec.Struct, frozen=True, tag_field="type", tag="custom_tool_call"):
    """A whole call of a free-text tool; `input` is never parsed."""

    type: ClassVar[Literal["custom_tool_call"]] = "custom_tool_call"
    turn: int
    choice: int
    index: int
    id: str
    name: str
    input: str
    namespace: str | None = None
    flags: tuple[Flag, ...] = ()
    extra: dict[str, Any] | None = None

    kind: ClassVar[Literal["custom"]] = "custom"
    to_json = to_line
    __repr__ = call_repr


class BuiltinToolCall(msgspec.Struct, frozen=True, tag_field="type", tag="builtin_tool_call"):
    """A whole call of a tool that the provider defines and the client executes; `name` is one of the provider's tools."""

    type: ClassVar[Literal["builtin_tool_call"]] = "builtin_tool_call"
    turn: int
    choice: int
    index: int
    id: str
    name: BuiltinKind
    arguments: dict[str, Any]
    flags: tuple[Flag, ...] = ()
    extra: dict[str, Any] | None = None

    kind: ClassVar[Literal["builtin"]] = "builtin"
    to_json = to_line
    __repr__ = call_repr


class ServerToolCall(msgspec.Struct, frozen=True, tag_field="type", tag="server_tool_call"):
    """A whole call that the provider executes itself: nothing to run, nothing to answer.

    The exception is the flag `needs_approval`: the provider waits for an approval.
    """

    type: ClassVar[Literal["server_tool_call"]] = "server_tool_call"
    turn: int
    choice: int
    index: int
    id: str
    name: str
    arguments: dict[str, Any]
    raw_arguments: str
    flags: tuple[Flag, ...] = ()
    extra: dict[str, Any] | None = None

    kind: ClassVar[Literal["server"]] = "server"
    to_json = to_line
    __repr__ = call_repr


# Reasons of drops without an answer: a call cut off by its client, or a repeated call, is not in the history.
_UNANSWERED: Final[frozenset[DropReason]] = frozenset({"nameless", "aborted", "too_many_calls", "told_twice"})


class ToolCallDropped(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="tool_call_dropped"):
    """A call that must not be executed, with the reason and all of its text.

    Attributes:
        id: the wire's id, None where it sent none.
        name: the wire's name, None where it sent none.
        raw_arguments: the argument text as it arrived (cut at `Limits.max_raw_bytes` for oversized calls).
        detail: a sentence for people; it never holds argument text.
        facts: what else in the stream speaks against the call, in the order in which it came; also for people.
    """

    type: ClassVar[Literal["tool_call_dropped"]] = "tool_call_dropped"
    turn: int
    choice: int
    index: int
    id: str | None
    name: str | None
    kind: Kind
    raw_arguments: str
    reason: DropReason
    detail: str = ""
    facts: tuple[str, ...] = ()

    @property
    def is_answerable(self) -> bool:
        """Whether the call can be sent back with an answer: the client was to execute it, and it has a name."""
        return bool(self.name) and self.reason not in _UNANSWERED and self.kind not in ("builtin", "server")

    def describe(self, *, include_raw: bool = False) -> str:
        """Return a message for the model: the call was not executed, the reason, and the remedy.

        Args:
            include_raw: whether to quote the argument text: JSON as it is, other text as `{"INVALID_JSON": text}`.
        """
        return describe_dropped(self, include_raw)

    def partial(self) -> PartialArguments:
        """Return the readable part of the argument text up to its first fault; to show, never to execute."""
        scanner = ProgressScanner()
        scanner.feed(self.raw_arguments)
        return scanner.snapshot()

    def as_tool_result(self, dialect: str, *, include_raw: bool = False) -> dict[str, Any]:
        """Return the error result that answers the call in the next request, in the shape of the dialect.

        Args:
            dialect: the name of the dialect that the next request is written in.
            include_raw: as for `describe`, which returns the text.

        Returns:
            A tool message (Chat Completions), an item (Responses), a content block (Anthropic, Converse), a part
            (Gemini), or any other form in which the dialect answers a call.

        Raises:
            UnknownDialect: the dialect has no such results.
            ValueError: the call has no id, or no name, where the dialect answers by it.
        """
        return as_tool_result(self, dialect, include_raw)

    to_json = to_line
    __repr__ = call_repr


class ToolCallCancelled(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="tool_call_cancelled"):
    """The provider takes back a call that it sent before, sends its result, or executes it itself; not a terminal event."""

    type: ClassVar[Literal["tool_call_cancelled"]] = "tool_call_cancelled"
    turn: int
    choice: int
    id: str

    to_json = to_line
