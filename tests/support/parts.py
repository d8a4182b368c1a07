"""Deltas of a stream beside the parts of an answer that go back as they came."""

from __future__ import annotations

from collections.abc import Iterable

from wholecall.deltas import BlockKept, CallPlaced, Delta, TextBegan

__all__ = ["without_parts"]

_PARTS = (BlockKept, CallPlaced, TextBegan)


def without_parts(deltas: Iterable[Delta]) -> list[Delta]:
    """Return what deltas say of calls, text, reasoning and the turn; `tests/laws/test_turns_kept.py` holds the parts."""
    return [delta for delta in deltas if not isinstance(delta, _PARTS)]
