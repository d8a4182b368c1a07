"""The claim: shrinking arguments is linear, whatever they are made of. Compare the two rows of each group."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.workloads import SHRINKING
from wholecall.history import shrink_arguments

MIB = 1024 * 1024


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("what", SHRINKING)
def test_shrinking(benchmark: Any, what: str, times: int) -> None:
    """Double 1 MB of argument text."""
    text = SHRINKING[what](MIB * times)
    found = shrink_arguments(text)
    assert found.valid
    assert len(found.text) <= len(text)
    benchmark.group = f"shrinking: {what}"
    benchmark.extra_info["characters"] = len(text)
    benchmark.pedantic(shrink_arguments, (text,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("what", SHRINKING)
def test_shrinking_to_a_budget(benchmark: Any, what: str, times: int) -> None:
    """The same with a budget, which is found by bisection."""
    text = SHRINKING[what](MIB * times)
    assert len(shrink_arguments(text, max_bytes=4096).text) <= len(text)
    benchmark.group = f"shrinking to 4 KB: {what}"
    benchmark.pedantic(shrink_arguments, (text,), {"max_bytes": 4096}, rounds=3, warmup_rounds=1)
