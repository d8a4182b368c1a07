"""Deltas of translators in a form that can be compared, and the smallest of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wholecall.deltas import CallUnread, Delta, Run, TextFragment, TurnEnded, TurnOpened, UsageSeen
from wholecall.dialects.translator import Translator
from wholecall.framing import Frame


def in_pieces(deltas: Iterable[Delta]) -> list[Delta]:
    """Return the deltas with the pieces of each run in its place."""
    told: list[Delta] = []
    for delta in deltas:
        told += delta.pieces() if isinstance(delta, Run) else [delta]
    return told


def told_and_counted(deltas: Iterable[Delta]) -> tuple[list[Delta], list[dict[str, Any]]]:
    """Return the pieces of deltas without token counts, and the last counts of each turn: only these are emitted.

    A call hint that another frame already gave is left out, because it adds nothing.
    """
    told: list[Delta] = []
    counts: list[dict[str, Any]] = [{}]
    for piece in in_pieces(deltas):
        if isinstance(piece, UsageSeen):
            counts[-1].update(piece.usage)
            continue
        if isinstance(piece, CallUnread):
            continue
        told.append(piece)
        if isinstance(piece, (TurnOpened, TurnEnded)):
            counts.append({})
    return told, counts


class Echo(Translator):
    """The smallest translator: each frame is text."""

    def translate(self, frame: Frame) -> list[Delta]:
        """Say the text of one frame."""
        return [TextFragment(0, frame.data)]
