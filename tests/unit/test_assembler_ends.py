"""Ends of calls: faults and holes, policies that hold them, and calls that are taken back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.assembled import CALLS, CUT, END, HOLE, A, ends, finishes, head, new, told
from wholecall.calls.output.call_events import (
    ServerToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import StreamFault, TurnFinished
from wholecall.deltas import (
    DONE,
    HYDRATION,
    OBJECT,
    CallCancelled,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.types import Kind

# Faults and holes.


def test_a_fatal_fault() -> None:
    """A fatal fault drops the open calls, keeps the ended ones, and nothing is read after it (quirk 52)."""
    events = told(
        head(0, A),
        CALLS,
        head(1, '{"b"'),
        CUT,
        Fragment(0, 1, ":2}"),
        head(2, A),
        TextFragment(0, "x"),
        END,
        HOLE,
    )

    assert [("c0", "exact"), ("c1", "aborted")] == ends(events)
    assert [(0, 0, "error")] == finishes(events)
    assert StreamFault(0, 0, "provider_error", "overloaded", {"code": 502}, True, "x") in events
    assert 1 == sum(isinstance(event, StreamFault) for event in events)


def test_a_fatal_fault_drops_at_once() -> None:
    """The drops come with the fault, after it; the last event waits for the close."""
    events = told(head(0, A), CUT, close=False)

    assert [StreamFault, ToolCallDropped] == [type(event) for event in events[-2:]]


def test_a_fatal_fault_of_all_turns() -> None:
    """A fatal fault ends the stream: the open calls of every turn are dropped."""
    events = told(TurnOpened("a"), head(0, A), TurnOpened("b"), head(0, A), CUT)

    assert [("c0", "aborted")] * 2 == ends(events)
    assert [(0, 0, "error"), (1, 0, "error")] == finishes(events)


def test_a_fault_before_everything() -> None:
    """A fault before the first turn is reported; if it is fatal, the empty turn ends with it."""
    assert [
        StreamFault(0, 0, "not_sse", "lines"),
        TurnFinished(0, 0, "unknown", anomalies=("missing_finish",)),
    ] == told(WireFault("not_sse", "lines"))
    assert [(0, 0, "error")] == finishes(told(CUT))


def test_faults_name_their_turn() -> None:
    """A fault names the turn that was current."""
    events = told(TurnOpened(None), TurnOpened(None), WireFault("bad_crc", "x"))

    assert [1] == [event.turn for event in events if isinstance(event, StreamFault)]


def test_a_hole() -> None:
    """A lost frame hits every call that was open: ended ones and later ones are whole (law 31)."""
    events = told(
        head(0, A),
        CALLS,
        head(1, '{"b"'),
        head(2),
        HOLE,
        Fragment(0, 1, ":2}"),
        Fragment(0, 2, A),
        head(3, A),
        END,
    )

    assert [("c0", "exact"), ("c1", "incomplete_input"), ("c2", "incomplete_input"), ("c3", "exact")] == ends(
        events
    )


def test_a_hole_in_another_choice() -> None:
    """The owner of the lost frame is unknown: the calls of all choices are hit."""
    assert [("c0", "incomplete_input"), ("c0", "incomplete_input")] == ends(
        told(head(0, A), head(0, A, choice=1), HOLE, END)
    )


def test_faults_beyond_the_limit_are_events_only() -> None:
    """A turn keeps `max_faults` faults; all are reported."""
    assembler = new(limits=Limits(max_faults=1))
    assembler.advance([TurnOpened(None), *(WireFault("bad_crc", detail) for detail in "abc")])

    assert ["a"] == [fault.detail for fault in assembler.snapshot().faults]
    assert ["a", "b", "c"] == [event.detail for event in assembler.take() if isinstance(event, StreamFault)]


def test_a_harmless_fault() -> None:
    """A fault that lost nothing hits no call."""
    assert [("c0", "exact")] == ends(told(head(0, A), WireFault("bad_crc", "x"), CALLS, END))


@pytest.mark.parametrize(
    "restatement",
    [CallWhole(0, 0, None, "c0", "f0", A, DONE), CallWhole(0, None, None, "c0", "f0", A, HYDRATION)],
)
def test_a_restatement_heals(restatement: CallWhole) -> None:
    """A call that is restated as a whole has lost nothing (law 31)."""
    opened: list[Delta] = [
        CallSeen(0, 0, None, "c0", "f0"),
        Slot(0, 0, None, '{"a":'),
        HOLE,
        Slot(0, 0, None, "}"),
    ]

    assert [("c0", "truncated")] != ends(told(*opened, restatement, CALLS, END))
    assert [("c0", "exact")] == ends(told(*opened, restatement, CALLS, END))
    assert [("c0", "incomplete_input")] == ends(told(*opened, CALLS, END))
    assert [("c0", "incomplete_input")] == ends(told(*opened, restatement, HOLE, CALLS, END))


# Policies.


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_truncated_turns_can_drop_all(reason: Any) -> None:
    """With `truncated_turn="drop"` a cut turn has no calls, not even those that the wire had ended before."""
    policy = Policy(truncated_turn="drop")
    ended: list[Delta] = [CallSeen(0, 0, None, "c0", "f"), Slot(0, 0, None, A), CallClosed(0, 0, None)]

    assert [] == ends(told(*ended, policy=policy, close=False))
    assert [("c0", "truncated")] == ends(told(*ended, Finish(0, reason, None), END, policy=policy))
    assert [("c0", "exact")] == ends(told(*ended, Finish(0, "stop", None), END, policy=policy))
    assert [("c0", "exact")] == ends(told(*ended, Finish(0, reason, None), END))


def test_a_held_call_waits_for_the_end() -> None:
    """A policy that judges a call by its turn holds it beyond the finish; the last event counts the emitted calls."""
    policy = Policy(truncated_turn="drop")
    held = told(head(0, A), Finish(0, "stop", None), policy=policy, close=False)
    events = told(head(0, A), Finish(0, "stop", None), END, policy=policy)

    assert [] == ends(held)
    assert [("c0", "exact")] == ends(events)
    assert (1, 0) == (events[-1].n_calls, events[-1].n_dropped)


def test_bad_siblings_can_reject_all() -> None:
    """With `on_bad_sibling="reject_all"` one drop drops all calls of the choice; other choices are alternatives."""
    policy = Policy(on_bad_sibling="reject_all")
    bad = [head(0, A), head(1, "{"), head(0, A, choice=1), CALLS, END]

    assert [("c0", "aborted"), ("c1", "truncated"), ("c0", "exact")] == ends(told(*bad, policy=policy))
    assert [("c0", "exact"), ("c1", "truncated"), ("c0", "exact")] == ends(told(*bad))
    assert [("c0", "exact"), ("c1", "exact")] == ends(told(head(0, A), head(1, A), CALLS, END, policy=policy))


def test_server_calls_are_not_rejected() -> None:
    """Calls executed by the provider have already happened: no policy takes them back."""
    server: list[Delta] = [
        CallSeen(0, 5, None, "s", "search", "server"),
        Slot(0, 5, None, A),
        CallClosed(0, 5, None),
    ]
    events = told(*server, head(1, "{"), CALLS, END, policy=Policy(on_bad_sibling="reject_all"))

    assert ["server_tool_call", "tool_call_dropped"] == [
        type(event).__struct_config__.tag for event in events if hasattr(event, "raw_arguments")
    ]


def test_held_calls_of_an_aborted_turn() -> None:
    """Calls that were held when the stream failed were ended before: they are emitted."""
    ended: list[Delta] = [CallSeen(0, 0, None, "c0", "f"), Slot(0, 0, None, A), CallClosed(0, 0, None)]

    assert [("c0", "exact")] == ends(told(*ended, CUT, policy=Policy(truncated_turn="drop")))


def test_without_a_terminal() -> None:
    """`require_terminal=False` lets complete calls out of a stream that just stops, flagged."""
    cut: list[Delta] = [head(0, A), head(1, '{"b"'), head(2)]

    assert [("c0", "unterminated"), ("c1", "unterminated"), ("c2", "unterminated")] == ends(told(*cut))
    assert [("c0", "exact unterminated"), ("c1", "unterminated"), ("c2", "unterminated")] == ends(
        told(*cut, policy=Policy(require_terminal=False))
    )


def test_a_reason_is_a_terminal() -> None:
    """A stream that stops after its reason has ended cleanly (quirk 51)."""
    assert [("c0", "empty")] == ends(told(head(0), Finish(0, "stop", "stop")))


def test_a_refusal_takes_back() -> None:
    """A refusal drops the open calls; later ones are judged by their own end."""
    events = told(head(0, A), Finish(0, "stop", "refusal", drops=True), head(1, A), CALLS, END)

    assert [("c0", "aborted"), ("c1", "exact")] == ends(events)


def test_an_abort_by_the_caller() -> None:
    """An abort drops the open calls and ends every turn as aborted; ended calls stay."""
    assembler = new()
    assembler.advance([head(0, A), CALLS, head(1, A)])
    assembler.close("aborted")
    events = assembler.take()

    assert [("c0", "exact"), ("c1", "aborted")] == ends(events)
    assert [(0, 0, "aborted")] == finishes(events)


@pytest.mark.parametrize(
    ("detail", "told_why"), [("", "the turn was aborted"), ("the reader left", "the reader left")]
)
def test_an_abort_says_why(detail: str, told_why: str) -> None:
    """The drops of an abort carry the caller's words, in every turn and choice."""
    assembler = new()
    assembler.advance([TurnOpened("a"), head(0), TurnOpened("b"), head(0), head(0, choice=1)])
    assembler.close("aborted", detail)

    drops = [event.detail for event in assembler.take() if isinstance(event, ToolCallDropped)]
    assert [told_why] * 3 == drops


def test_an_abort_needs_no_words() -> None:
    """Without words of the caller the drops say that the turn was aborted."""
    assembler = new()
    assembler.advance([head(0)])
    assembler.close("aborted")

    assert ["the turn was aborted"] == [e.detail for e in assembler.take() if isinstance(e, ToolCallDropped)]


def test_a_stream_that_just_stops() -> None:
    """Free text is not whole without an end: the close alone is no evidence."""
    assert [("c", "unterminated")] == ends(told(Labelled(0, 0, "c", "f", "x", "custom")))


def test_a_cut_is_known_at_the_end_of_the_turn() -> None:
    """A reason that comes with the end of the turn says how its calls ended."""
    cut = Finish(0, "length", None, ends=True)

    assert [("c0", "exact turn_truncated"), ("c1", "truncated")] == ends(
        told(head(0, A), head(1, '{"b"'), cut, END)
    )


def test_without_a_limit_all_faults_are_kept() -> None:
    """`max_faults=None` is not a limit."""
    assembler = new(limits=Limits(max_faults=None))
    assembler.advance([TurnOpened(None), *(WireFault("bad_crc", detail) for detail in "abc")])

    assert ["a", "b", "c"] == [fault.detail for fault in assembler.snapshot().faults]


# Calls that are taken back.


def cancelled(events: list[Any]) -> list[tuple[str, int, int]]:
    """Return id, turn and choice of the calls that were taken back."""
    return [(e.id, e.turn, e.choice) for e in events if isinstance(e, ToolCallCancelled)]


def test_a_call_that_came_out_is_taken_back() -> None:
    """The call stays unchanged: one terminal event, and the retraction, in its own choice."""
    events = told(head(0, A), head(0, A, choice=1), CALLS, Finish(1, "stop", None), CallCancelled("c0"), END)

    assert [("c0", "exact"), ("c0", "exact")] == ends(events)
    assert [("c0", 0, 0)] == cancelled(events)


def test_a_call_of_an_earlier_turn_is_taken_back() -> None:
    """The event names the turn of the call; it may come when that turn is long over."""
    first: list[Delta] = [TurnOpened(None, restart=True), head(0, A, choice=1), Finish(1, "stop", None), END]
    second: list[Delta] = [TurnOpened(None, restart=True), TextFragment(0, "x")]
    events = told(*first, *second, CallCancelled("c0"))

    assert [("c0", 0, 1)] == cancelled(events)


def test_the_latest_call_of_an_id_is_taken_back() -> None:
    """Ids are unique in a turn only: of two calls with one id it is the one of the turn at hand, or the later."""
    turn: list[Delta] = [TurnOpened(None, restart=True), head(0, A), CALLS, END]
    other: list[Delta] = [TurnOpened(None, restart=True), TextFragment(0, "x")]

    assert [("c0", 1, 0)] == cancelled(told(*turn, *turn, CallCancelled("c0")))
    assert [("c0", 1, 0)] == cancelled(told(*turn, *turn, *other, CallCancelled("c0")))


def test_an_open_call_that_is_taken_back_is_dropped() -> None:
    """The call ends there, whatever still comes for it; the other calls continue."""
    events = told(head(0, A), head(1, A), CallCancelled("c0"), CALLS, END)
    drop = next(event for event in events if isinstance(event, ToolCallDropped))

    assert [("c0", "aborted"), ("c1", "exact")] == ends(events)
    assert "the provider took the call back" == drop.detail
    assert [("c0", 0, 0)] == cancelled(events)
    aborted = told(head(0, A), head(1, A), CallCancelled("c0"), CUT)
    assert ["the provider took the call back", "the turn was aborted"] == [
        event.detail for event in aborted if isinstance(event, ToolCallDropped)
    ]


def whole(id: str, text: str = A, kind: Kind = "function") -> list[Delta]:
    """Return a call that the wire ended."""
    return [CallSeen(0, id, None, id, "f", kind), Slot(0, id, None, text), CallClosed(0, id, None)]


def test_a_held_call_that_is_taken_back_never_comes_out() -> None:
    """A call held by a policy was not shown yet: it is dropped, and the other calls are emitted."""
    policy = Policy(truncated_turn="drop")
    off = [CallCancelled("x"), CallCancelled("y")]
    events = told(*whole("w"), *whole("x"), *whole("y", "{"), *off, CALLS, END, policy=policy)

    assert [("w", "exact"), ("x", "aborted"), ("y", "truncated")] == ends(events)
    assert [("x", 0, 0), ("y", 0, 0)] == cancelled(events)
    assert (1, 2) == (events[-1].n_calls, events[-1].n_dropped)


def test_what_a_server_executes_is_not_taken_back() -> None:
    """The call has happened, held or not: the retraction is passed on, and the call is emitted."""
    events = told(
        *whole("s", kind="server"), CallCancelled("s"), CALLS, END, policy=Policy(truncated_turn="drop")
    )

    assert ["server_tool_call"] == [
        type(event).__struct_config__.tag for event in events if hasattr(event, "raw_arguments")
    ]
    assert [("s", 0, 0)] == cancelled(events)


def test_an_unknown_call_is_taken_back() -> None:
    """The call may belong to a stream before this one: the retraction is passed on, and opens no turn."""
    assert [ToolCallCancelled(0, 0, "old")] == told(CallCancelled("old"), close=False)
    assert [("old", 0, 0)] == cancelled(told(TextFragment(0, "x"), CallCancelled("old"), END))


def test_an_unknown_call_is_taken_back_in_the_turn_at_hand() -> None:
    """The retraction of an unknown call belongs to the turn in which it came."""
    assert [("old", 1, 0)] == cancelled(told(TurnOpened(None), TurnOpened(None), CallCancelled("old")))


@pytest.mark.parametrize(("lenient", "expected"), [(False, "unterminated"), (True, "exact unterminated")])
def test_a_preset_without_a_terminal(lenient: bool, expected: str) -> None:
    """A block whose input came with its start is such a complete call: it begins before it is emitted (law 4)."""
    cut: list[Delta] = [CallSeen(0, 0, None, "c0", "f"), CallWhole(0, 0, None, None, None, A, OBJECT)]
    events = told(*cut, policy=Policy(require_terminal=not lenient))

    assert [("c0", expected)] == ends(events)
    assert lenient == any(isinstance(event, ToolCallStarted) for event in events)


# Calls that have their result in the stream (quirk 124).


def executed(*deltas: Delta, policy: Policy = Policy()) -> list[str]:  # noqa: B008 (frozen)
    """Return the emitted calls, and the retractions."""
    names = {ToolCall: "call", ServerToolCall: "server", ToolCallCancelled: "off", ToolCallDropped: "drop"}
    return [
        f"{names[type(event)]} {event.id}" for event in told(*deltas, policy=policy) if type(event) in names
    ]


def test_a_call_with_a_result_is_executed_once() -> None:
    """An emitted call is taken back, once; an open call becomes the server's; its siblings stay."""
    done = CallCancelled("c0", answered=True)

    assert ["call c0", "call c1", "off c0"] == executed(head(0, A), head(1, A), CALLS, done, done, END)
    assert ["server c0", "call c1"] == executed(head(0, A), head(1, A), done, CALLS, END)
    assert ["call c0", "off c0"] == executed(head(0, A), CALLS, END, done)


def test_a_result_of_a_call_that_never_came_says_nothing() -> None:
    """The result is of a stream before this one, or of a call that was dropped."""
    done = CallCancelled("c9", answered=True)

    assert ["call c0"] == executed(done, head(0, A), done, CALLS, END, done)
    assert ["drop c0"] == executed(head(0, "{"), CALLS, END, CallCancelled("c0", answered=True))


def test_a_held_call_with_a_result_is_dropped() -> None:
    """A policy that waits for the siblings still holds it: it is not emitted, as if the provider had taken it back."""
    held = Policy(on_bad_sibling="reject_all")
    done = CallCancelled("c0", answered=True)

    assert ["off c0", "drop c0"] == executed(head(0, A), CALLS, done, END, policy=held)


def test_a_result_finds_its_call_in_a_turn_that_ended() -> None:
    """Another message may continue in the meantime: a turn is not finished while news about it can still come."""
    first = [TurnOpened("one"), head(0, A), CALLS, TurnEnded("one")]

    assert ["call c0", "off c0"] == executed(*first, TurnOpened("two"), CallCancelled("c0", answered=True))
