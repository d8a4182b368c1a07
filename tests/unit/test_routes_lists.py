"""Final messages: the calls they list, their statements on calls without text, and their effect on shown text."""

from __future__ import annotations

import pytest

from tests.support.assembled import HOLE, told
from tests.support.blocks import LOST, begun, bound, closed, dropped, listed, over, piece, signs, whole
from tests.support.bound import A, B, Got
from wholecall.calls.output.call_events import ToolCall
from wholecall.deltas import (
    HYDRATION,
    ITEM_DONE,
    CallWhole,
    Delta,
    Finish,
    Labelled,
    Marked,
    Reread,
    Restated,
)

FIRST = begun(0, "c", "f")
BOTH: list[Delta] = [FIRST, begun(1, "d", "g")]
WRONG = closed(7)  # the end of a block that never began: labels are wrong

# Calls without text.


@pytest.mark.parametrize("turned", [False, True])
def test_silence_is_believed_though_labels_were_wrong(turned: bool) -> None:
    """A list settles doubts that labels left, in any order, for a call without text once all text is some call's."""
    calls = [("c", "f", ""), ("d", "g", A)]
    told = listed(*(calls[::-1] if turned else calls))

    assert [Got("c", "f", ""), Got("d", "g", A)] == bound(*BOTH, WRONG, piece(1, A), told)
    assert [""] == signs(bound(*BOTH, piece(7, A), WRONG, told), "c")
    assert [LOST] == signs(bound(*BOTH, WRONG, piece(1, A), closed()), "c")


@pytest.mark.parametrize("text", [A, "other"])
def test_silence_is_not_believed_while_text_has_no_owner(text: str) -> None:
    """Any text that came without an owner may be that of the call that has no text in the list."""
    assert [LOST] == signs(bound(*BOTH, piece(7, text), WRONG, listed(("c", "f", ""), ("d", "g", B))), "c")


def test_a_call_that_only_the_list_tells_owns_text() -> None:
    """Text without an owner may be that of a call that was not announced, and then it belongs to none of the others."""
    came = bound(*BOTH, piece(7, A), WRONG, listed(("c", "f", ""), ("d", "g", ""), ("e", "h", A)))

    assert [[""], [""], [""]] == [signs(came, id) for id in "cde"]


def test_silence_is_not_believed_of_a_call_with_text() -> None:
    """A list that gives no text for a call that has some agrees with nothing: doubts that labels left remain."""
    assert [LOST] == signs(
        bound(FIRST, piece(0, A), begun(1, "d", "g"), WRONG, listed(("c", "f", ""), ("d", "g", B))), "c"
    )


def test_a_placeholder_is_not_believed_after_a_loss() -> None:
    """Where text was lost, neither `{}` nor a list without text shows that a call had none."""
    assert [LOST] == signs(bound(FIRST, piece(0, "{}"), HOLE, listed(("c", "f", ""))), "c")


@pytest.mark.parametrize("rank", [HYDRATION, ITEM_DONE])
def test_a_final_message_is_evidence_for_silence(rank: int) -> None:
    """A call of a final message is whole; a finished item without text may have lost it."""
    assert [Got("c", "f", "", "" if rank == HYDRATION else LOST)] == over(whole("", rank, id="c", name="f"))


# Calls in progress.


def unfinished(text: str) -> Restated:
    """Return a list of one call that it does not call done."""
    return Restated(0, (CallWhole(0, None, None, "c", "f", text, HYDRATION, goes_on=True),))


@pytest.mark.parametrize("end", [closed(final=False), Finish(0, "tool_calls", None, ends=True)])
def test_a_call_in_progress_that_had_ended(end: Delta) -> None:
    """A list that calls an item in progress takes back nothing: its own end, or a reason, had shown that it has no text."""
    assert [Got("c", "f", "")] == over(FIRST, end, unfinished(""))
    assert [Got("c", "f", "", LOST)] == over(FIRST, unfinished(""))


def test_a_call_in_progress_with_text() -> None:
    """A list's text is the call's, whether it calls that done or not."""
    assert [Got("c", "f", A)] == over(FIRST, unfinished(A))


# Which calls are reported.


def test_one_id_twice_in_a_list() -> None:
    """A list that holds one call twice may mean another that was shown under another id: that is reported, too."""
    assert [Got("c", "f", ""), Got("e", "f", "", "id_churn")] == over(
        FIRST, begun(1, "e", "f"), listed(("c", "f", ""), ("c", "f", ""))
    )


def test_a_call_of_a_list_takes_no_further_text() -> None:
    """A call that was not announced is whole in its list: later text is not its own."""
    assert [Got("c", "f", A), Got(None, None, B, dropped("nameless"))] == over(
        listed(("c", "f", A)), piece(None, B)
    )


def test_a_text_without_labels_in_a_later_message() -> None:
    """A whole text without an id is that of the one call of its name that has none yet, also if a list gave that so."""
    later = whole(A, HYDRATION, None, None, "f")

    assert [Got("c", "f", A)] == bound(listed(("c", "f", "")), later) == bound(FIRST, later)


# Final messages after odd labels.

ODD: list[Delta] = [Labelled(0, 0, "c", "f", '{"a"'), Labelled(0, None, None, None, ":1}")]


def test_a_message_outranks_odd_labels() -> None:
    """The final message decides the meaning of fragments with odd labels."""
    assert [Got("c", "f", B)] == [
        got._replace(sign="") for got in bound(*ODD, whole(B, HYDRATION, 0, "c", "f"))
    ]
    assert [("c", A), ("d", B)] == [
        (got.id, got.text)
        for got in bound(*ODD, whole(A, HYDRATION, 0, "c", "f"), whole(B, HYDRATION, 1, "d", "g"))
    ]


def test_a_call_under_a_key_is_told_at_once() -> None:
    """A call that the dialect distinguishes is not odd, and neither is an item that its own event reports."""
    keyed = [Labelled(0, "s", "e", "h", '{"x"'), whole(B, HYDRATION, "s", "e", "h")]
    finished = CallWhole(0, 7, None, "d", "g", B, ITEM_DONE, closes=True)

    assert Got("e", "h", B, "done_mismatch") in bound(*ODD, *keyed)
    assert ["d"] == [event.id for event in told(*ODD, finished, close=False) if isinstance(event, ToolCall)]


# Streams that are read again.


def test_a_book_that_cannot_be_read() -> None:
    """Where the pieces of a stream cannot be read again, its final message is reported like any other."""
    message = (CallWhole(0, 0, None, "c", "f", A, HYDRATION), CallWhole(0, 1, None, "d", "g", B, HYDRATION))

    assert [Got("c", "f", A), Got("d", "g", B)] == over(Reread(0, (), message))


def test_a_book_that_can_be_read() -> None:
    """The meaning of the pieces outranks the shown text: here text without labels is that of the call that began
    last.
    """
    pieces = (
        Marked("S", 0, "c", "f"),
        Marked("E", 0, "c", None),
        Marked("S", 1, "d", "g"),
        Marked("T", None, None, None, A),
        Marked("E", 1, "d", None),
    )

    assert ["c", "d"] == [got.id for got in over(*BOTH, piece(None, A), Reread(0, pieces))]
