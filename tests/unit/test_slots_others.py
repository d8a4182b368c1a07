"""Different calls under one id, and text under the labels of a call that begins later."""

from __future__ import annotations

import pytest

from tests.support.slotted import A, B, after, begun, closed, finished, listed, piece, place_of, seen
from tests.support.together import together
from wholecall.deltas import CallSeen, CallWhole, Delta
from wholecall.limits import Limits
from wholecall.machine import slots

C, D = begun(0, "c", "f"), begun(1, "d", "g")
ITEM = begun(0, "c", "f", "i")
OVER: list[Delta] = [ITEM, piece(0, A, "i"), closed(0, "i")]
NUMBERED: list[Delta] = [seen(0, "c", "f"), piece(0, A), closed(0)]
CAME_LATER = "text came under the labels of a call that began later"
CAME_BEFORE = "its text came before it did, and was bound to another call"


@together(
    ("name", "before", "item", "expected"),
    [
        ("another value at a new place", OVER, finished(B, 7, "c"), None),
        ("another value of a new item", OVER, finished(B, 0, "c", "f", "j"), None),
        ("another value of a new item in no place", OVER, finished(B, None, "c", "f", "j"), None),
        ("another value of the item", OVER, finished(B, None, "c", "f", "i"), 0),
        ("another value in its place", OVER, finished(B, 0, "c"), 0),
        ("another value in no place", OVER, finished(B, None, "c"), 0),
        ("another value at a key of the dialect", OVER, finished(B, "k", "c"), 0),
        ("its value at a new place", OVER, finished(A, 7, "c"), 0),
        ("an empty object at a new place", OVER, finished("{}", 7, "c"), 0),
        ("no text at a new place", OVER, finished("", 7, "c"), 0),
        ("no name at a new place", OVER, finished(B, 7, "c", None), 0),
        ("while it is open", OVER[:2], finished(B, 7, "c"), 0),
    ],
)
def test_an_item_with_another_value_is_another_call(
    name: str, before: list[Delta], item: CallWhole, expected: int | None
) -> None:
    """A finished item under the id of an ended call, with a place of its own and another value, is a call of its own."""
    choice = after(*before)

    assert (name, expected) == (name, place_of(choice, slots.finished_by(choice, item)))


@together(
    ("name", "before", "announced", "expected"),
    [
        ("another name", NUMBERED, seen(0, "c", "g"), None),
        ("its name", NUMBERED, seen(0, "c", "f"), 0),
        ("no name", NUMBERED, seen(0, "c"), 0),
        ("another name of a call of the server", NUMBERED, CallSeen(0, 0, None, "c", "g", "server"), 0),
        ("another name while it is open", NUMBERED[:2], seen(0, "c", "g"), 0),
        ("another name of a block", OVER, seen(0, "c", "g"), 0),
    ],
)
def test_another_name_is_another_call(
    name: str, before: list[Delta], announced: CallSeen, expected: int | None
) -> None:
    """Where the dialect numbers the calls, names come whole: another one under the id of an ended call is another call."""
    choice = after(*before)

    assert (name, expected) == (name, place_of(choice, slots.announced(choice, announced)))


def test_a_call_of_another_name_comes_out() -> None:
    """The call that has the id of an ended call, and another name, has a place of its own, and its own text."""
    choice = after(*NUMBERED, seen(0, "c", "g"), piece(0, B), closed(0))

    assert [("f", A), ("g", B)] == [(call.name, call.text) for call in choice.calls]


@together(
    ("name", "deltas", "facts"),
    [
        ("by its place", [C, piece(1, A), D], [(CAME_LATER,), (CAME_BEFORE,)]),
        ("by its item", [C, piece(None, A, "j"), begun(None, "d", "g", "j")], [(CAME_LATER,), (CAME_BEFORE,)]),
        ("by both", [C, piece(1, A, "j"), begun(1, "d", "g", "j")], [(CAME_LATER,), (CAME_BEFORE,)]),
        ("by the item alone", [C, piece(1, A, "j"), begun(2, "d", "g", "j")], [(CAME_LATER,), (CAME_BEFORE,)]),
        ("by a finished item", [C, piece(1, A), finished(A, 1, "d", "g")], [(CAME_LATER,), ()]),
        ("in another place", [C, piece(1, A), begun(2, "d", "g")], [(), ()]),
        ("without labels", [C, piece(None, A), D], [(), ()]),
        ("when its call has ended", [C, piece(1, A), closed(), D], [(), ()]),
        ("when its call has a whole text", [C, piece(1, A), listed(("c", "f", A)), D], [(), ()]),
        ("under labels of its own call", [C, piece(1, A), CallSeen(0, 1, None, "c", None), D], [(), ()]),
    ],
)  # fmt: skip
def test_text_before_its_start_taints_both_calls(
    name: str, deltas: list[Delta], facts: list[tuple[str, ...]]
) -> None:
    """Text that was bound by order to the open call is another's, if that begins under its labels: neither is sure."""
    assert (name, facts) == (name, [call.told_against() for call in after(*deltas).calls])


@pytest.mark.parametrize(("most", "known"), [(1, {1}), (3, {1, 2, 3}), (None, {1, 2, 3, 4})])
def test_labels_of_text_are_remembered_up_to_a_limit(most: int | None, known: set[int]) -> None:
    """As many labels are remembered as a call may have."""
    choice = after(C, *(piece(n, "x") for n in (1, 2, 3, 4)), limits=Limits(max_aliases=most))

    assert known == set(choice.slots.by_order)
