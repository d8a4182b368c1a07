"""Reasons of a turn's end: the provider's claim, the emitted calls, and oddities of both."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, get_args

import pytest

from tests.support.together import together
from wholecall.calls.output.events import TurnFinished
from wholecall.calls.output.reasons import outranks
from wholecall.deltas import (
    CallClosed,
    CallSeen,
    CallWritten,
    Delta,
    Finish,
    Labelled,
    Noted,
    Slot,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.machine.endings import allows_calls, ending
from wholecall.policy import Policy
from wholecall.types import CUT_REASONS, TurnReason

if TYPE_CHECKING:
    from wholecall.types import Anomaly, Kind

A = '{"a":1}'


def call(kind: Kind = "function", name: str = "f") -> list[Delta]:
    """Return a whole call that the wire ended."""
    return [
        CallSeen(0, kind, None, f"c{kind}", name, kind),
        Slot(0, kind, None, A),
        CallClosed(0, kind, None),
    ]


STOPS: list[Delta] = [Finish(0, "stop", "stop"), TurnEnded()]
DROP: list[Delta] = [CallSeen(0, "d", None, "d", "f"), Slot(0, "d", None, "{"), CallClosed(0, "d", None)]


def finished(*deltas: Delta) -> TurnFinished:
    """Return the last event of a stream."""
    assembler = Assembler(Policy(), Limits())
    for delta in deltas:
        assembler.advance([delta])
    assembler.close()
    event = assembler.take()[-1]
    assert isinstance(event, TurnFinished)
    return event


@together(
    ("claimed", "alone", "with_call", "with_drop"),
    [
        (None, "unknown", "tool_calls", "malformed"),
        ("stop", "stop", "tool_calls", "malformed"),
        ("unknown", "unknown", "tool_calls", "malformed"),
        ("tool_calls", "stop", "tool_calls", "malformed"),
        ("malformed", "malformed", "tool_calls", "malformed"),
        ("length", "length", "length", "length"),
        ("content_filter", "content_filter", "content_filter", "content_filter"),
        ("pause", "pause", "pause", "pause"),
        ("error", "error", "error", "error"),
        ("aborted", "aborted", "aborted", "aborted"),
    ],
)
def test_reasons(
    claimed: TurnReason | None, alone: TurnReason, with_call: TurnReason, with_drop: TurnReason
) -> None:
    """Calls outrank the provider's claim; a cut, a filter, a pause and a failure are facts (quirks 43, 46, 47)."""
    end: list[Delta] = [Finish(0, claimed, "words")] if claimed else []

    assert alone == finished(*end, TurnEnded()).reason
    assert with_call == finished(*call(), *end, TurnEnded()).reason
    assert with_call == finished(*call(), *DROP, *end, TurnEnded()).reason
    assert with_drop == finished(*DROP, *end, TurnEnded()).reason


def test_every_reason_is_tried() -> None:
    """The table above knows all reasons."""
    assert set(get_args(TurnReason)) == {
        "tool_calls", "stop", "length", "content_filter", "malformed", "error", "aborted", "pause", "unknown"
    }  # fmt: skip
    assert {"length", "content_filter"} == CUT_REASONS


@pytest.mark.parametrize(
    ("kind", "name", "reason"),
    [
        ("function", "f", "tool_calls"),
        ("custom", "f", "tool_calls"),
        ("builtin", "shell", "tool_calls"),
        ("server", "f", "stop"),
    ],
)
def test_only_what_the_client_executes_is_a_reason(kind: Kind, name: str, reason: TurnReason) -> None:
    """A call that the provider executes itself gives the client nothing to do."""
    event = finished(*call(kind, name), Finish(0, "stop", "stop"), TurnEnded())

    assert (reason, 1, 0) == (event.reason, event.n_calls, event.n_dropped)


def test_counts() -> None:
    """All emitted calls are counted, whoever executes them, and all drops."""
    event = finished(*call(), *call("server"), *call("custom"), *DROP, Labelled(0, 9, None, None, "x"))

    assert (3, 2) == (event.n_calls, event.n_dropped)


@together(
    ("deltas", "anomalies"),
    [
        ([Finish(0, "stop", "stop")], ()),
        ([], ("missing_finish",)),
        ([*call()], ("missing_finish",)),
        ([Finish(0, "tool_calls", "tool_calls")], ("reason_without_call",)),
        ([*DROP, Finish(0, "tool_calls", "tool_calls")], ()),
        ([*call("server"), Finish(0, "tool_calls", "tool_calls")], ()),
        ([*call(), Finish(0, "tool_calls", "tool_calls")], ()),
        ([*call(), Finish(0, "stop", "stop")], ("finish_reason_mismatch",)),
        ([*call(), Finish(0, "stop", "completed")], ()),
        ([*call(), Finish(0, "stop", "STOP")], ()),
        ([*call(), Finish(0, "stop", "success")], ()),
        ([*call(), Finish(0, "stop", "turnComplete")], ()),
        ([*call(), Finish(0, "stop", "end_of_turn")], ()),
        ([*call("server"), Finish(0, "stop", "stop")], ()),
        ([*DROP, Finish(0, "stop", "stop")], ()),
        ([*call(), Finish(0, "length", "length")], ()),
    ],
)
def test_anomalies(deltas: list[Delta], anomalies: tuple[Anomaly, ...]) -> None:
    """A claim that does not fit the calls is an anomaly; some dialects have no word for calls (quirks 43, 46, 47)."""
    assert anomalies == finished(*deltas, TurnEnded()).anomalies


def test_the_provider_is_quoted() -> None:
    """The provider's own word is kept, next to ours, and so are its token counts."""
    event = finished(*call(), Finish(0, "stop", "end_turn"), UsageSeen({"total_tokens": 5}), TurnEnded())

    assert ("tool_calls", "end_turn", {"total_tokens": 5}) == (
        event.reason,
        event.provider_reason,
        event.usage,
    )


_FIXED = ("length", "content_filter", "error", "aborted")


@together(("old", "new"), list(product([None, *get_args(TurnReason)], get_args(TurnReason))))
def test_second_reasons(old: TurnReason | None, new: TurnReason) -> None:
    """Of two reasons the worse one counts, else the last (quirk 44)."""
    expected = old not in _FIXED or (new in _FIXED and _FIXED.index(new) >= _FIXED.index(old))

    assert expected == outranks(new, old)
    if old is not None:
        event = finished(Finish(0, old, f"old {old}"), Finish(0, new, f"new {new}"), TurnEnded())
        assert (f"new {new}" if expected else f"old {old}") == event.provider_reason


_ENDED = ("clean", "open", "length", "aborted")


@together("reason", [None, *get_args(TurnReason)])
def test_ways_in_which_a_choice_ends(reason: TurnReason | None) -> None:
    """A known reason tells how a choice ended, unless it was aborted; without one, the stream's end tells it."""
    known = "length" if reason in CUT_REASONS else "clean"
    expected = _ENDED if reason is None else (known, known, known, "aborted")

    assert expected == tuple(ending(reason, ended) for ended in _ENDED)


@together("own_ends", [False, True])
@together("reason", get_args(TurnReason))
def test_reasons_that_end_calls_without_text(reason: TurnReason, own_ends: bool) -> None:
    """A reason that is about calls ends them; where calls have no ends of their own, so do `stop` and unknown words.

    A reason under other labels than the rest of the message ends none.
    """
    expected = reason == "tool_calls" or (not own_ends and reason in ("stop", "unknown"))

    assert expected == allows_calls(Finish(0, reason, None), own_ends=own_ends)
    assert not allows_calls(Finish(0, reason, None, foreign=True), own_ends=own_ends)


HELD = Labelled(0, 0, "c", "f", A)  # a call of two turns
AGAIN = [
    Labelled(0, 0, None, "f", A),
    Labelled(0, 0, "c", None, ""),
]  # whose id comes too late to withhold it


@pytest.mark.parametrize(
    ("others", "expected", "n_dropped"),
    [([], "stop", 1), (DROP, "malformed", 2), ([*call(), *DROP], "tool_calls", 2)],
)
def test_a_call_that_came_out_before_is_no_bad_one(
    others: list[Delta], expected: TurnReason, n_dropped: int
) -> None:
    """A turn whose only dropped calls came out in an earlier turn is not malformed."""
    first = [TurnOpened("a", "r"), HELD, *STOPS]

    event = finished(*first, TurnOpened("b", "r"), *AGAIN, *others, *STOPS)

    assert (expected, n_dropped) == (event.reason, event.n_dropped)


def test_a_turn_that_only_repeats_is_no_turn_without_calls() -> None:
    """A reason that promises calls is no oddity where all of the turn's calls came out in an earlier turn."""
    calls = [HELD, Finish(0, "tool_calls", "tool_calls"), TurnEnded()]

    assert ("repeated_call",) == finished(
        TurnOpened("a", "r"), *calls, TurnOpened("b", "r"), *calls
    ).anomalies


def test_the_server_knows_nothing_of_a_written_call() -> None:
    """The reason `stop` fits a call that the model wrote as text, and no other call next to it."""
    written = CallWritten(0, "f", None, A, f"<call>{A}</call>", flags=("from_text",))

    assert () == finished(written, *STOPS).anomalies
    assert ("finish_reason_mismatch",) == finished(written, *call(), *STOPS).anomalies


def test_oddities_are_in_order() -> None:
    """The oddities of a turn are in the order of the alphabet, whichever came first."""
    found: list[Anomaly] = [
        "unread_call",
        "late_fragment",
        "dangling_marker",
        "unknown_events",
        "invalid_index",
    ]

    assert (
        "dangling_marker", "invalid_index", "late_fragment", "missing_finish", "unknown_events", "unread_call"
    ) == finished(*(Noted(0, one) for one in found), TurnEnded()).anomalies  # fmt: skip
