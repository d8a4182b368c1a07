"""The claim: bytes in, strict bytes out costs about what parsing costs, and no more per byte as streams grow."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import workloads
from wholecall import ToolCallParser
from wholecall.repairing import Repairer

_READ = 1460
KIB = workloads.KIB
WORKLOADS = {
    "plain text": workloads.plain_text,
    "parallel calls": workloads.w1,
    "one long call": lambda dialect: workloads.w2(dialect, 64 * KIB, 4),
}


def parsed(reads: list[bytes]) -> int:
    """Return how many events the bare parser makes of the reads."""
    parser = ToolCallParser()
    return sum(len(parser.feed(data)) for data in reads) + len(parser.close())


def repaired(reads: list[bytes]) -> bytes:
    """Return the strict stream."""
    repairer = Repairer()
    return b"".join([*map(repairer.feed, reads), repairer.close()])


@pytest.mark.parametrize("contender", [parsed, repaired], ids=["parse", "repair"])
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("dialect", workloads.DIALECTS)
def test_whole_reads(benchmark: Any, dialect: str, name: str, contender: Any) -> None:
    """Reads of a network packet each: compare with the bare parser."""
    reads = workloads.cut(WORKLOADS[name](dialect).data, _READ)
    assert b"".join(reads) == repaired(reads)
    benchmark.group = f"repair, {dialect}, {name}, {_READ} B reads"
    benchmark.pedantic(contender, (reads,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("contender", [parsed, repaired], ids=["parse", "repair"])
def test_one_event_a_read(benchmark: Any, contender: Any) -> None:
    """Text as it streams: an event a read."""
    data = workloads.plain_text("chat-completions").data
    reads = [block + b"\n\n" for block in data.split(b"\n\n") if block]
    assert data == repaired(reads)
    benchmark.group = "repair, chat-completions, plain text, an event a read"
    benchmark.pedantic(contender, (reads,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("times", [1, 2])
def test_growth(benchmark: Any, times: int) -> None:
    """Twice the arguments are at most about twice the work, held frames included."""
    reads = workloads.cut(workloads.w2("chat-completions", 128 * KIB * times, 4).data, _READ)
    benchmark.group = "repair, growth"
    benchmark.pedantic(repaired, (reads,), rounds=5, warmup_rounds=1)
