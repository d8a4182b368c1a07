"""The fast lane: one turn that is as its dialect documents it, from bytes to events in one pass.

Theory of operation. Most streams have nothing odd in them: one turn, dense indices, fresh ids, a name in the head of
each call, pieces for the latest call, one reason, one end. A lane reads such a stream with a few lists as its state,
and emits the same events as the machine (framing, translator, assembler). At any other input the lane gives up, and
takes nothing of the current read. Then a new machine takes the part of the stream that the lane has kept, and its
events are left out, because the lane has emitted them. The machine also takes the current read. Therefore the lane
copies no state and no rule of the machine: where the machine would have to decide something, the lane ends.

The lane keeps a *log*: frames that are not pieces are kept as they came, and a row of pieces is kept as its place in
the text (`rows`). The machine also continues a long text that comes in reads of many events, because it takes many
events at once.

Each dialect's lane is a subclass. Its `_texts` cuts the input into the texts of frames. `_more` reads the frames that
continue the same text, as most do, and `_act` takes their pieces. `_take` takes all other frames, and decides which
text continues after them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import repeat
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall.calls.arguments import ladder, placeholders, strict
from wholecall.calls.output.call_events import ArgumentsDelta, ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.calls.output.events import Event, ReasoningDelta, TextDelta, TurnFinished, TurnStarted
from wholecall.calls.output.turns import Reasoning, Turn
from wholecall.calls.tools.misfit import Coerced, Misfit
from wholecall.deltas import Delta, Piecewise, Run, UsageSeen
from wholecall.dialects import decode, reasons
from wholecall.framing.base import CR
from wholecall.framing.frame import Frame
from wholecall.machine.said import SaidText
from wholecall.stream.lanes import templates
from wholecall.stream.lanes.rows import (
    Entry,
    LaneCall,
    Place,
    Row,
    Source,
    Thought,
    content_of,
    size_of,
    something,
)
from wholecall.stream.lanes.texts import is_text, named_event
from wholecall.stream.lanes.words import CRLF, Asked, is_id, is_name
from wholecall.stream.payloads import is_of_fields, quick_text

_ODD: Final = (AttributeError, KeyError, TypeError, ValueError)  # of objects that differ from their class
# Bytes of an incomplete event, copied at each read: at least this many, and up to this multiple of the read's.
_LONGEST_FRAME: Final = 4096
_LONGEST_SHARE: Final = 64
# From this many pieces in one read, and this many reads with nothing else in them, the machine is faster: it takes many
# pieces at once.
_FULL: Final = 4
_MOST_FULL: Final = 2
_PLAIN: Final = frozenset({"stop", "length", "tool_calls"})  # reasons without further meaning
# Bytes of a read with the held bytes, or of a whole response; no limit of a lane's stream is less.
_LARGEST: Final = 262_144
_MOST_ARGUMENTS: Final = 65_536  # characters of all calls of a turn
_MOST_LOGGED: Final = 1_048_576  # characters of frames that are not pieces


def no_more(_lane: Lane, _text: str, _n: int) -> None:
    """Read no frame as a continuation of the text."""


def _no_piece(_payload: Any) -> None:
    """Return no piece: objects of this class are read as text."""


# A piece in an SDK's object: the wire's label of its text, the piece, and the event's number, or 0.
SdkPiece = tuple[Any, str, int]
# Functions of the class, so that no lane refers to itself. The first returns the piece in the text of a frame that
# continues the same text, perhaps an empty piece, and None for any other frame; its number counts the pieces before it
# that were not taken yet.
More = Callable[[Any, str, int], Union[str, None]]
# The second takes a piece, and returns whether it could.
Act = Callable[[Any, str, "list[Event[Any]]"], bool]


class Lane:
    """One turn of one choice, read in one pass.

    Attributes:
        dialect: its name.
        id, model: those of the answer.
        has_begun: the answer began.
        text: the text so far.
        thoughts: the blocks of reasoning.
        calls: in their order.
        reason, provider_reason: why it ended, None while that is not known.
        usage: the counts so far.
        framing: its framing's name.
        between: the bytes that end an event.
        held: bytes of an incomplete event; None where events come without their bytes.
        is_body: whether a whole response comes, in bytes; `body` holds its bytes so far.
        is_over: it was closed.
        room: how many bytes may still come, None if the stream has no limit of bytes.
    """

    dialect: ClassVar[str]
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
    _may_be_empty: ClassVar[bool]  # whether a call that ended without arguments has none

    # A lane has too many attributes for the compact form of an object with a dictionary.
    __slots__ = (
        *(
            "_act",
            "_anomalies",
            "_class",
            "_events",
            "_ids",
            "_is_counted",
            "_label",
            "_limits",
            "_log",
            "_mark",
        ),
        *(
            "_more",
            "_n_arguments",
            "_n_forgotten",
            "_n_full",
            "_n_logged",
            "_number",
            "_of",
            "_places",
            "_policy",
        ),
        *(
            "_prefix",
            "_read_object",
            "_shows",
            "_start",
            "_template",
            "_templates",
            "_tools",
            "between",
            "body",
        ),
        *("calls", "framing", "has_begun", "held", "id", "is_body", "is_over", "model", "provider_reason"),
        *("reason", "room", "text", "thoughts", "usage"),
    )

    def __init__(self, asked: Asked) -> None:
        self._policy, self._limits, self._tools, self._shows = asked
        self.framing, self.between, self._prefix = self.FRAMING, self._BETWEEN, self._PREFIX
        self.id: str | None = None
        self.model: str | None = None
        self.has_begun = False
        self.reason: Any = None  # a reason in our terms
        self.provider_reason: str | None = None
        self.text = SaidText()
        self.thoughts: list[Thought] = []
        self.calls: list[LaneCall] = []
        self.held: bytes | None = None
        self.is_body, self.body = False, b""
        self.usage: dict[str, Any] = {}
        self.is_over = False
        self.room = self._limits.max_stream_bytes
        self._anomalies: tuple[Any, ...] = ()
        self._ids: set[str] = set()
        self._events: list[Any] = []  # of calls that ended
        self._places: list[Place] = []  # where the parts of the answer began in the text
        self._n_arguments = self._n_logged = self._n_forgotten = 0
        self._log: list[Entry] = []
        self._of: Source = self.text  # the text of the current pieces, and the first of them not in the log
        self._label: Any = None
        self._start = 0
        self._more: More = no_more
        self._act: Act = Lane.say
        self._number = self._n_full = 0
        self._template: templates.Template | None = None  # of the frames that continue the text
        self._templates = templates.Templates()
        self._class: type | None = None  # of the last object, and the function that reads pieces in it
        self._read_object: Callable[[Any], SdkPiece | None] = _no_piece
        self._is_counted = False  # counts came with these pieces
        self._mark: tuple[int, list[Entry]] = (0, [])

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
                self._number += self._is_numbered
                self.held = rest
                if self._is_repeating and piece and (template is not None or not self._templates.waits(1)):
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
        if last and self._is_repeating and (self._template or not self._templates.waits(n_pieces)):
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
        self._number += self._is_numbered * len(pieces)
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
        self._number += self._is_numbered
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
        is_next = label == self._label and number == self._number
        if not is_next or not is_text(text) or not self._act(self, text, events):
            return None
        self._number += self._is_numbered
        return events

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
        self._number += self._is_numbered
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

    # The log.

    def _keep(self, frame: Frame) -> bool:
        """Put a frame that is not a piece into the log; return False if the log holds too much."""
        if self._more is not no_more:
            self._log += self._rows()
            self._more = no_more
            self._template = None
        self._log.append(frame)
        self._n_logged += len(frame.data)
        return self._n_logged <= _MOST_LOGGED

    def _goes_on(self, of: Source, label: Any, more: More, act: Act) -> None:
        """Let the pieces that follow continue a text, as `more` reads and `act` takes them."""
        self._more, self._of, self._label, self._act = more, of, label, act
        self._start, self._is_counted = size_of(of), False
        self._templates.begin()

    def _open_turn(self, id: str | None, model: str | None, events: list[Event[Any]]) -> None:
        self.id, self.model, self.has_begun = id, model, True
        events.append(TurnStarted(0, 0, self.dialect, id, model))

    def run(self, row: Row, translator: Any) -> list[Delta]:
        """Return the translator's deltas for a row of pieces, which follow the frames that it has translated."""
        counts: list[Delta] = [] if row.counts is None else [UsageSeen(row.counts)]
        return [Run(self._in_common(row, translator), row.texts), *counts]

    @abstractmethod
    def _in_common(self, row: Row, translator: Any, /) -> Piecewise:
        """Return the common part of the pieces as a delta, as the translator makes it."""

    def kept(self) -> list[Entry]:
        """Return the log as it was before the current read, or at the last `mark`, in its order."""
        n, rows = self._mark
        return self._log[:n] + rows

    def mark(self) -> None:
        """Put all input so far into the log."""
        self._mark = len(self._log), [] if self._more is no_more else self._rows()

    def _rows(self) -> list[Entry]:
        """Return the pieces that are not in the log yet, as one row, or none."""
        end = size_of(self._of)
        counts = dict(self.usage) if self._is_counted else None
        row = Row(self._of, self._label, self._start, end, self._number, counts)
        return [row] if row.start < end else []

    def forget(self) -> None:
        """Forget the text so far: its rows only record that there was some."""
        if not self._log:
            return
        if self._more is not no_more:
            self._log += self._rows()
        log = self._log
        for place in range(self._n_forgotten, len(log)):
            entry = log[place]
            if isinstance(entry, Row) and isinstance(entry.of, SaidText):
                log[place] = entry._replace(of=something(), start=0, end=1)
        log.append(None)
        self._n_forgotten = len(log)
        self.text.clear()
        for thought in self.thoughts:
            thought.forget()
        told, waiting = ([one for one in self.thoughts if bool(one) is told] for told in (True, False))
        self.thoughts = told[-1:] + waiting[-1:]
        self._places = [(0, one) for one in waiting[-1:]]
        self._goes_on(self._of, self._label, self._more, self._act)

    def count(self, counts: dict[str, Any]) -> None:
        """Take counts of tokens that came with a piece."""
        self.usage.update(counts)
        self._is_counted = True

    # Speech.

    def say(self, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of text."""
        self.text.add(text)
        if self._shows:
            events.append(TextDelta(0, 0, text))
        return True

    def think(self, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of the latest block of reasoning."""
        self.thoughts[-1].add(text)
        if self._shows:
            events.append(ReasoningDelta(0, 0, text))
        return True

    def _says(self, text: str, events: list[Event[Any]], label: Any, more: More) -> None:
        """Take a piece of text in a frame that has further members, and let other pieces follow."""
        self.say(text, events)
        self._goes_on(self.text, label, more, Lane.say)

    def _thinks(self, text: str, events: list[Event[Any]], label: Any, more: More) -> None:
        """Take a piece of reasoning in such a frame, where all reasoning is one block."""
        if not self.thoughts:
            self._begin_thought()
        self.think(text, events)
        self._goes_on(self.thoughts[0], label, more, Lane.think)

    def say_all(self, pieces: list[str], events: list[Event[Any]]) -> bool:
        """Take pieces of text."""
        self.text.add("".join(pieces))
        if self._shows:
            events += map(partial(TextDelta, 0, 0), pieces)
        return True

    def think_all(self, pieces: list[str], events: list[Event[Any]]) -> bool:
        """Take pieces of the latest block of reasoning."""
        self.thoughts[-1].add("".join(pieces))
        if self._shows:
            events += map(partial(ReasoningDelta, 0, 0), pieces)
        return True

    def _begin_thought(self) -> Thought:
        thought = Thought()
        self._places.append((self.text.size, thought))
        self.thoughts.append(thought)
        return thought

    # Calls.

    def _begin(self, id: str | None, name: str, extra: dict[str, Any] | None = None) -> LaneCall | None:
        """Begin a call; return None if there are too many, if its labels are odd or taken, or if no tool has its name."""
        most, tools, calls = self._limits.max_calls, self._tools, self.calls
        n = len(calls)
        public = id or f"call_0_0_{n}"
        if public in self._ids or not is_name(name) or (id and not is_id(id)):
            return None
        if (most is not None and n >= most) or (tools is not None and name not in tools):
            return None
        if n:
            self._n_arguments += calls[-1].size
        call = LaneCall(n, id, name, extra)
        self._places.append((self.text.size, call))
        self._ids.add(public)
        calls.append(call)
        return call

    def _take_whole_call(
        self, id: str | None, name: str, extra: dict[str, Any] | None, text: str, events: list[Event[Any]]
    ) -> bool:
        """Take a call that comes in one frame, and emit it; return False if it is odd."""
        call = self._begin(id, name, extra)
        if call is None or len(text) + self._n_arguments > _MOST_ARGUMENTS:
            return False
        call.add(text)
        events.append(ToolCallStarted(0, 0, call.index, id, name, "function"))
        if self._shows:
            events.append(ArgumentsDelta(0, 0, call.index, text))
        self._more = no_more
        return self._emit(call, text, events)

    def argue(self, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of the latest call's text; return False if it could be more than a piece, or is too long."""
        call = self.calls[-1]
        size = call.size
        if not size:
            events.append(ToolCallStarted(0, 0, call.index, call.id, call.name, "function"))
        elif text[0] == "{" and (
            not placeholders.PLACEHOLDER_SIZE < size > len(text) or call.end == self._start
        ):
            return False
        if size + len(text) + self._n_arguments > _MOST_ARGUMENTS:
            return False
        call.add(text)
        if self._shows:
            events.append(ArgumentsDelta(0, 0, call.index, text))
        return True

    def argue_all(self, pieces: list[str], events: list[Event[Any]]) -> bool:
        """Take pieces of the latest call's text; return False, and take none, if one could be more than a piece."""
        call, text = self.calls[-1], "".join(pieces)
        is_plain = call.size and ("{" not in text or "{" not in {piece[0] for piece in pieces})
        if not is_plain or call.size + len(text) + self._n_arguments > _MOST_ARGUMENTS:
            return False
        call.add_all(pieces, text)
        if self._shows:
            events += map(partial(ArgumentsDelta, 0, 0, call.index), pieces)
        return True

    def _take_calls(
        self,
        wanted: Iterable[tuple[str, str, str]],
        events: list[Event[Any]],
        extras: Iterable[dict[str, Any] | None] = repeat(None),
    ) -> bool:
        """Take calls that a whole response lists, by their ids, names and texts: all begin, then each is emitted."""
        begun: list[tuple[LaneCall, str]] = []
        for (id, name, text), extra in zip(wanted, extras, strict=False):
            call = self._begin(id, name, extra)
            if call is None or decode.is_blank(text):
                return False
            begun.append((call, text))
            events.append(ToolCallStarted(0, 0, call.index, id, name, "function"))
        for call, text in begun:
            call.add(text)
            self._n_arguments += len(text)
            if self._shows:
                events.append(ArgumentsDelta(0, 0, call.index, text))
            if self._n_arguments > _MOST_ARGUMENTS or not self._finish([call], events):
                return False
        return True

    def _finish(self, calls: Sequence[LaneCall], events: list[Event[Any]]) -> bool:
        """Emit calls that ended; return False if one of them is not whole, or does not fit its tool."""
        for call in calls:
            if not call.size:
                events.append(ToolCallStarted(0, 0, call.index, call.id, call.name, "function"))
            if not self._emit(call, call.text, events):
                return False
        return True

    def _emit(self, call: LaneCall, raw: str, events: list[Event[Any]]) -> bool:
        """Emit a call that ended, of which this is the text; return False as above."""
        typed: Any = msgspec.UNSET
        read = strict.read_strict(raw or "{}", self._policy, self._limits)
        value, tools = read.value, self._tools
        if type(value) is not dict or read.flags or not (value or self._may_be_empty):
            return False
        check = None if tools is None else tools.check_of(call.name)
        if check is not None and isinstance(typed := check(value), (Misfit, Coerced)):
            return False
        id, index = call.id, call.index
        event: ToolCall[Any] = ToolCall(
            *(0, 0, index, id or f"call_0_0_{index}", call.name, value, raw),
            "exact" if raw else "empty",
            flags=() if id else ("id_generated",),
            extra=call.extra,
            typed=typed,
        )
        self._events.append(event)
        events.append(event)
        return True

    # The end.

    def _take_reason(self, raw: str, *, called: bool) -> bool:
        """Take the reason of the end; return False if it is not a plain reason, or is about calls that did not come."""
        known = reasons.turn_reason(raw)
        if known is None or known[0] not in _PLAIN or (known[0] == "tool_calls") != called:
            return False
        self.reason, self.provider_reason = known
        self._more = no_more
        self._template = None
        return True

    def close(self) -> list[Event[Any]] | None:
        """Return the last events, None if the end is odd."""
        self.mark()
        if self.body:
            return self._close_body()
        n = len(self._events)
        cut = self.calls[n:]
        if self.held or not self.has_begun or (cut and not all(call.size for call in cut)):
            return None
        self.is_over = True
        if not cut or self.reason is not None:
            return [self._finished()]
        self._events += map(self._cut, cut)
        return [*self._events[n:], self._finished()]

    def _close_body(self) -> list[Event[Any]] | None:
        body = self.body
        events = self._take_body(body)
        last = None if events is None else self.close()
        if events is None or last is None:
            self.held = body
            return None
        return events + last

    def _cut(self, call: LaneCall) -> Event[Any]:
        raw = call.text
        verdict = ladder.read_arguments(raw, "open", self._policy, self._limits)
        assert verdict.reason is not None
        return ToolCallDropped(
            0, 0, call.index, call.id, call.name, "function", raw, verdict.reason, verdict.detail
        )

    def _finished(self) -> TurnFinished:
        n, usage = len(self._events), dict(self.usage) or None
        if self.reason is not None:
            return TurnFinished(0, 0, self.reason, self.provider_reason, n, 0, usage, self._anomalies)
        n_dropped = sum(type(event) is ToolCallDropped for event in self._events)
        n -= n_dropped
        reason: Any = "tool_calls" if n else "malformed" if n_dropped else "unknown"
        return TurnFinished(0, 0, reason, None, n, n_dropped, usage, ("missing_finish",))

    @property
    def turn(self) -> Turn[Any]:
        """The finished turn."""
        finished = self._finished()
        return Turn(
            self.dialect,
            self.id,
            self.model,
            self.text.text,
            Reasoning(tuple(thought.seen() for thought in self.thoughts if thought)),
            tuple(event for event in self._events if type(event) is ToolCall),
            dropped=tuple(event for event in self._events if type(event) is ToolCallDropped),
            reason=finished.reason,
            provider_reason=finished.provider_reason,
            usage=finished.usage,
            anomalies=finished.anomalies,
            content=tuple(content_of(self._places, self.text.text)),
        )


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


# The functions that take several pieces or none, by the function that takes one.
AT_ONCE: Final[Mapping[Act, Callable[[Any, list[str], list[Any]], bool]]] = {
    Lane.say: Lane.say_all,
    Lane.think: Lane.think_all,
    Lane.argue: Lane.argue_all,
}
