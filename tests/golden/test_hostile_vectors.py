"""Hostile streams from a case folder: each ends in its code, the same for every cut, within time and memory."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import share
from tests.support.hostile import MIB, cases_of, complaints
from wholecall import ToolCallParser

pytestmark = pytest.mark.cases

_SINGLE = MIB // 16  # streams up to here are also fed byte by byte
_PIECE = 61
_GRACE = 8  # times the budget of a case: other work of the machine must not decide


def test_hostile_streams_meet_their_limits(vectors_dir: Path) -> None:
    """Each hostile stream ends in one of its codes and in exactly the calls that are safe."""
    found = {case["name"]: complaints(case, case["chunks"]()) for case in cases_of(vectors_dir)}

    assert {} == {name: wrong for name, wrong in found.items() if wrong}


def _hash(chunks: Iterable[bytes]) -> str:
    parser, seen = ToolCallParser(), hashlib.sha256()
    for chunk in chunks:
        for event in parser.feed(chunk):
            seen.update(event.to_json())
    for event in parser.close():
        seen.update(event.to_json())
    return seen.hexdigest()


def _cut(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    data = b"".join(chunks)
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.slow
def test_no_cut_changes_a_hostile_stream(vectors_dir: Path) -> None:
    """Law 23: in single bytes (the long ones in pieces of 61) each hostile stream gives the same events."""
    wrong = []
    for case in share.every(7, cases_of(vectors_dir), "hostile"):
        chunks: Callable[[], Iterable[bytes]] = case["chunks"]
        size = 1 if sum(map(len, chunks())) <= _SINGLE else _PIECE
        if _hash(chunks()) != _hash(_cut(chunks(), size)):
            wrong.append(case["name"])

    assert [] == wrong


_RUN = """
import json, sys, time
from pathlib import Path
from tests.support.hostile import cases_of
from tests.support.memory import peak
from wholecall import ToolCallParser

(case,) = [case for case in cases_of(Path(sys.argv[1])) if case["name"] == sys.argv[2]]
for part in (b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}', b"\\n\\n"):
    warm = ToolCallParser()
    warm.feed(part)
    warm.close()
chunks = case["chunks"]()
before, start = peak(), time.process_time()
parser = ToolCallParser()
for chunk in chunks:
    parser.feed(chunk)
parser.close()
print(json.dumps([time.process_time() - start, (peak() - before) / 2**20]))
"""


def _cost(folder: Path, case: dict[str, Any]) -> list[float]:
    """Return the processor seconds and the MiB that a fresh process takes for a case."""
    command = [sys.executable, "-c", _RUN, str(folder), case["name"]]
    limit = 60 * (case["budget_s"] + 1)  # of the clock on the wall: the machine may be busy
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)  # noqa: S603
    cost: list[float] = json.loads(run.stdout)
    return cost


@pytest.mark.slow
def test_hostile_streams_keep_their_budgets(vectors_dir: Path) -> None:
    """No hostile stream hangs, crashes, or takes more memory than it may; a run tries a seventh of them."""
    cases = share.every(7, cases_of(vectors_dir), "hostile budgets")
    costs = {case["name"]: (_cost(vectors_dir, case), case) for case in cases}

    assert {} == {
        name: (seconds, mib)
        for name, ((seconds, mib), case) in costs.items()
        if mib > case["budget_mb"] or seconds > _GRACE * case["budget_s"]
    }
