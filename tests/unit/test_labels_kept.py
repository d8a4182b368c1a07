"""What is kept of a choice whose labels are odd, its bounds, and calls that have an index of our own."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound, stream
from tests.support.words import CALLS, END, events_of, told
from wholecall.deltas import INVALID_INDEX, Delta, Fragment
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.output.events import ToolCall, ToolCallDropped
from wholecall.policy import Policy

# Bounds.


@pytest.mark.parametrize(("spare", "outcome"), [(0, ""), (-1, "dropped: arguments_too_large")])
def test_fragments_of_odd_labels_are_bounded(spare: int, outcome: str) -> None:
    """What is kept may be as large as the arguments of a turn; one byte more drops the calls for it."""
    limit = 64 + len("cf") + len(A)

    assert [Got("c", "f", A, outcome)] == bound(
        at(None, A, "c", "f"), limits=Limits(max_total_arguments_bytes=limit + spare)
    )


def test_without_a_limit_nothing_is_bounded() -> None:
    """Any number of odd fragments is kept if nobody set a limit."""
    assert [Got("c", "f", A)] == bound(at(None, A, "c", "f"), limits=Limits.none())


def test_a_choice_beyond_the_limit_says_why_and_keeps_nothing() -> None:
    """Beyond the limit of the turn the calls say so to people, and what came is let go."""
    assembler = Assembler(Policy(), Limits(max_total_arguments_bytes=1000))
    for _ in range(40):
        assembler.advance([at(None, "x" * 50, "c", "f")])
    record = assembler.turns[0].choices[0].record
    assembler.advance([CALLS, END])
    drops = [event for event in assembler.take() if isinstance(event, ToolCallDropped)]

    assert record is not None
    assert len(record.pieces) < 20
    assert {("arguments_too_large", "the oddly labelled fragments of the turn exceed a limit")} == {
        (drop.reason, drop.detail) for drop in drops
    }


def test_the_limit_of_odd_labels_is_that_of_their_calls() -> None:
    """A call that came out stays, and so does one that has an index of our own."""
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
    deltas = [at(0, A, "c", "f"), at(1, "", "d", "g"), Fragment(0, 1, B), at(2, A, "e", "h"), CALLS, END]
    drops = [
        event
        for events in events_of(*deltas, limits=Limits(max_calls=1))
        for event in events
        if isinstance(event, ToolCallDropped)
    ]

    assert [("g", B + A, "2 calls beyond the limit of 1")] == [
        (drop.name, drop.raw_arguments, drop.detail) for drop in drops
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


# Indices of our own, and calls that came by slot.


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
    """An index of our own is right: what comes there is of one call, in whatever order, and nothing is odd."""
    assert ["+f", A] == told(*heads, at("s", A))[len(heads)]
    assert [Got("c", "f", A)] == bound(*heads, at("s", '{"a"'), at("s", ":1}"))


def test_text_first_at_an_index_of_our_own() -> None:
    """Text that comes there before any label is of the call that the labels name."""
    assert ([Got("c", "f", A)], ()) == stream(at("s", A), at("s", "", "c", "f"))


def test_a_call_of_our_own_index_is_found_by_its_id() -> None:
    """A fragment of the wire that names such a call by its id is of that call, and so is what follows at its index."""
    deltas = [at("s", "", "c", "f"), at(0, '{"a"', "c"), at(0, ":1}")]

    assert [[], ["+f", '{"a"'], [":1}"], [f"call {A}"]] == told(*deltas, CALLS, END)[:4]


def test_the_latest_call_of_an_id_goes_on() -> None:
    """Of two such calls with one id it is the latest."""
    deltas = [at("s", B, "c", "g"), at("t", "", "c", "f"), at(0, A, "c")]

    assert [Got("c", "g", B), Got("c#2", "f", A, "duplicate_id")] == bound(*deltas)


def test_no_call_has_an_invalid_index() -> None:
    """What comes at an invalid index is no further fragment of what came there before."""
    deltas = [
        at(INVALID_INDEX, '{"a"', "c", "f"),
        at(INVALID_INDEX, B, "d", "g"),
        at(INVALID_INDEX, ":1}", "c"),
    ]

    assert [Got("c", "f", A), Got("d", "g", B)] == bound(*deltas)
