"""Statistics of the probe against published values."""

from __future__ import annotations

import pytest

from wholecall.grading.probe.statistics import Interval, f1, newcombe, pass_k, wilson


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_the_textbook_s(right: int, of: int, low: float, high: float) -> None:
    """The intervals are those of table I, method 3, in Newcombe, Statist. Med. 17 (1998) 857-872."""
    found = wilson(right, of)

    assert (low, high) == (round(found.low, 4), round(found.high, 4))


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_is_the_textbook_s(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """The intervals are those of table II, method 10, in Newcombe, Statist. Med. 17 (1998) 873-890."""
    found = newcombe(*one, *other)

    assert (low, high) == (round(found.low, 4), round(found.high, 4))


def test_five_of_five_shows_little() -> None:
    """A clean run of five tries leaves room for a rate of 57 %; no try at all leaves room for any."""
    assert (0.57, 1.0) == (round(wilson(5, 5).low, 2), wilson(5, 5).high)
    assert Interval(0.0, 1.0) == wilson(0, 0)
    assert Interval(-1.0, 1.0) == newcombe(0, 0, 5, 5)


@pytest.mark.parametrize(
    ("right", "of", "k", "expected"),
    [(10, 10, 5, 1.0), (9, 10, 1, 0.9), (9, 10, 3, 0.7), (9, 10, 5, 0.5), (2, 5, 3, 0.0), (4, 4, 5, None)],
)
def test_pass_k_counts_draws(right: int, of: int, k: int, expected: float | None) -> None:
    """pass^k is the share of draws of k tries that are all right: 84 of 120 for nine of ten and k = 3."""
    assert expected == pytest.approx(pass_k(right, of, k))


def test_f1_is_the_harmonic_mean() -> None:
    """Eight calls of both, two of ours alone and two of theirs alone: precision and recall are 0.8, and so is the score."""
    pairs = [(True, True)] * 8 + [(True, False)] * 2 + [(False, True)] * 2 + [(False, False)] * 5

    assert pytest.approx(0.8) == f1(pairs)
    assert f1([(False, False)]) is None
    assert pytest.approx(0.0) == f1([(True, False)])


@pytest.mark.parametrize("numbers", [(2, 1, 1), (-1, 1, 1), (1, 1, 0)])
def test_impossible_numbers_are_refused(numbers: tuple[int, int, int]) -> None:
    """More right tries than tries, and no k at all, are mistakes of the caller."""
    with pytest.raises(ValueError, match=r"tries|k counts"):
        pass_k(*numbers)


def test_a_difference_is_shown_or_not() -> None:
    """Only an interval without zero shows a difference."""
    assert newcombe(9, 10, 3, 10).excludes_zero
    assert newcombe(3, 10, 9, 10).excludes_zero
    assert not newcombe(10, 10, 9, 10).excludes_zero
