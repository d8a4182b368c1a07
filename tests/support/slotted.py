"""Deltas of blocks and items, as wires send them, and the call of a choice that one of them is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Index,
    MessageBegan,
    Restated,
    Slot,
    TurnOpened,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.types import Kind

A, B = '{"a":1}', '{"b":2}'
HOLE = WireFault("undecodable_frame", "no JSON", hole=True)
RESTART = TurnOpened(None, restart=True)
LOST = "dropped: incomplete_input"


def begun(
    index: Index | None,
    id: str | None = None,
    name: str | None = None,
    alias: str | None = None,
    kind: Kind = "function",
) -> CallSeen:
    """Return the start of a block, or of an item, which has an alias."""
    return CallSeen(0, index, alias, id, name, kind, begins=True)


def preset(text: str, index: Index | None, id: str | None = None, name: str | None = None) -> CallWhole:
    """Return the start of a block that has an input already; pieces may follow."""
    return CallWhole(0, index, None, id, name, text, OBJECT, begins=True)


def seen(index: Index | None, id: str | None = None, name: str | None = None) -> CallSeen:
    """Return a call at a number that its dialect assigned."""
    return CallSeen(0, index, None, id, name)


def piece(index: Index | None, text: str, alias: str | None = None, id: str | None = None) -> Slot:
    """Return a piece of text."""
    return Slot(0, index, alias, text, id)


def done(index: Index | None, text: str, alias: str | None = None) -> CallWhole:
    """Return the done event of a text."""
    return CallWhole(0, index, alias, None, None, text, DONE)


def finished(
    text: str,
    index: Index | None = None,
    id: str | None = None,
    name: str | None = "f",
    alias: str | None = None,
) -> CallWhole:
    """Return a finished item."""
    return CallWhole(0, index, alias, id, name, text, ITEM_DONE)


def listed(*calls: tuple[str | None, str, str]) -> Restated:
    """Return a final list of calls, each with its id, name and text."""
    return Restated(0, tuple(CallWhole(0, None, None, *call, HYDRATION) for call in calls))


def closed(index: Index | None = None, alias: str | None = None, *, final: bool = True) -> CallClosed:
    """Return the end of a block or an item."""
    return CallClosed(0, index, alias, final)


def after(*deltas: Delta, limits: Limits | None = None) -> Choice:
    """Return the state of a choice after these deltas."""
    assembler = Assembler(Policy(), limits or Limits())
    assembler.advance([TurnOpened(None), MessageBegan(0)])
    for delta in deltas:
        assembler.advance([delta])
    (turn,) = assembler.turns
    return turn.choices[0]


def place_of(choice: Choice, call: Call | None) -> int | str | None:
    """Return the position of a call in its choice, by beginning; `orphan` for an orphan call, None for no call."""
    if call is None:
        return None
    return "orphan" if call.orphan else choice.calls.index(call)
