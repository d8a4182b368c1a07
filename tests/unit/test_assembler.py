"""From deltas to events: turns and choices, the hot path, faults and holes, ends, and what the policies hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholecall.assembler import Assembler
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
    Noted,
    ReasoningFragment,
    Run,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.events import (
    ArgumentsDelta,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.vocabulary import Kind

A, B = '{"a":1}', '{"b":2}'
CALLS = Finish(0, "tool_calls", "tool_calls")
END = TurnEnded()
HOLE = WireFault("undecodable_frame", "no JSON", hole=True)
CUT = WireFault("provider_error", "overloaded", {"code": 502}, fatal=True, raw="x")


def head(index: int, text: str = "", choice: int = 0) -> Labelled:
    """Return the first fragment of a call."""
    return Labelled(choice, index, f"c{index}", f"f{index}", text)


def new(policy: Policy = Policy(), limits: Limits = Limits()) -> Assembler:  # noqa: B008 (frozen)
    """Return an assembler."""
    return Assembler(policy, limits)


def told(
    *deltas: Delta,
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    close: bool = True,
) -> list[Any]:
    """Return the events of a stream."""
    assembler = new(policy, limits)
    for delta in deltas:
        assembler.advance([delta])
    if close:
        assembler.close()
    return assembler.take()


def ends(events: list[Any]) -> list[tuple[str | None, str]]:
    """Return id and outcome of each call, in the order of the events."""
    return [
        (
            event.id,
            event.reason if isinstance(event, ToolCallDropped) else " ".join((event.status, *event.flags)),
        )
        for event in events
        if isinstance(event, (ToolCall, ToolCallDropped))
    ]


def finishes(events: list[Any]) -> list[tuple[int, int, str]]:
    """Return turn, choice and reason of each last event."""
    return [(event.turn, event.choice, event.reason) for event in events if isinstance(event, TurnFinished)]


# Events of one turn.


def test_all_events_of_a_turn() -> None:
    """A turn in the order of its deltas."""
    assert [
        TurnStarted(0, 0, "unknown", "r", "m"),
        ReasoningDelta(0, 0, "hm"),
        TextDelta(0, 0, "ok"),
        ToolCallStarted(0, 0, 0, "c0", "f0"),
        ArgumentsDelta(0, 0, 0, '{"a"'),
        ArgumentsDelta(0, 0, 0, ":1}"),
        ToolCall(0, 0, 0, "c0", "f0", {"a": 1}, A, "exact"),
        TurnFinished(0, 0, "tool_calls", "tool_calls", 1, 0, {"n": 1}, ("unknown_events",)),
    ] == told(
        TurnOpened(None, "r", "m"),
        ReasoningFragment(0, "hm"),
        ReasoningFragment(0, "", signature="s"),
        TextFragment(0, "ok"),
        head(0),
        Fragment(0, 0, '{"a"'),
        Fragment(0, 0, ":1}"),
        CALLS,
        UsageSeen({"n": 1}),
        Noted(0, "unknown_events"),
        END,
    )


def test_taking_empties() -> None:
    """Events are taken once."""
    assembler = new()
    assembler.advance([TextFragment(0, "a")])

    assert 2 == len(assembler.take())
    assert [] == assembler.take()


def test_the_dialect_is_named() -> None:
    """The first event names the dialect that the parser found."""
    assembler = new()
    assembler.dialect = "anthropic"
    assembler.advance([TurnOpened(None)])

    assert [TurnStarted(0, 0, "anthropic")] == assembler.take()


def test_an_empty_stream() -> None:
    """A stream without deltas has one empty turn, that nobody began."""
    assert [TurnFinished(0, 0, "unknown", anomalies=("missing_finish",))] == told()


def test_a_turn_without_choices() -> None:
    """A turn in which nothing was said ends once."""
    assert [(0, 0, "unknown")] == finishes(told(TurnOpened(None), END))
    assert [(0, 0, "unknown")] == finishes(told(END))
    assert [(0, 0, "unknown")] == finishes(told(UsageSeen({"n": 1})))


def test_closing_twice() -> None:
    """A second close says nothing more."""
    assembler = new()
    assembler.advance([TextFragment(0, "a")])
    assembler.close()
    assembler.take()
    assembler.close("aborted")

    assert [] == assembler.take()


@pytest.mark.parametrize(
    "late",
    [
        TextFragment(0, "x"),
        ReasoningFragment(0, "x"),
        head(0, A),
        Fragment(0, 0, A),
        Slot(0, 0, None, "x"),
        CallSeen(0, 1, None, "d", "g"),
        CallWhole(0, 1, None, "d", "g", A, HYDRATION),
    ],
)
def test_data_after_the_end(late: Delta) -> None:
    """What comes after the end of its turn is an anomaly, and nothing else."""
    events = told(head(0, A), CALLS, END, late)

    assert [("c0", "exact")] == ends(events)
    assert ("data_after_end",) == events[-1].anomalies
    assert TurnStarted(0, 0, "unknown") == events[0]
    assert 5 == len(events)


@pytest.mark.parametrize(
    "late",
    [Finish(0, "stop", "x"), CallClosed(0, 0, None), END, Noted(0, "unknown_events"), UsageSeen({"n": 1})],
)
def test_afterthoughts(late: Delta) -> None:
    """A reason, an end or the usage may come after the end of the turn; no call comes of it."""
    events = told(head(0, A), CALLS, END, late)

    assert [("c0", "exact")] == ends(events)
    assert ("tool_calls", "tool_calls") == (events[-1].reason, events[-1].provider_reason)
    assert "data_after_end" not in events[-1].anomalies


def test_usage_after_the_end_counts() -> None:
    """The usage may come after the end (quirk 88)."""
    assert {"n": 1, "m": 2} == told(TextFragment(0, "x"), UsageSeen({"n": 1}), END, UsageSeen({"m": 2}))[
        -1
    ].usage


def test_what_comes_after_the_end_of_a_call_changes_no_event() -> None:
    """Fields that nobody knows are kept as they came, up to the end of their call."""
    first, second, late = ({"x": 1, "y": 1}, {"y": 2}, {"z": 3})
    entries = [Labelled(0, 0, "c0", "f", A, extra=first), Labelled(0, 0, "c0", None, "", extra=second)]
    events = told(*entries, CALLS, Labelled(0, 0, "c0", None, "", extra=late), END)

    assert [{"x": 1, "y": 2}] == [event.extra for event in events if isinstance(event, ToolCall)]
    assert ({"x": 1, "y": 1}, {"y": 2}) == (first, second)


# The hot path.


@pytest.mark.parametrize("pieces", [[A], ['{"a"', ":1}"], list(A), ['{"a":', "1", "}", " "]])
def test_frames_are_not_seen(pieces: list[str]) -> None:
    """Deltas of one frame or of several: the same events."""
    deltas = [head(0), *(Fragment(0, 0, piece) for piece in pieces), CALLS, END]
    together = new()
    together.advance(deltas)
    together.close()

    assert told(*deltas) == together.take()


@given(
    st.lists(st.text(alphabet='{}[]",:1 a😀\ud83d\ude00', min_size=1, max_size=12), max_size=8),
    st.booleans(),
    st.integers(0, 60),
)
def test_the_hot_path_is_a_short_cut(pieces: list[str], slotted: bool, limit: int) -> None:
    """Fragments that simply append say what they say on the long way, one by one or in a run (law 33)."""
    first: Delta = CallSeen(0, 0, "i", "c", "f") if slotted else head(0)
    pointed = [Slot(0, 0, None, piece) if slotted else Fragment(0, 0, piece) for piece in pieces]
    deltas = [first, *pointed, CALLS, END]
    limits = Limits(max_arguments_bytes=limit)
    slow = new(limits=limits)
    for delta in deltas:
        slow.advance_replaced([delta])  # never takes the short cut; these texts hold no U+FFFD
    slow.close()
    expected = slow.take()
    run = [Run(pointed[0], pieces)] if pointed else []

    assert expected == told(*deltas, limits=limits)
    assert expected == told(first, *run, CALLS, END, limits=limits)


def test_a_run_of_text_is_its_pieces() -> None:
    """Text in a run is told piece by piece, before its choice is known, and not after the turn has ended."""
    run = Run(TextFragment(0, "a"), ["a", "b"])
    pieces = run.pieces()

    assert told(*pieces, END, *pieces) == told(run, END, run)
    assert ["a", "b"] == [event.text for event in told(run, END, run) if isinstance(event, TextDelta)]


def test_hot_fragments_of_several_choices() -> None:
    """Each choice has calls and indices of its own (quirk 82)."""
    events = told(
        head(0, choice=0),
        head(0, choice=1),
        *(Fragment(choice, 0, piece) for piece in ('{"a"', ":1}") for choice in (0, 1)),
        END,
    )

    assert [(0, 0, "c0", A), (1, 0, "c0", A)] == [
        (event.choice, event.index, event.id, event.raw_arguments)
        for event in events
        if isinstance(event, ToolCall)
    ]


def opened(pieces: list[str], *, slotted: bool) -> list[Delta]:
    """Return a call and its pieces, by label or by slot."""
    if slotted:
        return [CallSeen(0, 0, None, "c0", "f0"), *(Slot(0, 0, None, piece) for piece in pieces)]
    return [head(0), *(Fragment(0, 0, piece) for piece in pieces)]


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
def test_deltas_end_in_no_half(slotted: bool) -> None:
    """A delta never ends in a high surrogate, and its other half finds it, on the hot path too (quirk 35)."""
    events = told(
        *opened(['{"a":"', "x", "\ud83d", "\ude00", "y\ud83d", '\ude00"}'], slotted=slotted), CALLS, END
    )

    assert ['{"a":"', "x", "😀", "y", '😀"}'] == [
        event.delta for event in events if isinstance(event, ArgumentsDelta)
    ]
    assert [("c0", "exact")] == ends(events)


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
def test_two_readings_leave_the_hot_path(slotted: bool) -> None:
    """Both readings of a text go on with each fragment that follows (quirk 24)."""
    whole, cut = ['{"a":', '{"a":1', ',"b":2', "}"], ['{"a":', '{"a":1}', '{"b":2']

    assert [("c0", "exact snapshots")] == ends(told(*opened(whole, slotted=slotted), CALLS, END))
    assert [("c0", "truncated")] == ends(told(*opened(whole[:-1], slotted=slotted), CALLS, END))
    assert "exact" not in ends(told(*opened(cut, slotted=slotted), CALLS, END))[0][1]


# Turns.


def test_a_second_message() -> None:
    """A second message aborts what is open, and is a turn of its own (quirk 77)."""
    events = told(TurnOpened("a"), head(0, A), TurnOpened("b", restart=True), head(0, A), CALLS, END)

    assert [("c0", "aborted"), ("c0", "exact")] == ends(events)
    assert [(0, 0, "aborted"), (1, 0, "tool_calls")] == finishes(events)
    restarted = [type(event) for event in events].index(TurnFinished)
    assert TurnStarted(1, 0, "unknown") == events[restarted + 1]


def test_a_restart_under_the_same_key() -> None:
    """A restart is a new turn even if its key is known."""
    events = told(
        TurnOpened("a"), head(0, A), TurnOpened("a", restart=True), TextFragment(0, "x"), TurnOpened("a"), END
    )

    assert [(0, 0, "aborted"), (1, 0, "unknown")] == finishes(events)


def test_a_restart_first() -> None:
    """A restart with nothing before it is the first turn."""
    assert [(0, 0, "unknown")] == finishes(told(TurnOpened("a", restart=True)))


def test_turns_side_by_side() -> None:
    """Messages in flight together are told apart by their keys; each ends on its own."""
    events = told(
        TurnOpened("a"),
        head(0, '{"a"'),
        TurnOpened("b"),
        head(0, '{"b"'),
        TurnOpened("a"),
        Fragment(0, 0, ":1}"),
        TurnEnded("b"),
        TurnOpened("b"),
        Fragment(0, 0, ":2}"),
        TurnOpened("a"),
        CALLS,
        TurnEnded("a"),
    )

    assert [("c0", "truncated"), ("c0", "exact")] == ends(events)
    assert [(0, 0, "tool_calls"), (1, 0, "malformed")] == finishes(events)
    assert "data_after_end" in events[-1].anomalies
    assert 2 == sum(isinstance(event, TurnStarted) for event in events)


def test_a_finished_key_opens_a_new_turn() -> None:
    """A key whose turn was aborted by a restart names a new turn."""
    events = told(
        TurnOpened("a"),
        TextFragment(0, "x"),
        TurnOpened("b", restart=True),
        TurnOpened("a"),
        TextFragment(0, "y"),
    )

    assert [(0, 0, "aborted"), (1, 0, "unknown"), (2, 0, "unknown")] == finishes(events)


def test_an_unknown_end() -> None:
    """An end whose key is unknown ends the current turn."""
    assert [("c0", "exact")] == ends(told(TurnOpened("a"), head(0, A), TurnEnded("z")))


def test_turns_without_keys() -> None:
    """A message without a key is a turn of its own."""
    assert [(0, 0, "unknown"), (1, 0, "unknown")] == finishes(told(TurnOpened(None), TurnOpened(None)))


# Choices.


def test_an_empty_turn_is_finished_without_becoming_the_current_one() -> None:
    """At the close the current turn stays current, whatever turns before it had nothing to tell."""
    assembler = new()
    assembler.advance([TurnOpened("a"), TurnOpened("b"), head(0, A), CALLS])
    assembler.close()

    assert ["c0"] == [call.id for call in assembler.snapshot().calls]


def test_one_last_event_for_each_choice() -> None:
    """Each choice has one last event; all of them come last, in order."""
    events = told(
        TextFragment(2, "c"), TextFragment(0, "a"), Finish(2, "length", None), head(0, A, choice=1), END
    )

    assert [(0, 0, "unknown"), (0, 1, "tool_calls"), (0, 2, "length")] == finishes(events)
    assert all(isinstance(event, TurnFinished) for event in events[-3:])


def test_choices_beyond_the_limit() -> None:
    """Choices beyond the limit are not listened to, and leave an anomaly."""
    limits = Limits(max_choices=2)
    events = told(
        TextFragment(0, "a"),
        TextFragment(1, "b"),
        head(0, A, choice=7),
        TextFragment(7, "x"),
        Finish(7, "stop", None),
        END,
        limits=limits,
    )

    assert [(0, 0, "unknown"), (0, 1, "unknown")] == finishes(events)
    assert [] == ends(events)
    assert ["a", "b"] == [event.text for event in events if isinstance(event, TextDelta)]
    assert "unknown_events" in events[-2].anomalies
    assert [(0, 5, "unknown"), (0, 7, "unknown")] == finishes(
        told(TextFragment(5, "a"), TextFragment(7, "b"), limits=limits)
    )
    assert 3 == len(
        finishes(told(*(TextFragment(n, "a") for n in range(3)), limits=Limits(max_choices=None)))
    )


# The order of terminals.


def test_terminals_of_one_input_are_in_order() -> None:
    """Terminals of one input come by choice and call, hollow calls among them."""
    events = told(
        head(0, choice=1), head(1, B, choice=1), head(0), head(1, A), head(2, '{"a"'), Fragment(1, 0, A), END
    )
    found = [
        (event.choice, event.index) for event in events if isinstance(event, (ToolCall, ToolCallDropped))
    ]

    assert [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)] == found


def test_a_call_starts_with_its_end() -> None:
    """What a call says at its end stands together."""
    events = told(head(0), head(1, A), CALLS, END)

    assert [("started", 1), ("started", 0), ("ended", 0)] == [
        ("started" if isinstance(event, ToolCallStarted) else "ended", event.index)
        for event in events
        if isinstance(event, (ToolCallStarted, ToolCall))
        and (event.index == 0 or isinstance(event, ToolCallStarted))
    ]


def test_views() -> None:
    """The current turn and all turns can be read at any time; the view of a stream without turns is empty."""
    assembler = new()
    before = (assembler.snapshot().dialect, assembler.snapshots())
    assembler.advance([TurnOpened("a"), TextFragment(0, "x"), TurnOpened("b"), TextFragment(0, "y")])

    assert (None, ()) == before
    assert ("y", ["x", "y"]) == (assembler.snapshot().text, [view.text for view in assembler.snapshots()])


# Faults and holes.


def test_a_fatal_fault() -> None:
    """A fatal fault drops what is open, keeps what was ended, and nothing is read after it (quirk 52)."""
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
    """The drops come with the fault, behind it; the last word waits for the close."""
    events = told(head(0, A), CUT, close=False)

    assert [StreamFault, ToolCallDropped] == [type(event) for event in events[-2:]]


def test_a_fatal_fault_of_all_turns() -> None:
    """A fatal fault ends the stream: the open calls of every turn are dropped."""
    events = told(TurnOpened("a"), head(0, A), TurnOpened("b"), head(0, A), CUT)

    assert [("c0", "aborted")] * 2 == ends(events)
    assert [(0, 0, "error"), (1, 0, "error")] == finishes(events)


def test_a_fault_before_everything() -> None:
    """A fault before the first turn is told; if it is fatal, the empty turn ends with it."""
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
    """Nobody knows whose frame was lost: the calls of all choices are hit."""
    assert [("c0", "incomplete_input"), ("c0", "incomplete_input")] == ends(
        told(head(0, A), head(0, A, choice=1), HOLE, END)
    )


def test_faults_beyond_the_limit_are_events_only() -> None:
    """A turn keeps `max_faults` faults, all are told."""
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
    """A policy that judges a call by its turn holds it beyond the finish; the last word counts what came out."""
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
    """What the provider executes has happened: no policy takes it back."""
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
    """Calls that were held when the stream failed were ended before: they come out."""
    ended: list[Delta] = [CallSeen(0, 0, None, "c0", "f"), Slot(0, 0, None, A), CallClosed(0, 0, None)]

    assert [("c0", "exact")] == ends(told(*ended, CUT, policy=Policy(truncated_turn="drop")))


def test_without_a_terminal() -> None:
    """`require_terminal=False` lets complete calls out of a stream that just stops, flagged."""
    cut: list[Delta] = [head(0, A), head(1, '{"b"'), head(2)]

    assert [("c0", "unterminated"), ("c1", "unterminated"), ("c2", "unterminated")] == ends(told(*cut))
    assert [("c0", "exact unterminated"), ("c1", "unterminated"), ("c2", "unterminated")] == ends(
        told(*cut, policy=Policy(require_terminal=False))
    )


@pytest.mark.parametrize(("lenient", "expected"), [(False, "unterminated"), (True, "exact unterminated")])
def test_a_preset_without_a_terminal(lenient: bool, expected: str) -> None:
    """A block whose input came with its start is such a complete call: it is begun before it comes out (law 4)."""
    cut: list[Delta] = [CallSeen(0, 0, None, "c0", "f"), CallWhole(0, 0, None, None, None, A, OBJECT)]
    events = told(*cut, policy=Policy(require_terminal=not lenient))

    assert [("c0", expected)] == ends(events)
    assert lenient == any(isinstance(event, ToolCallStarted) for event in events)


def test_a_reason_is_a_terminal() -> None:
    """A stream that stops behind its reason has ended cleanly (quirk 51)."""
    assert [("c0", "empty")] == ends(told(head(0), Finish(0, "stop", "stop")))


def test_a_refusal_takes_back() -> None:
    """A refusal drops what is open; what follows is judged by its own end."""
    events = told(head(0, A), Finish(0, "stop", "refusal", drops=True), head(1, A), CALLS, END)

    assert [("c0", "aborted"), ("c1", "exact")] == ends(events)


def test_an_abort_by_the_caller() -> None:
    """An abort drops what is open and ends every turn as aborted; what was ended stays."""
    assembler = new()
    assembler.advance([head(0, A), CALLS, head(1, A)])
    assembler.close("aborted")
    events = assembler.take()

    assert [("c0", "exact"), ("c1", "aborted")] == ends(events)
    assert [(0, 0, "aborted")] == finishes(events)


# Calls that are taken back.


def cancelled(events: list[Any]) -> list[tuple[str, int, int]]:
    """Return id, turn and choice of the calls that were taken back."""
    return [(e.id, e.turn, e.choice) for e in events if isinstance(e, ToolCallCancelled)]


def test_a_call_that_came_out_is_taken_back() -> None:
    """It stays what it was: one terminal event, and the word that it is off, in its own choice."""
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
    """It ends there, whatever still comes for it; the calls beside it go on."""
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
    """What a policy holds was not shown yet: it is dropped, and the calls beside it come out."""
    policy = Policy(truncated_turn="drop")
    off = [CallCancelled("x"), CallCancelled("y")]
    events = told(*whole("w"), *whole("x"), *whole("y", "{"), *off, CALLS, END, policy=policy)

    assert [("w", "exact"), ("x", "aborted"), ("y", "truncated")] == ends(events)
    assert [("x", 0, 0), ("y", 0, 0)] == cancelled(events)
    assert (1, 2) == (events[-1].n_calls, events[-1].n_dropped)


def test_what_a_server_executes_is_not_taken_back() -> None:
    """It has happened, held or not: the word is passed on, and the call comes out."""
    events = told(
        *whole("s", kind="server"), CallCancelled("s"), CALLS, END, policy=Policy(truncated_turn="drop")
    )

    assert ["server_tool_call"] == [
        type(event).__struct_config__.tag for event in events if hasattr(event, "raw_arguments")
    ]
    assert [("s", 0, 0)] == cancelled(events)


def test_an_unknown_call_is_taken_back() -> None:
    """It may belong to a stream before this one: the word is passed on, and opens no turn."""
    assert [ToolCallCancelled(0, 0, "old")] == told(CallCancelled("old"), close=False)
    assert [("old", 0, 0)] == cancelled(told(TextFragment(0, "x"), CallCancelled("old"), END))
