"""The claim: judging a text of arguments costs little more than `json.loads`, and recovery stays linear."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from benchmarks.workloads import KIB, long_arguments, small_arguments
from wholecall import parse_arguments

TEXTS = {
    "380 B": small_arguments(1),
    "64 KB string": long_arguments(64 * KIB),
    "64 KB members": json.dumps({f"key{number}": [number, 0.5, None, "text"] for number in range(1800)}),
}
CONTENDERS: dict[str, Callable[[str], object]] = {
    "wholecall": lambda text: parse_arguments(text).arguments,
    "json.loads": json.loads,
    "msgspec": msgspec.json.Decoder().decode,
}


@pytest.mark.parametrize("contender", CONTENDERS)
@pytest.mark.parametrize("name", TEXTS)
def test_strict(benchmark: Any, name: str, contender: str) -> None:
    """Valid JSON: one decode and the checks beside it."""
    text = TEXTS[name]
    assert CONTENDERS[contender](text) == json.loads(text)
    benchmark.group = f"strict arguments, {name}"
    benchmark.pedantic(CONTENDERS[contender], (text,), rounds=15, iterations=20, warmup_rounds=1)


@pytest.mark.parametrize("members", [200, 400, 800])
def test_recovery(benchmark: Any, members: int) -> None:
    """Damaged JSON, a fault at the end: the whole text is rewritten."""
    text = json.dumps({f"key{number}": "a value" for number in range(members)})[:-1] + ",}"
    assert parse_arguments(text).status == "recovered"
    benchmark.group = "recovered arguments, members"
    benchmark.pedantic(parse_arguments, (text,), rounds=9, warmup_rounds=1)


@pytest.mark.parametrize("size", [8 * KIB, 64 * KIB, 512 * KIB])
def test_cut(benchmark: Any, size: int) -> None:
    """A text that ends inside a string is refused in linear time."""
    text = long_arguments(size)[:-2]
    assert parse_arguments(text).reason == "truncated"
    benchmark.group = "cut arguments, size"
    benchmark.pedantic(parse_arguments, (text,), rounds=5, warmup_rounds=1)
