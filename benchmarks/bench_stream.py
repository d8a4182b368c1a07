"""The claim: bytes to events costs less than the `json.loads` loop that people paste, and near the floor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import streams, workloads
from benchmarks.claims import Comparison, Ratio
from benchmarks.streams import FLOOR, NAIVE, OURS, Stream
from benchmarks.workloads import CUTS, DIALECTS, KIB, READ, Workload

__all__ = ["CLAIMS"]

_NAIVE_BUDGETS = {"chat-completions": 0.7, "anthropic": 0.9, "responses": 0.9}
_FLOOR_BUDGET, _ODD_FLOOR_BUDGET = 2.0, 2.5

_WIDE: dict[str, Callable[[str], Workload]] = {
    "W1": workloads.w1,
    "W2 8K d4": lambda dialect: workloads.w2(dialect, 8 * KIB, 4),
    "W2 64K d4": lambda dialect: workloads.w2(dialect, 64 * KIB, 4),
    "W2 512K d40": lambda dialect: workloads.w2(dialect, 512 * KIB, 40),
    "plain text": workloads.plain_text,
}
_LARGE = {"W2 64K d4", "W2 512K d40"}
# Shapes that a shortcut could be slow on: how each is made, where it exists, and what the loop cannot read.
_ODD: dict[str, Callable[[str, int], Workload]] = {
    "interleaved": lambda dialect, _: workloads.interleaved(dialect),
    "1,000 calls": lambda dialect, part: workloads.many_calls(dialect, 1000 // part),
    "100,000 one-character deltas": lambda dialect, part: workloads.one_call(dialect, 100_000 // part),
    "one event of 1 MB": lambda dialect, part: workloads.big_event(dialect, KIB * KIB // part),
    "changing ids": lambda dialect, part: workloads.id_churn(dialect, 4000 // part),
    "snapshots": lambda dialect, part: workloads.snapshots(dialect, 100 // part),
}
_WHERE = {"changing ids": ("chat-completions", "responses"), "snapshots": ("chat-completions",)}
_TOO_MUCH_FOR_THE_LOOP = {("changing ids", "chat-completions"), ("snapshots", "chat-completions")}


def _claim(
    what: str, dialect: str, make: Callable[[int], Stream], budgets: dict[str, float], **more: Any
) -> Comparison:
    contenders = {"wholecall": OURS, "naive": NAIVE, "floor": FLOOR}
    if (what, dialect) in _TOO_MUCH_FOR_THE_LOOP:
        del contenders["naive"]
    ratios = tuple(Ratio("wholecall", other, budgets[other]) for other in contenders if other in budgets)

    def events(subject: Stream) -> int:
        return subject.workload.n_events

    return Comparison(f"{what} {dialect}", make, contenders, ratios, events, **more)


def _budgets(dialect: str, floor: float) -> dict[str, float]:
    return {"naive": _NAIVE_BUDGETS[dialect], "floor": floor}


def _wide(name: str, dialect: str) -> Comparison:
    def make(_part: int) -> Stream:
        return streams.stream(_WIDE[name](dialect))

    return _claim(name, dialect, make, _budgets(dialect, _FLOOR_BUDGET), checked=name not in _LARGE)


def _odd(name: str, dialect: str) -> Comparison:
    budgets = _budgets(dialect, _ODD_FLOOR_BUDGET) if name == "interleaved" else {"naive": 0.0, "floor": 0.0}
    return _claim(name, dialect, lambda part: streams.stream(_ODD[name](dialect, part)), budgets)


def _cut(name: str, dialect: str) -> Comparison:
    def make(_part: int) -> Stream:
        return streams.stream(workloads.w1(dialect), name)

    return _claim(f"W1, reads: {name},", dialect, make, {})


def _obfuscated(_part: int) -> Stream:
    return streams.stream(workloads.w1("responses", obfuscated=True))


CLAIMS = [
    *(_wide(name, dialect) for dialect in DIALECTS for name in _WIDE),
    _claim("W1 obfuscated", "responses", _obfuscated, _budgets("responses", _FLOOR_BUDGET)),
    *(_odd(name, dialect) for name in _ODD for dialect in _WHERE.get(name, DIALECTS)),
    *(_cut(name, dialect) for dialect in DIALECTS for name in CUTS if name != str(READ)),
]


def test_stream(race: Callable[[], None]) -> None:
    """Every contender finds what the generator put into the stream."""
    race()
