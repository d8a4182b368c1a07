"""Calls and text of calls that a dialect does not report: which calls they put in doubt."""

from __future__ import annotations

from tests.support.assembled import CALLS, END, A, told
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import TurnFinished
from wholecall.deltas import (
    ITEM_DONE,
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
from wholecall.policy import Policy

OPENED = TurnOpened(None, "r", "m")
DOUBTED = "incomplete_input: no text came for it, but content in a member that is not read"
LOST = "incomplete_input: argument text that could belong to this call was lost"


def verdicts(*deltas: Delta) -> list[str]:
    """Return the arguments of each call, or why it was dropped."""
    ends = [event for event in told(*deltas) if isinstance(event, (ToolCall, ToolCallDropped))]
    return [
        event.raw_arguments if isinstance(event, ToolCall) else f"{event.reason}: {event.detail}"
        for event in ends
    ]


@together(
    ("doubt", "expected"),
    [
        (TextUnread(0, "c", "f"), DOUBTED),
        (TextUnread(0, None, "f"), DOUBTED),
        (TextUnread(0, "c2", "f"), ""),
        (TextUnread(0, None, "g"), ""),
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
    assert [""] == verdicts(OPENED, *(TextUnread(0, f"c{n % 255}", "g") for n in range(600)), *seen)
    for many in (256, 257, 600):
        assert [DOUBTED] == verdicts(OPENED, *(TextUnread(0, f"c{n}", "g") for n in range(many)), *seen)


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
        (unread("c", text=True, whole=True), False),
        (unread("d", name="g"), True),
        (unread("d", name="g", text=True), True),
        (unread("d", name="g", text=True, whole=True), False),
        (unread("d", text=True, whole=True), False),
    ],
)
def test_an_unread_call_may_hold_text_of_an_open_one(delta: CallUnread, is_lost: bool) -> None:
    """It may hold a piece of the call with its id, else of any; a head may have text that other calls take."""
    opened = Labelled(0, 0, "c", "f"), Fragment(0, 0, '{"a"')

    assert [LOST if is_lost else A] == verdicts(OPENED, *opened, delta, Fragment(0, 0, ":1}"), CALLS, END)


@together(("text", "expected"), [("", LOST), ('{"a"', A)])
def test_a_whole_text_is_that_of_its_call(text: str, expected: str) -> None:
    """An unread call with a whole text repeats the call with its id, unless that has no text so far."""
    opened, rest = Labelled(0, 0, "c", "f", text), Fragment(0, 0, A[len(text) :])

    assert [expected] == verdicts(OPENED, opened, unread("c", text=True, whole=True), rest, CALLS, END)


def test_a_whole_text_is_that_of_one_of_the_calls_of_its_id() -> None:
    """An unread call with a whole text repeats a call of its id that has text: another one of the id lost none."""
    first = CallSeen(0, 0, None, "c", "f", begins=True), Slot(0, 0, None, A), CallClosed(0, 0, None)
    second = CallSeen(0, 1, None, "c", "f", begins=True), Slot(0, 1, None, "[1]"), CallClosed(0, 1, None)
    text = unread("c", text=True, whole=True)

    assert [A, "not_an_object: the text is JSON but no object"] == verdicts(
        OPENED, *first, second[0], text, *second[1:], CALLS, END
    )


def test_a_call_that_ended_lost_nothing() -> None:
    """An unread call with text under the id of a call that ended does not make another call of a repetition of that."""
    item = CallSeen(0, 0, "i", "c", "f"), Slot(0, 0, "i", A), CallClosed(0, 0, "i")
    again = CallWhole(0, 0, "i", "d", "f", A, ITEM_DONE, closes=True)

    assert [A] == verdicts(OPENED, *item, unread("c", text=True), again, CALLS, END)


def test_one_of_several_ids_may_be_that_of_an_open_call() -> None:
    """A whole text repeats the call of each id that has text; one without any, or one of an id of several, lost it."""
    first, other = Labelled(0, 0, "c", "f", A), Labelled(0, 1, "d", "g")
    text = unread("c", "d", text=True, whole=True)

    assert [A, LOST] == verdicts(OPENED, first, other, text, Fragment(0, 1, A), CALLS, END)


def test_text_of_another_call_is_not_lost() -> None:
    """An unread call that names one call holds no text of the others, nor of calls that ended."""
    first = CallSeen(0, 0, None, "c", "f"), Slot(0, 0, None, A), CallClosed(0, 0, None)
    second = CallSeen(0, 1, None, "d", "g"), Slot(0, 1, None, A), CallClosed(0, 1, None)

    assert [A, A] == verdicts(OPENED, *first, *second[:1], unread("c", text=True), *second[1:], CALLS, END)
    assert [A, LOST] == verdicts(OPENED, *first, *second[:1], unread("d", text=True), *second[1:], CALLS, END)


def test_one_of_several_calls_may_be_the_one_without_an_id() -> None:
    """A frame without an id and without text is read if one of the calls has its name."""
    both = Labelled(0, 0, "c", "f", A), Labelled(0, 1, "d", "g", A)

    assert [A, A] == verdicts(OPENED, *both, unread(name="f", has_id=False), CALLS, END)
    assert [A, A] == verdicts(OPENED, *both, unread(name="g", has_id=False), CALLS, END)


def test_an_unread_call_of_an_earlier_turn_is_read() -> None:
    """A frame that names a call of a turn that ended says nothing of the calls of the open one."""
    earlier = Labelled(0, 0, "c", "f", A), CALLS, END

    assert [A, A] == verdicts(
        OPENED, *earlier, TurnOpened(None, "s", "m"), Labelled(0, 0, "d", "g", A), unread("c"), CALLS, END
    )


def anomalies(*deltas: Delta) -> list[bool]:
    """Return for each turn whether it seems to have a call that was not read."""
    return ["unread_call" in event.anomalies for event in told(*deltas) if isinstance(event, TurnFinished)]


HEAD = Labelled(0, 0, "c", "f", A)
OTHER = unread("d", name="g", text=True, whole=True)
SAME = unread("c", name="f")


@together(
    ("deltas", "expected"),
    [
        ((OPENED, HEAD, OTHER, CALLS, END), [True]),
        ((OPENED, OTHER, HEAD, CALLS, END), [True]),
        ((OTHER, OPENED, HEAD, CALLS, END), [True]),
        ((OPENED, HEAD, CALLS, END, OTHER), [True]),
        ((OPENED, HEAD, SAME, CALLS, END), [False]),
        ((OPENED, SAME, HEAD, CALLS, END), [False]),
        ((SAME, OPENED, HEAD, CALLS, END), [False]),
        ((OPENED, HEAD, CALLS, END, SAME), [False]),
        ((OPENED, HEAD, CALLS, END, OTHER, TurnOpened(None, "s"), CALLS, END), [True, False]),
        ((OPENED, OTHER, END), [True]),
        ((OPENED, END, OTHER), [True]),
        ((OPENED, OTHER, END, OTHER), [True]),
        ((OPENED, HEAD, OTHER, OTHER, Labelled(0, 1, "d", "g", A), CALLS, END), [False]),
    ],
)
def test_a_turn_with_an_unread_call(deltas: tuple[Delta, ...], expected: list[bool]) -> None:
    """A call that no other frame reports under its id is an anomaly of its turn, before its calls or after them."""
    assert expected == anomalies(*deltas)


AGAIN = TurnOpened(None, "s"), CALLS, END


@together(
    ("delta", "expected"),
    [
        (unread(name="f", has_id=False), [False, True]),
        (unread(name="g", has_id=False), [True, True]),
        (unread(has_id=False), [False, True]),
        (unread("c", name="g"), [False, False]),
        (unread("d", name="f"), [True, True]),
    ],
)
def test_an_unread_call_without_an_id_is_one_of_its_turn(delta: CallUnread, expected: list[bool]) -> None:
    """An id is that of a call of any turn so far; without one, a call of the same turn has the name, or any call."""
    there = anomalies(OPENED, HEAD, delta, CALLS, END)
    later = anomalies(OPENED, HEAD, CALLS, END, AGAIN[0], delta, *AGAIN[1:])

    assert expected == [there[0], later[1]]


def test_an_unread_call_is_found_before_the_calls_of_its_turn_come_out() -> None:
    """A policy that rejects all calls next to a bad one rejects those next to an unread call."""
    deltas = OPENED, HEAD, OTHER, CALLS, END
    strict = Policy(on_bad_sibling="reject_all")

    assert ["aborted"] == [
        one.reason for one in told(*deltas, policy=strict) if isinstance(one, ToolCallDropped)
    ]


def test_many_unread_calls() -> None:
    """Different frames wait up to a number, and further ones are ignored; those whose calls came make room for others."""
    read = [unread("c", name=f"f{n}") for n in range(256)]

    assert [True] == anomalies(OPENED, HEAD, *read, OTHER, CALLS, END)
    assert [True] == anomalies(OPENED, *(unread(f"x{n}") for n in range(300)), HEAD, CALLS, END)
    assert [False] == anomalies(OPENED, HEAD, *read, SAME, CALLS, END)
    waiting = [unread("c", f"x{n}") for n in range(256)]
    assert [True] == anomalies(OPENED, *waiting[1:], OTHER, HEAD, CALLS, END)
    assert [False] == anomalies(OPENED, *waiting, OTHER, HEAD, CALLS, END)
    assert [False] == anomalies(*waiting, OTHER, OPENED, HEAD, CALLS, END)


def test_an_unread_call_that_comes_often_takes_no_room() -> None:
    """However often a frame comes whose call another frame reports, a frame of another call is an anomaly."""
    often = [unread("c")] * 300

    assert [True] == anomalies(OPENED, *often, OTHER, HEAD, CALLS, END)
    assert [False] == anomalies(OPENED, *often, HEAD, CALLS, END)


def test_an_unread_piece_is_text_of_the_calls_that_it_names() -> None:
    """A piece in an event of an unknown kind is lost text of the open call with its id, and of no other call."""
    opened, rest = Labelled(0, 0, "c", "f", "{"), Fragment(0, 0, A[1:])
    piece = CallUnread(frozenset({"c", "r"}), has_id=True, is_piece=True)
    others = CallUnread(frozenset({"d"}), has_id=True, is_piece=True)

    assert [LOST] == verdicts(OPENED, opened, piece, rest, CALLS, END)
    assert [A] == verdicts(OPENED, opened, others, rest, CALLS, END)
    assert [()] == [
        event.anomalies
        for event in told(OPENED, opened, others, rest, CALLS, END)
        if isinstance(event, TurnFinished)
    ]
