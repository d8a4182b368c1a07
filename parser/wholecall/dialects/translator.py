"""What every dialect has: a translator, which says in deltas what the frames of one stream say."""

from __future__ import annotations

from abc import ABC, abstractmethod

from wholecall.deltas import Delta
from wholecall.framing.frame import Frame

__all__ = ["Translator"]


class Translator(ABC):
    """The translator of one stream; a dialect implements `translate`, and the rest where it has more to say."""

    @abstractmethod
    def translate(self, frame: Frame) -> list[Delta]:
        """Return what one frame says, in order; pieces of one call in a row may be one `Run`."""

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Return what frames in a row say: the same as one by one, but there may be longer runs."""
        return [delta for frame in frames for delta in self.translate(frame)]

    def close(self) -> list[Delta]:
        """Return what the end of the stream says: nothing in most dialects."""
        return []
