"""Whole texts: the call of a done event or a finished item, whose id counts, and the cures of a call that lost text."""

from __future__ import annotations

import pytest

from tests.support.assembled import HOLE, told
from tests.support.blocks import (
    LOST,
    UNENDED,
    begun,
    bound,
    closed,
    cut,
    dropped,
    item,
    listed,
    piece,
    signs,
    whole,
)
from tests.support.bound import A, B, Got, assembled
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCallStarted
from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    CallSeen,
    CallWhole,
    Delta,
)
from wholecall.limits import Limits

ITEM = begun(0, "c", "f", "i")  # an item of Responses: the alias is its own id

# Ids.


@pytest.mark.parametrize(
    ("id", "public", "sign"), [("e", "e", "id_churn"), ("c", "c", ""), (None, "c", ""), ("long", "c", "")]
)
def test_the_id_of_a_finished_item_is_the_public_one(id: str | None, public: str, sign: str) -> None:
    """A finished item outranks the start of its call; one without an id changes nothing, and one that is too long neither."""
    limits = Limits(max_id_chars=3)
    sign = dropped("id_too_long") if id == "long" else sign

    assert [Got(public, "f", A, sign)] == assembled(ITEM, item(A, id=id, alias="i"), limits=limits)[0]


def test_the_start_of_a_call_tells_its_public_id() -> None:
    """The id of a finished item is known before its call is reported for the first time."""
    (started,) = (
        event for event in told(ITEM, item(A, id="e", alias="i")) if isinstance(event, ToolCallStarted)
    )

    assert "e" == started.id


def test_another_id_elsewhere_is_an_alias() -> None:
    """Where the wire does not say which of two ids counts, the first one does."""
    assert [Got("c", "f", A, "id_churn")] == cut(
        ITEM, CallWhole(0, 0, "i", "e", "f", A, ITEM_DONE, closes=True)
    )


def test_an_item_is_found_by_the_id_that_it_got() -> None:
    """Text under the new id of a call is about that call."""
    item_again = [ITEM, CallWhole(0, 0, "i", "e", "f", A, ITEM_DONE, id_wins=True), listed(("e", "f", A))]

    assert [Got("e", "f", A, "id_churn")] == bound(*item_again)


# Cures.


@together(
    ("start", "told_whole", "sign"),
    [
        (begun(0, "c", "f"), whole(A, ITEM_DONE, id="c", name="f"), ""),
        (ITEM, CallWhole(0, 0, "i", None, None, A, DONE), ""),
        (begun(0, "c", "f"), whole(A, DONE), LOST),
        (begun(0, "c", "f"), whole(A, ITEM_DONE, name="f"), LOST),
        (begun(0, "c", "f"), whole(A, ITEM_DONE, id="e", name="f"), LOST),
        (begun(0, None, "f"), whole(A, ITEM_DONE, name="f"), "id_generated"),
        (begun(0, None, "f"), whole(A, DONE), LOST),
        (begun(0, None, "f"), whole(A, ITEM_DONE, id="e"), LOST),
        (begun(0, None, "f"), whole(A, ITEM_DONE, id="e", name="f"), LOST),
        (begun(0, None, "f"), listed(("e", "f", A)), ""),
        (begun(0, None, "f"), listed((None, "f", A)), "id_generated"),
        (begun(0, "c", "f"), listed((None, "f", A)), LOST),
    ],
)
def test_what_heals_a_call_that_lost_text(start: Delta, told_whole: Delta, sign: str) -> None:
    """A whole text is the truth about the call of its id or its item; of one without an id, if no place decides."""
    assert sign in [got.sign for got in bound(start, HOLE, told_whole, closed())]


def test_the_item_heals_under_another_call_id() -> None:
    """The item's own id identifies its call: text without an owner does not belong to a call that comes whole under
    it.
    """
    assert [""] == [
        got.sign.removeprefix("id_churn")
        for got in bound(ITEM, whole(A, DONE, None), item(A, id="e", alias="i"))
    ]


def test_an_empty_text_heals_nothing_while_text_has_no_owner() -> None:
    """Servers send `{}` for calls whose text they lost: that is believed once all text is some call's."""
    orphan = [begun(0, "c", "f"), begun(1, "d", "g"), piece(7, A)]

    assert [LOST] == signs(bound(*orphan, listed(("c", "f", "{}"))), "c")
    assert [LOST] == signs(bound(*orphan, item("{}", id="c")), "c")
    assert [""] == signs(bound(*orphan, item(A, 1, "d", "g"), item("{}", id="c")), "c")
    assert [""] == signs(bound(*orphan, listed(("c", "f", "{}"), ("d", "g", A))), "c")
    assert [""] == signs(bound(*orphan[:2], closed(7), item("{}", id="c")), "c")


def test_a_limit_is_not_healed() -> None:
    """A whole text under the item's id settles doubts that labels left, and nothing else that speaks against a call."""
    limits = Limits(max_id_chars=3)
    deltas = [begun(0, "long", "f", "i"), CallWhole(0, 0, "i", None, "f", A, ITEM_DONE, closes=True)]

    assert [dropped("id_too_long")] == [got.sign for got in assembled(*deltas, limits=limits)[0]]


def test_what_settles_two_names_of_one_id() -> None:
    """Of two calls of one id and place a whole text settles one if it has that id and the call's name."""
    two = [begun(0, "c", "f"), begun(0, "c", "g")]
    ambiguous = dropped("ambiguous")

    assert [ambiguous, "duplicate_id"] == [
        got.sign for got in bound(*two, whole(A, ITEM_DONE, id="c", name="g"))
    ]
    assert [ambiguous] * 2 == [got.sign for got in bound(*two, whole(A, ITEM_DONE, id="e", name="g"))]
    assert [ambiguous] * 2 == [got.sign for got in bound(ITEM, item(A, 0, "c", "g", "i"))]


# Empty texts of finished items.


@together("rank", [OBJECT, HYDRATION, DONE, ITEM_DONE])
@together("text", ["{}", A])
def test_a_whole_text_beside_text_without_an_owner(rank: int, text: str) -> None:
    """A `{}` next to text without an owner may mean a text that was lost, unless a final message restates it."""
    told_whole = CallWhole(0, "0/c", None, None, "f", text, rank, begins=rank == OBJECT)
    (sign,) = (got.sign for got in bound(piece(None, B), told_whole, closed("0/c")) if got.name == "f")

    assert (LOST if rank != HYDRATION and text == "{}" else "id_generated") == sign


def test_an_empty_text_under_an_id_of_the_dialect() -> None:
    """Where the dialect distinguishes calls itself, text without an owner does not belong to a call that comes whole
    under its id.
    """
    told_whole = whole("{}", ITEM_DONE, "0/c", "c", "f")

    seen = CallSeen(0, "0/c", None, "c", "f")

    assert [""] == signs(bound(piece(None, B), told_whole, closed("0/c")), "c")
    assert [""] == signs(bound(seen, HOLE, piece(None, B), told_whole, closed("0/c")), "c")
    assert [LOST] == signs(bound(piece(None, B), item("{}", 0, "c", alias="i")), "c")


# Which call it is.


def test_a_call_that_comes_whole() -> None:
    """A finished item that was not announced is a call, whichever event reports it, if it has a name."""
    for rank in (DONE, ITEM_DONE):
        started = told(whole(A, rank, "0/c", "c", "f"), close=False)
        assert ToolCallStarted in map(type, started)
    for rank in (OBJECT, DONE, ITEM_DONE):
        assert [Got("c", "f", A)] == bound(whole(A, rank, "0/c", "c", "f"), closed("0/c"))
    assert [Got("c", "f", "", UNENDED)] == cut(whole("", ITEM_DONE, id="c", name="f"))


def test_text_that_a_done_event_tells_of_nobody() -> None:
    """A done event that no label and no text gives to a call is not a call: its text may be that of any open call."""
    came = bound(begun(0, "c", "f"), begun(1, "d", "g"), whole(A, DONE, None), closed(), closed(1))

    assert [LOST, LOST] == [*signs(came, "c"), *signs(came, "d")]


@pytest.mark.parametrize(
    "told_whole",
    [
        CallWhole(0, 1, "j", "d", "g", A, ITEM_DONE),
        CallSeen(0, 1, "j", "d", "g", begins=True),
        CallSeen(0, 1, "j", "d", "g"),
    ],
)
@pytest.mark.parametrize("early", [piece(1, A, "j"), CallWhole(0, 1, "j", None, None, A, DONE)])
def test_a_text_before_its_call(early: Delta, told_whole: Delta) -> None:
    """Text under an item's id is that of the call that comes under it: it streams from then on, and nothing is lost."""
    shown = [event for event in told(early, told_whole, close=False) if isinstance(event, ToolCallStarted)]

    assert ["g"] == [event.name for event in shown]
    assert [Got("d", "g", A), Got("e", "h", "")] == bound(
        early, told_whole, closed(1), begun(2, "e", "h"), closed(2)
    )


@pytest.mark.parametrize(
    ("text", "told_text", "sign"),
    [("", A, ""), (A, A, ""), ("{", A, "done_completed_buffer"), ("{", "{}", LOST), ("{}", "{}", "")],
)
def test_a_finished_item_behind_text_of_its_own(text: str, told_text: str, sign: str) -> None:
    """The item is the truth about the text under its id, except that `{}` may be another's, or mean a loss."""
    assert [sign] == signs(bound(piece(1, text, "j"), item(told_text, 1, "d", "g", "j")), "d")


def test_labels_of_a_whole_text_are_learnt() -> None:
    """A call is found by the labels that came with its text, also where it had others before."""
    told_whole = whole(A, ITEM_DONE, "0/e", "e", "g")

    both = [begun("0/c", "c", "f"), begun("0/d", "d", "g")]

    assert Got("d", "g", A, "id_churn") in cut(*both, told_whole, closed("0/e"))


@pytest.mark.parametrize(
    "labels", [CallSeen(0, 1, "j", "d", None), CallWhole(0, 1, "j", "d", None, A, ITEM_DONE)]
)
def test_labels_without_a_name_make_no_call(labels: Delta) -> None:
    """Text that came before its call is a call only under a name: till then it takes no other text."""
    early = piece(1, A, "j")

    assert [("d", A), (None, B)] == [(got.id, got.text) for got in bound(early, labels, piece(None, B))]


def test_an_item_without_a_name() -> None:
    """A finished item without a name repeats the text at its place: that is one text, and not a call."""
    nameless = CallWhole(0, "0/c", None, "c", None, A, ITEM_DONE)

    assert [Got("c", None, A, dropped("nameless"))] == bound(piece("0/c", A), nameless)


def test_what_is_said_of_a_closed_call_opens_it_not() -> None:
    """A closed call that is repeated, with its name, stays closed: the next one ends it."""
    keyed = [begun("0/c", "c", "f"), piece("0/c", A), closed("0/c", final=False)]

    for again in (CallSeen(0, "0/c", None, "c", "f"), whole(A, ITEM_DONE, "0/c", "c", "f")):
        assert [""] == signs(cut(*keyed, again, begun("0/d", "d", "g")), "c")


def test_an_empty_input_behind_text_of_its_own() -> None:
    """A `{}` after nothing but a `{}` under the same id does not mean a loss, whatever rank it has."""
    told_whole = CallWhole(0, 1, "j", "d", "g", "{}", OBJECT, closes=True)

    assert [""] == signs(bound(piece(1, "{}", "j"), told_whole), "d")
