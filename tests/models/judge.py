"""Judge the calls of a stream by all of its readings.

The meaning of a stream is that of its readings of cost 0, if there are any: a conforming server is always believed.
Else it is the common content of all readings of the lowest cost, and those within 0.5 of it.

A parser that emits a call when the wire ends it cannot wait for the rest of the stream. Therefore a call that was
emitted while events still followed is judged twice: by the whole stream, and by the events until then (the readings of
every stream that begins so). It is a fault only if both judgements reject it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tests.models.streams import Calls, Reading, Stream, Streams

NOWHERE = "1 in no reading"
UNSURE = "2 not in every reading"
LOST = "3 lost"
ORDER = "4 order"
CUT = "5 in no reading, of a stream that was cut"
TAKEN_BACK = "6 taken back by what followed"  # no fault
FAULTS = (NOWHERE, UNSURE, CUT)  # a call was emitted that was not surely sent

Came = list[tuple[int, tuple[str, str]]]  # calls, each with the number of events that had been read


def _counting(readings: Sequence[tuple[float, Calls]]) -> list[Calls]:
    """The readings that count."""
    lowest = min(cost for cost, _ in readings)
    return [calls for cost, calls in readings if cost <= (lowest + 0.5 if lowest else 0)]


def _in_all(meanings: Sequence[Calls]) -> Counter[tuple[str, str]]:
    sure = Counter(meanings[0])
    for calls in meanings[1:]:
        sure &= Counter(calls)
    return sure


def anywhere(readings: Iterable[Reading]) -> Counter[tuple[str, str]]:
    """The calls of any reading, each as often as in the one that has it most."""
    calls: Counter[tuple[str, str]] = Counter()
    for reading in readings:
        calls |= Counter(reading.calls)
    return calls


def fault(readings: Sequence[Reading], came: Sequence[tuple[str, str]]) -> str | None:
    """Return the worst fault in the calls of a whole stream."""
    if len(readings) == 1 and tuple(came) == readings[0].calls:
        return None
    meanings = _counting([(reading.cost, reading.calls) for reading in readings])
    got = Counter(came)
    if got - anywhere(readings):
        return NOWHERE
    if got - _in_all(meanings):
        return UNSURE
    if len(meanings) == 1 and Counter(meanings[0]) - got:
        return LOST
    return ORDER if len(meanings) == 1 and tuple(came) != meanings[0] else None


def known_by_beginning(streams: Streams, cases: Sequence[tuple[Stream, Came]]) -> Iterator[bool]:
    """Return, for each stream and its calls, whether the events before a call justified it."""
    wanted: dict[Stream, dict[Calls, float]] = {stream[:n]: {} for stream, came in cases for n, _ in came}
    lengths = sorted({len(beginning) for beginning in wanted})
    for stream in streams if wanted else ():
        for length in lengths:
            held = wanted.get(stream[:length]) if length <= len(stream) else None
            if held is not None:
                for cost, calls, _ in streams.readings(stream):
                    held[calls] = min(cost, held.get(calls, cost))
    sure = {
        beginning: _in_all(_counting([(cost, calls) for calls, cost in held.items()]))
        for beginning, held in wanted.items()
        if held
    }
    for stream, came in cases:
        yield all(
            not Counter(call for m, call in came if m <= n) - sure.get(stream[:n], Counter()) for n, _ in came
        )
