"""The claim: time is linear in everything that a stream can have more of. Compare the two rows of each group."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.baselines import parse
from benchmarks.workloads import GROWTH, cut
from wholecall import Limits

LIMITS = Limits(max_calls=None)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("what", GROWTH)
def test_growth(benchmark: Any, what: str, times: int) -> None:
    """Double each measure; twice the snapshots are four times the bytes."""
    make, n = GROWTH[what]
    workload = make(n * times)
    reads = cut(workload.data, 1460)
    assert parse(reads, LIMITS).turn.reason in {"tool_calls", "stop"}
    benchmark.group = f"growth: {what}"
    benchmark.extra_info["bytes"] = len(workload.data)
    benchmark.pedantic(parse, (reads, LIMITS), rounds=7, warmup_rounds=1)


@pytest.mark.parametrize("times", [1, 2])
def test_growth_of_reads(benchmark: Any, times: int) -> None:
    """Double the bytes, in reads of one byte."""
    reads = cut(GROWTH["one-character deltas"][0](1000 * times).data, 1)
    benchmark.group = "growth: bytes in 1 B reads"
    benchmark.pedantic(parse, (reads,), rounds=7, warmup_rounds=1)
