"""The record of a choice with odd labels, its bounds, and calls with our own index."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound, stream
from tests.support.words import CALLS, END, events_of, told
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.deltas import INVALID_INDEX, CallSeen, Delta, Finish, Fragment, Labelled
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

# Fragments before the first odd label.


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ([at(0, '{"a"', "c"), at(0, ":1}", "c")], ""),
        ([at(0, '{"a"', "c"), at(0, ":1}")], "bound_by_order"),
        ([at(0, '{"a"', "c"), *(at(0, character) for character in ":1}")], "bound_by_order"),
        ([at(0, '{"a"'), at(0, ":1}", "c")], "bound_by_order"),
        ([at(0, '{"a"'), at(0, ":1}")], "bound_by_order"),
    ],
    ids=["all", "the first", "the first of many", "the last", "none"],
)
def test_ids_on_all_fragments_tell_whose_they_are(text: list[Delta], sign: str) -> None:
    """Where another call took the index, text is its call's by its id only if each fragment had it."""
    deltas = [at(0, "", "c", "f"), *text, at(0, B, "d", "g")]

    assert [Got("c", "f", A, sign), Got("d", "g", B)] == bound(*deltas)


def test_calls_that_took_turns_are_no_row() -> None:
    """The order proves nothing about interleaved calls: by its labels one of them is sure, which it is not in a row."""
    one, more_of_one = at(0, '{"a"', "c", "f"), Fragment(0, 0, ":1}")
    other, more_of_other = at(1, '{"b"', "d", "g"), at(1, ":2}")
    odd = at(0, '{"b"', "d")
    turns = bound(one, other, more_of_one, more_of_other, odd)
    row = bound(one, more_of_one, other, more_of_other, odd)

    assert Got("d", "g", B) == turns[1]
    assert ["dropped: ambiguous"] * 2 == [call.sign for call in row]


@pytest.mark.parametrize(("index", "ids"), [(0, ("c", "d")), (None, (None, None))])
def test_a_fragment_of_nothing_is_all_of_a_text(
    index: int | None, ids: tuple[str | None, str | None]
) -> None:
    """After a head it means that the call has no arguments, so that a second head begins another call."""
    one, other = (at(index, "", id, "f") for id in ids)
    joined, apart = bound(one, other, at(index, A)), bound(one, at(index), other, at(index, A))

    assert [[A], ["", A]] == [[call.text for call in calls] for calls in (joined, apart)]


@pytest.mark.parametrize(
    "odd",
    [
        [at(0, "", "d", "f"), at(0, B)],
        [at(0, '{"b"', None, "f"), at(1, "", "d"), at(0, ":2}", None, "f")],
        [at(None, B, "c"), at(1, A, "c", "f")],
    ],
)
def test_a_fragment_of_nothing_behind_a_text_says_nothing(odd: list[Delta]) -> None:
    """Later fragments are read as if the fragment had not come."""
    call = [at(0, "", "c", "f"), at(0, '{"a"'), at(0, ":1}")]

    assert bound(*call, *odd) == bound(*call, at(0), *odd)
    assert bound(*call, *odd) == bound(*call[:2], at(0), call[2], *odd)


# Bounds.


@pytest.mark.parametrize(("spare", "outcome"), [(0, ""), (-1, "dropped: arguments_too_large")])
def test_fragments_of_odd_labels_are_bounded(spare: int, outcome: str) -> None:
    """The record may be as large as the arguments of a turn; one byte more drops its calls."""
    limit = 64 + len("cf") + len(A)

    assert [Got("c", "f", A, outcome)] == bound(
        at(None, A, "c", "f"), limits=Limits(max_total_arguments_bytes=limit + spare)
    )


def test_without_a_limit_nothing_is_bounded() -> None:
    """Any number of odd fragments is kept without a limit."""
    assert [Got("c", "f", A)] == bound(at(None, A, "c", "f"), limits=Limits.none())


def test_a_choice_beyond_the_limit_says_why_and_keeps_nothing() -> None:
    """Beyond the limit of the turn the calls report that to people, and the record is released."""
    assembler = Assembler(Policy(), Limits(max_total_arguments_bytes=1000))
    for _ in range(40):
        assembler.advance([at(None, "x" * 50, "c", "f")])
    record = assembler.turns[0].choices[0].labels.record
    assembler.advance([CALLS, END])
    drops = [event for event in assembler.take() if isinstance(event, ToolCallDropped)]

    assert record is not None
    assert len(record.pieces) < 20
    assert {("arguments_too_large", "the oddly labelled fragments of the turn exceed a limit")} == {
        (drop.reason, drop.detail) for drop in drops
    }


def test_the_limit_of_odd_labels_is_that_of_their_calls() -> None:
    """An emitted call stays, and so does one that has our own index."""
    odd = [at(None, "{}", f"c{n}", "f") for n in range(20)]
    calls = bound(
        at("s", A, "s", "s"),
        at(0, B, "d", "g"),
        CALLS,
        at("t", "", "t", "t"),
        *odd,
        at("t", A),
        limits=Limits(max_total_arguments_bytes=700),
    )

    assert [Got("s", "s", A), Got("d", "g", B), Got("t", "t", A)] == calls[:3]
    assert {"dropped: arguments_too_large"} == {call.sign for call in calls[3:]}


def test_calls_beyond_the_limit_are_counted() -> None:
    """Each head counts as a call, and no fragment does; all text is in the one drop."""
    pieces = [Fragment(0, 1, '{"b"'), Fragment(0, 1, ":2}")]
    deltas = [at(0, A, "c", "f"), at(1, "", "d", "g"), *pieces, at(2, A, "e", "h"), CALLS, END]
    drops = [
        event
        for events in events_of(*deltas, limits=Limits(max_calls=1))
        for event in events
        if isinstance(event, ToolCallDropped)
    ]

    assert [("g", B + A, "2 calls beyond the limit of 1")] == [
        (drop.name, drop.raw_arguments, drop.detail) for drop in drops
    ]


@pytest.mark.parametrize("index", [1, None])
def test_calls_beyond_the_limit_have_no_id(index: int | None) -> None:
    """The one drop for all of them has the id of none, whether labels are odd or not."""
    deltas = [at(0, A, "c", "f"), at(index, '{"b"', "d", "g"), at(index, ":2}", "d")]
    calls = bound(*deltas, limits=Limits(max_calls=1))

    assert [Got("c", "f", A), Got(None, "g", B, "dropped: too_many_calls")] == calls


@pytest.mark.parametrize("index", [None, INVALID_INDEX])
def test_no_index_is_none_of_a_call(index: int | None) -> None:
    """A value that is not an index does not count among the allowed indices."""
    deltas = [at(index, '{"a"', "c", "f"), at(0, ":", "c"), at(1, B, "d", "g"), at(0, "1}")]
    said = events_of(*deltas, limits=Limits(max_aliases=1))

    assert [0, 0, 1, 0] == [events[-1].index for events in said[:4]]  # type: ignore[union-attr]


def test_what_may_begin_a_call_counts_as_one() -> None:
    """Calls are counted as fragments come, not by their later meaning: a name alone may begin one."""
    deltas = [at(0, A, "c", "go"), at(0, "", None, "go"), at(0, B, None, "t")]

    assert ["bound_by_order", "dropped: too_many_calls"] == [
        call.sign for call in bound(*deltas, limits=Limits(max_calls=2))
    ]


# Bytes that are not UTF-8.


@pytest.mark.parametrize(
    ("bad", "text", "reason"),
    [(True, '{"a":"\ufffd"}', "invalid_utf8"), (False, '{"a":"\ufffd"}', ""), (True, A, "")],
    ids=["replaced bytes", "a character like any other", "bad bytes elsewhere"],
)
@pytest.mark.parametrize("n", [1, 2], ids=["one call", "two calls"])
def test_bad_bytes_in_odd_fragments(bad: bool, text: str, reason: str, n: int) -> None:
    """Of oddly labelled calls, too, only one that holds a replaced byte itself is dropped for it."""
    assembler = Assembler(Policy(), Limits())
    assembler.advance([at(None, B, "d", "g")][: n - 1])
    (assembler.advance_replaced if bad else assembler.advance)([at(None, text, "c", "f")])
    assembler.advance([CALLS, END])
    ended = [event for event in assembler.take() if isinstance(event, (ToolCall, ToolCallDropped))]

    assert [*[("d", "")][: n - 1], ("c", reason)] == [(e.id, getattr(e, "reason", "")) for e in ended]


# Our own indices, and calls that came by slot.


@pytest.mark.parametrize(
    "heads",
    [
        [at("s", "", "c"), at("s", "", None, "f")],
        [at("s", "", None, "f"), at("s", "", "c")],
        [at("s"), at("s", "", "c", "f")],
        [at("s", "", "c", "f"), at("s")],
        [at("s", "", "c", "f"), at("s", "", "c", "f")],
    ],
)
def test_labels_at_an_index_of_our_own(heads: list[Delta]) -> None:
    """Our own index is right: fragments there belong to one call, in whatever order, and nothing is odd."""
    assert ["+f", A] == told(*heads, at("s", A))[len(heads)]
    assert [Got("c", "f", A)] == bound(*heads, at("s", '{"a"'), at("s", ":1}"))


def test_what_goes_back_to_the_provider_needs_no_text() -> None:
    """A fragment at our own index may bring nothing but a field to send back."""
    extra = Labelled(0, "s", None, None, extra={"k": 1})
    said = events_of(at("s", "", "c", "f"), extra, at("s", A), CALLS, END)

    assert [{"k": 1}] == [e.extra for events in said for e in events if isinstance(e, ToolCall)]


def test_calls_of_our_own_indices_are_not_read_anew() -> None:
    """Odd labels elsewhere put nothing in doubt there: such a call does not wait for the end."""
    said = told(at("s", A, "s", "s"), at(None, B, "d", "g"), CALLS, END)

    assert [f"call {A}"] == said[2]
    assert [f"call {B}"] == said[3]


def test_text_of_our_own_index_goes_on_beside_odd_labels() -> None:
    """A call that has such an index is whole in the end, though labels became odd in the midst of its text."""
    deltas = [at("s", '{"a"', "s", "s"), at(None, B, "d", "g"), at("s", ":1}")]

    assert [Got("s", "s", A), Got("d", "g", B)] == bound(*deltas)


def test_an_id_that_contradicts_an_index() -> None:
    """Text at the index of one call with the id of another puts the one that goes by labels alone in doubt."""
    deltas = [at("s", "", "c", "f"), at(0, B, "d", "g"), at(0, A, "c")]

    assert [Got("c", "f", A), Got("d", "g", B, "dropped: ambiguous")] == bound(*deltas)


def test_text_first_at_an_index_of_our_own() -> None:
    """Text that comes there before any label belongs to the call that the labels name."""
    assert ([Got("c", "f", A)], ()) == stream(at("s", A), at("s", "", "c", "f"))


def test_a_call_of_our_own_index_is_found_by_its_id() -> None:
    """A fragment of the wire that names such a call by its id belongs to it, and so do later fragments at its index."""
    deltas = [at("s", "", "c", "f"), at(0, '{"a"', "c"), at(0, ":1}")]

    assert [[], ["+f", '{"a"'], [":1}"], [f"call {A}"]] == told(*deltas, CALLS, END)[:4]


def test_the_latest_call_of_an_id_goes_on() -> None:
    """Of two such calls with one id it is the latest."""
    deltas = [at("s", B, "c", "g"), at("t", "", "c", "f"), at(0, A, "c")]

    assert [Got("c", "g", B), Got("c#2", "f", A, "duplicate_id")] == bound(*deltas)


def test_the_id_of_a_call_that_was_taken_back_is_free() -> None:
    """A fragment with it under another name is a call, and not more of the one that was taken back."""
    taken_back = CallSeen(0, 0, None, "c", "f", begins=True), Finish(0, "stop", None, drops=True)

    assert [Got("c", "f", "", "dropped: aborted"), Got("c#2", "g", A, "duplicate_id")] == bound(
        *taken_back, at(0, A, "c", "g")
    )


def test_no_call_has_an_invalid_index() -> None:
    """A fragment at an invalid index does not continue an earlier fragment there."""
    deltas = [
        at(INVALID_INDEX, '{"a"', "c", "f"),
        at(INVALID_INDEX, B, "d", "g"),
        at(INVALID_INDEX, ":1}", "c"),
    ]

    assert [Got("c", "f", A), Got("d", "g", B)] == bound(*deltas)
