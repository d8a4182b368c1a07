"""Relations between the calls of one finished message."""

from __future__ import annotations

from wholecall.deltas import HYDRATION, CallWhole, Delta, TextFragment
from wholecall.dialects.report import restated_together


def _whole(id_: str | None, told: frozenset[str] = frozenset()) -> CallWhole:
    return CallWhole(0, None, None, id_, "f", "{}", HYDRATION, restated_ids=told)


def test_each_call_knows_all_ids() -> None:
    """Every restated call knows the ids next to it; other entries stay as they are."""
    deltas: list[Delta] = [_whole("a"), TextFragment(0, "x"), _whole("b"), _whole(None)]
    both = frozenset({"a", "b"})

    assert [
        _whole("a", both),
        TextFragment(0, "x"),
        _whole("b", both),
        _whole(None, both),
    ] == restated_together(deltas)


def test_ids_told_elsewhere_count() -> None:
    """Calls that were reported whole before belong to the message too."""
    assert [_whole("a", frozenset({"a", "b"}))] == restated_together([_whole("a")], ["b"])


def test_one_id_tells_nothing() -> None:
    """A sole call, and calls without ids, are as they were."""
    assert [_whole("a")] == restated_together([_whole("a")])
    assert [_whole(None), _whole(None)] == restated_together([_whole(None), _whole(None)])
    assert [] == restated_together([], ["a", "b"])
