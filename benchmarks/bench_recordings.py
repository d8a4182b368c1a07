"""The claim: real streams, quirks and all, cost no more than made ones, however they are cut.

The naive loop could not read them; the floor takes the frames that its types fit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.baselines import parse
from benchmarks.claims import Comparison, Contender, Ratio
from benchmarks.floors import framed
from benchmarks.workloads import CUTS, DIALECTS, READ

__all__ = ["CLAIMS"]

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


CLAIMS = [_claim(dialect, name) for dialect in DIALECTS for name in CUTS]


def test_recordings(race: Callable[[], None]) -> None:
    """Every recording comes to the same turns as in one read."""
    race()
