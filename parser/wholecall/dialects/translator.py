"""Base classes of translators, which turn the frames of one stream into deltas.

Theory of operation. Three classes, each of which knows more of what frames are. A `Translator` is given frames of any
kind. A `ViewTranslator` is given views: frames that are JSON objects of one shape. A `TurnTranslator` is given events
of messages that begin and end: its class has a table of what does each, and what stands beside that in every
dialect (errors, events that say nothing, unknown ones, how a turn opens and ends) is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from operator import length_hint
from typing import Any, ClassVar

import msgspec

from wholecall.deltas import Delta, TurnEnded, TurnOpened
from wholecall.dialects import report
from wholecall.dialects.decode import UNREADABLE, is_done, is_noise, payloads, plain, read
from wholecall.dialects.labels import name_label
from wholecall.dialects.restated import ended_together
from wholecall.dialects.unread import with_unread
from wholecall.framing.frame import Frame, Like, framed

__all__ = [
    "MOST_SLOTS",
    "EventView",
    "Events",
    "TextTranslator",
    "Translator",
    "TurnTranslator",
    "ViewTranslator",
    "frame_of",
]

Events = Mapping[Any, Callable[..., list[Delta]]]  # methods of a translator, by the kind of event

MOST_SLOTS = 128  # that a translator keeps of calls with alternating pieces


class Translator(ABC):
    """The translator of one stream; a dialect implements `translate`, and the rest where it has more to say.

    Its class annotates what it remembers of the stream, so that snapshots hold it; what is named in
    `DERIVED` is not kept but made again with the translator (see `wholecall.snapshots`).
    """

    DERIVED: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def translate(self, frame: Frame) -> list[Delta]:
        """Return what one frame says, in order; pieces of one call in a row may be one `Run`."""

    def told(self, frame: Frame) -> list[Delta]:
        """Return what one frame says of the stream: also that its turn ends with it, or that a call in it was not read."""
        return with_unread(ended_together(self.translate(frame)), frame, self.takes_silently)

    def takes_silently(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return whether the dialect says nothing of what looks like a call in this frame, and knows why."""
        return False

    @property
    def wrapped(self) -> Translator | None:
        """The translator that this one was made with, if there is one; snapshots hold what both remember."""
        return None

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Return what frames in a row say: the same as one by one, but with longer runs."""
        return [delta for frame in frames for delta in self.told(frame)]

    def translate_texts(self, texts: list[str], like: Like) -> list[Delta]:
        """Return what frames in a row say, given their texts and what else they are."""
        return self.translate_all(framed(texts, like))

    def lose(self) -> None:  # noqa: B027 - to most dialects it means nothing
        """Note that a frame was lost, which could have been any."""

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
            return self._read_by_lines(frame)
        return self._take(view, frame)

    def _read_by_lines(self, frame: Frame) -> list[Delta]:
        """Return the deltas of a frame that the typed decoder refuses."""
        lines = payloads(frame.data)
        if len(lines) > 1:  # of events without an end (quirk 55)
            return [delta for line in lines for delta in self.translate(Frame(frame.event, line))]
        return self._slowly(frame)

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


class TextTranslator(Translator):
    """A translator to which the text of nearly every frame says all: it implements `translate_texts`."""

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Return the deltas of frames in a row."""
        return self.translate_texts([frame.data for frame in frames], frames)

    @abstractmethod
    def translate_texts(self, texts: list[str], like: Like) -> list[Delta]:
        """Return the deltas of frames in a row, given as for every translator."""


def frame_of(texts: list[str], left: Iterator[str], like: Like) -> Frame:
    """Return the frame of the text that an iterator over all texts gave last."""
    at = len(texts) - length_hint(left) - 1
    return Frame(like.event, texts[at], like.id, like.retry) if isinstance(like, Frame) else like[at]


class EventView(msgspec.Struct, gc=False):
    """What the views of events share."""

    type: Any = None
    error: Any = None


class TurnTranslator(ViewTranslator):
    """A translator of messages that begin, say what they have to say, and end.

    A subclass has the `decoder` of its view, and in `EVENTS`, below its methods, what does each event. What no event's
    name says (a whole body, say) it reads in `_other`, and what one message leaves to the next it clears in `_clear`.

    Attributes:
        EVENTS: the methods that take a view, by the event's kind.
        QUIET: kinds of events that say nothing of calls or text.
        ERRORS: kinds of events, and names of frames, that are errors with all that they hold.
        AGAIN: how the kinds of events begin that only tell again what others tell of calls.
        DONE_ENDS: whether `[DONE]` ends the message that is open; else it is a relay's, and says nothing.
    """

    EVENTS: ClassVar[Events] = {}
    QUIET: ClassVar[frozenset[str]] = frozenset()
    ERRORS: ClassVar[frozenset[str]] = frozenset()
    AGAIN: ClassVar[tuple[str, ...]] = ()
    DONE_ENDS: ClassVar[bool] = False

    _key: str | None
    _open: bool
    _n_turns: int

    def __init__(self) -> None:
        self._key = None  # of the message that is open
        self._open = False
        self._n_turns = 0  # messages that began
        self._clear()

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether an event only tells calls again."""
        return any(f'"{kind}' in frame.data for kind in self.AGAIN)

    def _take(self, view: Any, frame: Frame, /) -> list[Delta]:
        if view.error:
            return self._fail(view.error)
        kind = self._kind(view, frame)
        event = self.EVENTS.get(kind)
        if event is not None:
            return event(self, view)
        failed = kind in self.ERRORS or frame.event in self.ERRORS
        return self._fail(plain(frame.data)) if failed else self._other(view, frame, kind)

    def _kind(self, view: Any, frame: Frame, /) -> str:
        """Return which event a view is: its type, else the name of the frame."""
        kind: object = view.type
        return kind if type(kind) is str else frame.event

    def _other(self, view: Any, frame: Frame, kind: str, /) -> list[Delta]:  # noqa: ARG002
        """Return what a view without an event of the table says: nothing, or that it is unknown."""
        quiet = kind in self.QUIET or kind == "ping" or is_noise(frame)
        return [] if quiet else report.unknown()

    def _fail(self, error: Any) -> list[Delta]:
        """Return the deltas of an error that the provider reports: it ends the stream in most dialects."""
        return report.error(error)

    def _opened(self, id_: str | None = None, model: object = None, *, repeats: bool = False) -> list[Delta]:
        """Begin a message, unless the open one continues: another id means another message.

        A view that `repeats` the end of the last message begins none.
        """
        goes_on = self._open and (id_ is None or self._key in (None, id_))
        return [] if goes_on or (repeats and self._n_turns) else self._begin(id_, model)

    def _begin(self, id_: str | None = None, model: object = None) -> list[Delta]:
        """Begin a message, whatever came before."""
        self._key, self._open = id_, True
        self._n_turns += 1
        self._clear()
        return [TurnOpened(id_, id_, name_label(model), restart=True)]

    def _clear(self) -> None:
        """Forget the state of the last message; some dialects have none."""

    def _end(self) -> list[Delta]:
        """End the message."""
        key, self._key, self._open = self._key, None, False
        return [TurnEnded(key)]

    def _done(self) -> list[Delta]:
        return self._end() if self.DONE_ENDS and self._open else []
