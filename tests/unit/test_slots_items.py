"""The call of a finished item: by its labels, else by its place, else by its text."""

from __future__ import annotations

import pytest

from tests.support.bound import Got, bound
from tests.support.slotted import HOLE, LOST, A, B, after, begun, closed, finished, piece, place_of, seen
from tests.support.together import together
from wholecall.deltas import CallWhole, Delta
from wholecall.machine import slots

C, D = begun(0, "c", "f"), begun(1, "d", "f")  # of one name
ITEMS = [begun(0, "c", "f", "i"), begun(1, "d", "f", "j")]
TWICE = [C, begun(1, "c", "f")]  # of one id, too
ASTRAY = closed(7)  # an end under an index that no call has: labels are wrong


def item(*deltas: Delta) -> int | str | None:
    """Return the call that the item in the last delta is about; None if it is a new or an unknown call."""
    *before, delta = deltas
    assert isinstance(delta, CallWhole)
    choice = after(*before)
    return place_of(choice, slots.finished_by(choice, delta))


@together(
    ("name", "deltas", "expected"),
    [
        ("its id", [C, D, finished(A, None, "d")], 1),
        ("its id, another place", [C, D, finished(A, 0, "d")], 1),
        ("its alias", [*ITEMS, finished(A, 7, None, "f", "j")], 1),
        ("its id and its alias, another place", [*ITEMS, finished(A, 0, "d", "f", "j")], 1),
        ("its alias, another place", [*ITEMS, finished(A, 0, None, "f", "j")], 1),
        ("its id, another's alias", [*ITEMS, finished(A, 7, "c", "f", "j")], None),
        ("its id, another's alias, in its place", [*ITEMS, finished(A, 1, "c", "f", "j")], 1),
        ("its id, no name", [C, D, finished(A, None, "d", None)], 1),
        ("its id, another name", [C, D, finished(A, None, "d", "g")], None),
        ("its id, after its end", [C, piece(0, A), closed(0), D, finished(A, 7, "c")], 0),
        (
            "an ended call's id, an open one's alias",
            [*ITEMS, piece(0, A), closed(0), piece(1, B), finished(A, 7, "c", "f", "j")],
            1,
        ),
        ("an id of two calls, in the place of one", [*TWICE, finished(A, 1, "c")], 1),
        ("an id of two calls, in no place", [*TWICE, finished(A, 7, "c")], None),
        (
            "an id of two calls, one of which has ended",
            [*TWICE, piece(1, A), closed(1), finished(B, 7, "c")],
            0,
        ),
    ],
)
def test_an_item_is_found_by_its_labels(name: str, deltas: list[Delta], expected: int | None) -> None:
    """An id or an alias finds the call of the item's name, at any position of the item; its place distinguishes
    several.
    """
    assert (name, expected) == (name, item(*deltas))


@together(
    ("name", "deltas", "expected"),
    [
        ("no other label", [C, D, finished(A, 1)], 1),
        ("an id that no call has", [C, D, finished(A, 1, "x")], 1),
        ("an id for a call without one", [begun(0, None, "f"), D, finished(A, 0, "x")], 0),
        ("another name", [C, begun(1, "d", "g"), piece(0, A), finished(B, 1, "x")], None),
        ("no name", [C, begun(1, "d", "g"), finished(A, 1, "x", None)], 1),
        ("of two open calls the one of the name", [C, begun(0, "d", "g"), finished(A, 0, "x")], 0),
        ("two open calls of the name", [C, begun(0, "d", "f"), finished(A, 0, "x")], None),
        ("no id, another name", [C, finished(A, 0, None, "g")], None),
        ("no id, a block that has ended", [C, piece(0, A), closed(0), finished(A, 0)], None),
        ("a block that has ended", [C, piece(0, A), closed(0), finished(A, 0, "x")], None),
        ("a number whose call has ended", [seen(0, "c", "f"), piece(0, A), closed(0), finished(A, 0, "x")], 0),
        ("a number whose call is open", [seen(0, "c", "f"), seen(1, "d", "f"), finished(A, 0, "x")], 0),
        ("another id, where labels are wrong", [C, D, ASTRAY, finished(A, 1, "x")], None),
        ("no id, where labels are wrong", [C, D, ASTRAY, finished(A, 1)], 1),
        ("its id, where labels are wrong", [C, D, ASTRAY, finished(A, 1, "d")], 1),
        ("an id for a call without one, where labels are wrong", [begun(0, None, "f"), D, ASTRAY, finished(A, 0, "x")], 0),
    ],
)  # fmt: skip
def test_an_item_is_found_by_its_place(name: str, deltas: list[Delta], expected: int | None) -> None:
    """An item under no known id is that of the open call in its place; where labels are wrong, only if no id says otherwise."""
    assert (name, expected) == (name, item(*deltas))


@together(
    ("name", "deltas", "text", "expected"),
    [
        ("the same text", [C, D, piece(0, A), piece(1, B)], B, 1),
        ("the same value", [C, D, piece(0, A), piece(1, B)], '{"b": 2}', 1),
        ("the same text, beside a call without text", [C, D, piece(1, B)], B, 1),
        ("two of the same text", [C, D, piece(0, A), piece(1, A)], A, 0),
        ("one without text", [C, D, piece(0, A)], B, 1),
        ("one that is not whole", [C, D, piece(0, A), piece(1, '{"b"')], B, 1),
        ("two without text", [C, D], A, None),
        ("one without text, one that is not whole", [C, D, piece(0, '{"a"')], A, None),
        ("all are whole", [C, D, piece(0, A), piece(1, A)], B, None),
        ("the only one is whole", [C, piece(0, A)], B, None),
        ("only one of another name", [begun(0, "c", "g")], A, None),
        ("the only one has ended", [C, closed(0)], A, None),
        ("the other one has ended", [C, D, closed(0)], A, 1),
        ("the other one was told whole", [C, D, finished(A, 0, "c")], A, 1),
        ("text was lost", [C, HOLE], A, None),
        ("the only one is whole, an empty object", [C, piece(0, A)], "{}", 0),
        ("one without text, an empty object", [C, D, piece(0, A)], "{}", 1),
        ("all are whole, an empty object", [C, D, piece(0, A), piece(1, A)], "{}", None),
        ("one with a placeholder, one without text", [C, D, piece(0, "{}")], "{}", None),
        ("one with a placeholder, one whole", [C, D, piece(0, "{}"), piece(1, A)], B, 0),
    ],
)
def test_an_item_is_found_by_its_text(
    name: str, deltas: list[Delta], text: str, expected: int | None
) -> None:
    """An item in no place is that of the open call of its name with its text, or of the only one that lacks text.

    An empty object can be any call's: servers send it where they lost the text.
    """
    assert (name, expected) == (name, item(*deltas, finished(text, 7, "x")))


def test_an_item_is_not_found_by_its_text_after_a_loss() -> None:
    """Where text was lost, no call is the item's because it is the only one that lacks text."""
    assert 0 == item(C, finished(A, 7))
    assert None is item(C, HOLE, finished(A, 7))


@pytest.mark.parametrize(("n", "expected"), [(16, 15), (17, None)])
def test_few_candidates(n: int, expected: int | None) -> None:
    """An item in no place is looked for among up to 16 open calls."""
    calls = [begun(k, f"c{k}", "f") for k in range(n)]

    assert expected == item(*calls, piece(n - 1, A), finished(A, 99, "x"))


@pytest.mark.parametrize(
    ("name", "deltas", "expected"),
    [
        ("its place and text", [piece(7, A), finished(A, 7, "x")], "orphan"),
        ("another text", [piece(7, A), finished(B, 7, "x")], None),
        ("another place", [piece(7, A), finished(A, 8, "x")], None),
        ("no place", [piece(None, A), finished(A, None, "x")], "orphan"),
        ("nothing there", [finished(A, 7, "x")], None),
    ],
)
def test_an_item_shows_whose_text_had_no_owner(
    name: str, deltas: list[Delta], expected: int | str | None
) -> None:
    """Text in the place of an item that was not announced is the item's, if it says the same."""
    assert (name, expected) == (name, item(*deltas))


# Results for the call.


def test_an_item_of_two_calls_is_none_of_them_for_sure() -> None:
    """It is reported as a new call, but is one of the two: their text may not be all of it."""
    assert [Got("c", "f", A, LOST), Got("d", "f", B, LOST), Got("x", "f", "{}")] == bound(
        C, D, piece(0, A), piece(1, B), finished("{}", 7, "x"), closed(0), closed(1)
    )


def test_an_item_of_one_call_taints_no_other() -> None:
    """An item that is found leaves the others as they were, and so does a new one."""
    ends = piece(0, A), closed(0), closed(1)

    assert [Got("c", "f", A), Got("d", "f", B)] == bound(C, D, finished(B, 1, "d"), *ends)
    assert ["", "", ""] == [
        call.sign for call in bound(C, D, finished(B, 7, "x", "g"), piece(1, B), *ends, closed(7))
    ]


def test_an_item_with_another_id_where_labels_are_wrong() -> None:
    """Where labels are wrong an item in the place of a call is not reported as that call: it is separate."""
    ids = {call.id: call.sign for call in bound(C, D, ASTRAY, finished(A, 1, "x"))}

    assert {"c": LOST, "d": LOST, "x": ""} == ids
