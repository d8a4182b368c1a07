"""Blocks of a message without a call, in dialects whose stops name only a block's index."""

from __future__ import annotations

from wholecall.deltas import CallClosed, Delta, Index

__all__ = ["OtherBlocks"]


class OtherBlocks:
    """The open blocks of one message that are not calls: text, thinking, results.

    All other ends are those of calls. A closed call is not final: a cut turn can close a call with a member missing, so
    the later events decide.

    Attributes:
        indices: of the open blocks.
    """

    indices: set[Index | None]

    def __init__(self) -> None:
        self.indices = set()

    def stop(self, index: Index | None) -> list[Delta]:
        """Report that a block ended, if it may be a call's."""
        if index in self.indices:
            self.indices.discard(index)
            return []
        return [CallClosed(0, index, None, final=False)]
