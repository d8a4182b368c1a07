"""From deltas to events: turns and choices, their events, and the order of their ends."""

from __future__ import annotations

import pytest

from tests.support.assembled import CALLS, END, A, B, ends, finishes, head, new, told
from tests.support.together import together
from wholecall.calls.output.call_events import ArgumentsDelta, ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.calls.output.events import ReasoningDelta, TextDelta, TurnFinished, TurnStarted
from wholecall.deltas import (
    HYDRATION,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.limits import Limits

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
    """A stream without deltas has one empty turn without a beginning."""
    assert [TurnFinished(0, 0, "unknown", anomalies=("missing_finish",))] == told()


def test_a_turn_without_choices() -> None:
    """A turn without content ends once."""
    assert [(0, 0, "unknown")] == finishes(told(TurnOpened(None), END))
    assert [(0, 0, "unknown")] == finishes(told(END))
    assert [(0, 0, "unknown")] == finishes(told(UsageSeen({"n": 1})))


def test_closing_twice() -> None:
    """A second close emits nothing more."""
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
    """A delta after the end of its turn is an anomaly, and nothing else."""
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
    """A reason, an end or the usage may come after the end of the turn; no call is emitted for it."""
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
    """Unknown fields are kept unchanged, up to the end of their call."""
    first, second, late = ({"x": 1, "y": 1}, {"y": 2}, {"z": 3})
    entries = [Labelled(0, 0, "c0", "f", A, extra=first), Labelled(0, 0, "c0", None, "", extra=second)]
    events = told(*entries, CALLS, Labelled(0, 0, "c0", None, "", extra=late), END)

    assert [{"x": 1, "y": 2}] == [event.extra for event in events if isinstance(event, ToolCall)]
    assert ({"x": 1, "y": 1}, {"y": 2}) == (first, second)


@pytest.mark.parametrize(
    ("index", "extras"),
    [
        (0, [{"sealed": "s"}, None]),
        (1, [None, {"sealed": "s"}]),
        (None, [None, {"sealed": "s"}]),
        (7, [None, None]),
    ],
)
@pytest.mark.parametrize("labelled", [True, False], ids=["documented", "odd"])
def test_fields_that_come_alone_are_their_call_s(
    index: int | None, extras: list[dict[str, str] | None], labelled: bool
) -> None:
    """An entry with unknown fields only is about the call of its index, without an index about the last call."""
    calls = [Labelled(0, 0, "c0", "f", A), Labelled(0, 1 if labelled else None, "c1", "g", B)]
    alone = Labelled(0, index if labelled or index != 1 else None, None, None, "", extra={"sealed": "s"})
    events = told(*calls, alone, CALLS, END)

    assert extras == [event.extra for event in events if isinstance(event, ToolCall)]


# Turns.


def test_a_second_message() -> None:
    """A second message cuts the open calls, as the end of the stream would, and is a separate turn (quirk 77)."""
    events = told(TurnOpened("a"), head(0, A), TurnOpened("b", restart=True), head(0, A), CALLS, END)

    assert [("c0", "unterminated"), ("c0", "exact")] == ends(events)
    assert [(0, 0, "malformed"), (1, 0, "tool_calls")] == finishes(events)
    restarted = [type(event) for event in events].index(TurnFinished)
    assert TurnStarted(1, 0, "unknown") == events[restarted + 1]


def test_a_restart_under_the_same_key() -> None:
    """A restart under the key of a continuing turn repeats that turn; after its end it is a new one."""
    again = TurnOpened("a", restart=True)

    assert [(0, 0, "unknown")] == finishes(told(TurnOpened("a"), again, TextFragment(0, "x"), END))
    assert [(0, 0, "unknown"), (1, 0, "unknown")] == finishes(
        told(TurnOpened("a"), TextFragment(0, "x"), END, again, TextFragment(0, "x"), TurnOpened("a"), END)
    )


def test_a_restart_first() -> None:
    """A restart with nothing before it is the first turn."""
    assert [(0, 0, "unknown")] == finishes(told(TurnOpened("a", restart=True)))


def test_turns_side_by_side() -> None:
    """Messages in flight together are distinguished by their keys; each ends on its own."""
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
    """A key whose turn was ended by another one's beginning names a new turn."""
    events = told(
        TurnOpened("a"),
        TextFragment(0, "x"),
        TurnOpened("b", restart=True),
        TurnOpened("a"),
        TextFragment(0, "y"),
    )

    assert [(0, 0, "unknown"), (1, 0, "unknown"), (2, 0, "unknown")] == finishes(events)


def test_an_unknown_end() -> None:
    """An end whose key is unknown ends the current turn."""
    assert [("c0", "exact")] == ends(told(TurnOpened("a"), head(0, A), TurnEnded("z")))


def test_turns_without_keys() -> None:
    """A message without a key is a separate turn."""
    assert [(0, 0, "unknown"), (1, 0, "unknown")] == finishes(told(TurnOpened(None), TurnOpened(None)))


# Choices.


def test_an_empty_turn_is_finished_without_becoming_the_current_one() -> None:
    """At the close the current turn stays current, even if turns before it had no events."""
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
    """Choices beyond the limit are ignored, and leave an anomaly."""
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


@pytest.mark.parametrize("limit", [0, 1])
def test_a_stream_has_one_choice_at_least(limit: int) -> None:
    """A limit of one choice leaves the first that comes; so does a limit of none."""
    deltas = [TextFragment(3, "a"), TextFragment(0, "b"), head(1, A, choice=3), Finish(3, "stop", None)]
    events = told(*deltas, limits=Limits(max_choices=limit))

    assert ["a"] == [event.text for event in events if isinstance(event, TextDelta)]
    assert [(0, 3, "tool_calls")] == finishes(events)


def test_usage_is_bounded() -> None:
    """Once a turn's usage has more than 256 members, no more are taken up; before that a frame adds all of its own."""
    one_by_one = told(TextFragment(0, "x"), *(UsageSeen({f"n{n}": n}) for n in range(300)), END)
    at_once = told(
        TextFragment(0, "x"), UsageSeen({f"n{n}": n for n in range(300)}), UsageSeen({"m": 1}), END
    )

    assert [257, 300] == [len(events[-1].usage) for events in (one_by_one, at_once)]


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
    """The events of a call's end are adjacent."""
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


def test_views_from_a_number_on() -> None:
    """The turns can be read from any of them on."""
    assembler = new()
    assembler.advance([TurnOpened("a"), TextFragment(0, "x"), TurnOpened("b"), TextFragment(0, "y")])

    assert ["y"] == [view.text for view in assembler.snapshots(1)]


def test_forgetting() -> None:
    """Text of all turns so far is released, each time anew; a stream without content has nothing to release."""
    assembler = new()
    assembler.forget()
    assembler.forget()
    assembler.advance([TurnOpened("a"), TextFragment(0, "x"), TurnOpened("b"), TextFragment(0, "y")])
    assembler.forget()
    first = [view.text for view in assembler.snapshots()]
    assembler.advance([TextFragment(0, "z")])
    held = [view.text for view in assembler.snapshots()]
    assembler.forget()

    assert [["", ""], ["", "z"], ["", ""]] == [first, held, [view.text for view in assembler.snapshots()]]


# Text that no choice claims.


@together(
    ("orphan", "outcome"),
    [
        (Fragment(7, 0, A), "ambiguous"),
        (Labelled(7, 0, "c", None, A), "ambiguous"),
        (Labelled(7, 0, "c", "f", A), "empty"),
        (Fragment(7, 0, ""), "empty"),
        (TextFragment(7, "x"), "empty"),
    ],
)
@together("limit", [1, 0, 8], ids=lambda limit: f"{limit} choices")
def test_text_of_another_choice_may_be_an_empty_calls(orphan: Delta, outcome: str, limit: int) -> None:
    """Some servers number choices by chunk: nameless text elsewhere may belong to an empty call (quirk 14).

    So it is whether that choice is beyond the limit or not; one choice is always listened to.
    """
    events = told(head(0), orphan, CALLS, END, limits=Limits(max_choices=limit))

    assert ("c0", outcome) in ends(events)


def test_one_orphan_text_is_enough() -> None:
    """Text without a name in one of several choices casts its doubt on all of them, before and after it."""
    events = told(head(0), head(0, A, choice=1), Fragment(2, 0, A), head(0, choice=3), CALLS, END)

    assert ["ambiguous", "exact", "nameless", "ambiguous"] == [outcome for _, outcome in ends(events)]
