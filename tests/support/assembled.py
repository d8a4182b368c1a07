"""Deltas in, events out: input for the tests of the assembler, and the outcomes of calls and turns."""

from __future__ import annotations

from typing import Any

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import TurnFinished
from wholecall.deltas import (
    Delta,
    Finish,
    Labelled,
    TurnEnded,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

A, B = '{"a":1}', '{"b":2}'
CALLS = Finish(0, "tool_calls", "tool_calls")
END = TurnEnded()
HOLE = WireFault("undecodable_frame", "no JSON", hole=True)
CUT = WireFault("provider_error", "overloaded", {"code": 502}, fatal=True, raw="x")


def head(index: int, text: str = "", choice: int = 0) -> Labelled:
    """Return the first fragment of a call."""
    return Labelled(choice, index, f"c{index}", f"f{index}", text)


def new(policy: Policy = Policy(), limits: Limits = Limits()) -> Assembler:  # noqa: B008 (frozen)
    """Return an assembler."""
    return Assembler(policy, limits)


def told(
    *deltas: Delta,
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    close: bool = True,
) -> list[Any]:
    """Return the events of a stream."""
    assembler = new(policy, limits)
    for delta in deltas:
        assembler.advance([delta])
    if close:
        assembler.close()
    return assembler.take()


def ends(events: list[Any]) -> list[tuple[str | None, str]]:
    """Return id and outcome of each call, in the order of the events."""
    return [
        (
            event.id,
            event.reason if isinstance(event, ToolCallDropped) else " ".join((event.status, *event.flags)),
        )
        for event in events
        if isinstance(event, (ToolCall, ToolCallDropped))
    ]


def finishes(events: list[Any]) -> list[tuple[int, int, str]]:
    """Return turn, choice and reason of each last event."""
    return [(event.turn, event.choice, event.reason) for event in events if isinstance(event, TurnFinished)]
