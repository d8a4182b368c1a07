"""The laws of damage: every case of a recording, and its emitted calls that were never sent.

Theory of operation. A case is a beginning of the recording, a continuation, and the end. The beginning is read once:
each of its cases starts from a snapshot of the parser. A call is a fault if it is emitted more often than the sent
recordings hold it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from zlib import crc32

from tests.damage.shapes import reshaped_ones
from tests.damage.streams import ENDS, Call, Recordings, Stream, called, told
from tests.damage.ways import DAMAGES, marks_for
from tests.support import share
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCallCancelled, ToolCallStarted


class Fault(NamedTuple):
    """Unsent calls: their recording, the frame at or before which they came, and the damage."""

    stream: str
    dialect: str
    frame: int
    what: str
    calls: tuple[Call, ...]


class Beginning(NamedTuple):
    """The frames before one: the parser that read them, its events of calls, and whether a call is open."""

    frames: int
    snapshot: bytes
    events: list[Any]
    is_open: bool

    def calls(self, *chunks: bytes) -> Counter[Call]:
        """Return the calls that are emitted if this comes next, and then the end."""
        return called([*self.events, *told(ToolCallParser.restore(self.snapshot), chunks)])


Outcome = tuple[int, list[Fault]]  # how many cases there were, and the faults


def _beginnings(stream: Stream, places: set[int] | None) -> Iterator[Beginning]:
    """The beginnings of a stream, or those of these numbers of frames; the last is the whole."""
    parser = ToolCallParser(events="calls")
    events: list[Any] = []
    begun = 0
    for n, frame in enumerate([*stream.frames, b""]):
        if places is None or n in places:
            yield Beginning(
                n, parser.snapshot(), list(events), begun > sum(isinstance(e, ENDS) for e in events)
            )
        found = parser.feed(frame)
        begun += sum(isinstance(event, ToolCallStarted) for event in found)
        events += [event for event in found if isinstance(event, (*ENDS, ToolCallCancelled))]


def _outcome(stream: Stream, cases: list[tuple[int, str, Counter[Call]]]) -> Outcome:
    faults = [
        Fault(stream.name, stream.dialect, frame, what, tuple(unsent.elements()))
        for frame, what, unsent in cases
        if unsent
    ]
    return len(cases), faults


def cut(stream: Stream, other: Stream, places: set[int] | None = None) -> Outcome:
    """Law (a): cut before each frame, then nothing, `[DONE]`, or the whole of another recording.

    While a call is open, the end marks of other dialects come, too: elsewhere there is nothing to end.
    """
    cases = []
    marks = dict(marks_for(stream.dialect, stream.data))
    for beginning in _beginnings(stream, places):
        tails = {"nothing": b"", **(marks if beginning.is_open else {"[DONE]": marks["[DONE]"]})}
        cases += [
            (beginning.frames, what, beginning.calls(tail) - stream.held) for what, tail in tails.items()
        ]
        after = beginning.calls(other.data) - (stream.held + other.held)
        cases.append((beginning.frames, "another recording", after))
    return _outcome(stream, cases)


def damaged(stream: Stream, _other: Stream, places: set[int] | None = None) -> Outcome:
    """Law (b): each frame damaged in each way, then the rest as it came."""
    cases = []
    for beginning in _beginnings(stream, places):
        rest = b"".join(stream.frames[beginning.frames + 1 :])
        for what, way in DAMAGES.items():
            frame = way(stream.frames[beginning.frames]) if beginning.frames < len(stream.frames) else None
            if frame is not None:
                cases.append((beginning.frames, what, beginning.calls(frame, rest) - stream.held))
    return _outcome(stream, cases)


def reshaped(stream: Stream, _other: Stream, places: set[int] | None = None) -> Outcome:
    """Law (c): each container of each frame in another shape, then the rest as it came."""
    cases = []
    for beginning in _beginnings(stream, places):
        frame, *left = stream.frames[beginning.frames :] or [b""]
        rest = b"".join(left)
        for what, changed in reshaped_ones(frame):
            cases.append((beginning.frames, what, beginning.calls(changed, rest) - stream.held))
    return _outcome(stream, cases)


LAWS = {"cut": cut, "damaged": damaged, "reshaped": reshaped}


def _some(stream: Stream, most: int) -> set[int]:
    """At most a given number of places of a stream, evenly spread, beginning anywhere."""
    n_places = len(stream.frames) + 1
    step = -(-n_places // most)
    return set(range(crc32(stream.name.encode()) % step, n_places, step))


def tried(
    law: str, recordings: Recordings, dialect: str, *, most: int | None = None, one_in: int = 1
) -> Outcome:
    """All cases of a dialect, or those at some places of each recording.

    Args:
        law: the name of the law.
        recordings: where the streams are.
        dialect: of the streams.
        most: places of a recording that are tried; None for all. The cost of a place grows with the length of the
            stream.
        one_in: of these places every n-th is tried; the source decides where that begins.
    """
    cases, faults = 0, []
    for stream, other in recordings.pairs(dialect):
        places = _some(stream, most or len(stream.frames) + 1)
        places = set(share.every(one_in, sorted(places), stream.name))
        count, found = LAWS[law](stream, other, places)
        cases += count
        faults += found
    return cases, faults


def at_one_place(law: str, recordings: Recordings, *, one_in: int = 1) -> list[Fault]:
    """The faults of all dialects at one place of every n-th recording."""
    pairs = [pair for dialect in recordings.dialects() for pair in recordings.pairs(dialect)]
    outcomes = [
        LAWS[law](stream, other, _some(stream, 1)) for stream, other in share.every(one_in, pairs, law)
    ]
    return [fault for _, faults in outcomes for fault in faults]


def causes(faults: Iterable[Fault]) -> Counter[str]:
    """The number of faults by cause."""
    return Counter(fault.what for fault in faults)
