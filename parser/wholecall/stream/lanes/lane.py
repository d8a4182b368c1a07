"""The fast lane: one turn that is as its dialect documents it, from bytes to events in one pass.

Theory of operation. Most streams have nothing odd in them: one turn, dense indices, fresh ids, a name in the head of
each call, pieces for the latest call (in Responses for the one that their labels name), one reason, one end. A lane
reads such a stream with a few lists as its state, and emits the same events as the machine (framing, translator,
assembler). At any other input the lane gives up, and takes nothing of the current read. Then a new machine takes the
part of the stream that the lane has kept, and its events are left out, because the lane has emitted them. The machine
also takes the current read. Therefore the lane copies no state and no rule of the machine: where the machine would have
to decide something, the lane ends.

The lane keeps a *log*: frames that are not pieces are kept as they came, and a row of pieces is kept as its place in
the text (`rows`, `answer`); pieces of several calls that take turns are kept as they came. The machine also continues
a long text that comes in reads of many events, because it takes many events at once.

Each dialect's lane is a subclass. Its `_texts` cuts the input into the texts of frames. `_more` reads the frames that
continue the same text, as most do, and `_act` takes their pieces. `_take` takes all other frames, and decides which
text continues after them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, ClassVar, Final

from wholecall.calls.output.events import Event
from wholecall.framing.base import CR
from wholecall.framing.frame import Frame
from wholecall.stream.lanes import templates
from wholecall.stream.lanes.answer import AT_ONCE, Answer, no_more
from wholecall.stream.lanes.rows import LaneCall, size_of
from wholecall.stream.lanes.texts import is_text, named_event
from wholecall.stream.lanes.words import CRLF, Asked
from wholecall.stream.payloads import is_of_fields, quick_text

_ODD: Final = (AttributeError, KeyError, TypeError, ValueError)  # of objects that differ from their class
# Bytes of an incomplete event, copied at each read: at least this many, and up to this multiple of the read's.
_LONGEST_FRAME: Final = 4096
_LONGEST_SHARE: Final = 64
# From this many pieces in one read, and this many reads with nothing else in them, the machine is faster: it takes many
# pieces at once.
_FULL: Final = 4
_MOST_FULL: Final = 2
# Characters from the middle of a first read in which all events have one name: they are pieces of one text, then.
_ROW: Final = 16_384
# Bytes of a read with the held bytes, or of a whole response; no limit of a lane's stream is less.
_LARGEST: Final = 262_144


def _is_row(block: str) -> bool:
    """Return whether all events in the middle of a read have one name."""
    half = len(block) // 2
    _, *events = block[half : half + _ROW].split("\n\n")
    return len({event[: event.find("\n")] for event in events[:-1]}) == 1


def _no_piece(_payload: Any) -> None:
    """Return no piece: objects of this class are read as text."""


# A piece in an SDK's object: the wire's label of its text, the piece, and the event's number, or 0.
SdkPiece = tuple[Any, str, int]


class Lane(Answer):
    """One turn of one choice, read in one pass.

    Attributes:
        framing: its framing's name.
        between: the bytes that end an event.
        held: bytes of an incomplete event; None where events come without their bytes.
        is_body: whether a whole response comes, in bytes; `body` holds its bytes so far.
        is_over: it was closed.
        room: how many bytes may still come, None if the stream has no limit of bytes.
    """

    FRAMING: ClassVar[str] = "sse"  # usually, and the bytes that usually end an event
    _BETWEEN: ClassVar[bytes] = b"\n\n"
    _PREFIX: ClassVar[str]  # the bytes before the data of a piece, at first; may be empty
    _begins: ClassVar[bytes]  # the beginning of an event, and the number of its lines
    _n_lines: ClassVar[int]
    _is_numbered: ClassVar[bool] = False
    _is_repeating: ClassVar[bool] = False  # the frames of a text usually differ in nothing but the piece
    _has_rows: ClassVar[bool] = False  # it decodes the pieces of a read at once: see `_take_row`
    # Functions that read the pieces in an SDK's objects by their attributes, as the narrow views read them in text.
    _READERS: ClassVar[Mapping[str, Callable[[Any], SdkPiece | None]]] = {}

    __slots__ = (
        *("_class", "_n_full", "_prefix", "_read_object", "_repeats", "_step", "between", "body", "framing"),
        *("held", "is_body", "is_over", "room"),
    )

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.framing, self.between, self._prefix = self.FRAMING, self._BETWEEN, self._PREFIX
        self._step, self._repeats = (
            int(self._is_numbered),
            self._is_repeating,
        )  # found faster than in the class
        self.held: bytes | None = None
        self.is_body, self.body = False, b""
        self.is_over = False
        self.room = self._limits.max_stream_bytes
        self._n_full = 0
        self._class: type | None = None  # of the last object, and the function that reads pieces in it
        self._read_object: Callable[[Any], SdkPiece | None] = _no_piece

    @classmethod
    def of(cls, asked: Asked) -> Lane:
        """Return a lane for a stream; only a stream with a limit of bytes pays for counting them."""
        kind: Any = cls
        made: type[Lane] = cls if asked.limits.max_stream_bytes is None else _bounded(kind)
        return made(asked)

    # Bytes.

    def feed(self, data: bytes) -> list[Event[Any]] | None:
        """Take the next bytes, and return the events that they cause; None, and take nothing, if anything is odd."""
        n = len(data)
        if self.held:
            data = self.held + data
        elif self.held is None:
            self.mark()
            return self._feed_body(data) if self.is_body else None
        if len(data) > _LARGEST:
            self.mark()
            return None
        block, end, rest = data.rpartition(self.between)
        try:
            text = block.decode()
        except UnicodeDecodeError:
            text = "\r"
        events: list[Event[Any]] = []
        if (
            (template := self._template) is not None
            and text.startswith(template.head)
            and text.endswith(template.tail)
            and (not rest or self._is_held(rest, n))
            and self._take_content(template, text[template.start : template.end], events)
        ):
            self.held = rest
            return events  # as most pieces come
        first = text.removeprefix(self._prefix)
        is_one = len(first) != len(text) or (not self._prefix and text)
        if is_one and not rest and "\n" not in first and "\r" not in first:
            more = self._more
            piece = None if more is no_more else more(self, first, 0)
            if piece is not None and (not piece or self._act(self, piece, events)):
                self._number += self._step
                self.held = rest
                if self._repeats and piece and (template is not None or not self._templates.waits(1)):
                    self._learn(first, piece)
                return events  # nearly always, where each event comes alone
            self.mark()
            taken = self._take(self._frame(first), events)
        elif self._has_rows and (not rest or self._is_held(rest, n)) and self._take_row(text, events):
            self.held = rest
            return events
        else:
            self.mark()
            text = text.replace("\r\n", "\n") if self.between == CRLF else text
            odd = "\r" in text or (rest and not self._is_held(rest, n))
            taken = not odd and self._take_all(text if end else "", events)
        if not taken:
            return None
        self.held = rest
        return events

    def _take_row(self, _block: str, _events: list[Event[Any]]) -> bool:
        """Take whole events at once if all of them continue the same text; else take none of them, and return False."""
        return False

    def _take_all(self, block: str, events: list[Event[Any]]) -> bool:
        """Take whole events; return False if one of them is odd, or if the machine reads such input faster."""
        if self._n_lines > 1 and not block.startswith(self._prefix) and (frame := named_event(block)):
            return self._take(frame, events)
        if self._n_lines > 1 and len(block) > 2 * _ROW and not self._log and _is_row(block):
            return False
        texts = self._texts(block) if block else ()
        if texts is None or self._n_full >= _MOST_FULL:
            return False
        pieces: list[str] = []
        n, n_logged, text = 0, len(self._log), ""
        for n, text in enumerate(texts, 1):  # noqa: B007 - the last ones are asked for
            piece = self._more(self, text, len(pieces)) if text[:1] == "{" else None
            if piece:
                pieces.append(piece)
            elif piece is None and not (
                self._take_pieces(pieces, events) and self._take(self._frame(text), events)
            ):
                return False
        n_pieces, last = len(pieces), pieces[-1] if pieces else ""
        if not self._take_pieces(pieces, events):
            return False
        if last and self._repeats and (self._template or not self._templates.waits(n_pieces)):
            self._learn(text, last)
        is_full = n >= _FULL and len(self._log) == n_logged
        self._n_full += is_full and self._template is None and not self._has_rows
        return True

    def _learn(self, text: str, piece: str) -> None:
        """Choose the template of the text, after this piece of it was decoded."""
        read = self._more
        event = templates.Event(self._prefix, text, piece, lambda data: read(self, data, 0))
        self._template = self._templates.next(self._template, event, size_of(self._of))

    def _take_content(self, template: templates.Template, content: str, events: list[Event[Any]]) -> bool:
        """Take one event or several that have a template, by the text between the first head and the last tail.

        Take none of them, and return False, if one is odd.
        """
        if template.is_bare and '"' not in content and "\\" not in content and content.isprintable():
            return bool(content) and self._act(self, content, events)
        if "\n" not in content:
            piece = template.piece(content)
            return bool(piece) and self._act(self, piece or "", events)
        pieces = template.pieces(content)
        return pieces is not None and AT_ONCE[self._act](self, pieces, events)

    def _take_pieces(self, pieces: list[str], events: list[Event[Any]]) -> bool:
        """Take pieces of the same text, and clear their list; return False if one of them is odd."""
        taken = (
            not pieces
            or AT_ONCE[self._act](self, pieces, events)
            or all(self._act(self, piece, events) for piece in pieces)
        )
        self._number += self._step * len(pieces)
        pieces.clear()
        return taken

    def _feed_body(self, data: bytes) -> list[Event[Any]] | None:
        """Hold the bytes of a whole response; take it when a line has ended, with nothing after it."""
        body = self.body + data
        if not (self._log or (self.body and data.strip())) and len(body) <= _LARGEST:
            if not body.endswith((b"\n", b"\r")):
                self.body = body
                return []
            events = self._take_body(body)
            if events is not None:
                return events
        self.held, self.framing = self.body, "jsonl"
        return None

    def _take_body(self, body: bytes) -> list[Event[Any]] | None:
        try:
            text = body.strip().decode()
        except UnicodeDecodeError:
            return None
        events: list[Event[Any]] = []
        if not self._take(Frame("", text), events):
            return None
        self.body = b""
        return events

    def feed_frames(self, frames: Iterable[Frame]) -> list[Event[Any]] | None:
        """Take frames that came without their bytes, as `feed` takes bytes."""
        self.mark()
        events: list[Event[Any]] = []
        taken = self.held is None and all(self._take_frame(frame, events) for frame in frames)
        return events if taken else None

    def _take_frame(self, frame: Frame, events: list[Event[Any]]) -> bool:
        """Take a frame, whether it is a piece or not; return False if it is odd."""
        piece = self._more(self, frame.data, 0)
        if piece is None or (piece and not self._act(self, piece, events)):
            return self._take(frame, events)
        self._number += self._step
        return True

    def feed_object(self, payload: Any) -> list[Event[Any]] | None:
        """Take a dict, or an SDK's object; None, and take nothing, if it does not continue the same text."""
        if type(payload) is dict:
            return self._feed_dict(payload)
        if type(payload) is not self._class:
            self._read_objects_of(type(payload))
        try:
            piece = self._read_object(payload)
        except _ODD:
            return None
        if piece is None or self._more is no_more or self.held is not None:
            return None
        label, text, number = piece
        events: list[Event[Any]] = []
        is_next = number == self._number and (label == self._label or self._turns_to(label))
        if not is_next or not is_text(text) or not self._act(self, text, events):
            return None
        self._number += self._step
        return events

    def _turns_to(self, _label: Any) -> bool:
        """Return whether a piece with this label continues another text that is open, and let it."""
        return False

    def _feed_dict(self, payload: dict[str, Any]) -> list[Event[Any]] | None:
        if self._more is no_more or self.held is not None:
            return None
        text, events = quick_text(payload), list[Any]()
        was_counted, self._is_counted = self._is_counted, False
        piece = None if text is None else self._more(self, text, 0)
        is_odd = text is None or (self._is_counted and "null" in text)  # which may be a count that is NaN
        self._is_counted = self._is_counted or was_counted
        if piece is None or is_odd or (piece and not self._act(self, piece, events)):
            return None
        self._number += self._step
        return events

    def _read_objects_of(self, cls: type) -> None:
        """Choose the function that reads objects of a class: its reader by name, if its fields were on the wire.

        No SDK is imported.
        """
        read = self._READERS.get(cls.__name__)
        self._class, self._read_object = cls, read if read is not None and is_of_fields(cls) else _no_piece

    def _is_held(self, rest: bytes, n_read: int) -> bool:
        """Return whether the beginning of an event may wait for its end, after a read of so many bytes."""
        lines = rest
        if self.between == CRLF:
            lines = rest.replace(b"\r\n", b"\n")
            if lines.find(b"\n\n") >= 0:
                return False
        end = lines.find(b"\n", lines.find(b"\n") + 1 if self._n_lines > 1 else 0)  # counting would be slow
        if 0 <= end < len(lines) - 1 or CR in lines:
            return False
        n = len(rest)
        return rest.startswith(self._begins[:n]) and (n <= _LONGEST_FRAME or n <= _LONGEST_SHARE * n_read)

    @abstractmethod
    def _texts(self, block: str, /) -> Iterable[str] | None:
        """Return the texts of the frames of whole events, None if one of them is of another form."""

    @abstractmethod
    def _frame(self, text: str, /) -> Frame:
        """Return the frame of a text that `_texts` gave."""

    @abstractmethod
    def _take(self, frame: Frame, events: list[Event[Any]], /) -> bool:
        """Take a frame that does not continue the same text, and add its events; return False if it is odd."""

    # The end.

    def close(self) -> list[Event[Any]] | None:
        """Return the last events, None if the end is odd."""
        self.mark()
        if self.body:
            return self._close_body()
        n = len(self._events)
        cut = self._unended() if n < len(self.calls) else []
        if self.held or not self.has_begun or (cut and not all(call.size for call in cut)):
            return None
        self.is_over = True
        if not cut or self.reason is not None:
            return [self._finished()]
        self._events += map(self._cut, cut)
        return [*self._events[n:], self._finished()]

    def _unended(self) -> list[LaneCall]:
        """Return the calls that did not end."""
        ended = {event.index for event in self._events}
        return [call for call in self.calls if call.index not in ended]

    def _close_body(self) -> list[Event[Any]] | None:
        body = self.body
        events = self._take_body(body)
        last = None if events is None else self.close()
        if events is None or last is None:
            self.held = body
            return None
        return events + last


class _Bounded(Lane):
    """A lane of a stream that has a limit of bytes; it precedes the dialect's class among the bases of a class."""

    __slots__ = ()

    room: int

    def feed(self, data: bytes) -> list[Event[Any]] | None:
        """Take the next bytes, as every lane does; None, and take nothing, if they are too many."""
        room = self.room - len(data)
        if room < 0:
            self.mark()
            return None
        events = super().feed(data)
        if events is not None:
            self.room = room
        return events


@cache
def _bounded(lane: Any) -> type[Lane]:
    return type(f"Bounded{lane.__name__}", (_Bounded, lane), {"__slots__": ()})
