"""The claim: small reads cost more for each byte, never more for each byte before."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import streams, workloads
from benchmarks.claims import Comparison, Ratio
from benchmarks.streams import OURS, Stream
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS, READ, Workload

_CUTS: dict[str, str | int] = {"1460 B": READ, "1 B": 1, "one event": "frame", "64 KiB": 64 * KIB}
_W1_RATIOS = (Ratio("1 B", "1460 B", 100), Ratio("one event", "1460 B"), Ratio("64 KiB", "1460 B", 1.1))
_BIG_CUTS: dict[str, str | int] = {"one read": "whole", "100 B": 100}
_BIG_RATIOS = (Ratio("100 B", "one read", 4),)


def _claim(
    what: str, make: Callable[[int], Workload], cuts: dict[str, str | int], ratios: tuple[Ratio, ...]
) -> Comparison:
    def subject(part: int) -> list[Stream]:
        workload = make(part)
        return [streams.stream(workload, cut) for cut in cuts.values()]

    return Comparison(what, subject, {name: streams.nth(OURS, at) for at, name in enumerate(cuts)}, ratios)


def _calls(dialect: str) -> Comparison:
    what = f"20 calls d4 {dialect}, a read is"
    return _claim(what, lambda part: workloads.parallel_calls(dialect, max(20 // part, 4)), _CUTS, _W1_RATIOS)


def _big(dialect: str) -> Comparison:
    what = f"one event of 1 MB {dialect}, a read is"
    return _claim(
        what, lambda part: workloads.big_event(dialect, KIB * KIB // min(part, 4)), _BIG_CUTS, _BIG_RATIOS
    )


CLAIMS = [*map(_calls, DIALECTS), *map(_big, DIALECTS)]


def test_reads(race: Callable[[], None]) -> None:
    """The reads change nothing."""
    race()
