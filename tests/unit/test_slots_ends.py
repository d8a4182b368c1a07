"""The call of a block's end, and calls that lack text where text or an end has no owner."""

from __future__ import annotations

import pytest

from tests.support.bound import Got, assembled, bound
from tests.support.slotted import HOLE, LOST, A, B, after, begun, closed, done, listed, piece, place_of
from tests.support.together import together
from wholecall.deltas import CallClosed, CallRefused, Delta, Finish, Index, TurnEnded
from wholecall.machine import slots

C, D, E = begun(0, "c", "f"), begun(1, "d", "g"), begun(2, "e", "h")
ITEMS = [begun(0, "c", "f", "i"), begun(1, "d", "g", "j")]
ASTRAY = piece(7, "x")  # text that may be that of any of several open calls
WRONG = closed(8)  # an end under an index that no call has: labels are wrong


@together(
    ("index", "alias", "expected"),
    [
        (1, None, 1),
        (None, "j", 1),
        (1, "j", 1),
        (7, "j", 1),
        (1, "z", 1),
        (1, "i", None),
        (7, None, None),
        (None, "z", None),
        (None, None, None),
    ],
)
def test_an_end_is_found_by_its_labels(index: Index | None, alias: str | None, expected: int | None) -> None:
    """Any label that a call has finds it, and those of two calls find none; so do refusals, and ends of texts."""
    choice = after(*ITEMS)
    refused = CallRefused(0, index, alias, "unparseable", "so it says")

    assert expected == place_of(choice, slots.named_by(choice, CallClosed(0, index, alias, of_text=True)))
    assert expected == place_of(choice, slots.refused_by(choice, refused))
    assert expected == place_of(choice, slots.ended_by(choice, CallClosed(0, index, alias)))


@together(
    ("name", "deltas", "expected"),
    [
        ("no labels", [C, closed()], 0),
        ("an unknown index", [C, closed(7)], 0),
        ("an unknown alias", [C, closed(None, "z")], 0),
        ("no call", [closed(7)], None),
        ("it has ended", [C, closed(0), closed(7)], None),
        ("text was lost", [C, HOLE, closed()], None),
        ("no labels, it was open beside another", [C, D, closed(0), closed()], 1),
        ("an unknown index, it was open beside another", [C, D, closed(0), closed(7)], None),
        ("the index of one that has ended", [C, piece(0, A), closed(0), D, closed(0)], None),
    ],
)
def test_the_end_of_the_only_open_call(name: str, deltas: list[Delta], expected: int | None) -> None:
    """An end under labels that no call has is the only open call's, if nothing was lost and no index proved to be wrong."""
    *before, end = deltas
    assert isinstance(end, CallClosed)
    choice = after(*before)

    assert (name, expected) == (name, place_of(choice, slots.ended_by(choice, end)))


def test_the_end_of_a_text_is_never_bound_by_order() -> None:
    """The end of an unknown text says nothing of a call."""
    choice = after(C)

    assert None is slots.named_by(choice, CallClosed(0, 7, None, of_text=True))


# Text that was bound by order, and the end of its block.


@pytest.mark.parametrize(
    ("name", "own", "text", "end", "sign"),
    [
        ("of the next block", 0, 1, closed(0), LOST),
        ("of a later block", 0, 2, closed(0), "bound_by_order"),
        ("of the block before", 1, 0, closed(1), "bound_by_order"),
        ("the end has no index", 0, 1, closed(None, "i"), "bound_by_order"),
        ("the end has the index of the text", 0, 1, closed(1), "bound_by_order"),
        ("the index is no number", 0, "x", closed(0), "bound_by_order"),
        ("the end's is none", "x", 1, closed("x"), "bound_by_order"),
    ],
)
def test_text_of_the_next_block(name: str, own: Index, text: Index, end: CallClosed, sign: str) -> None:
    """A block that ends under its own index has right labels: text of the next index was that of a block that was lost."""
    assert (name, [Got("c", "f", A, sign)]) == (name, bound(begun(own, "c", "f", "i"), piece(text, A), end))


# Which calls lack text.


def signs(*deltas: Delta) -> dict[str, str]:
    """Return the result of each call that has an id; the reason of the turn's end comes with that end."""
    ends = Finish(0, "tool_calls", "completed", ends=True), TurnEnded()
    return {call.id: call.sign for call in assembled(*deltas, *ends)[0] if call.id is not None}


ENDS = [piece(1, B), closed(1), piece(2, B), closed(2)]
WAITS = CallClosed(0, 0, None, final=False, waits=True)
HELD = closed(0, final=False)


@together(
    ("name", "first", "by_text", "by_label"),
    [
        ("open, without text", [C, D, E], LOST, LOST),
        ("open, with some text", [C, D, E, piece(0, A)], LOST, LOST),
        ("ended", [C, piece(0, A), closed(0), D, E], "", ""),
        ("ended beside others", [C, D, E, piece(0, A), closed(0)], "", ""),
        ("told whole", [C, D, E, piece(0, A), done(0, A)], "", ""),
        ("closed beside others", [C, D, E, piece(0, A), HELD], "", LOST),
        ("closed beside others, without text", [C, D, E, HELD], LOST, LOST),
        ("its text is over, beside others", [C, D, E, piece(0, A), WAITS], LOST, LOST),
        ("its text was over before the others began", [C, piece(0, A), WAITS, D, E], "", ""),
        ("its text was over, and is none", [C, WAITS, D, E], LOST, LOST),
    ],
)
def test_what_may_lack_text(name: str, first: list[Delta], by_text: str, by_label: str) -> None:
    """Text without an owner does not belong to a call that the wire closed with text; wrong labels speak against that,
    too.

    A call that has ended, was reported whole, or was over before another call began, lacks nothing.
    """
    ends = [piece(0, A), closed(0), *ENDS]

    assert (name, {"c": by_text, "d": LOST, "e": LOST}) == (name, signs(*first, ASTRAY, *ends))
    assert (name, {"c": by_label, "d": LOST, "e": LOST}) == (name, signs(*first, WRONG, *ends))


def test_a_call_that_was_closed_alone() -> None:
    """A block with text that was closed while no other was open is over: a wrong label after it says nothing of it."""
    assert {"c": ""} == signs(C, piece(0, A), HELD, WRONG)
    assert {"c": LOST} == signs(C, HELD, WRONG)


def test_an_end_without_labels_shows_nothing_wrong() -> None:
    """An end that names no call, where several are open, says nothing about labels."""
    ends = piece(0, A), closed(0), piece(1, B), closed(1)

    assert {"c": "", "d": ""} == signs(C, D, closed(), *ends)
    assert {"c": "", "d": ""} == signs(C, D, closed(None, "z"), *ends)
    assert {"c": LOST, "d": LOST} == signs(C, D, closed(7), *ends)


def test_calls_that_begin_later_lack_nothing() -> None:
    """Text or an end without an owner before a call began says nothing of it."""
    later = begun(3, "l", "k"), piece(3, A), closed(3)

    assert {"c": LOST, "d": LOST, "l": ""} == signs(C, D, ASTRAY, *later)
    assert {"c": LOST, "d": LOST, "l": ""} == signs(C, D, WRONG, *later)


def test_text_of_a_block_that_closed_without_it() -> None:
    """A block that was closed before its text came lacks the text without an owner between them."""
    assert {"c": LOST, "d": LOST} == signs(C, D, HELD, ASTRAY, piece(1, B), closed(1), piece(0, A))
    assert {"c": "", "d": ""} == signs(C, D, HELD, piece(1, B), closed(1), piece(0, A))


def test_the_only_open_call_may_lack_text() -> None:
    """A done event that says something else than the only open call has is missing there, or its own text is wrong."""
    assert {"c": LOST} == signs(C, piece(0, A), done(7, B), closed(0))
    assert {"c": "bound_by_order"} == signs(C, piece(0, A), done(7, A), closed(0))


@pytest.mark.parametrize("trouble", [ASTRAY, WRONG])
def test_what_has_ended_lacks_nothing(trouble: Delta) -> None:
    """No call is said to lack text after its end, whatever comes then."""
    choice = after(C, D, E, piece(0, A), closed(0), trouble)

    assert [False, True, True] == [call.lacks_text for call in choice.calls[:3]]


@pytest.mark.parametrize(("trouble", "ended"), [([ASTRAY], False), ([WRONG], True), ([WRONG, ASTRAY], True)])
def test_when_a_call_that_lacks_text_is_dropped(trouble: list[Delta], ended: bool) -> None:
    """At its own end where labels were wrong; where only text came astray, the end of the turn may still account for that."""
    choice = after(C, D, *trouble, piece(0, A), closed(0))

    assert ended is choice.calls[0].is_over


# Facts that settle it.


ACCOUNTED: list[Delta] = [
    C,
    D,
    piece(7, B),
    done(1, B),
    piece(0, A),
]  # the text proves to be that of the second call


def test_text_that_is_accounted_for_is_missing_nowhere() -> None:
    """A call lacks nothing if the text that could be its own proves to be another's; wrong labels still speak against it."""
    assert {"c": "", "d": ""} == signs(*ACCOUNTED, closed(0), closed(1))
    assert {"c": LOST, "d": ""} == signs(*ACCOUNTED, WRONG, closed(0), closed(1))
    assert {"c": LOST, "d": LOST} == signs(*ACCOUNTED[:2], WRONG, *ACCOUNTED[2:], closed(0), closed(1))


def test_what_a_call_that_was_closed_may_lack_in_the_end() -> None:
    """Text without an owner does not belong to a closed block, but wrong labels after it say that it may,
    nonetheless.
    """
    closed_first = [C, D, E, piece(0, A), HELD]

    assert {"c": LOST, "d": LOST, "e": LOST} == signs(*closed_first, ASTRAY, WRONG, *ENDS)
    assert {"c": LOST, "d": LOST, "e": LOST} == signs(*closed_first, WRONG, ASTRAY, *ENDS)


@together("trouble", [[], [ASTRAY], [WRONG], [ASTRAY, WRONG], [WRONG, ASTRAY]])
@together("later", [ASTRAY, WRONG])
def test_a_call_that_a_list_told_lacks_nothing(trouble: list[Delta], later: Delta) -> None:
    """A final list gives its calls whole, whatever was wrong before it, or is after it."""
    told = listed(("c", "f", A), ("d", "g", B))

    assert {"c": "", "d": ""} == signs(C, D, *trouble, told, later)
