"""Deltas of a stream, apart from the parts of an answer that go back unchanged."""

from __future__ import annotations

from collections.abc import Iterable

from wholecall.deltas import BlockKept, CallPlaced, Delta, TextBegan

_PARTS = (BlockKept, CallPlaced, TextBegan)


def without_parts(deltas: Iterable[Delta]) -> list[Delta]:
    """Return the calls, text, reasoning and turn of deltas; `tests/laws/test_turns_kept.py` checks the parts."""
    return [delta for delta in deltas if not isinstance(delta, _PARTS)]
