"""The claim: live arguments cost a few times the join of their pieces, and never more per delta as they grow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.live import OURS, RIVALS, WATCHED, floor, pieces, watched_text
from benchmarks.workloads import KIB

LINEAR = {"append and join": floor, **{name: OURS[name] for name in ("watch", "scan", "snapshots")}}
# Every one of these pays for the text so far at every delta, so 8 KB must do for the slow ones; and json_repair
# takes half a minute for them.
SHOWN = {name: act for name, act in {**OURS, **RIVALS}.items() if name != "json_repair"}


def check(deltas: list[str]) -> None:
    """Assert that all contenders read the same."""
    value = json.loads(floor(deltas))
    assert value[WATCHED] == watched_text(deltas)
    assert value == OURS["scan"](deltas) == OURS["snapshots"](deltas)


@pytest.mark.parametrize("contender", LINEAR)
@pytest.mark.parametrize("size", [8, 64, 512], ids=lambda size: f"{size}K")
def test_long_string(benchmark: Any, size: int, contender: str) -> None:
    """One long string in pieces of four characters: compare with the floor, and with other sizes per character."""
    deltas = pieces(size * KIB)
    check(deltas)
    benchmark.group = f"live arguments, one string of {size}K d4"
    benchmark.pedantic(LINEAR[contender], (deltas,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("contender", ["watch", "scan", "snapshots"])
@pytest.mark.parametrize("delta", [1, 40, 4000])
def test_pieces(benchmark: Any, delta: int, contender: str) -> None:
    """The same text in smaller and larger pieces."""
    deltas = pieces(64 * KIB, delta)
    check(deltas)
    benchmark.group = f"live arguments, one string of 64K d{delta}"
    benchmark.pedantic(OURS[contender], (deltas,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("contender", ["watch", "scan", "snapshots"])
@pytest.mark.parametrize("times", [1, 2])
def test_members(benchmark: Any, times: int, contender: str) -> None:
    """Double the members of one object: every one is told, and snapshots share those that are closed."""
    text = json.dumps({f"key{number}": [number, 0.5, None, "text"] for number in range(1000 * times)})
    deltas = [text[start : start + 4] for start in range(0, len(text), 4)]
    assert json.loads(text) == OURS["scan"](deltas)
    benchmark.group = f"live arguments, members: {contender}"
    benchmark.pedantic(OURS[contender], (deltas,), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("contender", SHOWN)
def test_rivals(benchmark: Any, contender: str) -> None:
    """Against parsing all text so far at every delta."""
    deltas = pieces(8 * KIB)
    value = json.loads(floor(deltas))
    assert SHOWN[contender](deltas) in (value, None)
    benchmark.group = "live arguments against parsing again, 8K d4"
    benchmark.pedantic(SHOWN[contender], (deltas,), rounds=2)


@pytest.mark.parametrize("contender", [name for name in SHOWN if name != "partial_json_parser"])
def test_fast_rivals(benchmark: Any, contender: str) -> None:
    """The same at a size that only the fast ones can be asked for."""
    deltas = pieces(64 * KIB)
    value = json.loads(floor(deltas))
    assert SHOWN[contender](deltas) in (value, None)
    benchmark.group = "live arguments against parsing again, 64K d4"
    benchmark.pedantic(SHOWN[contender], (deltas,), rounds=2)
