"""Blocks and items in, calls out: how the tests of routes write streams of calls that are found by slots."""

from __future__ import annotations

from tests.support.bound import Got, assembled
from wholecall.deltas import (
    HYDRATION,
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Restated,
    Slot,
    TurnEnded,
)

ENDS: list[Delta] = [Finish(0, "tool_calls", "tool_use"), TurnEnded()]


def begun(
    index: int | str, id: str | None = None, name: str | None = None, alias: str | None = None
) -> CallSeen:
    """Return the start of a block, or with an alias that of an item."""
    return CallSeen(0, index, alias, id, name, begins=True)


def piece(index: int | str | None, text: str, alias: str | None = None) -> Slot:
    """Return a piece of text."""
    return Slot(0, index, alias, text)


def whole(
    text: str, rank: int, index: int | str | None = 0, id: str | None = None, name: str | None = None
) -> CallWhole:
    """Return a whole text."""
    return CallWhole(0, index, None, id, name, text, rank)


def item(
    text: str, index: int | None = 0, id: str | None = None, name: str | None = "f", alias: str | None = None
) -> CallWhole:
    """Return a finished item, which is the end of its call."""
    return CallWhole(0, index, alias, id, name, text, ITEM_DONE, id_wins=True, closes=True)


def listed(*calls: tuple[str | None, str, str]) -> Restated:
    """Return a final list of calls, each with its id, name and text."""
    return Restated(0, tuple(CallWhole(0, None, None, *call, HYDRATION) for call in calls))


def closed(index: int | str | None = 0, *, final: bool = True) -> CallClosed:
    """Return the end of a block."""
    return CallClosed(0, index, None, final)


def bound(*deltas: Delta) -> list[Got]:
    """Return the outcomes of the calls of a turn whose finish reason names calls."""
    return assembled(*deltas, *ENDS)[0]


def astray(text: str) -> list[Delta]:
    """Return text that may be that of any of two calls: another block begins, and an unknown one has a piece."""
    return [begun(1, "d", "g"), piece(7, text)]


def cut(*deltas: Delta) -> list[Got]:
    """Return the outcomes of the calls of a stream that just stops."""
    return assembled(*deltas)[0]


def over(*deltas: Delta) -> list[Got]:
    """Return the outcomes of the calls of a turn that ends without a reason."""
    return assembled(*deltas, TurnEnded())[0]


def signs(came: list[Got], id: str | None) -> list[str]:
    """Return the signs of the calls under an id."""
    return [got.sign for got in came if got.id == id]


def dropped(reason: str) -> str:
    """Return the sign of a drop."""
    return f"dropped: {reason}"


LOST, UNENDED = dropped("incomplete_input"), dropped("unterminated")
