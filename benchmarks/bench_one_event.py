"""The claim: where each read brings one event, as on a live stream, it costs about as much as the `json.loads` loop.

The cost of each read weighs most here; these claims are called `by event`. Tiny streams are whole streams, from a new
parser to its end.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import streams, workloads
from benchmarks.claims import Comparison, Ratio
from benchmarks.streams import EVENT, Stream
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS, READ, Workload

# Streams, and the largest allowed share of the loop's time on them, dialect by dialect.
_SHAPES: dict[str, tuple[Callable[[str, int], Workload], tuple[float, float, float]]] = {
    "W1": (lambda dialect, _: workloads.w1(dialect), (0.7, 0.85, 0.95)),
    "a turn of one call": (lambda dialect, _: workloads.parallel_calls(dialect, 1), (0.9, 1.15, 1.2)),
    "interleaved": (lambda dialect, _: workloads.interleaved(dialect), (0.75, 1.0, 1.0)),
    "plain text": (lambda dialect, part: workloads.plain_text(dialect, 32 * KIB // part), (0, 0, 0)),
    "1,000 calls": (
        lambda dialect, part: workloads.many_calls(dialect, max(1000 // part, 200)),
        (1.4, 1.4, 1.4),
    ),
}
_TIMES = {"a turn of one call": 20}
_TINY_BUDGET = 3
# These ratios where the machine has no cache to spare: a call is some hundred small steps, regardless of the reads.
_NOW = {"1,000 calls": (2.6, 3.7, 4.2)}
_TINY_NOW = 6.2


def _claim(name: str, dialect: str) -> Comparison:
    make, budgets = _SHAPES[name]

    def subject(part: int) -> Stream:
        return streams.stream(make(dialect, part), EVENT)

    contenders = {other: one for other, one in streams.CONTENDERS.items() if other != "floor"}
    known = _NOW[name][DIALECTS.index(dialect)] if name in _NOW else 0
    ratios = (
        Ratio("wholecall", "naive", budgets[DIALECTS.index(dialect)], known=known),
        Ratio("wholecall", "msgspec loop"),
        Ratio("wholecall", "bare floor"),
    )
    times = _TIMES.get(name, 1)
    what = f"{name} {dialect}, by event"
    return Comparison(what, subject, contenders, ratios, streams.n_events, times=times)


def _tiny(dialect: str, read: str | int) -> Comparison:
    def subject(_part: int) -> Stream:
        return streams.stream(workloads.many_calls(dialect, 1), read)

    contenders = {name: streams.CONTENDERS[name] for name in ("wholecall", "naive", "msgspec loop")}
    ratios = (Ratio("wholecall", "naive", _TINY_BUDGET, known=_TINY_NOW), Ratio("wholecall", "msgspec loop"))
    what = f"a tiny stream {dialect}" + (", by event" if read == EVENT else "")
    return Comparison(what, subject, contenders, ratios, streams.n_events, times=100)


STREAMS = [_claim(name, dialect) for name in _SHAPES for dialect in DIALECTS]
TINY = [_tiny(dialect, read) for read in (READ, EVENT) for dialect in DIALECTS]
CLAIMS = [*STREAMS, *TINY]


def test_one_event(race: Callable[[], None]) -> None:
    """Every contender finds the generator's content of the stream."""
    race()
