"""The share of a large enumeration that a run tries."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support import share


def collected(*options: str) -> Counter[str]:
    """Return how many cases of each test a run of pytest would try."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT)  # noqa: S603
    lines = [line.partition("::")[2] for line in run.stdout.splitlines()]
    return Counter(line.partition("[")[0] for line in lines if line)


def test_every_item_is_tried_by_some_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """A share is every n-th item, the same for the same source; all sources together leave nothing out."""
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "ci")
    shares = []
    for source in range(50):
        monkeypatch.setattr(share, "_source", lambda source=source: source)
        shares.append(tuple(share.every(4, range(10), "a name")))
        assert shares[-1] == tuple(share.every(4, range(10), "a name"))

    assert {(0, 4, 8), (1, 5, 9), (2, 6), (3, 7)} == set(shares)


def test_a_long_run_tries_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile that looks longer takes no share."""
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "long")

    assert [*range(10)] == list(share.every(4, range(10), "a name"))


@pytest.mark.parametrize("source", range(4))
def test_parts_are_all(source: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of an enumeration and the rest are the enumeration; only a long run tries all of the rest."""
    monkeypatch.setattr(share, "_source", lambda: source)
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "ci")
    part, some = (
        share.Part(4, is_rest=is_rest, rest_in=3).of(range(10), "a name") for is_rest in (False, True)
    )
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "long")
    rest = share.Part(4, is_rest=True).of(range(10), "a name")

    assert [*range(10)] == sorted(part + rest)
    assert len(part) in (2, 3)
    assert set(some) < set(rest)
    assert len(some) in (2, 3)


def test_what_is_left_for_later_is_tried_by_another_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each item is tried by some source, and left out by another; a long run leaves none out."""
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "ci")
    left = []
    for source in range(50):
        monkeypatch.setattr(share, "_source", lambda source=source: source)
        left.append(tuple(number for number in range(4) if share.is_later(2, "a name", number)))
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "long")

    assert {(0, 2), (1, 3)} == set(left)
    assert not any(share.is_later(2, "a name", number) for number in range(4))


def test_names_begin_at_other_items() -> None:
    """In one run, enumerations of different names begin at different items."""
    assert {0, 1, 2} == {share.begin(3, str(n), source=5) for n in range(50)}


CASES = """
import pytest


@pytest.mark.parametrize("n", range(7))
def test_many(n):
    pass


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", range(7))
def test_some(n):
    pass


def test_one():
    pass
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"test_many": {7}, "test_some": {2, 3}, "test_one": {1}}),
        (("--one-in", "3"), {"test_many": {2, 3}, "test_some": {1}, "test_one": {1}}),
        (("-m", "slow"), {"test_some": {4, 5}}),
    ],
    ids=["quick", "one in three", "slow"],
)
def test_every_test_has_a_case(
    options: tuple[str, ...], expected: dict[str, set[int]], tmp_path: Path
) -> None:
    """Quick tests take of a sampled test every n-th case, the slow tests the others; `--one-in` leaves no test out."""
    file = tmp_path / "test_cases.py"
    file.write_text(CASES)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    found = collected("-c", str(PROJECT / "pyproject.toml"), f"--rootdir={tmp_path}", *options, str(file))

    assert expected.keys() == found.keys()
    assert all(found[name] in expected[name] for name in found)
