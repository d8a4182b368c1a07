"""Fragments in, calls out: the outcome of an oddly labelled turn, and its shown parts, for the tests of settling.

`settled` checks the rules of every turn: its calls are numbered without gaps and end once, emitted calls appear once in
the view of the turn, and the executed text equals the text that its events have shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.bound import Got
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsReset,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import TERMINAL, TurnFinished
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import HYDRATION, CallWhole, Delta, Finish, TurnEnded, TurnOpened, WireFault
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_KINDS = {ToolCall: "function", CustomToolCall: "custom", ServerToolCall: "server"}
CALLS, LENGTH = Finish(0, "tool_calls", "tool_calls"), Finish(0, "length", "length")
END, MESSAGE = TurnEnded(), TurnOpened(None, "r")
ENDS = CALLS, END
HOLE = WireFault("undecodable_frame", "lost", hole=True)


class Replaced(NamedTuple):
    """A delta of a frame in which bytes that are not UTF-8 were replaced."""

    delta: Delta


class Settled(NamedTuple):
    """The outcome of the last turn.

    Attributes:
        calls: the calls in the order of their numbers.
        began: number, id and name of each call that was shown, in the order of the events.
        text: the text pieces of each call, joined, by its number.
        view: text and calls in the order in which they began.
        events: all of them.
    """

    calls: list[Got]
    began: list[tuple[int, str | None, str]]
    text: dict[int, str]
    view: tuple[Any, ...]
    events: list[Any]


def settled(
    *deltas: Delta | Replaced,
    aborted: bool = False,
    limits: Limits | None = None,
    tools: Sequence[str] | None = None,
    policy: Policy | None = None,
) -> Settled:
    """Return the outcome of a stream's last turn; `tools` are the names of the tools that the model was given."""
    known = None if tools is None else Tools(dict.fromkeys(tools, _anything))
    assembler = Assembler(policy or Policy(), limits or Limits(), known)
    for delta in deltas:
        if isinstance(delta, Replaced):
            assembler.advance_replaced([delta.delta])
        else:
            assembler.advance([delta])
    assembler.close("aborted" if aborted else "open")
    events = assembler.take()
    here = [event for event in events if getattr(event, "turn", None) == assembler.n_turns - 1]
    ends = {event.index: event for event in here if isinstance(event, TERMINAL)}
    began = [(event.index, event.id, event.name) for event in here if isinstance(event, ToolCallStarted)]
    found = Settled(
        [_got(ends[number]) for number in sorted(ends)],
        began,
        _text(here),
        assembler.snapshot().content,
        events,
    )
    assert list(range(len(ends))) == sorted(ends)
    assert len(ends) == sum(isinstance(event, TERMINAL) for event in here)
    shown = [part for part in found.view if isinstance(part, int)]
    sound = {number for number, end in ends.items() if not isinstance(end, ToolCallDropped)}
    assert sound <= set(shown) <= ends.keys()
    assert len(shown) == len(set(shown))
    assert {number for number, _, _ in began} <= ends.keys()
    assert len(began) == len({number for number, _, _ in began})
    for number, end in ends.items():
        if not isinstance(end, ToolCallDropped):
            said = end.input if isinstance(end, CustomToolCall) else end.raw_arguments
            assert (said, end.name) == (
                found.text.get(number, ""),
                {at: name for at, _, name in began}[number],
            )
            kinds = {
                event.kind for event in here if isinstance(event, ToolCallStarted) and event.index == number
            }
            assert {_KINDS[type(end)]} == kinds
    assert isinstance(here[-1], TurnFinished)
    return found


def _text(events: Iterable[Any]) -> dict[int, str]:
    """Return the joined text pieces of each call."""
    text: dict[int, str] = {}
    for event in events:
        if isinstance(event, ArgumentsDelta):
            text[event.index] = text.get(event.index, "") + event.delta
        elif isinstance(event, ArgumentsReset):
            text[event.index] = event.raw_arguments
    return text


def _got(event: Any) -> Got:
    if isinstance(event, ToolCallDropped):
        return Got(event.id, event.name, event.raw_arguments, dropped(event.reason))
    text = event.input if isinstance(event, CustomToolCall) else event.raw_arguments
    return Got(event.id, event.name, text, " ".join(event.flags))


def _anything(**arguments: Any) -> None:
    """Be a tool that takes any arguments."""


def dropped(reason: str) -> str:
    """Return the sign of a drop."""
    return f"dropped: {reason}"


def signs(*deltas: Delta | Replaced, **options: Any) -> list[str]:
    """Return the signs of the calls of a stream."""
    return [call.sign for call in settled(*deltas, **options).calls]


def restates(
    text: str, id: str | None = None, name: str | None = "f", extra: dict[str, Any] | None = None
) -> CallWhole:
    """Return a final message's statement about a call."""
    return CallWhole(0, None, None, id, name, text, HYDRATION, extra=extra)
