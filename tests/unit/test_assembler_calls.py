"""Calls at the end of a turn: effects of a mark, a reason, a loss and another turn."""

from __future__ import annotations

import pytest

from tests.support.assembled import CALLS, END, HOLE, A, B, ends, head, told
from wholecall.calls.output.call_events import ToolCall
from wholecall.deltas import CallClosed, CallSeen, Delta, Fragment, Slot, TextFragment, TurnEnded, TurnOpened
from wholecall.limits import Limits


@pytest.mark.parametrize("end", [TurnEnded(), TurnEnded(of_transport=True)])
def test_no_mark_alone_ends_a_silence(end: Delta) -> None:
    """An empty call does not count as a call without arguments because its message ended: its reason must say so."""
    assert [("c0", "incomplete_input")] == ends(told(head(0), end))


@pytest.mark.parametrize("end", [TurnEnded(), TurnEnded(of_transport=True)])
def test_any_mark_ends_a_text(end: Delta) -> None:
    """A call whose text is one object is emitted at either mark."""
    assert [("c0", "exact")] == ends(told(head(0, A), end))


def test_a_reason_ends_what_began_before_it() -> None:
    """In a stream that just stops, a call that began after the finish reason has no separate end."""
    assert [("c0", "exact"), ("c1", "unterminated")] == ends(told(head(0, A), CALLS, head(1, B)))
    assert [("c0", "exact"), ("c1", "exact")] == ends(told(head(0, A), CALLS, head(1, B), END))


def test_odd_labels_are_read_at_the_end_of_the_turn() -> None:
    """Fragments that a name at no index began are emitted as the calls that they are, once the turn has ended."""
    odd = [head(0, '{"a"'), Fragment(0, 7, ":1}")]

    assert [("c0", "exact index_churn")] == ends(told(*odd, END))


@pytest.mark.parametrize(
    ("second", "limits"),
    [(TurnOpened("b", restart=True), Limits()), (TurnOpened("b"), Limits(max_turns=1))],
    ids=["by another message", "for want of room"],
)
def test_a_turn_that_is_pushed_aside_did_not_end(second: Delta, limits: Limits) -> None:
    """Calls that another turn cut short have no end: they are unterminated, except for those that a reason ended."""
    silent = told(TurnOpened("a"), head(0, A), second, head(1, B), END, limits=limits)
    reasoned = told(TurnOpened("a"), head(0, A), CALLS, head(1, B), second, END, limits=limits)

    assert [("c0", "unterminated"), ("c1", "exact")] == ends(silent)
    assert [("c0", "exact"), ("c1", "unterminated")] == ends(reasoned)


def test_a_message_that_is_told_again_says_nothing_new() -> None:
    """A message that begins anew under its own key repeats the same calls, and adds none."""
    call = [CallSeen(0, 0, None, "c", "f", begins=True), Slot(0, 0, None, A), CallClosed(0, 0, None)]
    begun = TurnOpened("a", restart=True)

    assert [("c", "exact")] == ends(told(begun, *call, begun, *call, CALLS, END))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_message_that_is_told_again_says_what_was_missing(n: int) -> None:
    """Where the first version broke off, the second contains all of the call, which is emitted once."""
    call = [CallSeen(0, 0, None, "c", "f", begins=True), *(Slot(0, 0, None, p) for p in ('{"a"', ":1}"))]
    begun = TurnOpened("a", restart=True)
    events = told(begun, *call[:n], begun, *call, CallClosed(0, 0, None), CALLS, END)

    assert [(A, ("repeated",))] == [(e.raw_arguments, e.flags) for e in events if isinstance(e, ToolCall)]


@pytest.mark.parametrize("before", [[TextFragment(0, "x")], [TurnOpened("a")]], ids=["text", "a turn"])
def test_a_loss_counts_for_choices_that_follow(before: list[Delta]) -> None:
    """Once text was lost in a turn, it may have been that of any call without text, in a later choice, too."""
    events = told(*before, HOLE, head(0, choice=1), head(1, A, choice=1), CALLS, END)

    assert [("c0", "incomplete_input"), ("c1", "exact")] == ends(events)
