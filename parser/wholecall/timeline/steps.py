"""A stream as a timeline: which bytes made which frame, what came out of it, and what it did to each call.

Theory of operation
-------------------
A `Timeline` feeds its parser piece by piece (see `pieces`), and a framing of its own beside it: the framing
gives the frames, the parser the events, and `CallWatch` the changes of the calls. A step is a frame with all
that it caused. The steps follow each other without a gap: bytes that are part of no frame (comments, blank lines,
commas) belong to the step after them. Where a fault came without a frame, the step shows the bytes. The last step is
the end of the stream: what only the end decided, with the frame that it completed, if there is one; the body of
a response that is one JSON object without a line end is such a frame.

The events are those of a plain parse, because a parser does not depend on how its input is cut. The parser's own code
is not changed. Nothing here does I/O or reads a clock; times are the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Optional

import msgspec

from wholecall.discreet import to_line
from wholecall.errors import StreamClosed, Uncopyable
from wholecall.framing import FRAMINGS, Frame, Framing
from wholecall.framing.base import BytesLike, checked
from wholecall.framing.opening import framing_of
from wholecall.limits import Limits
from wholecall.output.events import Event
from wholecall.policy import Policy
from wholecall.stream.parser import ToolCallParser
from wholecall.text.options import text_calls
from wholecall.timeline.pieces import Piece, Pieces, pieces_of
from wholecall.timeline.spans import ListeningAssembler, TextSpan
from wholecall.timeline.watch import CallChange, CallWatch
from wholecall.types import Anomaly

if TYPE_CHECKING:
    from wholecall.machine.turn import TurnState
    from wholecall.text.options import TextWanted

__all__ = ["Step", "Timeline", "timeline"]

_SAMPLE = 64 * 1024  # bytes that are kept of a step, to show where no frame is made of them


class Step(msgspec.Struct, frozen=True):
    """One frame of a stream and what it caused.

    Attributes:
        number: from 0, in order.
        offset: where its bytes begin in the stream.
        size: how many bytes it has; 0 is possible for the last ones.
        chunk: the number of the chunk, from 0, that completed it.
        time: when that chunk came, in seconds, as the caller counts them; None if that is not known.
        end: whether it is the end of the stream; exactly the last step is.
        event: the frame's name (see `Frame.event`), None if no frame was made of the bytes.
        data: the frame's text; without a frame the beginning of the bytes, as text.
        events: what came out of the parser.
        changes: what became of calls.
        anomalies: what was odd about a turn and is known since this step, sorted.
        spans: with `text`, what the parts of texts are that were decided with this step: shown, markup, a call as the
            model wrote it, or a drop.
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
    """Yield the steps of a stream, each as soon as its bytes are there.

    ::

        for step in timeline([(None, Path("stream.sse").read_bytes())]):
            print(step.offset, step.event, step.events)

    Args:
        chunks: the bytes in any pieces, each with the time it came at in seconds, or None.
        dialect: as for `ToolCallParser`, like the others below.
        text: which calls written as text count.
        framing: how the bytes are cut into frames.
        policy: how calls are judged.
        limits: what the stream may hold.

    Raises:
        UnknownDialect: with the first step: the dialect, the framing or the format of calls in text is not known.
    """
    line = Timeline(dialect, text=text, framing=framing, policy=policy, limits=limits)
    for time, data in chunks:
        yield from line.feed(data, time)
    yield from line.close()


class _Watched(ToolCallParser[Any]):
    """A parser whose turns in the making can be looked at, and its texts as they are read."""

    def __init__(
        self, dialect: str, text: TextWanted, framing: str | None, policy: Policy, limits: Limits
    ) -> None:
        super().__init__(dialect, framing=framing, policy=policy, limits=limits)
        self._may_begin_in = ""  # a lane shows nothing of a turn in the making
        wanted = text_calls(text)
        self._listening = None if wanted is None else ListeningAssembler(wanted, policy, limits)
        if self._listening is not None:
            self._listening.dialect = self._assembler.dialect
            self._assembler = self._listening
            self._collect = self._assembler.take

    def spans(self) -> tuple[TextSpan, ...]:
        return () if self._listening is None else self._listening.spans()

    @property
    def states(self) -> list[TurnState]:
        return self._assembler.turns


class Timeline(Uncopyable):
    """Turns the bytes of one stream, in whatever pieces they come, into steps.

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
        self._events: list[Event[Any]] = []  # of the step in the making
        self._sample = bytearray()  # its first bytes
        self._size = 0  # all of its bytes
        self._mark: int | None = None  # how many of them come before the heads at its end, if there are any
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
            name = framing_of(data)
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

        Two frames at most come at once, at the end a JSON text among the lines and an event. What they did
        cannot be distinguished, nor their bytes; the last has all.
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
