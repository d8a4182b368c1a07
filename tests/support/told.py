"""What translators tell, in a form that can be compared, and the smallest of them."""

from __future__ import annotations

from collections.abc import Iterable

from wholecall.deltas import Delta, Run, TextFragment
from wholecall.dialects.translator import Translator
from wholecall.framing import Frame

__all__ = ["Echo", "in_pieces"]


def in_pieces(deltas: Iterable[Delta]) -> list[Delta]:
    """Return the deltas with the pieces of each run in its place."""
    told: list[Delta] = []
    for delta in deltas:
        told += delta.pieces() if isinstance(delta, Run) else [delta]
    return told


class Echo(Translator):
    """The smallest translator: each frame is text."""

    def translate(self, frame: Frame) -> list[Delta]:
        """Say the text of one frame."""
        return [TextFragment(0, frame.data)]
