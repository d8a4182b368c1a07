"""The call of a piece of text, or of a done event without a name; and text without an owner."""

from __future__ import annotations

import pytest

from tests.support.bound import Got, assembled, bound
from tests.support.slotted import (
    HOLE,
    LOST,
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
from wholecall.deltas import CallWhole, Delta, Slot, StepBegan
from wholecall.limits import Limits
from wholecall.machine import slots

ORPHAN = "orphan"
TWO: list[Delta] = [begun(0, "c", "f"), begun(1, "d", "g")]
ITEMS: list[Delta] = [begun(0, "c", "f", "i"), begun(1, "d", "g", "j")]


def owner(*deltas: Delta) -> int | str | None:
    """Return which call the last of the deltas belongs to, in the order in which they began."""
    *before, text = deltas
    assert isinstance(text, (Slot, CallWhole))
    choice = after(*before)
    return place_of(choice, slots.owner(choice, text))


# By labels.


@together(
    ("text", "expected"),
    [
        (piece(1, A), 1),
        (piece(1, A, "j"), 1),
        (piece(None, A, "j"), 1),
        (piece(7, A, "j"), 1),
        (piece(1, A, "z"), 1),  # of an alias that no call has nothing is known
        (piece(None, A, None, "d"), 1),
        (piece(7, A, "z", "d"), 1),
        (piece(1, A, "j", "d"), 1),
        (piece(1, A, "i"), ORPHAN),
        (piece(1, A, None, "c"), ORPHAN),
        (piece(None, A, "j", "c"), ORPHAN),
        (piece(7, A, "z", "x"), ORPHAN),
    ],
)
def test_labels_that_agree_find_one_call(text: Slot, expected: int | str) -> None:
    """Any label that a call has finds it, labels that no call has say nothing, and those of two calls find none."""
    assert expected == owner(*ITEMS, text)


def test_an_id_that_several_calls_have() -> None:
    """Of several calls that have an id those are meant that are open, and their place distinguishes them."""
    shared = [begun(0, "c", "f", "i"), StepBegan(0), begun(1, "c", "f", "j")]
    ended = [*shared[:1], piece(0, A), closed(0), *shared[1:]]

    assert ORPHAN == owner(*shared, piece(None, A, None, "c"))
    assert 0 == owner(*shared, piece(0, A, None, "c"))
    assert 1 == owner(*shared, piece(None, A, "j", "c"))
    assert 1 == owner(*ended, piece(None, A, None, "c"))
    assert 0 == owner(*shared, piece(1, B), closed(1), piece(None, A, None, "c"))


def test_text_under_the_index_of_a_block_that_ended() -> None:
    """It is of the open block if all text of that one has this index, and of none if text has that one's own index."""
    before = begun(0, "c", "f"), piece(0, A), closed(0), begun(1, "d", "g")

    assert 1 == owner(*before, piece(0, B))
    assert 1 == owner(*before, piece(0, '{"b"'), piece(0, ":2}"))
    assert ORPHAN == owner(*before, piece(1, '{"b"'), piece(0, ":2}"))
    assert 1 == owner(*before, piece(1, '{"b"'), piece(7, ":2}"))


def test_labels_of_a_call_that_has_ended() -> None:
    """They contradict those of the open one as well, even if that is the only one that is left."""
    over = begun(0, "c", "f"), piece(0, '{"a"'), closed(0)

    assert ORPHAN == owner(*over, begun(1, "d", "g"), piece(1, ":1}", None, "c"))


@pytest.mark.parametrize("n", [2, 3])
def test_an_id_that_only_ended_calls_have(n: int) -> None:
    """The last call is meant if all of them have ended: late text is of the call that was there last."""
    calls = [(StepBegan(0), begun(k, "c", "f"), piece(k, A), closed(k)) for k in range(n)]

    assert n - 1 == owner(*[delta for call in calls for delta in call], piece(None, A, None, "c"))


def test_a_number_of_the_dialect_is_right() -> None:
    """Where a dialect numbers the calls itself, their number decides, and an id that several of them have does not count."""
    numbered = [seen(0, "c", "f"), seen(1, "d", "g")]

    assert 1 == owner(*numbered, piece(1, A, None, "c"))
    assert 0 == owner(*numbered, piece(None, A, None, "c"))


def test_text_of_an_item_that_was_announced_late() -> None:
    """A call whose text came first is an item like all others: its alias finds it under any index."""
    late = [piece(0, '{"a"', "i"), begun(0, "c", "f", "i"), begun(1, "d", "g", "j")]

    assert 0 == owner(*late, piece(7, ":1}", "i"))
    assert 0 == owner(*late[:2], begun(0, "c", "f", "i"), piece(0, ":1}"))


# By order.


@together(
    ("name", "deltas", "expected"),
    [
        ("no labels, one open call", [*TWO[:1], piece(None, A)], 0),
        ("no labels, no call", [piece(None, A)], ORPHAN),
        ("no labels, the only call has ended", [*TWO[:1], closed(0), piece(None, A)], ORPHAN),
        ("no labels, two open calls", [*TWO, piece(None, A)], ORPHAN),
        ("unknown labels, one open call", [*TWO[:1], piece(7, A)], 0),
        ("an unknown alias, one open call", [*TWO[:1], piece(None, A, "z")], 0),
        ("unknown labels, two open calls", [*TWO, piece(7, A)], ORPHAN),
        ("an unknown index, a call that was open beside another", [*TWO, closed(0), piece(7, A)], ORPHAN),
        ("no index, a call that was open beside another", [*TWO, closed(0), piece(None, A)], 1),
        ("an alias, a call that was open beside another", [*TWO, closed(0), piece(None, A, "z")], 1),
        (
            "an unknown alias, one of two open calls is whole",
            [*TWO, piece(0, A), piece(None, B, "z")],
            ORPHAN,
        ),
        ("an unknown id, one of two is whole", [*TWO, piece(0, A), piece(None, B, None, "x")], ORPHAN),
        ("text was lost, no labels", [*TWO[:1], HOLE, piece(None, A)], ORPHAN),
        ("text was lost, unknown labels", [*TWO[:1], HOLE, piece(7, A)], ORPHAN),
        ("text was lost, one of two is whole", [*TWO, piece(0, A), HOLE, piece(None, B)], ORPHAN),
        (
            "more at the index of text that had no owner",
            [piece(7, '{"a"'), *TWO[:1], piece(7, ":1}")],
            ORPHAN,
        ),
        ("the same without an index", [piece(None, '{"a"'), *TWO[:1], piece(None, ":1}")], ORPHAN),
    ],
)
def test_the_only_candidate(name: str, deltas: list[Delta], expected: int | str) -> None:
    """Text under labels that no call has is the only open call's, if nothing was lost and no label proved to be wrong."""
    assert (name, expected) == (name, owner(*deltas))


@pytest.mark.parametrize(
    ("name", "deltas", "expected"),
    [
        ("it is whole", [piece(0, A)], 1),
        ("both are whole", [piece(0, A), piece(1, B)], ORPHAN),
        ("it has part of its text", [piece(0, '{"a"')], ORPHAN),
        ("it has a placeholder", [piece(0, "{}")], ORPHAN),
        ("it is whole, and the other one has part of its text", [piece(0, A), piece(1, '{"z":')], 1),
        ("it has ended", [begun(2, "e", "h"), closed(0), piece(2, A)], 1),
    ],
)
def test_only_a_call_that_is_not_whole_can_go_on(name: str, deltas: list[Delta], expected: int | str) -> None:
    """Text without labels belongs to no call that has all of its text: the rest of two open calls is its owner."""
    assert (name, expected) == (name, owner(*TWO, *deltas, piece(None, B + " ")))


def test_a_whole_call_can_be_repeated() -> None:
    """The text that a call has already may be its own once more."""
    assert ORPHAN == owner(*TWO, piece(0, A), piece(None, A))
    assert 0 == owner(*TWO, piece(0, A), piece(1, B), piece(None, A))


def test_free_text_always_goes_on() -> None:
    """No free text is ever whole: the call may continue, even if its text is an object."""
    free = begun(0, "c", "f", kind="custom")

    assert ORPHAN == owner(free, begun(1, "d", "g"), piece(0, A), piece(None, B))
    assert 0 == owner(free, begun(1, "d", "g"), piece(0, A), piece(1, B), piece(None, "x"))


@pytest.mark.parametrize(("n", "expected"), [(16, 15), (17, ORPHAN)])
def test_few_candidates(n: int, expected: int | str) -> None:
    """Text without labels is bound by fit among up to 16 open calls; among more there is no search."""
    calls = [begun(k, f"c{k}", "f") for k in range(n)]
    texts = [piece(k, A) for k in range(n - 1)]

    assert expected == owner(*calls, *texts, piece(None, B))


@pytest.mark.parametrize(
    ("text", "flags"), [(piece(None, A), ""), (piece(7, A), "bound_by_order"), (piece(None, A, "z"), "")]
)
def test_a_call_bound_under_another_index_is_flagged(text: Slot, flags: str) -> None:
    """Text under an index that no call has is a guess, which the call's flags report; without an index there is no
    doubt.
    """
    assert [Got("c", "f", A, flags)] == bound(begun(0, "c", "f"), text, closed(0))


def test_text_that_fits_several_calls_flags_none() -> None:
    """Only the call that got the text is flagged."""
    calls = bound(*TWO, piece(7, "{"), piece(0, A), piece(1, B), closed(0), closed(1))

    assert {LOST, "dropped: nameless"} == {call.sign for call in calls}


# Done events without a name.


@together(
    ("name", "deltas", "expected"),
    [
        ("of the index", [*TWO, done(1, A)], 1),
        ("of the alias", [*ITEMS, done(None, A, "j")], 1),
        ("the same text, unknown index", [*TWO[:1], piece(0, A), done(7, A)], 0),
        ("another text, unknown index", [*TWO[:1], piece(0, A), done(7, B)], ORPHAN),
        ("another text, no labels", [*TWO[:1], piece(0, A), done(None, B)], ORPHAN),
        ("no text so far", [*TWO[:1], done(7, A)], ORPHAN),
        ("the same text as one of two", [*TWO, piece(0, A), piece(1, B), done(None, B)], 1),
        ("the same text as both", [*TWO, piece(0, A), piece(1, A), done(None, A)], ORPHAN),
    ],
)
def test_a_done_event_is_bound_by_its_text(name: str, deltas: list[Delta], expected: int | str) -> None:
    """A done event under labels that no call has is that of the open call whose text it repeats, or of none yet."""
    assert (name, expected) == (name, owner(*deltas))


# Text without an owner.


@pytest.mark.parametrize(
    ("name", "text", "n"),
    [
        ("no labels", piece(None, A), 0),
        ("an index", piece(7, A), 0),
        ("an alias", piece(7, A, "z"), 1),
        ("an id", piece(7, A, None, "x"), 1),
        ("both", piece(7, A, "z", "x"), 1),
        ("a done event", done(7, A, "z"), 0),
    ],
)
def test_text_under_an_id_has_a_number(name: str, text: Delta, n: int) -> None:
    """Text under an id may be a call's that is announced later: it counts as one. Other text may prove to be a known call's."""
    assert (name, n) == (name, after(text).n_numbered)


def test_text_under_an_id_is_that_of_the_call_which_is_announced() -> None:
    """The alias of text without an owner finds it for the announcement; one that a call has already does not."""
    early = piece(1, A, "j")

    assert [Got("d", "g", A)] == bound(early, begun(1, "d", "g", "j"), closed(1))
    assert [Got("d", "g", A)] == bound(early, begun(7, "d", "g", "j"), closed(7))
    taken = after(*ITEMS, piece(1, A, "i"))
    assert [[0]] == [[taken.calls.index(call) for call in taken.labels.by_id["i"]]]
    unlabelled = after(piece(1, A))
    assert not unlabelled.labels.by_id


def test_white_space_is_no_text() -> None:
    """White space without an owner is missing nowhere."""
    ends = piece(0, A), closed(0), piece(1, B), closed(1)

    assert [Got("c", "f", A), Got("d", "g", B)] == bound(*TWO, piece(7, " \n"), *ends)[:2]
    assert [Got("c", "f", A, LOST), Got("d", "g", B, LOST)] == bound(*TWO, piece(7, "x"), *ends)[:2]


def test_text_beyond_the_limit() -> None:
    """Text without an owner goes to the one drop that represents all calls beyond the limit, and taints none then."""
    beyond = [*TWO, begun(2, "e", "h"), piece(7, "x"), piece(0, A), closed(0), piece(1, B), closed(1)]
    calls, _ = assembled(*beyond, limits=Limits(max_calls=2))

    assert [Got("c", "f", A), Got("d", "g", B), Got("e", "h", "x", "dropped: too_many_calls")] == calls


# Text that is accounted for.


@together(
    ("name", "deltas", "whole", "expected"),
    [
        ("no text without an owner", [*TWO, piece(0, A)], "", True),
        ("the text at hand", [*TWO, piece(7, A)], A, True),
        ("the same value", [*TWO, piece(7, A)], '{"a": 1}', True),
        ("another text at hand", [*TWO, piece(7, A)], B, False),
        ("the text of a call that was told whole", [*TWO, done(0, A), piece(7, A)], B, True),
        ("the text of a call that was not", [*TWO, piece(0, A), piece(7, A)], B, False),
        ("one of two", [*TWO, piece(7, A), piece(8, B)], B, False),
        ("two of two", [*TWO, done(0, A), piece(7, A), piece(8, B)], B, True),
        ("white space", [*TWO, piece(7, " ")], B, True),
        ("an empty object", [*TWO, piece(7, "{}")], B, True),
        ("an item took its place", [piece(None, A), piece(None, B), finished(B)], B, True),
        (
            "an item took its place, other text",
            [piece(7, A), piece(None, A), piece(None, B), finished(B)],
            B,
            False,
        ),
    ],
)
def test_text_is_owned_if_a_whole_text_repeats_it(
    name: str, deltas: list[Delta], whole: str, expected: bool
) -> None:
    """Text without an owner is accounted for if a call was reported with it, or the text at hand says the same.

    Where an item took the place of all such text, nothing else is known of it.
    """
    assert (name, expected) == (name, slots.is_all_owned(after(*deltas), whole))


@pytest.mark.parametrize(("n", "expected"), [(32, True), (33, False)])
def test_among_too_many_calls_nothing_is_accounted_for(n: int, expected: bool) -> None:
    """Texts are compared among 32 calls, orphans among them; beyond, text without an owner is not accounted for."""
    choice = after(*(preset("{}", k, f"c{k}", "f") for k in range(n - 1)), piece(99, A))

    assert n == len(choice.calls)
    assert expected is slots.is_all_owned(choice, A)
    assert slots.is_all_owned(after(*(preset("{}", k, f"c{k}", "f") for k in range(n))), A)
