"""Effects of labels and pieces of text: fragments without labels, extras, replaced bytes, and the short way."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.assembled import END, A, new, told
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.deltas import CallSeen, Delta, Finish, Fragment, Labelled, Slot
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

ENDS: list[Delta] = [Finish(0, "tool_calls", "tool_calls"), END]
FIRST, BLOCK = Labelled(0, 0, "c", "f"), CallSeen(0, 0, None, "c", "f", begins=True)


def calls(*deltas: Delta) -> list[Any]:
    """Return the results of a turn's calls."""
    return [event for event in told(*deltas, *ENDS) if isinstance(event, (ToolCall, ToolCallDropped))]


@pytest.mark.parametrize("index", [0, "s", None])
def test_a_fragment_that_says_nothing_is_no_call(index: int | str | None) -> None:
    """Servers send fragments without labels and text: they begin nothing."""
    assert [] == calls(Labelled(0, index, None, None, ""))


def test_a_bare_fragment_is_text() -> None:
    """Text at an index that was not announced is seen, and is not a call."""
    (drop,) = calls(Fragment(0, 0, A))

    assert ("nameless", A) == (drop.reason, drop.raw_arguments)


def test_what_is_to_be_sent_back_may_come_with_any_fragment() -> None:
    """Fields of the provider that come with fragments are the call's."""
    extras: list[dict[str, Any]] = [{"signature": "s"}, {"index": 1}]
    fragments = [
        Labelled(0, 0, "c", "f", "", extra=extras[0]),
        Labelled(0, 0, None, None, A, extra=extras[1]),
    ]
    (call,) = calls(*fragments)

    assert {"signature": "s", "index": 1} == call.extra


ALONE = {"signature": "s"}


@pytest.mark.parametrize(
    "fragments",
    [[Labelled(0, 0, "c", "f", A)], [Labelled(0, 0, "c", "f", A[:4]), Labelled(0, None, None, None, A[4:])]],
)
@pytest.mark.parametrize("index", [0, None])
def test_what_is_to_be_sent_back_may_come_alone(fragments: list[Delta], index: int | None) -> None:
    """Fields without labels and text are those of the call of their index, else of the last one, however odd labels are."""
    (call,) = calls(*fragments, Labelled(0, index, None, None, extra=ALONE))

    assert (A, ALONE) == (call.raw_arguments, call.extra)


@pytest.mark.parametrize("index", [0, 1, None])
def test_what_is_to_be_sent_back_with_no_call(index: int | None) -> None:
    """Fields that come before any call, or at another index, are no call's."""
    alone = Labelled(0, index, None, None, extra=ALONE)

    assert [] == calls(alone)
    assert [None] == [
        call.extra
        for call in calls(alone, Labelled(0, 2, "c", "f", A), Labelled(0, 7, None, None, extra=ALONE))
    ]


# Bytes that were replaced.

SPOILT = '{"a":"\ufffd"}'


def spoilt(*deltas: Delta) -> Any:
    """Return the result of the call of a turn in which each frame held bytes that are not UTF-8."""
    assembler = new()
    for delta in (*deltas, *ENDS):
        assembler.advance_replaced([delta])
    assembler.close()
    (event,) = (event for event in assembler.take() if isinstance(event, (ToolCall, ToolCallDropped)))
    return event


def test_replaced_bytes_in_a_text() -> None:
    """A call whose text shows replaced bytes is not the one that was sent; the replacement character alone says nothing."""
    drop = spoilt(FIRST, Fragment(0, 0, SPOILT))
    (sent,) = calls(FIRST, Fragment(0, 0, SPOILT))
    detail = "the argument text held bytes that are not UTF-8"

    assert ("invalid_utf8", detail, SPOILT) == (drop.reason, drop.detail, drop.raw_arguments)
    assert "exact" == spoilt(FIRST, Fragment(0, 0, A)).status
    assert ("exact", SPOILT) == (sent.status, sent.raw_arguments)


# The short way.


class Counting(Assembler):
    """Counts the deltas that take the long way."""

    n_routed = 0

    def _route(self, delta: Any, *, replaced: bool = False) -> None:
        self.n_routed += 1
        super()._route(delta, replaced=replaced)


@pytest.mark.parametrize(("first", "piece"), [(FIRST, Fragment(0, 0, " ")), (BLOCK, Slot(0, 0, None, " "))])
def test_pieces_in_a_row_take_the_short_way(first: Delta, piece: Delta) -> None:
    """Once a call streams, the pieces at its place are appended to it without a look at labels."""
    assembler = Counting(Policy(), Limits())
    assembler.advance([first, piece, *[piece] * 100])

    assert 2 == assembler.n_routed
