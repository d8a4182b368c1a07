"""What translators tell, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Iterable

from wholecall.deltas import Delta, Run

__all__ = ["in_pieces"]


def in_pieces(deltas: Iterable[Delta]) -> list[Delta]:
    """Return the deltas with the pieces of each run in its place."""
    told: list[Delta] = []
    for delta in deltas:
        told += delta.pieces() if isinstance(delta, Run) else [delta]
    return told
