"""A stream as a timeline: the bytes of each frame, its events, and its effect on each call.

Theory of operation
-------------------
A `Timeline` cuts its stream into pieces. It feeds its parser piece by piece, and a separate framing next to it: the
framing gives the frames, the parser the events, and `CallWatch` the changes of the calls. A step is a frame with all
its effects. The steps follow each other without a gap: bytes that are part of no frame (comments, blank lines, commas)
belong to the step after them. Where a fault came without a frame, the step shows the bytes. The last step is the end of
the stream: everything that only the end decided, with the frame that it completed, if there is one; the body of a
response that is one JSON object without a line end is such a frame.

Only the framing knows where a frame ends: it returns the frame then. Therefore the stream is cut where a frame *can*
end, and a returned frame belongs to the bytes up to there. Too many cuts do no harm, because no framing depends on how
its bytes are cut. There are three kinds of pieces. A frame can end with an `end`: the rest of a line and its
terminator, a closing bracket, a whole binary message. A frame can only end before a `head`: the first bytes of a line,
because a new line ends a cut JSON value, and a comma or an opening bracket, which end a word. Everything between is
`open`, and decides nothing. The cuts of the input change only the open pieces; a frame has the same bytes for every cut
of the stream. For this reason a CR at the end of the bytes so far waits for the LF that may belong to it. All bytes
that remain at the end belong to the frames that only the end of the stream completes.

The events are those of a plain parse, because a parser does not depend on how its input is cut. The parser's own code
is not changed. Nothing here does I/O or reads a clock; the caller passes the times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Protocol

import msgspec

from wholecall.calls.output.events import Event
from wholecall.discreet import to_line
from wholecall.errors import StreamClosed, Uncopyable
from wholecall.framing import FRAMINGS, Frame, Framing, eventstream, opening
from wholecall.framing.base import BytesLike, checked
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.recordings.timeline.effects import CallChange, CallWatch, ListeningAssembler, TextSpan
from wholecall.stream.parser import ToolCallParser
from wholecall.text.options import TextWanted, text_calls
from wholecall.types import Anomaly

if TYPE_CHECKING:
    from wholecall.machine.turn import TurnState

_SAMPLE = 64 * 1024  # bytes of a step that are kept, to show them where they form no frame


class Step(msgspec.Struct, frozen=True):
    """One frame of a stream and its effects.

    Attributes:
        number: its number, from 0, in order.
        offset: the position of its bytes in the stream.
        size: the number of its bytes; 0 is possible for the last steps.
        chunk: the number of the chunk, from 0, that completed it.
        time: when that chunk came, in seconds, as the caller counts them; None if unknown.
        end: whether it is the end of the stream; exactly the last step is.
        event: the frame's name (see `Frame.event`), None if the bytes form no frame.
        data: the frame's text; without a frame the beginning of the bytes, as text.
        events: the events of the parser.
        changes: the changes of calls.
        anomalies: oddities of a turn that became known with this step, sorted.
        spans: with `text`, the parts of texts that were classified with this step: shown, markup, a call as the model
            wrote it, or a drop.
    """

    number: int
    offset: int
    size: int
    chunk: int
    time: Optional[float]
    end: bool
    event: Optional[str]
    data: str
    events: tuple[Event[Any], ...] = ()
    changes: tuple[CallChange, ...] = ()
    anomalies: tuple[Anomaly, ...] = ()
    spans: tuple[TextSpan, ...] = ()

    to_json = to_line

    def __repr__(self) -> str:
        return f"<Step {self.number} at {self.offset}, {self.size} bytes, {len(self.events)} events>"


def timeline(
    chunks: Iterable[tuple[float | None, BytesLike]],
    dialect: str = "auto",
    *,
    text: TextWanted = None,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Iterator[Step]:
    """Yield the steps of a stream, each as soon as its bytes have arrived.

    ::

        for step in timeline([(None, Path("stream.sse").read_bytes())]):
            print(step.offset, step.event, step.events)

    Args:
        chunks: the bytes in any pieces, each with its arrival time in seconds, or None.
        dialect: as for `ToolCallParser`, like the others below.
        text: which calls written as text count.
        framing: how the bytes are cut into frames.
        policy: how calls are judged.
        limits: the limits of the stream.

    Raises:
        UnknownDialect: at the first step, if the dialect, the framing or the format of calls in text is unknown.
    """
    line = Timeline(dialect, text=text, framing=framing, policy=policy, limits=limits)
    for time, data in chunks:
        yield from line.feed(data, time)
    yield from line.close()


class _Watched(ToolCallParser[Any]):
    """A parser that also shows its unfinished turns, and the spans of its texts."""

    def __init__(
        self, dialect: str, text: TextWanted, framing: str | None, policy: Policy, limits: Limits
    ) -> None:
        super().__init__(dialect, framing=framing, policy=policy, limits=limits)
        self._may_begin_in = ""  # a lane shows nothing of an unfinished turn
        wanted = text_calls(text)
        self._listening = None if wanted is None else ListeningAssembler(wanted, policy, limits)
        if self._listening is not None:
            self._listening.dialect = self._made().dialect
            self._assembler = self._listening
            self._collect = self._assembler.take

    def spans(self) -> tuple[TextSpan, ...]:
        return () if self._listening is None else self._listening.spans()

    @property
    def states(self) -> list[TurnState]:
        return self._made().turns


class Timeline(Uncopyable):
    """A converter of the bytes of one stream, in any pieces, into steps.

    The arguments are those of `timeline`.
    """

    def __init__(
        self,
        dialect: str = "auto",
        *,
        text: TextWanted = None,
        framing: str | None = None,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        self._parser = _Watched(dialect, text, framing, policy, limits)
        self._watch = CallWatch()
        self._limits = limits
        self._framing: Framing | None = None
        self._pieces: Pieces | None = None
        self._head = b""  # the first bytes, while they do not identify the framing
        if framing is not None:
            self._begin(framing)
        self._events: list[Event[Any]] = []  # of the unfinished step
        self._sample = bytearray()  # its first bytes
        self._size = 0  # all of its bytes
        self._mark: int | None = None  # the number of them before the heads at its end, if there are any
        self._offset = 0
        self._n_steps = 0
        self._n_chunks = 0
        self._time: float | None = None
        self._closed = False

    @property
    def dialect(self) -> str | None:
        """The name of the stream's dialect, None while it is not known."""
        return self._parser.dialect

    def feed(self, data: BytesLike, time: float | None = None) -> list[Step]:
        """Take the next chunk of the stream and return the steps that it completes.

        Args:
            data: the bytes, cut anywhere.
            time: when they came, in seconds.

        Raises:
            StreamClosed: the timeline was closed.
            TypeError: `data` is not bytes.
        """
        if self._closed:
            raise StreamClosed("the timeline is closed; use a new one for another stream")
        self._n_chunks += 1
        self._time = time
        data = self._head + checked(data)
        if self._pieces is None:
            name = opening.framing_of(data)
            if name is None:
                self._head = data
                return []
            self._begin(name)
        self._head = b""
        assert self._pieces is not None
        return [step for piece in self._pieces.cut(data) for step in self._take(piece)]

    def close(self) -> list[Step]:
        """End the stream and return its last steps; calling it again returns none."""
        if self._closed:
            return []
        self._closed = True
        rest = self._head + (self._pieces.rest() if self._pieces is not None else b"")
        steps = list(self._take(Piece(rest, "end"))) if rest else []
        frames = self._framing.close() if self._framing is not None else []
        self._events += self._parser.close()
        return [*steps, *self._steps(frames, self._size, end=True)]

    def _begin(self, framing: str) -> None:
        self._framing = FRAMINGS[framing](self._limits)
        self._pieces = pieces_of(framing)

    def _take(self, piece: Piece) -> Iterator[Step]:
        frames: list[Frame] = []
        if self._framing is not None:
            frames = self._framing.feed(piece.data)
            self._framing.take_faults()
        self._events += self._parser.feed(piece.data)
        is_head = piece.kind == "head"
        self._mark = (self._size if self._mark is None else self._mark) if is_head else None
        self._sample += piece.data[: max(_SAMPLE - self._size, 0)]
        self._size += len(piece.data)
        if piece.kind == "open" or not (frames or self._events):
            return
        yield from self._steps(frames, self._size if self._mark is None else self._mark)
        self._mark = 0 if is_head else None

    def _steps(self, frames: list[Frame], size: int, *, end: bool = False) -> Iterator[Step]:
        """Yield the steps of the first `size` bytes.

        At most two frames come at once, at the end: a JSON text among the lines, and an event. Neither their effects
        nor their bytes can be distinguished; the last frame gets all of them.
        """
        for frame in frames[:-1]:
            yield self._step(frame, 0, [])
        yield self._step(frames[-1] if frames else None, size, self._taken(), end=end)

    def _taken(self) -> list[Event[Any]]:
        events, self._events = self._events, []
        return events

    def _step(self, frame: Frame | None, size: int, events: list[Event[Any]], *, end: bool = False) -> Step:
        """Return the step of the first `size` bytes, and forget them."""
        sample = bytes(self._sample[:size]).decode("utf-8", "replace") if frame is None else frame.data
        name = None if frame is None else frame.event
        changes, anomalies = self._watch.look(self._parser.states, events, end=end)
        where = self._n_steps, self._offset, size, max(self._n_chunks - 1, 0), self._time
        step = Step(*where, end, name, sample, tuple(events), changes, anomalies, self._parser.spans())
        del self._sample[:size]
        self._n_steps += 1
        self._offset += size
        self._size -= size
        return step


# Pieces.

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HEAD = len(b"event: ")  # of a line: the longest prefix by which a framing recognises the line
_TOKEN = re.compile(rb"[^,\[\]{}]+|.", re.DOTALL)
_KINDS: dict[bytes, Kind] = {b",": "head", b"[": "head", b"{": "head", b"]": "end", b"}": "end"}

Kind = Literal["head", "open", "end"]


class Piece(NamedTuple):
    """Consecutive bytes, never empty, and whether a frame may end before them, after them or not there."""

    data: bytes
    kind: Kind


class Pieces(Protocol):
    """A cutter of one stream."""

    def cut(self, data: bytes) -> Iterator[Piece]:
        """Yield the next bytes of the stream in pieces; a part of them may wait for the next call."""
        ...

    def rest(self) -> bytes:
        """Return the waiting bytes, at the end of the stream."""
        ...


def pieces_of(framing: str) -> Pieces:
    """Return the cutter for a stream of this framing."""
    return _CUTTERS.get(framing, _Lines)()


class _Lines:
    """Lines that end in LF, CR or both."""

    def __init__(self) -> None:
        self._column = 0
        self._held = b""

    def cut(self, data: bytes) -> Iterator[Piece]:
        data = self._held + data
        self._held = b"\r" if data.endswith(b"\r") else b""
        for line in _LINE.findall(data, 0, len(data) - len(self._held)):
            yield from self._cut_line(line)

    def _cut_line(self, line: bytes) -> Iterator[Piece]:
        text = line.rstrip(b"\r\n")
        head = text[: max(_HEAD - self._column, 0)]
        ended = len(text) < len(line)
        self._column = 0 if ended else self._column + len(text)
        if head:
            yield Piece(head, "head")
        if len(head) < len(line):
            yield Piece(line[len(head) :], "end" if ended else "open")

    def rest(self) -> bytes:
        return self._held


class _Elements:
    """The elements of a JSON array, and everything between two of its brackets or commas."""

    def cut(self, data: bytes) -> Iterator[Piece]:
        for match in _TOKEN.finditer(data):
            yield Piece(match[0], _KINDS.get(match[0], "open"))

    def rest(self) -> bytes:
        return b""


class _Messages:
    """The messages of an Amazon event stream; each begins with its length."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._lost = False  # the beginning of the next message is unknown

    def cut(self, data: bytes) -> Iterator[Piece]:
        held = self._held
        held += data
        while len(held) >= eventstream.PRELUDE_BYTES and not self._lost:
            prelude = bytes(held[: eventstream.PRELUDE_BYTES])
            self._lost = not eventstream.is_prelude(prelude)
            size = (
                eventstream.PRELUDE_BYTES
                if self._lost
                else max(int.from_bytes(prelude[:4], "big"), eventstream.PRELUDE_BYTES)
            )
            if len(held) < size:
                return
            yield Piece(bytes(held[:size]), "end")
            del held[:size]
        if self._lost and held:
            yield Piece(bytes(held), "open")
            held.clear()

    def rest(self) -> bytes:
        return bytes(self._held)


_CUTTERS: dict[str, Callable[[], Pieces]] = {"jsonarray": _Elements, "eventstream": _Messages}
