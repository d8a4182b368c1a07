"""Statistics of few tries: pass^k, Wilson's interval of a rate, Newcombe's interval of a difference, the F score.

Theory of operation. A probe asks a handful of times, where the textbook interval of a rate (plus and minus two standard
errors) is wrong: after five successes of five it is a point. Wilson's score interval holds for small numbers, and
Newcombe's interval of a difference is made of two of them. Sources: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209;
R. G. Newcombe, Statist. Med. 17 (1998) 857 (method 3) and 873 (method 10); pass^k as in S. Yao et al., "tau-bench"
(2024).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, sqrt
from typing import NamedTuple

_Z = 1.959963984540054  # the 97.5 % point of the normal distribution


class Interval(NamedTuple):
    """A 95 % interval of a rate or of a difference of rates.

    Attributes:
        low: its lower end.
        high: its upper end.
    """

    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference with this interval is shown."""
        return self.low > 0 or self.high < 0


def pass_k(right: int, of: int, k: int) -> float | None:
    """Return the probability that k tries, drawn from those made, are all right: C(right, k) / C(of, k).

    Args:
        right: how many tries were right.
        of: how many tries there were.
        k: how many tries have to be right, from 1.

    Returns:
        The probability; None if fewer than k tries were made.

    Raises:
        ValueError: the numbers are not those of tries.
    """
    _check(right, of)
    if k < 1:
        raise ValueError("k counts from 1")
    return comb(right, k) / comb(of, k) if of >= k else None


def wilson(right: int, of: int) -> Interval:
    """Return Wilson's 95 % interval of a rate, without correction for continuity.

    Args:
        right: how many tries were right.
        of: how many tries there were; of none the interval is from 0 to 1.

    Raises:
        ValueError: the numbers are not those of tries.
    """
    _check(right, of)
    if of == 0:
        return Interval(0.0, 1.0)
    square = _Z * _Z
    middle = 2 * right + square
    reach = _Z * sqrt(square + 4 * right * (of - right) / of)
    width = 2 * (of + square)
    low = 0.0 if right == 0 else (middle - reach) / width
    high = 1.0 if right == of else (middle + reach) / width
    return Interval(low, high)


def newcombe(right: int, of: int, other_right: int, other_of: int) -> Interval:
    """Return Newcombe's 95 % interval of the difference of two independent rates, the first less the second.

    Args:
        right: how many tries of the first were right.
        of: how many tries of the first there were.
        other_right: how many tries of the second were right.
        other_of: how many tries of the second there were.

    Raises:
        ValueError: the numbers are not those of tries.
    """
    one, other = wilson(right, of), wilson(other_right, other_of)
    if of == 0 or other_of == 0:
        return Interval(-1.0, 1.0)
    first, second = right / of, other_right / other_of
    low = first - second - sqrt((first - one.low) ** 2 + (other.high - second) ** 2)
    high = first - second + sqrt((one.high - first) ** 2 + (second - other.low) ** 2)
    return Interval(low, high)


def f1(pairs: Iterable[tuple[bool, bool]]) -> float | None:
    """Return the F score of the agreement on whether to call: the harmonic mean of precision and recall.

    Args:
        pairs: of each request, whether the endpoint called a tool and whether the reference did.

    Returns:
        The score, 0 to 1; None if neither called in any pair.
    """
    both = wrong = 0
    for ours, theirs in pairs:
        both += ours and theirs
        wrong += ours != theirs
    return 2 * both / (2 * both + wrong) if both or wrong else None


def _check(right: int, of: int) -> None:
    if not 0 <= right <= of:
        raise ValueError("of some tries none to all are right")
