"""Calls that come again: the signs that they are others, and the results of calls that seemed the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.assembled import told
from tests.support.blocks import ENDS, UNENDED, begun, bound, closed, cut, dropped, listed, piece, signs
from tests.support.bound import A, B, Got
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.deltas import OBJECT, CallCancelled, CallClosed, CallSeen, CallWhole, Delta, TurnOpened

FIRST = begun(0, "c", "f")
CALL: list[Delta] = [FIRST, piece(0, A), closed()]
AGAIN: list[Delta] = [begun(1, "c", "f"), piece(1, A), closed(1)]
OTHER: list[Delta] = [begun(2, "c", "g"), piece(2, B), closed(2)]
RESTART = TurnOpened(None, restart=True)
C = '{"c":3}'


def out(*deltas: Delta, close: bool = False) -> list[tuple[int, int, str | None]]:
    """Return the calls in order of emission: turn, number and name; by default while the stream runs."""
    events: list[Any] = told(*deltas, close=close)
    return [
        (event.turn, event.index, event.name)
        for event in events
        if isinstance(event, (ToolCall, ToolCallDropped))
    ]


# One id under several names.


def test_what_seemed_to_be_a_repetition_comes_out_with_the_next_name() -> None:
    """Whole calls that waited are emitted when another name shows that their id identifies nothing; each has its
    number.
    """
    assert [(0, 0, "f")] == out(*CALL, *AGAIN)
    assert [(0, 0, "f"), (0, 1, "f"), (0, 2, "g")] == out(*CALL, *AGAIN, *OTHER)
    assert ["", "duplicate_id", "duplicate_id"] == [got.sign for got in bound(*CALL, *AGAIN, *OTHER)]


def test_a_silent_repetition_waits_for_the_next_name() -> None:
    """A closed block without text seems to repeat a call, until another name shows that its id identifies nothing."""
    silent = [begun(1, "c", "f"), closed(1, final=False)]

    assert [A, "", B] == [got.text for got in bound(*CALL, *silent, *OTHER)]
    assert [A] == [got.text for got in bound(*CALL, *silent)]


@pytest.mark.parametrize(("text", "expected"), [(A, [A]), (B, [B, A])])
def test_a_repetition_of_an_open_call_waits_for_its_text(text: str, expected: list[str]) -> None:
    """Whether a block repeats a call that has no text yet is known when its text is there."""
    assert expected == [got.text for got in bound(FIRST, *AGAIN, piece(0, text), closed())]


def test_an_open_call_keeps_its_number() -> None:
    """A call that is still open when another name comes under its id has its number already."""
    assert [(0, 0, "f"), (0, 1, "g")] == sorted(out(*CALL[:2], *OTHER, *ENDS, close=True))


def test_calls_of_one_id_are_numbered_as_they_began() -> None:
    """Where another text shows that an id identifies nothing, open calls of it that began earlier have earlier numbers."""
    starts = [FIRST, begun(1, "c", "f"), begun(2, "c", "f")]
    ended = [piece(0, A), piece(2, B), closed(), closed(2), piece(1, C), closed(1)]

    assert [A, C, B] == [got.text for got in bound(*starts, *ended)]


def test_another_name_may_come_first() -> None:
    """Calls of an id that identifies nothing are separate calls, in whatever order the names come."""
    other = [begun(3, "c", "g"), piece(3, B), closed(3)]

    assert [(0, 0, "g"), (0, 1, "f"), (0, 2, "f")] == out(*other, *CALL, *AGAIN)
    assert ["", "duplicate_id", "duplicate_id"] == [got.sign for got in bound(*other, *CALL, *AGAIN)]


def test_an_id_that_identifies_nothing_in_a_list() -> None:
    """Where a list gives two names under one id, a block that comes under it is a separate call, whatever it says."""
    for text, sign in ((A, ""), ("{", dropped("truncated"))):
        told_two = listed(("c", "f", text), ("c", "g", B))
        assert [sign, "duplicate_id", "duplicate_id"] == [got.sign for got in bound(told_two, *OTHER)]


def test_a_repetition_that_was_answered_stays_one() -> None:
    """A repetition that has ended has no number, and gets none when another name comes under its id."""
    answered = CallCancelled("c", answered=True)

    assert [(0, 0, "f"), (0, 1, "g")] == out(*CALL, *AGAIN, answered, *OTHER)


def test_a_start_without_a_name_shows_nothing() -> None:
    """A start without a name is not another name: the same call under its id is still known to be a duplicate."""
    first = [CallSeen(0, "0/c", None, "c", "f"), piece("0/c", A)]
    second = [CallSeen(0, "1/c", None, "c", None), CallSeen(0, "1/c", None, None, "f"), piece("1/c", A)]

    assert [dropped("told_twice"), "duplicate_id"] == [
        got.sign for got in bound(*first, *second, closed("1/c"), closed("0/c"))
    ]


def test_numbers_of_a_later_turn() -> None:
    """A call that an earlier turn of one response reported has no number in a later one, whatever else comes there
    under its id.
    """
    first = [TurnOpened("a", "r"), *CALL, *ENDS, TurnOpened("b", "r")]

    assert [(0, 0, "f"), (1, 0, "g")] == out(*first, *CALL, *AGAIN, *OTHER, *ENDS, close=True)


# Calls that are not repetitions.


def test_an_end_shows_that_a_call_without_text_is_another() -> None:
    """A final end reports a call without arguments; an end that may be more of the block before reports a
    repetition.
    """
    silent = begun(1, "c", "f")

    assert [("", A, ""), ("#2", "", "duplicate_id")] == [
        ((got.id or "")[1:], *got[2:]) for got in bound(*CALL, silent, closed(1))
    ]
    assert [Got("c", "f", A)] == bound(*CALL, silent, closed(1, final=False))


def test_a_call_that_came_whole_without_text() -> None:
    """A block whose start has all of an empty input is not the head of the next block under its id."""
    whole_call = CallWhole(0, 0, None, "c", "f", "", OBJECT, begins=True)

    assert ["", A] == [got.text for got in bound(whole_call, closed(final=False), *AGAIN)]
    assert [A] == [got.text for got in bound(FIRST, closed(final=False), *AGAIN)]


def test_a_cut_call_is_no_repetition() -> None:
    """A call that the wire calls cut is dropped as a separate call, though it seems to repeat another."""
    for text in ("", A):
        cut_call = [begun(1, "c", "f"), piece(1, text), CallClosed(0, 1, None, truncated=True)]
        assert ["", dropped("truncated")] == signs(bound(*CALL, *cut_call), "c")


@pytest.mark.parametrize(("text", "number"), [(A[:-1], 1), ("nonsense", 1), (B, 2)])
def test_an_unreadable_text_shows_no_other_value(text: str, number: int) -> None:
    """Of two equal calls behind a cut or unreadable one of their id, each ended for good, one comes out."""
    first, third = [FIRST, piece(0, text), closed()], [begun(2, "c", "f"), piece(2, A), closed(2)]
    whole = [event for event in told(*first, *AGAIN, *third, *ENDS) if isinstance(event, ToolCall)]

    assert number == sum(event.raw_arguments == A for event in whole)


def test_text_behind_a_repetition() -> None:
    """A call that seems to be another one again is over with its end: text without labels is not its own."""
    silent = [FIRST, closed(), begun(1, "c", "f"), closed(1)]

    assert Got("d", "g", B) in bound(*silent, begun(2, "d", "g"), piece(None, B), closed(2))


# Messages that start again.


def test_what_is_told_again_for_certain() -> None:
    """Calls of a message that was restarted are those of the first time, also if one comes under another name."""
    other = [begun(1, "c", "g"), piece(1, B), closed(1)]

    assert ["f", "g"] == [got.name for got in bound(*CALL, RESTART, FIRST, *other)]


def test_a_call_that_is_cut_when_it_comes_again() -> None:
    """A restarted message that is cut in a call shows nothing of the calls that came again before: they stay one."""
    cut_call = [FIRST, piece(0, '{"a"'), CallClosed(0, 0, None, truncated=True)]

    assert [Got("c", "f", A)] == bound(*CALL, *AGAIN, RESTART, *cut_call)


@pytest.mark.parametrize("first", ["", "{}"])
def test_blocks_of_one_call_that_are_told_again(first: str) -> None:
    """A call in two blocks of a message is one call, also where the whole message comes a second time."""
    blocks = [begun(0, "c", "f"), piece(0, first), closed(final=False)]
    again = [begun(1, "c", "f"), piece(1, "{}"), closed(1, final=False)]

    assert ["{}"] == [got.text for got in bound(*blocks, *again)]
    assert 1 == len(bound(*blocks, *again, RESTART, *blocks, *again))


def test_what_a_restarted_message_completes() -> None:
    """An open call gets the text of the second time; the end of the turn ends it."""
    for first in ([FIRST, closed(final=False)], [FIRST, piece(0, '{"a"')]):
        assert [UNENDED] == signs(cut(*first, RESTART, FIRST, closed()), "c")
    assert [Got("c", "f", A, "repeated")] == bound(FIRST, piece(0, '{"a"'), RESTART, *CALL)
