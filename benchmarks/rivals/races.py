"""Timing of the rivals against wholecall: the same bytes, in turns, in one process.

A rival must read the stream's content correctly before it is timed. A rival that raises, or gives another result, has
no figure on that workload, and the reason is reported; the others continue. A rival that is not done after some seconds
is stopped. Its figure is then its time for the events so far, a lower bound as long as later events cost no less; it
skips longer workloads of the kind.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from benchmarks import baselines, floors, live, measure, workloads
from benchmarks.rivals.figures import BY_EVENT, FLOOR, Failure, Figure, Outcome
from benchmarks.rivals.memory import OutOfTime, Within
from benchmarks.rivals.readers import LIVE, READERS, Read, Reader

_READ = 1460
_KIB = workloads.KIB
# Ours is so much shorter than theirs that it is taken several times a round.
_OURS_A_ROUND = 5


class OtherResult(Exception):
    """A rival's result differs from the workload's content."""


class Pace(NamedTuple):
    """The limits on time.

    Attributes:
        rounds: the number of timings of a rival, if there is time.
        seconds: the time limit of one rival for a workload: its first run, and the rounds after it.
        steady: a fast rival is timed more often, for so many seconds: its times are short, and noise weighs more.
    """

    rounds: int
    seconds: float
    steady: float = 0

    def rounds_of(self, first: float) -> int:
        """Return how often to time a rival whose first run took so many seconds."""
        wanted = max(self.rounds, int(self.steady / first))
        return max(1, min(wanted, int(self.seconds / first)))


class Race(NamedTuple):
    """One workload for all rivals.

    Attributes:
        dialect: the dialect that is read.
        kind: workloads of one kind differ in size only, and come in its order.
        name: the workload.
        pieces: the input, in the pieces that come.
        n_events: the number of events in it.
        ours: reads the pieces to the same result as the rivals.
        result: the content of the pieces.
    """

    dialect: str
    kind: str
    name: str
    pieces: Sequence[Any]
    n_events: int
    ours: Callable[[Sequence[Any]], Any]
    result: Any


def races(*, quick: bool) -> Iterator[Race]:
    """Yield all workloads."""
    for dialect in workloads.DIALECTS:
        yield _stream(workloads.w1(dialect), "W1")
        yield _by_event(workloads.w1(dialect))
        yield _stream(workloads.w2(dialect, 8 * _KIB, 4), "W2")
        if not quick:
            yield _stream(workloads.w2(dialect, 64 * _KIB, 4), "W2")
            yield _stream(workloads.w2(dialect, 512 * _KIB, 40), "W2")
        yield _stream(workloads.plain_text(dialect, (4 if quick else 32) * _KIB), "text")
    for kib in (2, 8) if quick else (2, 8, 64):
        deltas = live.pieces(kib * _KIB)
        value = json.loads("".join(deltas))
        yield Race(LIVE, LIVE, f"{kib}K d4", deltas, len(deltas), live.OURS["values"], value)


def _stream(workload: workloads.Workload, kind: str) -> Race:
    reads = workloads.cut(workload.data, _READ)
    return Race(
        workload.dialect, kind, workload.name, reads, workload.n_events, baselines.ours, workload.result
    )


def _by_event(workload: workloads.Workload) -> Race:
    name = workload.name + BY_EVENT
    return Race(
        workload.dialect, name, name, workload.events, workload.n_events, baselines.ours, workload.result
    )


def outcomes(pace: Pace, *, quick: bool, only: str = "") -> Iterator[Outcome]:
    """Yield the outcome of the floor and of every installed rival, if they have `only` in their names."""
    stopped: set[tuple[str, str, str]] = set()
    for one in races(quick=quick):
        assert one.ours(one.pieces) == one.result, f"wholecall is wrong on {one.name}, {one.dialect}"
        if one.dialect != LIVE and only in FLOOR:
            yield _floor(one, pace)
        for reader in READERS:
            entry = reader.name, one.dialect, one.kind
            wanted = reader.dialect == one.dialect and only in reader.name and entry not in stopped
            if not wanted or not reader.installed:
                continue
            outcome = _tried(reader, one, pace)
            if isinstance(outcome, Figure) and outcome.capped:
                stopped.add(entry)
            yield outcome


def _tried(reader: Reader, one: Race, pace: Pace) -> Outcome:
    """Time a rival; a failure in it costs this figure alone."""
    try:
        return race(reader, one, pace)
    except OtherResult:
        trouble = "reads another result"
    except Exception as error:  # noqa: BLE001 - a library may raise anything
        trouble = f"raises {type(error).__name__}"
    return Failure(reader.name, reader.versions, one.dialect, one.name, trouble)


def race(reader: Reader, one: Race, pace: Pace) -> Figure:
    """Time a rival.

    Raises:
        OtherResult: its result differs from the workload's content.
    """
    ours = partial(one.ours, one.pieces)
    limited = Within(pace.seconds, one.pieces)
    start = time.process_time()
    try:
        result = reader.open(limited)()
    except OutOfTime:
        [taken] = measure.rounds(pace.rounds, ours)
        spent = [pace.seconds * len(one.pieces) / limited.n_given] * len(taken)
        return _figure(reader.name, reader.versions, one, spent, taken, capped=True)
    first = time.process_time() - start
    if result != one.result:
        raise OtherResult(f"{reader.name} reads another result from {one.name}, {one.dialect}")
    theirs, taken = _taken(reader.open(one.pieces), one, pace.rounds_of(first))
    return _figure(reader.name, reader.versions, one, theirs, taken)


def _floor(one: Race, pace: Pace) -> Figure:
    """Time the floor that no robust reader can be below."""
    floor = partial(floors.bare, one.pieces, one.dialect)
    assert floor() == one.n_events, f"{one.name}: the floor misses events"
    theirs, taken = _taken(floor, one, pace.rounds)
    return _figure(FLOOR, {}, one, theirs, taken)


def _taken(read: Read, one: Race, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds of a rival and of wholecall, round by round."""

    def repeated() -> None:
        for _ in range(_OURS_A_ROUND):
            one.ours(one.pieces)

    theirs, ours = measure.rounds(rounds, read, repeated)
    return theirs, [seconds / _OURS_A_ROUND for seconds in ours]


def _figure(
    rival: str,
    versions: dict[str, str],
    one: Race,
    theirs: list[float],
    ours: list[float],
    *,
    capped: bool = False,
) -> Figure:
    return Figure(
        rival=rival,
        versions=versions,
        dialect=one.dialect,
        workload=one.name,
        theirs=min(theirs) / one.n_events * 1e6,
        ours=min(ours) / one.n_events * 1e6,
        ratio=measure.ratio(theirs, ours),
        capped=capped,
    )
