"""Calls that said nothing, or nothing readable: when that means that they have no arguments, and when it does not."""

from __future__ import annotations

import pytest

from tests.support.bound import assembled, at
from tests.support.together import together
from tests.support.words import CALLS, END, A, closed, events_of, whole
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.deltas import (
    DONE,
    HYDRATION,
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Marked,
    Reread,
    Restated,
    Slot,
    TurnEnded,
    WireFault,
)

HOLE = WireFault("undecodable_frame", "lost", hole=True)
SEEN = CallSeen(0, 0, None, "c", "f", begins=True)


def against(*deltas: Delta) -> list[tuple[str | None, str, str]]:
    """Return name, reason and detail of each drop."""
    events = [event for some in events_of(*deltas) for event in some]
    return [(e.name, e.reason, e.detail) for e in events if isinstance(e, ToolCallDropped)]


@pytest.mark.parametrize("call", [[SEEN, closed()], [at(0, "", "c", "f"), CALLS]], ids=["a block", "chat"])
def test_silence_after_a_loss(call: list[Delta]) -> None:
    """Once text was lost, it may have been that of a call for which none came."""
    detail = "text was lost in its turn, and no text came for it"

    assert [("f", "incomplete_input", detail)] == against(at(9), HOLE, *call, END)


def test_an_empty_object_after_a_loss() -> None:
    """A block that gave an empty object gave its text; in a chat call that can be a placeholder whose rest was lost."""
    block, chat = [SEEN, Slot(0, 0, None, "{}"), closed()], [at(0, "{}", "c", "f"), CALLS]

    assert [[], ["incomplete_input"]] == [
        [reason for _, reason, _ in against(at(9), HOLE, *call, END)] for call in (block, chat)
    ]


def test_silence_beside_text_without_an_owner() -> None:
    """Text that came for no block may be that of a block for which none came."""
    orphan = Slot(0, 7, None, A)
    nameless = (None, "nameless", "no name came before the call ended")
    detail = "text that could be its own has no owner"

    assert [("f", "incomplete_input", detail), nameless] == against(orphan, SEEN, closed(), CALLS, END)


def test_silence_without_an_end() -> None:
    """A call without text is not a call without arguments if nothing said that it ended; a call with an empty object
    is.
    """
    done = TurnEnded(of_transport=True)
    detail = "no text came for it, and nothing said that it ended"

    assert [("f", "incomplete_input", detail)] == against(at(0, "", "c", "f"), done)
    assert [] == against(at(0, "{}", "c", "f"), done)


@pytest.mark.parametrize(
    ("pieces", "text", "sign"),
    [
        ("undefined", "{}", "done_mismatch"),
        (' {"a"', ' {"a"', "dropped: truncated"),
        (' {"a" x}', ' {"a" x}', "dropped: invalid_json"),
        ("[1]", "[1]", "dropped: not_an_object"),
    ],
)
def test_pieces_of_a_text_that_was_told_as_empty(pieces: str, text: str, sign: str) -> None:
    """Pieces that were never JSON say nothing against a text reported as empty; possible JSON is judged as it is."""
    deltas = [SEEN, Slot(0, 0, None, pieces), whole("{}"), closed(), CALLS, END]

    assert [(text, sign)] == [(call.text, call.sign) for call in assembled(*deltas)[0]]


def test_pieces_of_a_text_that_nobody_told_as_empty() -> None:
    """Pieces that were never JSON drop their call if nothing else gives its text."""
    deltas = [SEEN, Slot(0, 0, None, "undefined"), closed(), CALLS, END]

    assert [("undefined", "dropped: unparseable")] == [
        (call.text, call.sign) for call in assembled(*deltas)[0]
    ]


AGAIN = "it has no id, and its text may have come for a call that has one"


@together(
    ("head", "other", "expected"),
    [
        ((None, "f"), ("c", "f"), [("f", "incomplete_input", AGAIN)]),
        ((None, "f"), ("c", "g"), []),
        ((None, "f"), (None, "f"), []),
        (("d", "f"), ("c", "f"), []),
    ],
)
def test_silence_beside_a_call_that_may_be_the_same(
    head: tuple[str | None, str], other: tuple[str | None, str], expected: list[tuple[str, str, str]]
) -> None:
    """A block without text, an id and its own end may be the head of a call of its name that has an id."""
    seen, begun = CallSeen(0, 0, None, *head), CallSeen(0, 1, None, *other, begins=True)

    assert expected == against(seen, begun, Slot(0, 1, None, A), CallClosed(0, 1, None), CALLS, END)
    assert [] == against(
        seen, CallClosed(0, 0, None), begun, Slot(0, 1, None, A), CallClosed(0, 1, None), CALLS, END
    )


@together(
    "head",
    [
        [CallSeen(0, 0, None, None, "f"), CallClosed(0, 0, None)],
        [CallWhole(0, 0, None, None, "f", "{}", DONE)],
        [CallWhole(0, 0, None, None, "f", "{}", OBJECT)],
    ],
    ids=["its own end", "whole", "an object"],
)
def test_silence_that_the_wire_shows(head: list[Delta]) -> None:
    """A block without an id that ended, or came whole, is a call without arguments, whatever calls are beside it."""
    other = [CallSeen(0, 1, None, "c", "f", begins=True), Slot(0, 1, None, A), CallClosed(0, 1, None)]

    assert [] == against(*other, *head, CALLS, END)
    assert [] == against(CallSeen(0, 1, None, "c", "f"), CallSeen(0, 0, None, None, "f"), CALLS, END)


def test_silence_in_a_list() -> None:
    """A list of calls says of each whether it has text: that of another one is not its own."""
    listed = [CallWhole(0, None, None, id, "f", text, HYDRATION) for id, text in ((None, ""), ("c", A))]

    assert [] == against(Restated(0, tuple(listed)), END)


def test_silence_that_all_readings_share() -> None:
    """A block without an id, in which all pieces read again leave no text, is no head of another call."""
    head, other = Marked("S", 0, None, "f"), Marked("S", 1, "c", "f")
    text, end = Marked("T", None, "c", None, A), Marked("E", None, None, None)
    shown = [CallSeen(0, 0, None, None, "f", begins=True), CallSeen(0, 1, None, "c", "f", begins=True)]

    assert [] == against(*shown, Reread(0, (head, end, other, text, end)), CALLS, END)


def test_silence_beside_a_nameless_text() -> None:
    """A block without an id may be the head of a call that has one, but no name."""
    seen, begun = CallSeen(0, 0, None, None, "f"), CallSeen(0, 1, None, "c", None, begins=True)
    nameless = (None, "nameless", "no name came before the call ended")

    found = against(seen, begun, Slot(0, 1, None, A), CallClosed(0, 1, None), CALLS, END)
    assert {("f", "incomplete_input", AGAIN), nameless} == set(found)
