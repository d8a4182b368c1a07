"""Calls and text of calls that a dialect does not report: which calls they put in doubt."""

from __future__ import annotations

from tests.support.assembled import CALLS, END, A, told
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.deltas import (
    CallClosed,
    CallSeen,
    CallUnread,
    CallWhole,
    Delta,
    Fragment,
    Labelled,
    Slot,
    TextUnread,
    TurnOpened,
)

OPENED = TurnOpened(None, "r", "m")
DOUBTED = "no text came for it, but content in a member that is not read"
LOST = "argument text that could belong to this call was lost"


def verdicts(*deltas: Delta) -> list[str]:
    """Return the arguments of each call, or why it was dropped."""
    ends = [event for event in told(*deltas) if isinstance(event, (ToolCall, ToolCallDropped))]
    return [event.raw_arguments if isinstance(event, ToolCall) else event.detail for event in ends]


@together(
    ("doubt", "expected"),
    [
        (TextUnread(0, "c", "f"), DOUBTED),
        (TextUnread(0, None, "f"), DOUBTED),
        (TextUnread(0, "c2", "f"), ""),
        (TextUnread(0, None, "g"), ""),
        (TextUnread(0, None, None), ""),
    ],
)
def test_a_call_in_doubt_is_no_call_without_text(doubt: Delta, expected: str) -> None:
    """A call without text is a drop if the content of its object, found by id or by name, is not read."""
    assert [expected] == verdicts(
        OPENED, doubt, CallSeen(0, 0, None, "c", "f"), CallClosed(0, 0, None), CALLS, END
    )


def test_a_call_in_doubt_keeps_its_text() -> None:
    """Text that comes after all is the call's: in pieces, whole, or beside labels of chat."""
    doubt, seen, over = TextUnread(0, "c", "f"), CallSeen(0, 0, None, "c", "f"), CallClosed(0, 0, None)
    whole = CallWhole(0, 0, None, "c", "f", A, 4)

    assert [A] == verdicts(OPENED, doubt, seen, Slot(0, 0, None, A), over, CALLS, END)
    assert [A] == verdicts(OPENED, doubt, seen, whole, over, CALLS, END)
    assert [A] == verdicts(OPENED, doubt, Labelled(0, 0, "c", "f"), Fragment(0, 0, A), CALLS, END)


def test_an_empty_object_does_not_settle_a_doubt() -> None:
    """An empty object is often a placeholder: it is no sign that the content beside it is none."""
    whole = CallWhole(0, 0, None, "c", "f", "{}", 4)

    assert [DOUBTED] == verdicts(OPENED, TextUnread(0, "c", "f"), whole, CallClosed(0, 0, None), CALLS, END)


def test_many_doubts_concern_every_call() -> None:
    """Labels of calls in doubt are kept up to a number; beyond it no call without text is emitted."""
    seen = CallSeen(0, 0, None, "c", "f"), CallClosed(0, 0, None), CALLS, END

    assert [""] == verdicts(OPENED, *(TextUnread(0, f"c{n}", "g") for n in range(255)), *seen)
    assert [DOUBTED] == verdicts(OPENED, *(TextUnread(0, f"c{n}", "g") for n in range(256)), *seen)


def unread(
    *ids: str, name: str = "", text: bool = False, whole: bool = False, has_id: bool = True
) -> CallUnread:
    """Return what a frame with a possible call leads to."""
    return CallUnread(frozenset(ids), frozenset({name} - {""}), has_id, holds_text=text, whole=whole)


@together(
    ("delta", "is_lost"),
    [
        (unread(has_id=False), True),
        (unread(has_id=False, text=True), True),
        (unread(has_id=False, text=True, whole=True), True),
        (unread("response", has_id=False, text=True), True),
        (unread(name="f", has_id=False), False),
        (unread(name="f", has_id=False, text=True), True),
        (unread(name="g", has_id=False), True),
        (unread(name="g", has_id=False, text=True, whole=True), False),
        (unread("c", name="f"), False),
        (unread("c", name="f", text=True), True),
        (unread("c", text=True, whole=True), True),
        (unread("d", name="g"), True),
        (unread("d", name="g", text=True), True),
        (unread("d", name="g", text=True, whole=True), False),
    ],
)
def test_an_unread_call_may_hold_text_of_an_open_one(delta: CallUnread, is_lost: bool) -> None:
    """It may hold a piece of the call with its id, else of any; a head may have text that other calls take."""
    opened = Labelled(0, 0, "c", "f"), Fragment(0, 0, '{"a"')

    assert [LOST if is_lost else A] == verdicts(OPENED, *opened, delta, Fragment(0, 0, ":1}"), CALLS, END)


def test_text_of_another_call_is_not_lost() -> None:
    """An unread call that names one call holds no text of the others, nor of calls that ended."""
    first = CallSeen(0, 0, None, "c", "f"), Slot(0, 0, None, A), CallClosed(0, 0, None)
    second = CallSeen(0, 1, None, "d", "g"), Slot(0, 1, None, A), CallClosed(0, 1, None)

    assert [A, A] == verdicts(OPENED, *first, *second[:1], unread("c", text=True), *second[1:], CALLS, END)
    assert [A, LOST] == verdicts(OPENED, *first, *second[:1], unread("d", text=True), *second[1:], CALLS, END)
