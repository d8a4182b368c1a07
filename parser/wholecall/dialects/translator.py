"""What every dialect has: a translator, which says in deltas what the frames of one stream say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects.decode import UNREADABLE, is_done, payloads, read
from wholecall.dialects.restated import ended_together
from wholecall.framing.frame import Frame

__all__ = ["MOST_SLOTS", "Translator", "ViewTranslator"]

MOST_SLOTS = 128  # that a translator keeps of calls whose pieces take turns


class Translator(ABC):
    """The translator of one stream; a dialect implements `translate`, and the rest where it has more to say.

    What it remembers of the stream it annotates in its class, so that snapshots hold it; what is named in
    `DERIVED` is not kept but made anew with the translator (see `wholecall.snapshots`).
    """

    DERIVED: ClassVar[frozenset[str]] = frozenset({"_events"})  # what does each event, by its name

    @abstractmethod
    def translate(self, frame: Frame) -> list[Delta]:
        """Return what one frame says, in order; pieces of one call in a row may be one `Run`."""

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Return what frames in a row say: what they say one by one, with longer runs, each frame ended together."""
        return [delta for frame in frames for delta in ended_together(self.translate(frame))]

    def lose(self) -> None:  # noqa: B027 - to most dialects it means nothing
        """Know that a frame was lost, which could have been any."""

    def close(self) -> list[Delta]:
        """Return what the end of the stream says: nothing in most dialects."""
        return []


class ViewTranslator(Translator):
    """A translator of frames that are JSON objects of one shape.

    A subclass has the `decoder` of its view, and says in `_take` what one view says. Frames that the typed
    decoder refuses are read the tolerant way; what cannot be read at all is a fault.
    """

    decoder: ClassVar[msgspec.json.Decoder[Any]]

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        try:
            view = self.decoder.decode(frame.data)
        except UNREADABLE:
            lines = payloads(frame.data)
            if len(lines) > 1:  # of events that nothing ended (quirk 55)
                return [delta for line in lines for delta in self.translate(Frame(frame.event, line))]
            return self._slowly(frame)
        return self._take(view, frame)

    def _slowly(self, frame: Frame) -> list[Delta]:
        if is_done(frame.data):  # proxies add it to streams of any dialect
            return self._done()
        views, texts, deltas = read(self.decoder, frame)
        if deltas:
            self.lose()
        for view, text in zip(views, texts, strict=True):
            deltas += self._take(view, Frame(frame.event, text))
        return deltas

    @abstractmethod
    def _take(self, view: Any, frame: Frame, /) -> list[Delta]:
        """Return the deltas of one view."""

    def _done(self) -> list[Delta]:
        """Return the deltas of `[DONE]`: nothing where the dialect has an end of its own."""
        return []
