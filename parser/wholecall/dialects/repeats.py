"""Calls that seem to be repeated, kept until it is known whether they are separate calls.

Theory of operation. The same call under the same label is that call repeated, as relays do, or another one, where the
label is one that all calls have (quirk 64). Different calls under it show that the label does not distinguish calls.
Even then each may have been sent twice; equal ones are calls only if some came more often than others. That is known at
the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from wholecall.deltas import CallWhole

__all__ = ["Repeats", "says_nothing"]

_MOST = 128  # calls that are kept
_LONGEST = 1 << 20  # characters of all of them


class Repeats:
    """The calls that were repeated, in their order."""

    _calls: list[CallWhole]
    _size: int

    def __init__(self) -> None:
        self._calls = []
        self._size = 0

    def add(self, call: CallWhole) -> None:
        """Keep a call; a call beyond the limits counts as a mere repeat."""
        self._size += len(call.text)
        if len(self._calls) < _MOST and self._size <= _LONGEST:
            self._calls.append(call)

    def take(self) -> list[CallWhole]:
        """Return the kept calls, and forget them."""
        calls, self._calls, self._size = self._calls, [], 0
        return calls


def says_nothing(times: Iterable[int]) -> bool:
    """Return whether a label does not distinguish calls, by how often each of its different calls came."""
    return gcd(*times) == 1
