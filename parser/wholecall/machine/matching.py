"""The matcher: which of the calls at hand each call is that a message lists, each at most once.

Theory of operation. A message lists calls that are at hand already. These may be the calls that were reported while it
streamed (`restating`), the calls that oddly labelled pieces were read as (`final_message`), or those that a done event
without labels may be about (`accounts`). `pairs` tries one *rule* after another, the most certain one first: labels;
the same value, as `sameness` defines it; a text that goes on; a call that is left. Each rule is tried for all calls of
the message, in their order, before the next rule: no certain pair is given up for an uncertain one.

A final message lists `{"a":1}` and `{"a":1,"b":2}` without ids; at hand are calls with the texts `{"a":1,` and
`{"a": 1}`. By order the first text would go on with the wrong call; by rules the value decides first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from wholecall.machine.sameness import Said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wholecall.deltas import CallWhole

ListedT = TypeVar("ListedT")
CallT = TypeVar("CallT")
# A rule returns the one of the calls left that a listed call is, None if it cannot tell; a test only compares two calls.
if TYPE_CHECKING:
    Rule = Callable[[ListedT, list[CallT]], CallT | None]
    Test = Callable[[ListedT, CallT], bool]


class Listed(NamedTuple):
    """A call that a message lists, and what it says."""

    whole: CallWhole
    said: Said

    @classmethod
    def of(cls, whole: CallWhole) -> Listed:
        """Return a listed call."""
        return cls(whole, Said.whole(whole))

    def continues(self, text: str) -> bool:
        """Return whether its text begins with this one."""
        return self.whole.text.startswith(text)


def pairs(
    listed: Sequence[ListedT], calls: Iterable[CallT], rules: Iterable[Rule[ListedT, CallT]]
) -> dict[int, CallT]:
    """Return the call at hand of each listed call that has one, by the number of the listed call."""
    found: dict[int, CallT] = {}
    left = list(calls)
    for rule in rules:
        for n, one in enumerate(listed):
            call = None if n in found else rule(one, left)
            if call is not None:
                found[n] = call
                left.remove(call)
    return found


def first_of(test: Test[ListedT, CallT]) -> Rule[ListedT, CallT]:
    """Return the rule that takes the first call that passes a test."""
    return lambda one, left: next((call for call in left if test(one, call)), None)


def only_of(test: Test[ListedT, CallT]) -> Rule[ListedT, CallT]:
    """Return the rule that takes the call that passes a test, if no other one does."""

    def rule(one: ListedT, left: list[CallT]) -> CallT | None:
        passing = [call for call in left if test(one, call)]
        return passing[0] if len(passing) == 1 else None

    return rule
