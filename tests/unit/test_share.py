"""The share of a large enumeration that a run tries."""

from __future__ import annotations

import pytest

from tests.support import share


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
