"""The memory of calls that seem to be repeated."""

from __future__ import annotations

from wholecall.deltas import ITEM_DONE, CallWhole
from wholecall.dialects.whole_calls import Repeats, says_nothing


def call(text: str) -> CallWhole:
    """Return a whole call."""
    return CallWhole(0, None, None, "c", "f", text, ITEM_DONE)


def test_what_is_kept_is_bounded() -> None:
    """So many calls, and so many characters; a taken entry is gone."""
    repeats = Repeats()
    for _ in range(200):
        repeats.add(call("{}"))

    assert [call("{}")] * 128 == repeats.take()
    assert [] == repeats.take()
    large = call("x" * (1 << 19))
    for _ in range(3):
        repeats.add(large)
    assert [large] * 2 == repeats.take()


def test_a_label_says_something_if_each_call_was_told_as_often() -> None:
    """Twice each, or thrice: a repetition. Some more often than others: calls of one label (quirk 64)."""
    assert [False, False, False] == [says_nothing(times) for times in ([2], [2, 2], [3, 3])]
    assert [True, True] == [says_nothing(times) for times in ([2, 1], [2, 3])]
    assert not says_nothing([2, 4])
