"""Ends of calls that were written as text, that were answered before they came, or that nobody began."""

from __future__ import annotations

import pytest

from tests.support.assembled import CALLS, CUT, END, A, head, told
from tests.support.together import together
from wholecall.calls.output.call_events import ServerToolCall, ToolCall, ToolCallDropped
from wholecall.deltas import (
    CallAnswered,
    CallClosed,
    CallSeen,
    CallWritten,
    Delta,
    Finish,
    Labelled,
    Slot,
    StepBegan,
)

LENGTH = Finish(0, "length", "length")


def came(*deltas: Delta, close: bool = True) -> list[tuple[str | None, str]]:
    """Return the id of each call with whose it is, or why it was dropped, in the order of the calls."""
    whose = {ToolCall: "the client's", ServerToolCall: "the server's"}
    events = [
        e for e in told(*deltas, close=close) if isinstance(e, (ToolCall, ServerToolCall, ToolCallDropped))
    ]
    return [
        (e.id, e.reason if isinstance(e, ToolCallDropped) else whose[type(e)])
        for e in sorted(events, key=lambda event: event.index)
    ]


def block(index: int, id: str, kind: str = "function") -> list[Delta]:
    """Return a block of a call from its start to its end."""
    seen = CallSeen(0, index, None, id, "f0", kind, begins=True)  # type: ignore[arg-type]
    return [seen, Slot(0, index, None, A), CallClosed(0, index, None)]


# Calls that were written as text.


@pytest.mark.parametrize("text", [A, "{}"])
@pytest.mark.parametrize(
    ("after", "expected"),
    [([LENGTH], ["the client's"]), ([CALLS], ["the client's"]), ([CUT], ["aborted"]), ([], ["unterminated"])],
)
def test_a_written_call_is_whole_before_its_turn_ends(
    text: str, after: list[Delta], expected: list[str]
) -> None:
    """A call that stands whole in a text comes out with any reason for the end, a cut one too; not without an end."""
    written = CallWritten(0, "f", None, text, "<call>")

    assert expected == [sign for _, sign in came(written, *after)]
    if after:
        assert expected == [sign for _, sign in came(written, *after, close=False)]


# Calls that were answered before they came.


@together(
    ("answer", "call", "expected"),
    [
        (CallAnswered("c0"), head(0, A), "the server's"),
        (CallAnswered("c0", "f0", A), head(0, A), "the server's"),
        (CallAnswered("c0", "g"), head(0, A), "the client's"),
        (CallAnswered("c0", "f0", "{}"), head(0, A), "the client's"),
        (CallAnswered("c1"), head(0, A), "the client's"),
        (CallAnswered("c0"), Labelled(0, 0, "c0", None, A), "nameless"),
    ],
)
def test_a_call_whose_result_came_before_it(answer: CallAnswered, call: Delta, expected: str) -> None:
    """A call with a result is executed elsewhere; a result of another id, name or text is that of another call."""
    assert [("c0", expected)] == came(answer, call, CALLS, END)


def test_a_result_is_that_of_a_call_for_the_client() -> None:
    """A call that the server announces as its own takes no result: the next call of the id has it."""
    steps = [*block(0, "c0", "server"), StepBegan(0), *block(1, "c0")]

    assert ["the server's", "the server's"] == [
        sign for _, sign in came(CallAnswered("c0"), *steps, CALLS, END)
    ]
    assert ["the server's", "the client's"] == [sign for _, sign in came(*steps, CALLS, END)]


# Text that belongs to no call.


def test_text_without_an_owner_is_told() -> None:
    """Text that no call accounts for is a drop of its own, behind the calls that may lack it."""
    starts = [CallSeen(0, n, None, id, "f", begins=True) for n, id in enumerate("cd")]

    assert [("c", "incomplete_input"), ("d", "incomplete_input"), (None, "nameless")] == came(
        *starts, Slot(0, 7, None, A), CALLS, END
    )
