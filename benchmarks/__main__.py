"""Print the ratios on which every claim about speed rests: `python -m benchmarks [--quick]`.

Every figure is a ratio of times of one run, except the microseconds, which are there for the reader's own
machine. Baselines have to agree with wholecall's result before anything is timed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import platform
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from benchmarks import baselines, live, measure, transcripts, workloads
from benchmarks.rivals import speed
from wholecall import Limits, Tools
from wholecall.history import repair_transcript, shrink_arguments

__all__: list[str] = []

_READ = 1460
_KIB = workloads.KIB
_NAIVE_BUDGETS = {"chat-completions": 0.7, "anthropic": 0.9, "responses": 0.9}
_FLOOR_BUDGET = 2.5
_GROWTH_BUDGET = 2.3
_LIVE_BUDGET = 10  # times append and join
# How many times faster than a rival, and at which size of the string in KiB.
_RIVAL_BUDGETS = {"jiter": (10, 64), "partial_json_parser": (50, 8)}
_ROW = "{:<34}{:<18}{:>8}{:>9}{:>9}{:>9}{:>10}{:>10}  {}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller workloads and fewer rounds")
    quick: bool = parser.parse_args().quick
    now = dt.datetime.now(tz=dt.timezone.utc)
    print(f"{now:%Y-%m-%d}, {platform.python_implementation()} {platform.python_version()}, ", end="")
    print(f"msgspec {msgspec.__version__}, processor time, {_rounds(quick)} runs: least time, median ratio")
    print()
    print(_ROW.format(f"bytes to events, {_READ} B reads", "dialect", "events", "us/event", "naive", "floor",
                      "to naive", "to floor", "budgets"))  # fmt: skip
    for workload in _workloads(quick):
        _print_workload(workload, _rounds(quick))
    print()
    print(f"{'':<52}{'ratio':>8}  budget")
    checks = (_growths, _repairs, _shrinking, _reads, _checks, _live, _others)
    for what, ratio, budget in (row for check in checks for row in check(quick)):
        shown = f"<= {budget}" + ("" if ratio <= budget else "  MISSED") if budget else ""
        print(f"{what:<52}{ratio:>8.2f}  {shown}", flush=True)
    print()
    for what, ratio, budget in _rivals(quick):
        print(f"{what:<52}{ratio:>8.0f}  >= {budget}" + ("" if ratio >= budget else "  MISSED"), flush=True)
    speed.print_rows(quick=quick)


def _rounds(quick: bool) -> int:
    return 3 if quick else 7


def _workloads(quick: bool) -> Iterator[workloads.Workload]:
    for dialect in workloads.DIALECTS:
        yield workloads.w1(dialect)
        yield workloads.w2(dialect, 8 * _KIB, 4)
        if not quick:
            yield workloads.w2(dialect, 64 * _KIB, 4)
            yield workloads.w2(dialect, 512 * _KIB, 40)
        yield workloads.plain_text(dialect, (8 if quick else 32) * _KIB)
    yield workloads.w1("responses", obfuscated=True)
    yield workloads.interleaved()


def _print_workload(workload: workloads.Workload, rounds: int) -> None:
    dialect, n_events = workload.dialect, workload.n_events
    reads = workloads.cut(workload.data, _READ)
    naive = baselines.NAIVE[dialect]
    assert baselines.ours(reads) == naive(reads), f"{workload.name}: the naive loop disagrees"
    assert baselines.floor(reads, dialect) == n_events, f"{workload.name}: the floor misses frames"
    times = measure.rounds(
        rounds,
        lambda: baselines.parse(reads),
        lambda: naive(reads),
        lambda: baselines.floor(reads, dialect),
    )
    to_naive, to_floor = (measure.ratio(times[0], other) for other in times[1:])
    budget = _NAIVE_BUDGETS[dialect]
    missed = to_naive > budget or to_floor > _FLOOR_BUDGET
    verdict = f"{budget} / {_FLOOR_BUDGET}" + ("  MISSED" if missed else "")
    micro = [f"{min(taken) / n_events * 1e6:.2f}" for taken in times]
    name = f"{workload.name} ({len(workload.data) // n_events} B an event)"
    print(
        _ROW.format(name, dialect, n_events, *micro, f"{to_naive:.2f}", f"{to_floor:.2f}", verdict),
        flush=True,
    )


Row = tuple[str, float, float]


def _growths(quick: bool) -> Iterator[Row]:
    """Yield time(2n)/time(n) for everything that a stream can have more of."""
    part = 4 if quick else 1
    for what, (make, n) in workloads.GROWTH.items():
        single, double = make(n // part), make(2 * n // part)
        ratio = _growth(single.data, double.data, _READ, _rounds(quick))
        if "snapshots" in what:  # twice the snapshots are four times the bytes
            ratio *= 2 * len(single.data) / len(double.data)
        yield f"growth: {what}, time(2n)/time(n)", ratio, _GROWTH_BUDGET
    single, double = workloads.one_call(1000 // part), workloads.one_call(2000 // part)
    ratio = _growth(single.data, double.data, 1, _rounds(quick))
    yield "growth: bytes in 1 B reads, time(2n)/time(n)", ratio, _GROWTH_BUDGET


def _shrinking(quick: bool) -> Iterator[Row]:
    """Yield time(2n)/time(n) of shrinking arguments, with a budget and without."""
    size = (128 if quick else 1024) * _KIB
    for what, make in workloads.SHRINKING.items():
        for budget in (None, 4 * _KIB):
            shrink = partial(shrink_arguments, max_bytes=budget)
            single, double = (partial(shrink, make(n)) for n in (size, 2 * size))
            name = f"growth: shrinking {what}" + (" to 4 KB" if budget else "")
            yield name, measure.growth(_rounds(quick), single, double), _GROWTH_BUDGET


def _growth(single: bytes, double: bytes, size: int, rounds: int) -> float:
    limits = Limits(max_calls=None)
    one, two = workloads.cut(single, size), workloads.cut(double, size)
    return measure.growth(rounds, lambda: baselines.parse(one, limits), lambda: baselines.parse(two, limits))


def _repairs(quick: bool) -> Iterator[Row]:
    """Yield time(2n)/time(n) of repairing a transcript of n messages."""
    n = 2_000 if quick else 10_000
    for shape, what in transcripts.CASES:
        acts = [partial(repair_transcript, transcripts.transcript(shape, what, size)) for size in (n // 2, n)]
        ratio = measure.growth(_rounds(quick), *acts)
        yield f"repair: {shape}, {what}, time(2n)/time(n)", ratio, _GROWTH_BUDGET


def _reads(quick: bool) -> Iterator[Row]:
    """Yield what small reads cost against large ones."""
    data = workloads.parallel_calls("chat-completions", 2 if quick else 20).data
    yield "W1 in 1 B reads / in 1460 B reads", _against(data, 1, _READ, quick), 100
    yield "W1 in 64 KiB reads / in 1460 B reads", _against(data, 64 * _KIB, _READ, quick), 1
    frames = workloads.PROFILES["frame"](data)
    large = workloads.cut(data, _READ)
    few, many = measure.rounds(
        _rounds(quick), lambda: baselines.parse(large), lambda: baselines.parse(frames)
    )
    yield "W1 one event a read / in 1460 B reads", measure.ratio(many, few), 0
    data = workloads.big_done_event().data
    yield "one 1 MB event in 100 B reads / in one read", _against(data, 100, len(data), quick), 4


def _against(data: bytes, size: int, other: int, quick: bool) -> float:
    ours, others = workloads.cut(data, size), workloads.cut(data, other)
    one, two = measure.rounds(_rounds(quick), lambda: baselines.parse(ours), lambda: baselines.parse(others))
    return measure.ratio(one, two)


def _checks(quick: bool) -> Iterator[Row]:
    """Yield what it costs to hold calls against their tools."""
    tool = workloads.WriteFile
    forms: dict[str, tuple[Any, float]] = {
        "a msgspec type": (tool, 1.15),
        "a JSON Schema": (msgspec.json.schema(tool), 0),
    }
    reads = workloads.cut(workloads.parallel_calls("chat-completions", 20).data, _READ)
    for form, (described, budget) in forms.items():
        tools = Tools({"write_file": described})
        with_tools, without = measure.rounds(
            3 * _rounds(quick),
            lambda tools=tools: baselines.parse(reads, tools=tools),
            lambda: baselines.parse(reads),
        )
        yield f"W1 checked by {form} / unchecked", measure.ratio(with_tools, without), budget


def _live(quick: bool) -> Iterator[Row]:
    """Yield what half-finished arguments cost at every delta of four characters."""
    ways = ("watch", "scan", "snapshots")
    size = (32 if quick else 256) * _KIB
    one, two = live.pieces(size), live.pieces(2 * size)
    for way in ways:
        ratio = measure.growth(_rounds(quick), partial(live.OURS[way], one), partial(live.OURS[way], two))
        yield f"growth: live arguments, {way}, time(2n)/time(n)", ratio, _GROWTH_BUDGET
    for kib in (8, 64) if quick else (8, 64, 512):
        deltas = live.pieces(kib * _KIB)
        acts = [partial(act, deltas) for act in (live.floor, *(live.OURS[way] for way in ways))]
        floor, *times = measure.rounds(_rounds(quick), *acts)
        for way, taken in zip(ways, times, strict=True):
            budget = _LIVE_BUDGET if way == "watch" else 0
            yield f"live arguments, {way}, {kib}K d4 / append and join", measure.ratio(taken, floor), budget


def _rivals(quick: bool) -> Iterator[Row]:
    """Yield how many times faster than a parser that reads all text again at every delta."""
    for name, (budget, kib) in _RIVAL_BUDGETS.items():
        deltas = live.pieces(kib * _KIB)
        for way in ("watch", "scan", "snapshots") if name in live.RIVALS else ():
            acts = [partial(act, deltas) for act in (live.OURS[way], live.RIVALS[name])]
            ours, theirs = measure.rounds(2 if quick else 3, *acts)
            yield f"{name} / live arguments, {way}, {kib}K d4", measure.ratio(theirs, ours), budget


def _others(quick: bool) -> Iterator[Row]:
    """Yield memory and the cost of the import."""
    size = (64 if quick else 512) * _KIB
    workload = workloads.w2("chat-completions", size, 4)
    reads = workloads.cut(workload.data, _READ)
    peak = measure.peak_memory(lambda: baselines.parse(reads))
    yield f"peak memory of {workload.name} / its argument text", peak / size, 0
    rounds = _rounds(quick)
    ratio = measure.import_time("wholecall", rounds) / measure.import_time("msgspec", rounds)
    yield "warm import of wholecall / of msgspec", ratio, 2


if __name__ == "__main__":
    main()
