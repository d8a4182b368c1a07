"""The claim: real streams, quirks and all, cost no more than made ones, for any cuts.

The naive loop could not read them; the floor takes the frames that its types fit, and *split and load* only splits at
blank lines and loads each event with `json.loads`. The median and the worst of all streams are compared with that.
"""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.baselines import parse
from benchmarks.claims import Claim, Comparison, Contender, Figure, Ratio, Scale, race
from benchmarks.floors import framed
from benchmarks.workloads import CUTS, DIALECTS, READ

_LEAST = 20  # events of a recording that is held against split and load
_TIMES = 3
_RECORDINGS = Path(__file__).parents[1] / "corpora" / "recordings"


class Recordings(NamedTuple):
    """The recordings of a dialect, each in its reads."""

    dialect: str
    streams: list[list[bytes]]


@functools.cache
def _data(dialect: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted((_RECORDINGS / dialect).glob("*.sse")))


def _turns(streams: list[list[bytes]]) -> list[str]:
    return [repr(parse(reads).turns) for reads in streams]


@functools.cache
def _uncut(dialect: str) -> list[str]:
    return _turns([[data] for data in _data(dialect)])


_OURS = Contender(
    lambda subject: [parse(reads) for reads in subject.streams],
    lambda subject, parsers: [repr(parser.turns) for parser in parsers] == _uncut(subject.dialect) != [],
)
_FLOOR = Contender(
    lambda subject: sum(framed(reads, subject.dialect) for reads in subject.streams),
    lambda subject, n_frames: n_frames >= len(subject.streams),
)


def _claim(dialect: str, name: str) -> Comparison:
    def make(_part: int) -> Recordings:
        return Recordings(dialect, [CUTS[name](data) for data in _data(dialect)])

    ratios = (Ratio("wholecall", "floor"),) if name == str(READ) else ()
    what = f"recordings {dialect}, reads: {name}"
    return Comparison(what, make, {"wholecall": _OURS, "floor": _FLOOR}, ratios)


def _load(reads: list[bytes]) -> int:
    """Split at blank lines, and load JSON; return the number of events."""
    n, rest = 0, b""
    for read in reads:
        *events, rest = (rest + read).split(b"\n\n")
        for event in events:
            n += 1
            data = event[event.find(b"data: ") + 6 :]
            if data.startswith(b"{"):
                json.loads(data)
    return n


@functools.cache
def _ratios(dialect: str, scale: Scale) -> list[float]:
    """Return our time as a multiple of split and load, for each recording of a dialect, one event a read.

    Recordings with content that is not JSON, such as damaged bytes, are left out, and very short recordings, whose cost
    is that of a new parser (see the tiny streams).
    """
    cut = [CUTS["frame"](data) for data in _data(dialect)]
    found = []
    for reads in cut:
        if len(reads) >= _LEAST and _is_loadable(reads):
            acts = {name: (contender, reads) for name, contender in _TO_LOAD.items()}
            times = race(acts, scale.rounds, _TIMES)
            found.append(min(times["wholecall"]) / min(times["load"]))
    return sorted(found)


_TO_LOAD = {
    "wholecall": Contender(parse, lambda reads, parser: bool(reads and parser.turns)),
    "load": Contender(_load, lambda reads, n: n in (len(reads), len(reads) - 1)),
}


def _median(dialect: str, scale: Scale) -> float:
    return statistics.median(_ratios(dialect, scale))


def _worst(dialect: str, scale: Scale) -> float:
    return _ratios(dialect, scale)[-1]


def _is_loadable(reads: list[bytes]) -> bool:
    try:
        return _load(reads) > 0
    except ValueError:
        return False


CLAIMS: list[Claim] = [
    *(_claim(dialect, name) for dialect in DIALECTS for name in CUTS),
    *(
        Figure(f"recordings {dialect} to split and load, by event: {name}", partial(measured, dialect), 0)
        for dialect in DIALECTS
        for name, measured in (("median", _median), ("worst", _worst))
    ),
]


def test_recordings(race: Callable[[], None]) -> None:
    """Every recording gives the same turns as in one read."""
    race()
