"""The claim: bytes to events costs less than the commonly pasted `json.loads` loop, and little more than the floors.

All of it in reads of 1,460 bytes, which hold four to eleven events; `bench_one_event` has one event a read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import streams, workloads
from benchmarks.claims import Comparison, Ratio
from benchmarks.streams import Stream
from benchmarks.texts import KIB
from benchmarks.workloads import CUTS, DIALECTS, READ, Workload

# The largest allowed share of others' time, dialect by dialect.
Budgets = dict[str, tuple[float, float, float]]
_LOOP: Budgets = {"naive": (0.7, 0.9, 0.9)}
_USUAL: Budgets = {**_LOOP, "floor": (2.0, 2.0, 2.0)}
_ONE_CALL: Budgets = {**_USUAL, "bare floor": (1.45, 1.6, 1.45)}

# The main content of streams, and their budgets.
_WIDE: dict[str, tuple[Callable[[str], Workload], Budgets]] = {
    "W1": (
        workloads.w1,
        {**_USUAL, "msgspec loop": (0.9, 1.15, 1.25), "bare floor": (1.8, 2.2, 2.2)},
    ),
    "W2 8K d4": (
        lambda dialect: workloads.w2(dialect, 8 * KIB, 4),
        {**_USUAL, "bare floor": (1.8, 2.2, 2.2)},
    ),
    "W2 64K d4": (lambda dialect: workloads.w2(dialect, 64 * KIB, 4), _ONE_CALL),
    "W2 512K d40": (lambda dialect: workloads.w2(dialect, 512 * KIB, 40), _USUAL),
    "plain text": (workloads.plain_text, _USUAL),
}
_LARGE = {"W2 64K d4", "W2 512K d40"}
# Shapes that a shortcut could be slow on: its maker, its budget, and its dialects.
_ODD: dict[str, tuple[Callable[[str, int], Workload], Budgets]] = {
    "interleaved": (
        lambda dialect, _: workloads.interleaved(dialect),
        {**_LOOP, "floor": (2.5, 2.5, 2.5)},
    ),
    "1,000 calls": (
        lambda dialect, part: workloads.many_calls(dialect, max(1000 // part, 200)),
        {"naive": (1.4, 1.4, 1.4)},
    ),
    "100,000 one-character deltas": (lambda dialect, part: workloads.one_call(dialect, 100_000 // part), {}),
    "one event of 1 MB": (lambda dialect, part: workloads.big_event(dialect, KIB * KIB // part), {}),
    "changing ids": (lambda dialect, part: workloads.id_churn(dialect, 4000 // part), {}),
    "snapshots": (lambda dialect, part: workloads.snapshots(dialect, 100 // part), {}),
}
# The ratios where the machine has no cache to spare: a call is some hundred small steps, regardless of the reads.
_NOW: dict[str, Budgets] = {
    "W1": {"msgspec loop": (1.3, 1.8, 2.0), "bare floor": (2.3, 2.8, 3.1)},
    "1,000 calls": {"naive": (2.6, 3.7, 4.2)},
}
_WHERE = {"changing ids": ("chat-completions", "responses"), "snapshots": ("chat-completions",)}
# Streams that the loops cannot read, and streams on which their buffer is quadratic: an event comes in hundreds of
# reads.
_TOO_MUCH_FOR_LOOPS = {("changing ids", "chat-completions"), ("snapshots", "chat-completions")}
_QUADRATIC_IN_LOOPS = {
    ("W2 512K d40", "responses"),
    ("1,000 calls", "responses"),  # the last event restates them all
    *(("one event of 1 MB", dialect) for dialect in DIALECTS),
}


def _claim(
    what: str, dialect: str, make: Callable[[int], Stream], budgets: Budgets, **more: Any
) -> Comparison:
    contenders = {
        name: contender
        for name, contender in streams.CONTENDERS.items()
        if name not in streams.LOOPS or (what, dialect) not in _TOO_MUCH_FOR_LOOPS
    }
    quadratic = streams.LOOPS if (what, dialect) in _QUADRATIC_IN_LOOPS else ()
    at = DIALECTS.index(dialect)
    now = _NOW.get(what, {})
    ratios = tuple(
        Ratio(
            "wholecall",
            name,
            budgets[name][at] if name in budgets and name not in quadratic else 0,
            quadratic=name in quadratic,
            known=now[name][at] if name in now else 0,
        )
        for name in contenders
        if name != "wholecall"
    )
    return Comparison(f"{what} {dialect}", make, contenders, ratios, streams.n_events, **more)


def _wide(name: str, dialect: str) -> Comparison:
    workload, budgets = _WIDE[name]

    def make(_part: int) -> Stream:
        return streams.stream(workload(dialect))

    return _claim(name, dialect, make, budgets, checked=name not in _LARGE)


def _odd(name: str, dialect: str) -> Comparison:
    workload, budgets = _ODD[name]
    return _claim(name, dialect, lambda part: streams.stream(workload(dialect, part)), budgets)


def _cut(name: str, dialect: str) -> Comparison:
    def make(_part: int) -> Stream:
        return streams.stream(workloads.w1(dialect), name)

    contenders = {name: streams.CONTENDERS[name] for name in ("wholecall", "naive", "floor")}
    return Comparison(f"W1, reads: {name}, {dialect}", make, contenders, (), streams.n_events)


def _obfuscated(_part: int) -> Stream:
    return streams.stream(workloads.w1("responses", obfuscated=True))


CLAIMS = [
    *(_wide(name, dialect) for name in _WIDE for dialect in DIALECTS),
    _claim("W1 obfuscated", "responses", _obfuscated, _USUAL),
    *(_odd(name, dialect) for name in _ODD for dialect in _WHERE.get(name, DIALECTS)),
    *(_cut(name, dialect) for dialect in DIALECTS for name in CUTS if name not in {str(READ), "frame"}),
]


def test_stream(race: Callable[[], None]) -> None:
    """Every contender finds the generator's content of the stream."""
    race()
