"""Base classes of translators, which turn the frames of one stream into deltas.

Theory of operation. There are three classes, each of which knows more about frames. A `Translator` is given frames of
any kind. A `ViewTranslator` is given views: frames that are JSON objects of one shape. A `TurnTranslator` is given
events of messages that begin and end: its class has a table of the methods for events, and the parts that every dialect
shares (errors, quiet events, unknown ones, how a turn opens and ends) are here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from operator import length_hint
from typing import Any, ClassVar

import msgspec

from wholecall.deltas import Delta, TurnEnded, TurnOpened, by_transport
from wholecall.dialects import decode, labels, report, unread
from wholecall.dialects.hidden_text import Pieces
from wholecall.framing.frame import Frame, Like, framed

Events = Mapping[Any, Callable[..., list[Delta]]]  # methods of a translator, by the kind of event

MOST_SLOTS = 128  # slots that a translator keeps of calls with alternating pieces


class Translator(ABC):
    """The translator of one stream; a dialect implements `translate`, and other methods where it needs them.

    Its class annotates its state of the stream, so that snapshots hold it; names in `DERIVED` are not kept but made
    again with the translator (see `wholecall.stream.snapshots`).
    """

    DERIVED: ClassVar[frozenset[str]] = frozenset()
    PIECES: ClassVar[Pieces] = {}  # of a call's text, which are lost without the member for it

    @abstractmethod
    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame, in order; pieces of one call in a row may be one `Run`."""

    def told(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame, and its effect: the end of its turn, or that a call in it was not read."""
        told = report.ended_together(self.translate(frame))
        return unread.with_unread(told, frame, self.takes_silently, self.PIECES)

    def takes_silently(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return whether the dialect deliberately reports nothing of a possible call in this frame."""
        return False

    @property
    def wrapped(self) -> Translator | None:
        """The translator that this one was made with, if there is one; snapshots hold the state of both."""
        return None

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Return the deltas of frames in a row: the same as one by one, but with longer runs."""
        return [delta for frame in frames for delta in self.told(frame)]

    def translate_texts(self, texts: list[str], like: Like) -> list[Delta]:
        """Return the deltas of frames in a row, given their texts and their other attributes."""
        return self.translate_all(framed(texts, like))

    def lose(self) -> None:  # noqa: B027 - to most dialects it means nothing
        """Note that a frame was lost, which could have been any."""

    def close(self) -> list[Delta]:
        """Return the deltas of the end of the stream: none in most dialects."""
        return []


class ViewTranslator(Translator):
    """A translator of frames that are JSON objects of one shape.

    A subclass has the `decoder` of its view, and returns from `_take` the deltas of one view. Frames that the typed
    decoder refuses are read the tolerant way; unreadable frames are faults.
    """

    decoder: ClassVar[msgspec.json.Decoder[Any]]

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        try:
            view = self.decoder.decode(frame.data)
        except decode.UNREADABLE:
            return self._read_by_lines(frame)
        return self._take(view, frame)

    def _read_by_lines(self, frame: Frame) -> list[Delta]:
        """Return the deltas of a frame that the typed decoder refuses."""
        lines = decode.payloads(frame.data)
        if len(lines) > 1:  # of events without an end (quirk 55)
            return [delta for line in lines for delta in self.told(Frame(frame.event, line))]
        return self._slowly(frame)

    def _slowly(self, frame: Frame) -> list[Delta]:
        if decode.is_done(frame.data):  # proxies add it to streams of any dialect
            return self._done()
        views, texts, deltas = decode.read(self.decoder, frame)
        if deltas:
            self.lose()
        for view, text in zip(views, texts, strict=True):
            deltas += self._take(view, Frame(frame.event, text))
        return deltas

    @abstractmethod
    def _take(self, view: Any, frame: Frame, /) -> list[Delta]:
        """Return the deltas of one view."""

    def _done(self) -> list[Delta]:
        """Return the deltas of `[DONE]`: none where the dialect has its own end."""
        return []


class TextTranslator(Translator):
    """A translator that needs only the text of nearly every frame: it implements `translate_texts`."""

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
    """The shared fields of the views of events."""

    type: Any = None
    error: Any = None


class TurnTranslator(ViewTranslator):
    """A translator of messages that begin, have content, and end.

    A subclass has the `decoder` of its view, and in `EVENTS`, below its methods, the method of each event. Views
    without an event's name (a whole body, say) are read in `_other`, and state that one message leaves to the next is
    cleared in `_clear`.

    Attributes:
        EVENTS: the methods that take a view, by the event's kind.
        KINDS: the members that may name an event's kind, else the frame's name does.
        QUIET: kinds of events without calls or text.
        ERRORS: kinds of events, and names of frames, that are errors with all their content.
        FAILURES: kinds of events that end a message with an error, which their methods report.
        AGAIN: the first words of the kinds of events that only repeat other events' content of calls.
        DONE_ENDS: whether `[DONE]` ends the message that is open; else it is a relay's, and means nothing.
    """

    EVENTS: ClassVar[Events] = {}
    KINDS: ClassVar[tuple[str, ...]] = ("type",)
    QUIET: ClassVar[frozenset[str]] = frozenset()
    ERRORS: ClassVar[frozenset[str]] = frozenset()
    FAILURES: ClassVar[frozenset[str]] = frozenset()
    AGAIN: ClassVar[tuple[str, ...]] = ()
    DONE_ENDS: ClassVar[bool] = False

    _key: str | None
    _open: bool
    _n_turns: int

    def __init__(self) -> None:
        self._key = None  # the key of the open message
        self._open = False
        self._n_turns = 0  # messages that began
        self._clear()

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether an event only repeats calls."""
        return any(f'"{kind}' in frame.data for kind in self.AGAIN)

    def _take(self, view: Any, frame: Frame, /) -> list[Delta]:
        kind = self._kind(view, frame)
        if view.error and kind not in self.FAILURES:
            return self._fail(view.error)
        event = self.EVENTS.get(kind)
        if event is not None:
            return event(self, view)
        failed = kind in self.ERRORS or frame.event in self.ERRORS
        return self._fail(decode.plain(frame.data)) if failed else self._other(view, frame, kind)

    def _kind(self, view: Any, frame: Frame, /) -> str:
        """Return which event a view is: the first of `KINDS` that is a word, else the name of the frame."""
        for member in self.KINDS:
            kind: object = getattr(view, member)
            if type(kind) is str and kind:
                return kind
        return frame.event

    def _other(self, view: Any, frame: Frame, kind: str, /) -> list[Delta]:  # noqa: ARG002
        """Return the deltas of a view without an event of the table: none, or that it is unknown."""
        quiet = kind in self.QUIET or kind == "ping" or decode.is_noise(frame)
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
        """Begin a message, after any earlier one."""
        self._key, self._open = id_, True
        self._n_turns += 1
        self._clear()
        return [TurnOpened(id_, id_, labels.name_label(model), restart=True)]

    def _clear(self) -> None:
        """Forget the state of the last message; some dialects have none."""

    def _end(self) -> list[Delta]:
        key, self._key, self._open = self._key, None, False
        return [TurnEnded(key)]

    def _done(self) -> list[Delta]:
        return by_transport(self._end()) if self.DONE_ENDS and self._open else []
