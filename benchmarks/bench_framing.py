"""The claim: framing by the standard costs little more than the split that people paste, however cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.baselines import naive_payloads
from benchmarks.workloads import DIALECTS, PROFILES, big_done_event, cut, w1
from wholecall import Limits
from wholecall.framing import FRAMINGS


def framed(reads: list[bytes]) -> list[str]:
    """Frame a stream as the parser does."""
    framing = FRAMINGS["sse"](Limits())
    return [frame.data for read in reads for frame in framing.feed(read)]


def split(reads: list[bytes]) -> list[str]:
    """Split a stream as the naive loop does."""
    return list(naive_payloads(reads))


CONTENDERS: dict[str, Callable[[list[bytes]], list[str]]] = {"wholecall": framed, "naive": split}


@pytest.mark.parametrize("contender", CONTENDERS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_sse(benchmark: Any, dialect: str, profile: str, contender: str) -> None:
    """The frames of W1."""
    reads = PROFILES[profile](w1(dialect).data)
    assert framed(reads) == split(reads)
    benchmark.group = f"framing {dialect}, reads: {profile}"
    benchmark.pedantic(CONTENDERS[contender], (reads,), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("size", [100, 1460, 2**24], ids=["100", "1460", "whole"])
def test_big_event(benchmark: Any, size: int) -> None:
    """One event of 1 MB: small reads may not copy what came before (the naive split does)."""
    data = big_done_event().data
    reads = cut(data, size)
    assert framed(reads) == split([data])
    benchmark.group = "framing, one event of 1 MB"
    benchmark.pedantic(framed, (reads,), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("ends", ["lf", "crlf"])
def test_line_ends(benchmark: Any, ends: str) -> None:
    """CRLF takes a step more than LF."""
    data = w1("chat-completions").data
    sent = data if ends == "lf" else data.replace(b"\n", b"\r\n")
    reads = cut(sent, 1460)
    assert framed(reads) == split([data])
    benchmark.group = "framing, line ends"
    benchmark.pedantic(framed, (reads,), rounds=3, warmup_rounds=1)
