"""Blocks whose labels are odd: which starts, texts and ends count where they are read once more at the end."""

from __future__ import annotations

from tests.support.blocks import ENDS, begun, closed, piece, whole
from tests.support.bound import A, B, assembled
from tests.support.slotted import RESTART
from wholecall.deltas import DONE, ITEM_DONE, CallWhole, Delta, StepBegan

E = '{"e":3}'
C, D = begun(0, "c", "f"), begun(1, "d", "g")
# Both starts, then texts of which no block has the index; only the ends tell whose they are.
UNKNOWN: list[Delta] = [C, D, piece(90, A), closed(0), piece(91, B), closed(1)]


def came(*deltas: Delta) -> list[tuple[str | None, str]]:
    """Return id and text of the calls that are emitted."""
    calls = assembled(*deltas, *ENDS)[0]
    return [(got.id, got.text) for got in calls if not got.sign.startswith("dropped")]


def test_a_block_that_begins_after_odd_labels_is_read_again() -> None:
    """Each start counts, also one whose own labels are as documented, or whose number other blocks had before."""
    later = [begun(2, "e", "h"), piece(92, E), closed(2)]
    one_number = [C, begun(0, "d", "g"), closed(), begun(0, "e", "h"), closed(90), closed(91)]

    assert [("c", A), ("d", B), ("e", E)] == came(*UNKNOWN, *later)
    assert [("c", ""), ("d", ""), ("e", "")] == came(*one_number)


def test_each_piece_of_a_text_is_read_again() -> None:
    """Where texts are numbered one too low, the second call's are shown in the first: all of them are the second's."""
    low = [begun(1, "c", "f"), begun(2, "d", "g"), piece(0, A), closed()]

    assert [("c", A), ("d", B)] == came(*low, piece(1, B[:3]), piece(1, B[3:5]), piece(1, B[5:]), closed(1))


def test_blocks_between_which_something_else_came_are_not_read_again() -> None:
    """A whole text, an item, another step or a new beginning of the message is no piece of a block, and no habit explains it."""
    item = CallWhole(0, 2, None, "e", "f", E, ITEM_DONE, closes=True)

    assert [] == came(*UNKNOWN, whole(A, DONE, 7))
    assert [("e", E)] == came(*UNKNOWN, item)
    assert [] == came(*UNKNOWN, StepBegan(0)) == came(*UNKNOWN[:3], StepBegan(0), *UNKNOWN[3:])
    assert [] == came(C, D, piece(90, A), RESTART, *UNKNOWN)
