"""The matcher: rule after rule, each call at most once."""

from __future__ import annotations

from typing import Any

from tests.support.together import together
from wholecall.deltas import DONE, CallWhole
from wholecall.machine.matching import Listed, first_of, only_of, pairs
from wholecall.machine.sameness import Said

EQUAL = first_of(lambda one, other: one == other)
BEGINS = first_of(str.startswith)
ONLY = only_of(str.startswith)


@together(
    ("listed", "calls", "rules", "found"),
    [
        ([], ["a"], [EQUAL], {}),
        (["a"], [], [EQUAL], {}),
        (["a", "a"], ["a"], [EQUAL], {0: "a"}),
        (["ab", "a"], ["a", "ab"], [EQUAL], {0: "ab", 1: "a"}),
        (["ab", "a"], ["a"], [BEGINS], {0: "a"}),
        (["ab", "a"], ["a"], [EQUAL, BEGINS], {1: "a"}),
        (["ab"], ["a", "ab"], [BEGINS, EQUAL], {0: "a"}),
        (["ab", "ac"], ["", "a"], [EQUAL, BEGINS], {0: "", 1: "a"}),
        (["ab"], ["", "a"], [ONLY], {}),
        (["ab", "b"], ["", "a"], [ONLY], {1: ""}),
        (["ab", "b"], ["", "a"], [ONLY, ONLY], {0: "a", 1: ""}),
    ],
)
def test_pairs(listed: list[str], calls: list[str], rules: list[Any], found: dict[int, str]) -> None:
    """Each rule is tried for all listed calls before the next rule, and a call that was paired is no longer left."""
    assert found == pairs(listed, calls, rules)


def test_a_listed_call_and_what_it_says() -> None:
    """A listed call may go on from a text with which its own begins."""
    whole = CallWhole(0, None, None, "c", "f", '{"a":1}', DONE)
    listed = Listed.of(whole)

    assert (whole, True) == (listed.whole, listed.said.is_same(Said.whole(whole)))
    assert [True, True, False] == [listed.continues(text) for text in ("", '{"a"', "1}")]
