"""The claim: a stream cut within a call costs as much as a whole stream of as many events, and its end costs nothing.

The cut part needs no resolution, for any size: its text is neither recovered nor read in several ways.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from benchmarks import measure, workloads
from benchmarks.baselines import parse
from benchmarks.claims import Claim, Comparison, Contender, Figure, Ratio, Scale
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS, READ
from wholecall import ToolCallParser

_BUDGET = 1.1
_END_BUDGET = 0.05  # of the time that the stream takes
_EVENTS = 100
_DIALECTS = (*DIALECTS, "bedrock-converse", "cohere-v2")


class Cut(NamedTuple):
    """A whole stream of one call, and the beginning of one twice as long, one event a read."""

    whole: list[bytes]
    cut: list[bytes]


def _cut(dialect: str, _part: int) -> Cut:
    whole, longer = (list(_call(dialect, n)) for n in (_EVENTS, 2 * _EVENTS))
    return Cut(whole, longer[: len(whole)])


def _call(dialect: str, n: int) -> list[bytes]:
    text = json.dumps({"content": "word " * n})
    pieces = [text[start : start + 5] for start in range(0, len(text), 5)]
    return list(workloads.call_of(dialect, text, pieces).events)


def _claim(dialect: str) -> Comparison:
    contenders = {
        "cut": Contender(lambda subject: parse(subject.cut), lambda _, parser: len(parser.turn.dropped) == 1),
        "whole": Contender(
            lambda subject: parse(subject.whole), lambda _, parser: len(parser.turn.calls) == 1
        ),
    }
    return Comparison(
        f"one call {dialect}, by event",
        partial(_cut, dialect),
        contenders,
        (Ratio("cut", "whole", _BUDGET),),
        times=5,
    )


def _end(dialect: str, scale: Scale) -> float:
    """Return the time of `close` after half of a call of 1 MB, over that of everything before it."""
    data = workloads.w2(dialect, KIB * KIB // min(scale.part, 4), 40).data
    reads = workloads.cut(data[: len(data) // 2], READ)
    open_ones: list[ToolCallParser] = []

    def feed() -> None:
        open_ones.append(ToolCallParser())
        for read in reads:
            open_ones[-1].feed(read)

    def close() -> None:
        open_ones[-1].close()

    feeding, closing = measure.rounds(max(scale.rounds, 3), feed, close)
    assert len(open_ones[-1].turn.dropped) == 1
    return min(closing) / min(feeding)


CLAIMS: list[Claim] = [
    *map(_claim, _DIALECTS),
    *(
        Figure(f"close of a cut call of 1 MB {dialect} / all before it", partial(_end, dialect), _END_BUDGET)
        for dialect in DIALECTS
    ),
]


def test_cuts(race: Callable[[], None]) -> None:
    """A cut call is dropped, a whole call is emitted."""
    race()
