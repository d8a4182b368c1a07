"""Merges pieces of one text that come in a row: the deltas of a read hold one `Run` of them, not one delta each.

Theory of operation. A translator looks at each piece for a *key*, which distinguishes the texts of its dialect. While
the key stays the same, texts are only appended to the run; another key begins another run, and any other content of a
frame stops it. The key of the last piece outlives the read, so that a text continues after it without a second look.
"""

from __future__ import annotations

from typing import ClassVar

from wholecall.deltas import Delta, Piecewise, Run, TextFragment

__all__ = ["NO_KEY", "Key", "Runs"]

Key = tuple[object, object]
NO_KEY: Key = ("none", "none")  # the key of no piece


class Runs:
    """The run of one stream that the next piece may continue.

    Attributes:
        key: of the last piece; `NO_KEY` where anything else came after it.
        of: the common fields of the run's pieces. The first piece of a read that continues the run of the read before
            begins another `Run` of it.
    """

    __slots__ = ("key", "of")
    DERIVED: ClassVar = frozenset({"key", "of"})  # a stream that moved begins its runs anew

    def __init__(self) -> None:
        self.stop()

    def stop(self) -> Key:
        """Note that something other than a piece came: the next piece begins a run. Return `NO_KEY`."""
        self.key: Key = NO_KEY
        self.of: Piecewise = TextFragment(0, "")
        return NO_KEY

    def begin(self, deltas: list[Delta], key: Key, of: Piecewise) -> list[str]:
        """Append a run to the deltas of this read, and return the list of its texts: at least one has to follow."""
        self.key, self.of = key, of
        texts: list[str] = []
        deltas.append(Run(of, texts))
        return texts
