"""Pieces of one text in a row are one run, within a read and from one read to the next."""

from __future__ import annotations

from wholecall.deltas import Delta, Fragment, Run, TextFragment
from wholecall.dialects.pieces import NO_KEY, Runs

OF = Fragment(0, 3, "")


def test_texts_of_a_run_come_in_their_order() -> None:
    """`begin` returns the list of texts of the run that it appended."""
    deltas: list[Delta] = []
    runs = Runs()

    texts = runs.begin(deltas, (0, 3), OF)
    texts.append("a")
    texts.append("b")

    assert [Run(OF, ["a", "b"])] == deltas
    assert (0, 3) == runs.key


def test_a_run_goes_on_in_the_next_read() -> None:
    """It has the same in common, and the deltas of the read before do not grow."""
    before: list[Delta] = []
    after: list[Delta] = []
    runs = Runs()

    runs.begin(before, (0, 3), OF).append("a")
    after.append(Run(runs.of, ["b"]))

    assert ([Run(OF, ["a"])], [Run(OF, ["b"])]) == (before, after)
    assert (0, 3) == runs.key


def test_what_stopped_has_no_key() -> None:
    """Nothing that a dialect compares is equal to it."""
    runs = Runs()
    runs.begin([], (0, None), TextFragment(0, "")).append("a")

    number, index = runs.stop()

    assert NO_KEY == runs.key == (number, index)
    assert not {number, index} & {0, -1, None, "", "text"}
