"""The claim: bytes to events costs less than the `json.loads` loop that people paste, and near the floor."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import baselines, workloads
from benchmarks.baselines import NAIVE, floor, ours, parse
from benchmarks.workloads import DIALECTS, PROFILES, Workload, w1, w2

KIB = workloads.KIB
RECORDINGS = Path(__file__).parents[1] / "corpora" / "recordings"

Contender = Callable[[list[bytes], str], object]
CONTENDERS: dict[str, Contender] = {
    "wholecall": lambda reads, _dialect: parse(reads),
    "naive": lambda reads, dialect: NAIVE[dialect](reads),
    "floor": floor,
}


def check(workload: Workload, reads: list[bytes]) -> None:
    """Assert that all contenders read the same."""
    assert ours(reads) == NAIVE[workload.dialect](reads)
    assert floor(reads, workload.dialect) == workload.n_events


@pytest.mark.parametrize("contender", CONTENDERS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_w1(benchmark: Any, dialect: str, profile: str, contender: str) -> None:
    """Twenty parallel calls, at each way of cutting the stream."""
    workload = w1(dialect)
    reads = PROFILES[profile](workload.data)
    check(workload, reads)
    benchmark.group = f"W1 {dialect}, reads: {profile}"
    benchmark.pedantic(CONTENDERS[contender], (reads, dialect), rounds=3, warmup_rounds=1)


WORKLOADS: dict[str, Callable[[str], Workload]] = {
    "W2 8K d4": lambda dialect: w2(dialect, 8 * KIB, 4),
    "W2 64K d4": lambda dialect: w2(dialect, 64 * KIB, 4),
    "W2 512K d40": lambda dialect: w2(dialect, 512 * KIB, 40),
    "plain text": workloads.plain_text,
}


@pytest.mark.parametrize("contender", CONTENDERS)
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_long(benchmark: Any, dialect: str, name: str, contender: str) -> None:
    """One long call, and a turn without calls."""
    workload = WORKLOADS[name](dialect)
    reads = workloads.cut(workload.data, 1460)
    check(workload, reads)
    benchmark.group = f"{name} {dialect}"
    benchmark.pedantic(CONTENDERS[contender], (reads, dialect), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("contender", CONTENDERS)
@pytest.mark.parametrize(
    "workload",
    [workloads.interleaved(), w1("responses", obfuscated=True)],
    ids=lambda workload: workload.name,
)
def test_odd(benchmark: Any, workload: Workload, contender: str) -> None:
    """Shapes that a shortcut could be slow on."""
    reads = workloads.cut(workload.data, 1460)
    check(workload, reads)
    benchmark.group = workload.name
    benchmark.pedantic(CONTENDERS[contender], (reads, workload.dialect), rounds=3, warmup_rounds=1)


def recordings(dialect: str) -> list[bytes]:
    """Return the streams of one dialect that the corpora hold."""
    return [path.read_bytes() for path in sorted((RECORDINGS / dialect).glob("*.sse"))]


def outcome(streams: list[list[bytes]]) -> str:
    """Return a digest of what the streams come to."""
    turns = [baselines.parse(reads).turns for reads in streams]
    return hashlib.sha256(repr(turns).encode()).hexdigest()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_recordings(benchmark: Any, dialect: str, profile: str) -> None:
    """Every recording, quirks and all; the naive loop could not read them."""
    data = recordings(dialect)
    assert data, "no recordings were found"
    streams = [PROFILES[profile](stream) for stream in data]
    assert outcome(streams) == outcome([[stream] for stream in data])
    benchmark.group = f"recordings {dialect}"
    benchmark.pedantic(lambda: [parse(reads) for reads in streams], rounds=3, warmup_rounds=1)
