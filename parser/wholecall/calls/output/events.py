"""The public events: one frozen Struct per kind, none inheriting from another.

Every event carries `turn` (0 for the first message of a stream) and `choice`; events of a call carry `index`, our own
consecutive number of that call within its choice, never the wire's. `to_json` gives the log line of an event. A repr
shows the length of argument text, never the text.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Union

import msgspec

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.calls.output.answers import Output, OutputDropped, OutputProgress
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsProgress,
    ArgumentsReset,
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.discreet import discreet_repr, to_line
from wholecall.types import Anomaly, FaultKind, TurnReason


class TurnStarted(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="turn_started"):
    """A message begins. `id` and `model` are the provider's, None where it names none."""

    type: ClassVar[Literal["turn_started"]] = "turn_started"
    turn: int
    choice: int
    dialect: str
    id: str | None = None
    model: str | None = None

    to_json = to_line


class TextDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="text_delta"):
    """A piece of the visible answer."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    turn: int
    choice: int
    text: str

    to_json = to_line
    __repr__ = discreet_repr


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="reasoning_delta"):
    """A piece of the model's reasoning."""

    type: ClassVar[Literal["reasoning_delta"]] = "reasoning_delta"
    turn: int
    choice: int
    text: str

    to_json = to_line
    __repr__ = discreet_repr


class TurnFinished(msgspec.Struct, frozen=True, tag_field="type", tag="turn_finished"):
    """The last event of each choice of a turn, also after a fault, an abort or an empty stream.

    Attributes:
        reason: why the turn ended, in our words; calls outrank the provider's statement.
        provider_reason: the provider's own reason, verbatim.
        n_calls: calls of this choice that were emitted, no matter who executes them.
        n_dropped: calls of this choice that were dropped.
        usage: the provider's token counts, unchanged.
        anomalies: oddities of the turn, sorted.
    """

    type: ClassVar[Literal["turn_finished"]] = "turn_finished"
    turn: int
    choice: int
    reason: TurnReason
    provider_reason: str | None = None
    n_calls: int = 0
    n_dropped: int = 0
    usage: dict[str, Any] | None = None
    anomalies: tuple[Anomaly, ...] = ()

    to_json = to_line


class StreamFault(msgspec.Struct, frozen=True, tag_field="type", tag="stream_fault"):
    """Trouble on the wire.

    Attributes:
        kind: the kind of the fault.
        detail: a sentence for people.
        error: the provider's error object, unchanged.
        fatal: whether the stream is over; every open call was dropped. Only a session of Responses goes on after it, with
            its next response.
        raw: the beginning of the bytes that caused it, as text.
    """

    type: ClassVar[Literal["stream_fault"]] = "stream_fault"
    turn: int
    choice: int
    kind: FaultKind
    detail: str
    error: Any = None
    fatal: bool = False
    raw: str = ""

    to_json = to_line
    __repr__ = discreet_repr


# Text as it arrives, which calls and turns hold as a whole.
PIECES = (ArgumentsDelta, TextDelta, ReasoningDelta, ArgumentsReset, ArgumentsProgress, OutputProgress)
EXECUTABLE = (ToolCall, CustomToolCall, BuiltinToolCall)  # calls that the client runs and answers
TERMINAL = (*EXECUTABLE, ServerToolCall, ToolCallDropped)  # each call ends in exactly one of them

Event = Union[
    TurnStarted,
    ToolCallStarted,
    ArgumentsDelta,
    ArgumentsReset,
    ArgumentsProgress,
    ToolCall[ArgsT],
    CustomToolCall,
    BuiltinToolCall,
    ServerToolCall,
    ToolCallDropped,
    ToolCallCancelled,
    TextDelta,
    ReasoningDelta,
    Output[Any],
    OutputDropped,
    OutputProgress,
    TurnFinished,
    StreamFault,
]
