"""Turns of one stream: which are over and which are forgotten, what they say so far, and ends that a session survives."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.assembled import CALLS, CUT, END, HOLE, A, B, ends, finishes, head, new, told
from tests.support.together import together
from wholecall.calls.output.answers import Output
from wholecall.calls.output.call_events import CustomToolCall, ToolCallDropped
from wholecall.calls.output.events import TurnFinished, TurnStarted
from wholecall.deltas import (
    DONE,
    HIGHEST_INDEX,
    ITEM_DONE,
    CallAnswered,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Labelled,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine.answer import OutputWanted
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

TOO_LARGE = WireFault("stream_too_large", "more than can be kept", fatal=True)


def text(choice: int, said: str = "x") -> TextFragment:
    """Return a piece of visible text."""
    return TextFragment(choice, said)


def reason(choice: int) -> Finish:
    """Return the reason for the end of a choice."""
    return Finish(choice, "stop", "stop")


def assembled(*deltas: Delta, limits: Limits = Limits()) -> Assembler:  # noqa: B008 (frozen)
    """Return an assembler that took the deltas."""
    assembler = new(limits=limits)
    assembler.advance(deltas)
    return assembler


# What turns say so far.


@together(
    ("deltas", "expected"),
    [
        ([], False),
        ([TurnOpened(None)], False),
        ([text(0)], False),
        ([reason(0)], True),
        ([reason(0), text(1)], False),
        ([reason(0), reason(1)], True),
        ([reason(1)], False),
        ([reason(0), TurnOpened(None)], False),
    ],
)
def test_reasons_of_all_choices(deltas: list[Delta], expected: bool) -> None:
    """A turn has its reasons if its first choice has one, and each other choice that began."""
    assert expected == assembled(*deltas).has_reasons


TURNS = [
    TurnOpened("a"),
    text(0, "a"),
    END,
    TurnOpened("b"),
    text(0, "b"),
    END,
    TurnOpened("c"),
    text(0, "c"),
]


@together(
    ("start", "stop", "kept", "expected"),
    [
        (0, 3, 3, ("ab", 2)),
        (0, 1, 3, ("a", 1)),
        (1, 3, 3, ("b", 2)),
        (2, 3, 3, ("", 2)),
        (0, 3, 2, ("b", 2)),
        (0, 1, 2, ("", 1)),
        (0, 0, 2, ("", 1)),
        (2, 3, 2, ("", 2)),
    ],
)
def test_turns_that_are_over(start: int, stop: int, kept: int, expected: tuple[str, int]) -> None:
    """Turns in a row are given once they are over, and with them the number of the next one; released ones are passed."""
    turns, following = assembled(*TURNS, limits=Limits(max_turns=kept)).over(start, stop)

    assert expected == ("".join(turn.text for turn in turns), following)


def test_a_turn_that_runs_holds_up_those_behind_it() -> None:
    """Of turns side by side those behind an open one wait."""
    assembler = assembled(TurnOpened("a"), text(0, "a"), TurnOpened("b"), text(0, "b"), TurnEnded("b"))

    assert ((), 0) == assembler.over(0, 2)
    assert "b" == assembler.over(1, 2)[0][0].text


def test_the_answer_so_far() -> None:
    """The answer of a choice is known by its turn and its number, where one is wanted."""
    assembler = Assembler(Policy(), Limits(), wanted=OutputWanted(None, is_live=False))
    assembler.advance([TurnOpened("a"), text(0, A[:3])])
    answer = assembler.answer(0, 0)

    assert answer is not None
    assert (A[:3], None, None) == (answer.text, assembler.answer(0, 1), assembler.answer(1, 0))
    assert assembled(TurnOpened("a"), text(0, A)).answer(0, 0) is None


def test_the_answer_at_the_end() -> None:
    """The end of its turn is that of the answer."""
    assembler = Assembler(Policy(), Limits(), wanted=OutputWanted(None, is_live=False))
    assembler.advance([text(0, A), reason(0), END])
    assembler.close()

    assert [A] == [event.raw_text for event in assembler.take() if isinstance(event, Output)]


@pytest.mark.parametrize(
    ("number", "expected"), [(HIGHEST_INDEX, ()), (HIGHEST_INDEX + 1, ("invalid_choice",))]
)
def test_numbers_of_choices(number: int, expected: tuple[str, ...]) -> None:
    """A choice of a number that no server has is read, and its turn says so."""
    finished = [e for e in told(text(number), reason(number), END) if isinstance(e, TurnFinished)]

    assert [expected] == [event.anomalies for event in finished]


# Ends of turns.


def test_the_end_of_a_turn_is_a_reason() -> None:
    """The end of a turn ends free text as a reason does; where only the connection says that it is over, it does not."""
    call = Labelled(0, 0, "c", "f", "x", "custom")

    assert [CustomToolCall] == [
        type(e) for e in told(call, END) if isinstance(e, (CustomToolCall, ToolCallDropped))
    ]
    assert [("c", "unterminated")] == [
        (e.id, e.reason) for e in told(call, TurnEnded(of_transport=True)) if isinstance(e, ToolCallDropped)
    ]


def test_text_that_a_whole_call_repeats() -> None:
    """Pieces without an owner are those of a call that came whole with the same text: nothing is dropped."""
    item = CallWhole(0, 0, None, "c", "f", A, ITEM_DONE, closes=True)

    assert [("c", "exact")] == ends(told(item, Slot(0, 7, None, A), CALLS, END))


def test_the_order_of_texts_is_known_at_the_end() -> None:
    """Whole texts without labels belong to open calls in their order, once no more can come: not where the stream breaks."""
    calls = [CallSeen(0, n, None, id, "f", begins=True) for n, id in enumerate("cd")]
    wholes = [CallWhole(0, None, None, None, None, text, DONE) for text in (A, B)]

    assert [("c", "exact bound_by_order"), ("d", "exact bound_by_order")] == ends(told(*calls, *wholes, END))
    assert [None, None, "c", "d"] == [id for id, _ in ends(told(*calls, *wholes))]


@together(
    ("cut", "opened", "is_read"),
    [
        (CUT, TurnOpened("b", outlives=True), True),
        (CUT, TurnOpened("b"), False),
        (TOO_LARGE, TurnOpened("b", outlives=True), False),
    ],
)
def test_a_session_survives_an_error_of_its_provider(
    cut: WireFault, opened: TurnOpened, is_read: bool
) -> None:
    """After an error of the provider the next message of a session is read; after any other fatal fault nothing is."""
    first = [TurnOpened("a"), head(0, A), cut]
    events = told(*first, opened, head(1, B), CALLS, END)

    assert [("c0", "aborted"), *([("c1", "exact")] if is_read else [])] == ends(events)
    assert [(0, 0, "error"), *([(1, 0, "tool_calls")] if is_read else [])] == finishes(events)


@pytest.mark.parametrize("said", [[head(0, A)], []])
def test_a_turn_that_failed_is_finished_where_the_next_one_begins(said: list[Delta]) -> None:
    """Its last event comes before the next turn, also if nothing came in it."""
    events = told(TurnOpened("a"), *said, CUT, TurnOpened("b", outlives=True), close=False)

    assert [(0, 0, "error")] == finishes(events)
    assert [0, 0, 1] == [event.turn for event in events if isinstance(event, (TurnStarted, TurnFinished))]


def test_a_stream_is_over_with_a_fault_that_is_its_own() -> None:
    """A stream that failed by itself is over, one that the provider refused may go on."""
    assert [False, False, True] == [assembled(*deltas).is_over for deltas in ([], [CUT], [TOO_LARGE])]


def test_the_reason_for_an_abort_stays() -> None:
    """An abort without words keeps the reason that was given before."""
    assembler = assembled(head(0, A))
    assembler.explain("the user left")
    assembler.close("aborted")

    assert ["the user left"] == [e.detail for e in assembler.take() if isinstance(e, ToolCallDropped)]


# Calls of other turns.


def again(key: str) -> list[Delta]:
    """Return a turn of one response with one call."""
    return [TurnOpened(key, "r"), head(0, A), CALLS, END]


@pytest.mark.parametrize(("kept", "expected"), [(3, 1), (2, 2)])
def test_calls_of_turns_that_were_let_go_are_new(kept: int, expected: int) -> None:
    """A call that comes again in a later turn is one call, as long as its first turn is kept."""
    deltas = [*again("a"), TurnOpened("b", "r"), text(0), END, *again("c")]

    assert expected == len(ends(told(*deltas, limits=Limits(max_turns=kept))))


def test_equal_calls_without_ids_come_again_once_each() -> None:
    """A response without ids that repeats one call and adds an equal one made two calls, in whichever turn it did."""
    call = Labelled(0, 0, None, "f", A), Labelled(0, 1, None, "f", A)
    deltas = [
        *(TurnOpened("a", "r"), call[0], CALLS, END),
        *(TurnOpened("b", "r"), text(0), END),
        *(TurnOpened("c", "r"), *call, CALLS, END),
    ]

    assert 2 == len(ends(told(*deltas)))


def test_a_loss_between_turns_concerns_the_next_one() -> None:
    """Text that is lost when a turn is over may be that of the next one's call."""
    first, silent = [TurnOpened("a"), text(0), END], [TurnOpened("b"), head(0), CALLS, END]

    assert [("c0", "empty")] == ends(told(*first, *silent))
    assert [("c0", "incomplete_input")] == ends(told(*first, HOLE, *silent))


@pytest.mark.parametrize("moves", [False, True])
def test_a_stream_that_moves_knows_its_calls(moves: bool) -> None:
    """Calls of earlier turns, and calls that were answered before they came, are known in the worker that goes on."""
    assembler = assembled(*again("a"), TurnOpened("b", "r"), text(0), END, CallAnswered("c1"))
    if moves:
        assembler.remade()
    assembler.advance([*again("c"), TurnOpened("d", "r"), head(1, B), CALLS, END])
    assembler.close()
    events: list[Any] = assembler.take()

    assert [("c0", "exact")] == ends(events)
