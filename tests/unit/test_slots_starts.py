"""The call of a start of a block or an item: a repeated one, or a new one."""

from __future__ import annotations

import pytest

from tests.support.slotted import (
    HOLE,
    RESTART,
    A,
    B,
    after,
    begun,
    closed,
    done,
    finished,
    piece,
    place_of,
    preset,
    seen,
)
from tests.support.together import together
from wholecall.deltas import CallSeen, CallWhole, Delta, StepBegan
from wholecall.machine import slots

C = begun(0, "c", "f")
ITEM = begun(0, "c", "f", "i")
FREE = begun(0, "c", "f", kind="custom")
EARLY = piece(3, A, "k")  # of an item that was not announced


def announced(*deltas: Delta) -> int | str | None:
    """Return which call the last of the deltas is about, in the order in which they began; None if it is a new one."""
    *before, start = deltas
    assert isinstance(start, (CallSeen, CallWhole))
    choice = after(*before)
    return place_of(choice, slots.announced(choice, start))


# Starts under a known id.


@together(
    ("name", "deltas", "expected"),
    [
        ("at once", [C, C], 0),
        ("amid its text", [C, piece(0, '{"a"'), C], 0),
        ("of an item", [ITEM, ITEM], 0),
        ("without its index", [C, begun(None, "c", "f")], 0),
        ("before its name", [begun(0, "c"), C], 0),
        ("behind all of its text", [C, piece(0, A), C], None),
        ("behind two objects", [C, piece(0, A), piece(0, B), C], 0),
        ("behind its done event", [C, done(0, A), C], None),
        ("behind its end", [C, piece(0, '{"a"'), closed(0, final=False), C], None),
        ("behind a placeholder", [C, piece(0, "{}"), C], 0),
        ("behind an input that it began with", [preset(A, 0, "c", "f"), C], 0),
        ("behind free text", [FREE, piece(0, A), FREE], 0),
        ("under another name", [C, begun(0, "c", "g")], None),
        ("under another id", [C, begun(0, "d", "f")], None),
        ("elsewhere", [C, begun(1, "c", "f")], None),
        ("in another message", [C, RESTART, C], None),
        ("of an item without its index", [ITEM, begun(None, "c", "f", "i")], 0),
        ("of an item, its index for the first time", [begun(None, "c", "f", "i"), ITEM], 0),
        ("of an item elsewhere", [ITEM, begun(1, "c", "f", "i")], 0),
        ("of another item, without its index", [ITEM, begun(None, "c", "f", "j")], None),
        ("of another item elsewhere", [ITEM, begun(1, "c", "f", "j")], None),
        ("of another item in its place", [ITEM, begun(0, "c", "f", "j")], 0),
        ("of a block that turns out to be an item", [begun(None, "c", "f"), begun(None, "c", "f", "j")], 0),
        ("of an item whose id is the call's", [begun(None, "c", "f", "c"), begun(None, "c", "f", "j")], 0),
        ("without index, of an item that has none", [begun(None, "c", "f", "i"), begun(1, "c", "f")], 0),
        ("of an item under another id", [ITEM, begun(0, "d", "f", "i")], None),
        ("of an item without its id", [ITEM, begun(1, None, "f", "i")], 0),
    ],
)
def test_a_start_that_is_repeated(name: str, deltas: list[Delta], expected: int | None) -> None:
    """The start of a call that is open and lacks text was sent twice: it has its id and name, and its place or its alias."""
    assert (name, expected) == (name, announced(*deltas))


def test_a_start_that_fits_several_calls_repeats_the_last() -> None:
    """Of two open calls of an id and name it is the last one that a start repeats."""
    assert 1 == announced(C, begun(1, "c", "f"), begun(None, "c", "f"))
    assert 0 == announced(C, begun(1, "c", "f"), C)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (begun(3, "d", "f", "k"), "orphan"),
        (begun(7, "d", "f", "k"), "orphan"),
        (begun(3, "d", "f"), None),
        (begun(3, "d", "f", "z"), None),
        (begun(None, "k", "f"), "orphan"),
    ],
)
def test_a_start_finds_the_text_that_came_before_it(start: CallSeen, expected: str | None) -> None:
    """Text without an owner is that of a call which is announced under its id; its place alone proves nothing."""
    assert expected == announced(EARLY, start)


# Starts without an id.


@together(
    ("name", "deltas", "expected"),
    [
        ("no ids", [begun(0, None, "f"), begun(0, None, "f")], 0),
        ("the id comes late", [begun(0, None, "f"), C], 0),
        ("the id is left out", [C, begun(0, None, "f")], 0),
        ("the name comes late", [CallSeen(0, 0, None, None, None, begins=True), begun(0, "c", "f")], 0),
        ("two ids", [C, begun(0, "d", "f")], None),
        ("two names", [begun(0, None, "f"), begun(0, None, "g")], None),
        ("two places", [begun(0, None, "f"), begun(1, None, "f")], None),
        ("no place", [begun(None, None, "f"), begun(None, None, "f")], None),
        ("the first one is whole", [begun(0, None, "f"), piece(0, A), begun(0, None, "f")], None),
        ("the first one has ended", [begun(0, None, "f"), closed(0, final=False), begun(0, None, "f")], None),
        ("another message", [begun(0, None, "f"), RESTART, begun(0, None, "f")], None),
        ("two open calls are there", [C, begun(0, "d", "f"), begun(0, None, "f")], 1),
        ("one of the two has ended", [C, begun(0, "d", "f"), closed(0, "d"), begun(0, None, "f")], 0),
        ("another name stands between", [begun(0, None, "f"), begun(0, "d", "g"), C], 0),
        ("another id stands between", [begun(0, None, "f"), piece(0, A), C, begun(0, "d", "f")], None),
    ],
)
def test_a_start_that_is_repeated_in_its_place(name: str, deltas: list[Delta], expected: int | None) -> None:
    """In the place of a call that is open and lacks text a start of its name repeats it, if one of the two has no id."""
    assert (name, expected) == (name, announced(*deltas))


# Statements about a call that began.


@together(
    ("name", "deltas", "expected"),
    [
        ("at its number", [seen(0, "c", "f"), seen(1, "d", "g"), seen(1, "d")], 1),
        ("at its number, under another's id", [seen(0, "c", "f"), seen(1, "d", "g"), seen(1, "c")], 1),
        ("at its number, under another name", [seen(0, "c", "f"), seen(0, None, "g")], 0),
        ("under its id only", [seen(0, "c", "f"), seen(1, "d", "g"), seen(None, "c")], 0),
        ("in the place of a block, under another's id", [C, begun(1, "d", "g"), seen(1, "c")], 0),
        ("in the place of a block, under no known id", [C, begun(1, "d", "g"), seen(1, "x")], 1),
        ("in the place of a block, under another name", [C, begun(1, "d", "g"), seen(1, None, "h")], None),
        ("in no known place", [C, begun(1, "d", "g"), seen(7, "c")], 0),
        ("under no known label", [C, seen(7, "x", "f")], None),
        ("of two in one place, under the name of the first", [C, begun(0, "d", "g"), seen(0, None, "f")], 0),
        ("of two in one place", [C, begun(0, "d", "g"), seen(0)], 1),
        (
            "of a number and a block in one place",
            [seen(0, "c", "f"), begun(0, "d", "g"), seen(0, None, "f")],
            0,
        ),
    ],
)
def test_what_is_said_without_a_start(name: str, deltas: list[Delta], expected: int | None) -> None:
    """The number of a dialect decides; in the place of a block an id outranks the place, and another name is another call."""
    assert (name, expected) == (name, announced(*deltas))


def test_what_is_said_is_about_a_call_that_goes_on() -> None:
    """Of the calls of an id those are meant that have not ended; the last one, if all of them have."""
    first, second = [C], [StepBegan(0), begun(1, "c", "f"), piece(1, A), closed(1)]

    assert 0 == announced(*first, *second, seen(None, "c"))
    assert 1 == announced(*first, piece(0, A), closed(0), *second, seen(None, "c"))
    assert 1 == announced(*first, StepBegan(0), begun(1, "c", "f"), seen(None, "c"))


@pytest.mark.parametrize(
    ("name", "deltas", "expected"),
    [
        ("no id, no name", [begun(0, None, "f"), closed(0, final=False), begun(1)], 0),
        ("an id", [begun(0, None, "f"), closed(0, final=False), begun(1, "d")], None),
        ("the one before has an id", [C, closed(0, final=False), begun(1)], None),
        ("no start", [begun(0, None, "f"), closed(0, final=False), seen(1)], None),
        ("nothing is held", [begun(0, None, "f"), closed(0), begun(1)], None),
    ],
)
def test_a_start_without_labels_goes_on_with_the_block_before(
    name: str, deltas: list[Delta], expected: int | None
) -> None:
    """A block without id and name that follows one without id, which was just closed, is more of that one."""
    assert (name, expected) == (name, announced(*deltas))


# The short way of a start that can only be new.


@together(
    ("name", "deltas", "expected"),
    [
        ("no known label", [ITEM, begun(1, "d", "g", "j")], True),
        ("no labels but a name", [ITEM, begun(None, None, "f")], True),
        ("a known index", [ITEM, begun(0, "d", "g", "j")], False),
        ("a known id", [ITEM, begun(1, "c", "g", "j")], False),
        ("a known alias", [ITEM, begun(1, "d", "g", "i")], False),
        ("an id that is an alias", [ITEM, begun(1, "i", "g", "j")], False),
        ("no name", [ITEM, begun(1, "d", None, "j")], False),
        ("no start", [ITEM, seen(1, "d", "g")], False),
        ("a message that was restarted", [ITEM, RESTART, begun(1, "d", "g", "j")], False),
    ],
)
def test_a_start_without_known_labels_is_new(name: str, deltas: list[Delta], expected: bool) -> None:
    """A start whose labels no call ever had is that of another call, unless the message began again."""
    *before, start = deltas
    assert isinstance(start, CallSeen)

    assert (name, expected) == (name, slots.is_new(after(*before), start))


def test_a_block_of_the_wire() -> None:
    """A call that began under labels of the wire is a block, also if its text came first; a dialect's number makes
    none.
    """
    late = [piece(0, '{"a"', "i"), ITEM]
    number = [seen(0, "c", "f")]
    item = [CallSeen(0, 0, "i", "c", "f")]
    whole = [finished(A, 0, "c")]

    assert [True, True, True, False, False] == [
        after(*deltas).calls[0].block for deltas in ([C], late, item, number, whole)
    ]
    assert after(C, piece(0, A), begun(0, "d", "g")).calls[1].block  # on the long way


def test_a_loss_does_not_hide_that_a_start_was_repeated() -> None:
    """The id of a call identifies it, whatever was lost."""
    assert 0 == announced(C, HOLE, C)
