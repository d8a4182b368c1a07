"""Effects of a finish reason and of a turn's end on calls: emission, order, and doubt."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.assembled import CALLS, END, HOLE, A, B, told
from wholecall.calls.output.call_events import ServerToolCall, ToolCall, ToolCallDropped
from wholecall.deltas import (
    HYDRATION,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Labelled,
    SaidAgain,
    Slot,
    TurnEnded,
)
from wholecall.policy import Policy

STOP, LENGTH = Finish(0, "stop", "end_turn"), Finish(0, "length", "max_tokens")


def block(index: int, text: str = "") -> list[Delta]:
    """Return a block that is not closed."""
    return [
        CallSeen(0, index, None, f"c{index}", f"f{index}", begins=True),
        *([Slot(0, index, None, text)] if text else []),
    ]


def chat(index: int | None, text: str = "", id: str | None = None) -> list[Delta]:
    """Return a call of chat in one fragment."""
    return [Labelled(0, index, id or f"c{index}", f"f{index}", text)]


def fates(*deltas: Delta, close: bool = True, policy: Policy = Policy()) -> list[str]:  # noqa: B008 (frozen)
    """Return the result of each call, in order of emission: its status, or the reason of its drop."""
    return [
        getattr(event, "status", "") or getattr(event, "reason", "server")
        for event in told(*deltas, close=close, policy=policy)
        if isinstance(event, (ToolCall, ServerToolCall, ToolCallDropped))
    ]


def ids(*deltas: Delta, close: bool = True) -> list[Any]:
    """Return the ids of the calls, in order of emission."""
    calls = (ToolCall, ToolCallDropped)
    return [event.id for event in told(*deltas, close=close) if isinstance(event, calls)]


# When calls end.


@pytest.mark.parametrize("call", [block(0, A), chat(0, A)])
def test_a_whole_call_comes_out_with_the_reason(call: list[Delta]) -> None:
    """A call whose text is one object need not wait for the end of the turn, if it may be executed."""
    assert ["exact"] == fates(*call, CALLS, close=False)
    assert [] == fates(*call, Finish(0, "tool_calls", None, ends=True), close=False)


def test_calls_end_in_order_where_the_turn_ends_with_the_reason() -> None:
    """Where the reason comes in the last frame, no call is reported before the one that began first."""
    calls = [*block(0), *block(1, B)]

    assert ["c0", "c1"] == ids(*calls, Finish(0, "tool_calls", None, ends=True), END)
    assert ["c1", "c0"] == ids(*calls, CALLS, END)


def test_oddly_labelled_calls_wait_for_the_end_of_their_turn() -> None:
    """The meaning of fragments with odd labels is known when all of them came; calls in slots next to them are not
    odd.
    """
    odd = [*chat(0, A), Labelled(0, None, None, None, " ")]

    assert [] == fates(*odd, CALLS, close=False)
    assert ["exact"] == fates(*odd, CALLS, END, close=False)
    assert ["c1"] == ids(*odd, *block(1, B), CALLS, close=False)


def test_labels_that_look_right_are_doubted_where_a_text_is_not_whole() -> None:
    """A reason after half a text shows that fragments may have been joined wrongly: no call of the choice is reported
    yet.
    """
    half, whole = chat(0, '{"a"'), chat(1, B)

    assert ["c1"] == ids(*chat(0), *whole, CALLS, close=False)
    assert [] == ids(*half, *whole, CALLS, close=False)


def test_a_block_that_lacks_text_waits_for_the_end_of_its_turn() -> None:
    """Where blocks will be read again, only the end of the turn shows which of them lack text: the reason ends the others."""
    texts_over = CallClosed(0, 0, None, final=False, waits=True)
    first = [*block(0, A), texts_over]
    astray = [*block(1), *block(2), Slot(0, 91, None, A), CallClosed(0, 1, None), Slot(0, 92, None, B)]
    astray.append(CallClosed(0, 2, None))

    assert [] == fates(*astray, CALLS, close=False)
    assert ["exact", "exact"] == fates(*astray, CALLS, END)
    assert ["c0"] == ids(*first, *astray, CALLS, close=False)
    assert ["incomplete_input"] == fates(*block(0), HOLE, Slot(0, 0, None, A), CALLS, close=False)


def test_a_reason_that_drops_shows_all_that_it_drops() -> None:
    """After a refusal each oddly labelled fragment is seen in a drop, as it was shown: its meaning is not read."""
    refused = Finish(0, "content_filter", "refusal", drops=True)
    odd = [*chat(0, "{"), Labelled(0, 0, None, "g", "[")]
    again = [*chat(0, A), *chat(0, B)]  # one call or two: shown are two

    assert ["aborted", "aborted"] == fates(*odd, refused, END)
    assert [A, B] == [
        event.raw_arguments for event in told(*again, refused) if isinstance(event, ToolCallDropped)
    ]


def test_a_policy_that_judges_all_calls_together() -> None:
    """Calls of such a policy are emitted at the end of their turn, in order, or none of them is."""
    policy = Policy(on_bad_sibling="reject_all")
    call = [*block(0, A), CallClosed(0, 0, None)]

    assert [] == fates(*call, CALLS, policy=policy, close=False)
    assert ["exact"] == fates(*call, CALLS, END, policy=policy)
    assert ["aborted", "truncated"] == fates(*call, *block(1, "{"), CALLS, END, policy=policy)


# Closed blocks whose verdict waits.


CLOSED = CallClosed(0, 0, None, final=False)


@pytest.mark.parametrize(("reason", "fate"), [(CALLS, "exact"), (STOP, "exact"), (LENGTH, "truncated")])
def test_a_closed_block_before_a_reason(reason: Finish, fate: str) -> None:
    """A cut can close a block whose last members are missing: only a reason that is not a cut shows that the last one
    is whole.
    """
    assert [fate] == fates(*block(0, A), CLOSED, reason, close=False)
    assert [] == fates(*block(0, A), CLOSED, close=False)


def test_a_closed_block_that_is_empty() -> None:
    """The end of a block shows that it has no text, and the reason ends it; a cut shows nothing."""
    assert ["empty"] == fates(*block(0), CLOSED, STOP, close=False)
    assert ["truncated"] == fates(*block(0), CLOSED, LENGTH, close=False)


@pytest.mark.parametrize(("call", "fate"), [(block(0, A), "truncated"), (chat(0, A), "exact")])
def test_a_cut(call: list[Delta], fate: str) -> None:
    """Chat has no ends of calls, so a whole object is a whole call, flagged; a block that was not closed has a missing
    end.
    """
    (event,) = (event for event in told(*call, LENGTH) if isinstance(event, (ToolCall, ToolCallDropped)))

    assert [fate] == fates(*call, LENGTH)
    assert ("turn_truncated" in getattr(event, "flags", ())) == (fate == "exact")


# Calls without text.


FOREIGN = Finish(0, "tool_calls", "tool_calls", foreign=True)
MALFORMED = Finish(0, "malformed", "malformed_function_call")


@pytest.mark.parametrize(
    ("reason", "of_block", "of_chat"),
    [
        (CALLS, "empty", "empty"),
        (STOP, "incomplete_input", "empty"),
        (MALFORMED, "incomplete_input", "incomplete_input"),
        (FOREIGN, "incomplete_input", "incomplete_input"),
    ],
)
def test_silence_is_believed_if_the_reason_allows_calls(reason: Finish, of_block: str, of_chat: str) -> None:
    """A call without text has no arguments if its reason speaks of calls, or, where calls have no ends, allows them."""
    odd = [*chat(0), Labelled(0, None, "c0", None, "")]

    assert [of_block] == fates(*block(0), reason, END)
    assert [of_chat] == fates(*chat(0), reason, END)
    assert [of_chat] == fates(*odd, reason, END)


def test_a_later_reason_takes_no_evidence_back() -> None:
    """The findings at a first reason stay true, whatever reason or end follows."""
    for call in (block(0), chat(0)):
        assert ["empty"] == fates(*call, CALLS, MALFORMED, END)
        assert ["incomplete_input"] == fates(*call, MALFORMED, END)


@pytest.mark.parametrize(("reason", "fate"), [(CALLS, "empty"), (STOP, "incomplete_input")])
def test_silence_behind_another_beginning(reason: Finish, fate: str) -> None:
    """Where the role was repeated, a reason that does not promise calls may be that of another answer."""
    assert [fate] == fates(*chat(0), SaidAgain(0), reason, END)


# Calls that began after a reason.


@pytest.mark.parametrize("call", [block, chat])
def test_a_reason_ends_no_call_that_begins_after_it(call: Any) -> None:
    """Where the stream just stops, the reason counts as the end of the calls before it, and of no other call."""
    reason = Finish(0, "tool_calls", None, ends=True)

    assert ["exact", "unterminated"] == fates(*call(0, A), reason, *call(1, '{"b"'))
    assert ["exact", "exact"] == fates(*call(0, A), *call(1, B), reason)
    assert ["exact", "exact"] == fates(*call(0, A), reason, *call(1, B), TurnEnded(of_transport=True))


def test_a_final_message_after_a_reason_tells_its_calls_whole() -> None:
    """A call that only the final message holds is as sure as those before its reason, also where the stream stops there."""
    reason = Finish(0, "tool_calls", None, ends=True)
    told_whole = CallWhole(0, None, None, "d", "g", B, HYDRATION)

    assert ["exact", "exact"] == fates(*block(0, A), reason, told_whole)
    assert ["unterminated"] == fates(told_whole)
