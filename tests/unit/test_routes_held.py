"""Blocks that the wire closed: the statements of their end, and when a block that waits for the next one is over."""

from __future__ import annotations

import pytest

from tests.support.assembled import told
from tests.support.blocks import (
    ENDS,
    LOST,
    UNENDED,
    astray,
    begun,
    bound,
    closed,
    cut,
    dropped,
    over,
    piece,
    signs,
    whole,
)
from tests.support.bound import A, B, Got, assembled
from wholecall.calls.output.call_events import ToolCall
from wholecall.deltas import (
    DONE,
    HYDRATION,
    CallClosed,
    CallRefused,
    CallSeen,
    Delta,
    Finish,
    Labelled,
    TurnEnded,
)
from wholecall.limits import Limits

FIRST = begun(0, "c", "f")
HELD: list[Delta] = [FIRST, piece(0, A), closed(final=False)]
SILENT: list[Delta] = [FIRST, closed(final=False)]
NAMELESS = CallSeen(0, 1, None, "d", None, begins=True)  # a block whose name comes later, or never

# Calls that are emitted while the stream runs.


def out(*deltas: Delta) -> list[str | None]:
    """Return the ids of the calls that were emitted while the stream runs."""
    return [event.id for event in told(*deltas, close=False) if isinstance(event, ToolCall)]


@pytest.mark.parametrize(
    "after",
    [
        begun(1, "d", "g"),
        begun(0, "c", "f"),
        NAMELESS,
        whole(B, HYDRATION, None, "d", "g"),
        CallRefused(0, 1, None, "unparseable", "so it says"),
    ],
)
def test_the_next_block_ends_a_call_with_text(after: Delta) -> None:
    """A closed block is over when something comes that begins another call, whatever that is."""
    assert ["c"] == out(*HELD, after)


@pytest.mark.parametrize(
    "after",
    [
        CallSeen(0, 0, None, "c", None),
        CallSeen(0, 0, None, "c", "f"),
        whole(A, DONE),
        whole(A, HYDRATION, None, "c", "f"),
        piece(0, ""),
        closed(final=False),
    ],
)
def test_what_is_said_of_a_closed_block_ends_nothing(after: Delta) -> None:
    """Later frames about the block itself say nothing of a next block: the call waits."""
    assert [] == out(*HELD, after)


def test_a_name_that_comes_again_ends_nothing() -> None:
    """The name of a closed block without text, said once more, is not an end: the text may come yet."""
    assert [] == out(*SILENT, CallSeen(0, 0, None, "c", "f"))


def test_the_end_of_another_call_ends_it() -> None:
    """Calls that are told apart by the dialect can be open at once: the end of any of them shows that labels were right."""
    both = [CallSeen(0, "0/c", None, "c", "f"), CallSeen(0, "0/d", None, "d", "g"), piece("0/c", A)]
    held = closed("0/c", final=False)

    for final in (True, False):
        assert "c" in out(*both, held, piece("0/d", B), closed("0/d", final=final))
    assert [] == out(*both, held, piece("0/d", B))
    assert ["c"] == out(*both, held, CallClosed(0, "0/c", None))
    assert [] == out(*both, held, CallClosed(0, "0/d", None, truncated=True))


def test_a_name_that_comes_late_ends_the_block_before() -> None:
    """A block without a name may be more of the one before, until its name comes."""
    assert [] == out(*SILENT, NAMELESS)
    assert ["c"] == out(*SILENT, NAMELESS, CallSeen(0, 1, None, "d", "g"))
    assert [LOST] == signs(bound(*SILENT, NAMELESS, piece(1, A)), "c")
    assert [LOST] == signs(bound(*SILENT, NAMELESS, CallSeen(0, 1, None, "d", None), piece(1, A)), "c")
    assert [""] == signs(bound(*HELD, NAMELESS, piece(1, A)), "c")


def test_a_closed_block_waits_for_its_text_in_a_final_message() -> None:
    """A final message's earlier calls do not end the last one, of which it reports more yet."""
    message = [whole(A, HYDRATION, 0, "c", "f"), whole('{"b": 2}', HYDRATION, 1, "d", "g")]
    calls = [*HELD, begun(1, "d", "g"), piece(1, B), closed(1, final=False)]

    assert [A, '{"b": 2}'] == [got.text for got in bound(*calls, *message)]


def test_calls_are_numbered_in_the_order_in_which_they_began() -> None:
    """One that seemed to repeat another is reported when the next block shows that it is over, and before that one."""
    again = [begun(1, "c", "f"), piece(1, B), closed(1, final=False)]

    assert ["c", "c#2", "d"] == [got.id for got in bound(*HELD, *again, begun(2, "d", "g"), closed(2))]


# Blocks that begin again.


@pytest.mark.parametrize(
    ("start", "ids"),
    [
        (("c", "f"), ["c"]),
        (("c", "h"), ["c", "d"]),
        ((None, "f"), ["c", "d"]),
        (("e", "f"), ["c", "d"]),
    ],
)
def test_a_start_that_comes_again_ends_nothing(start: tuple[str | None, str], ids: list[str]) -> None:
    """Under the id and the name of an earlier call a start begins no next block: a call without text waits on."""
    both = [FIRST, piece(0, A), closed(), begun(1, "d", "g"), closed(1, final=False)]

    assert ids == out(*both, begun(0, *start))


def test_a_block_without_text_that_comes_again_with_it() -> None:
    """A closed block without text, announced once more, is the same call, which gets its text now."""
    assert [Got("c", "f", A, "repeated")] == bound(*SILENT, FIRST, piece(0, A), closed())
    assert [] == out(*SILENT, FIRST)


def test_a_block_without_id_that_comes_again() -> None:
    """A block without an id is another call than a closed one without, though they have one name and place."""
    first = [begun(0, None, "f"), closed(final=False)]

    assert ["call_0_0_0"] == out(*first, begun(0, None, "f"))
    assert [("", "id_generated"), (A, "id_generated")] == [
        got[2:] for got in bound(*first, begun(0, None, "f"), piece(0, A), closed())
    ]


def test_a_closed_block_that_goes_on_is_open_again() -> None:
    """A start without a name says that its block continues: it is over only with its next end."""
    again = CallSeen(0, 2, None, "c", None, begins=True)

    assert [UNENDED] == signs(cut(*SILENT, again, piece(2, A)), "c")
    assert [Got("c", "f", A)] == cut(*SILENT, again, piece(2, A), closed(2))
    assert [] == out(*SILENT, again, begun(3, "e", "h"))


def test_news_of_a_closed_block_opens_it_not() -> None:
    """A dialect's statement about its own key is news of the call, and not a start."""
    closed_key = [
        CallSeen(0, "0/c", None, "c", "f"),
        piece("0/c", A),
        CallClosed(0, "0/c", None, final=False),
        CallSeen(0, "0/c", None, "c", None),
    ]

    assert [""] == signs(cut(*closed_key, CallSeen(0, "0/d", None, "d", "g")), "c")


def test_a_call_that_ended_stays_so() -> None:
    """A start without a name in the place of a call that ended opens nothing: text goes to the one call that is open."""
    again = CallSeen(0, 0, None, "c", None, begins=True)
    came = bound(FIRST, closed(), again, begun(1, "d", "g"), piece(None, B), closed(1))

    assert [Got("c", "f", ""), Got("d", "g", B)] == came


def test_an_end_that_comes_again() -> None:
    """The end of a call that ended says nothing of the block that was closed last."""
    assert ["c"] == out(
        FIRST, piece(0, A), closed(), begun(1, "d", "g"), piece(1, B), closed(1, final=False), closed()
    )


# Statements of an end.


def test_an_end_under_a_key_of_labels() -> None:
    """A call of fragments whose index is the dialect's own is ended under it; a number of the wire may lie."""
    for index, sign in (("s", ""), (0, UNENDED)):
        assert [Got("c", "f", A, sign)] == cut(Labelled(0, index, "c", "f", A), closed(index))


def test_an_end_of_nothing() -> None:
    """An end that is not a call's ends none."""
    for end in (closed(), closed(None), closed("s"), CallClosed(0, 0, None, of_text=True)):
        assert [] == bound(end)


def test_the_end_of_a_text_is_not_that_of_its_call() -> None:
    """The end of the text, or an end that only the turn brings, leaves the call open until then."""
    for kept in ({"of_text": True}, {"waits": True}):
        assert [] == out(FIRST, piece(0, A), CallClosed(0, 0, None, final=False, **kept))
    waits = CallClosed(0, 0, None, final=False, waits=True)
    assert [Got("c", "f", ""), Got("d", "g", B)] == over(
        FIRST, waits, begun(1, "d", "g"), piece(None, B), closed(1)
    )


def test_an_end_that_says_cut() -> None:
    """A call that the wire itself calls cut is dropped at once, whatever its text looks like."""
    for final in (True, False):
        assert [dropped("truncated")] == [
            got.sign for got in bound(FIRST, piece(0, A), CallClosed(0, 0, None, final, truncated=True))
        ]


def test_an_end_that_says_cut_comes_second() -> None:
    """A closed block that waits for the next one is dropped, too, if the wire then calls it cut."""
    assert [dropped("truncated")] == signs(bound(*HELD, CallClosed(0, 0, None, False, truncated=True)), "c")


@pytest.mark.parametrize("final", [True, False])
def test_an_end_is_evidence_for_silence(final: bool) -> None:
    """A call without text has none if its own end came, also where that waits for the next frame."""
    assert [Got("c", "f", "")] == over(FIRST, closed(final=final))
    assert [LOST] == signs(over(FIRST, *astray(A), closed(final=final)), "c")


def test_blocks_beside_each_other_wait_together() -> None:
    """Where several blocks are open, the end of one does not show that the labels of the others were right."""
    beside = [FIRST, begun(1, "d", "g"), piece(0, A), piece(1, B), closed(final=False)]

    assert [] == out(*beside, closed(1, final=False))
    assert ["c", "d"] == out(*beside, closed(1, final=False), ENDS[0])


# Calls that the wire refuses.


def test_a_refusal_is_the_end_of_its_call() -> None:
    """A call that the wire refuses is dropped at once, with the known part of its text."""
    assert [Got("c", "f", A, dropped("unparseable"))] == cut(
        FIRST, CallRefused(0, 0, None, "unparseable", "so it says", A)
    )
    assert [dropped("unparseable"), ""] == [
        got.sign
        for got in bound(
            FIRST, CallRefused(0, 0, None, "unparseable", "so"), begun(1, "d", "g"), piece(1, B), closed(1)
        )
    ]


def test_a_refused_call_is_told_at_once() -> None:
    """A call that streams when the wire refuses it was started, and is dropped while the stream runs."""
    events = told(FIRST, CallRefused(0, 0, None, "unparseable", "so it says"), close=False)

    assert ["TurnStarted", "ToolCallStarted", "ToolCallDropped"] == [type(event).__name__ for event in events]


def test_refusals_beyond_the_limit() -> None:
    """The one drop for all calls beyond the limit counts refused ones, too, and those after them."""
    refused = [CallRefused(0, n, None, "unparseable", "so it says") for n in range(3)]
    calls, _ = assembled(*refused, begun(3, "d", "g"), *ENDS, limits=Limits(max_calls=1))

    assert [dropped("unparseable"), dropped("too_many_calls")] == [got.sign for got in calls]


def test_text_of_a_call_beyond_the_limit() -> None:
    """Text without labels may be that of a call that is not reported, because there are too many: it belongs to no
    other call.
    """
    deltas = [begun(1, "d", "g", "j"), begun(0, "c", "f", "i"), piece(None, A), *ENDS]
    calls, _ = assembled(*deltas, limits=Limits(max_calls=1))

    assert [("d", ""), ("c", A)] == [(got.id, got.text) for got in calls]


def test_a_reason_that_drops_ends_what_waited() -> None:
    """After a reason that drops the open calls nothing waits for the next block."""
    failed = Finish(0, "error", "failed", drops=True)
    start = [begun(0, None, "f"), closed(final=False), failed]
    more = [CallSeen(0, 1, None, None, None, begins=True), piece(1, A), TurnEnded()]

    assert [dropped("aborted"), dropped("nameless")] == [got.sign for got in assembled(*start, *more)[0]]
