"""The assembler's actions for each delta in a word or two, for the tests of phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsReset,
    CustomToolCall,
    ToolCall,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import Event, TurnFinished
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import (
    DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Labelled,
    TurnEnded,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

A, B = '{"a":1}', '{"b":2}'
OPEN = Labelled(0, 0, "c", "f")
CUT = WireFault("provider_error", "", fatal=True)
LENGTH, STOP, CALLS = Finish(0, "length", None), Finish(0, "stop", "completed"), Finish(0, "tool_calls", None)
END = TurnEnded()


def seen(name: str | None = "f") -> CallSeen:
    """Return an announcement."""
    return CallSeen(0, 0, None, "c", name)


def whole(text: str, rank: int = DONE) -> CallWhole:
    """Return the whole text of the call."""
    return CallWhole(0, 0, "i", "c", None, text, rank)


def closed(*, truncated: bool = False) -> CallClosed:
    """Return the end of the call."""
    return CallClosed(0, 0, None, truncated=truncated)


def brief(event: Event) -> str:
    """Return an event of a call, or the end of a turn, in a word or two."""
    if isinstance(event, ToolCallStarted):
        return f"+{event.name}"
    if isinstance(event, ArgumentsDelta):
        return event.delta
    if isinstance(event, ArgumentsReset):
        return f"={event.raw_arguments}"
    if isinstance(event, ToolCall):
        return " ".join(("call", event.raw_arguments, *event.flags))
    if isinstance(event, CustomToolCall):
        return " ".join(("custom", event.input, *event.flags))
    if isinstance(event, ToolCallDropped):
        return f"drop {event.raw_arguments} {event.reason}"
    if isinstance(event, TurnFinished):
        return " ".join((event.reason, *event.anomalies))
    return ""


def told(
    *deltas: Delta,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    tools: Sequence[str] | None = None,
) -> list[list[str]]:
    """Return the assembler's output for each delta and for the close of the stream; `tools` are known names."""
    return [
        [word for event in events if (word := brief(event))]
        for events in events_of(*deltas, limits=limits, policy=policy, tools=tools)
    ]


def events_of(
    *deltas: Delta,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    tools: Sequence[str] | None = None,
) -> list[list[Event]]:
    """Return the events of each delta, and of the close of the stream."""
    known = None if tools is None else Tools(dict.fromkeys(tools, anything))
    assembler = Assembler(policy, limits, known)
    said = []
    for delta in deltas:
        assembler.advance([delta])
        said.append(assembler.take())
    assembler.close()
    return [*said, assembler.take()]


def anything(**arguments: Any) -> None:
    """Be a tool that takes any arguments."""
