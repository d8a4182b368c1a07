"""Shows the claims to pytest: a module's `CLAIMS` are its groups, and every contender is a test.

With `--benchmark-disable` nothing is timed: each contender does its work once, smaller where it can be, and its
result must be right. `--beyond-check` leaves out the claims of which `python -m benchmarks --check` looks at larger
results before it measures them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from benchmarks import table
from benchmarks.claims import FULL, Claim, Comparison, Figure, Growth, Scale

_ONCE = Scale(part=32, rounds=1, span=2)


class Entry(NamedTuple):
    """One contender of one claim, and how it gets its subject."""

    claim: Claim
    name: str
    act: Callable[[Any], Any]
    right: Callable[[Any, Any], bool]
    subject: Callable[[Scale], Any]
    times: int = 1


@functools.lru_cache(maxsize=1)  # the contenders of a claim are side by side
def _compared(claim: Comparison, part: int) -> Any:
    return claim.subject(part)


def _entries(claim: Claim) -> Iterator[Entry]:
    if isinstance(claim, Comparison):
        for name, (act, right) in claim.contenders.items():
            yield Entry(claim, name, act, right, lambda scale: _compared(claim, scale.part), claim.times)
    elif isinstance(claim, Growth):
        for times in (1, 2):
            subject = functools.partial(_grown, claim, times)
            yield Entry(claim, "n" if times == 1 else "2n", *claim.contender, subject)
    else:
        yield Entry(claim, "figure", claim.measured, lambda _, found: found >= 0, lambda scale: scale)


def _grown(claim: Growth, times: int, scale: Scale) -> Any:
    return claim.subject(scale.part, times)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that leaves out the claims of `--check`."""
    about = "leave out the claims that `python -m benchmarks --check` looks at"
    parser.getgroup("wholecall").addoption("--beyond-check", action="store_true", help=about)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of every contender of the module's claims."""
    if "entry" in metafunc.fixturenames:
        others = {*table.checked()} if metafunc.config.getoption("--beyond-check") else set()
        claims = [claim for claim in metafunc.module.CLAIMS if claim not in others]
        entries = [entry for claim in claims for entry in _entries(claim)]
        metafunc.parametrize("entry", entries, ids=[f"{entry.claim.what}-{entry.name}" for entry in entries])


@pytest.fixture
def race(benchmark: Any, entry: Entry, request: pytest.FixtureRequest) -> Callable[[], None]:
    """Return a function that times one contender and asserts that its result is right."""
    timed = not request.config.getoption("benchmark_disable")
    rounds = FULL.rounds if timed and not isinstance(entry.claim, Figure) else 1

    def run() -> None:
        subject = entry.subject(FULL if timed else _ONCE)
        benchmark.group = entry.claim.what
        found = benchmark.pedantic(
            entry.act, (subject,), rounds=rounds, iterations=entry.times, warmup_rounds=int(rounds > 1)
        )
        assert entry.right(subject, found)

    return run
