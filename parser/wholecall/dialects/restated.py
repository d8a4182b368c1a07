"""Lets the deltas of one frame know of each other, for every dialect."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from wholecall.deltas import CallWhole, Delta, Finish, TurnEnded

__all__ = ["ended_together", "restated_together"]


def restated_together(deltas: list[Delta], others: Iterable[str] = ()) -> list[Delta]:
    """Give each restated call the ids of all calls that the message restates, and `others`.

    A call whose own id is among them is restated by that id only.
    """
    wholes = [delta for delta in deltas if isinstance(delta, CallWhole)]
    ids = frozenset(others).union(whole.id for whole in wholes if whole.id is not None)
    if not wholes or len(ids) < 2:
        return deltas
    return [replace(delta, restated_ids=ids) if isinstance(delta, CallWhole) else delta for delta in deltas]


def ended_together(deltas: list[Delta]) -> list[Delta]:
    """Mark each finish if the end of its turn follows in the same frame."""
    if not deltas or type(deltas[-1]) is not TurnEnded:
        return deltas
    return [replace(delta, ends=True) if isinstance(delta, Finish) else delta for delta in deltas]
