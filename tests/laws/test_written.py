"""Events that are written as a strict stream and read again: the same calls, the same words, the same end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import bless, corpora, encode, quirky
from tests.support.renderers import RENDERERS, SERVER_SIDE
from tests.support.turns import Plan, canonical, objects, parse, plans, texts
from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall, ToolCall
from wholecall.calls.output.events import (
    Event,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from wholecall.encoders import ENCODERS, encoder

EXECUTABLE = (ToolCall, CustomToolCall, BuiltinToolCall)
CARRIED = {
    "anthropic": (ToolCall,),
    "chat-completions": (ToolCall, CustomToolCall),
    "gemini": (ToolCall,),
    "responses": EXECUTABLE,
}
MANY = {"chat-completions", "gemini"}  # dialects with several choices


def again(events: list[Any], dialect: str) -> list[Any]:
    """Return the parser's events for events written in a dialect."""
    ours = encoder(dialect)
    return parse([ours.encode(events) + ours.close()], dialect)


def calls(events: list[Any], dialect: str, choice: int = 0) -> list[tuple[str, ...]]:
    """Return the calls of a choice that the dialect carries, in their order."""
    kinds = CARRIED[dialect]
    return [label(event) for event in events if isinstance(event, kinds) and event.choice == choice]


def label(call: Any) -> tuple[str, ...]:
    """Return the members of a call that matter to its executor."""
    if isinstance(call, BuiltinToolCall):
        return call.id, call.name, canonical(call.arguments)
    return call.id, call.name, call.input if isinstance(call, CustomToolCall) else canonical(call.arguments)


def in_order(events: list[Any]) -> list[Any]:
    """Return the events with the calls in order of their indices: an empty call is emitted later than it began."""
    return sorted(events, key=lambda event: (event.choice, getattr(event, "index", -1)))


def said(events: list[Any], kind: type, choice: int = 0) -> str:
    """Return the words of a choice, as one text."""
    return "".join(event.text for event in events if isinstance(event, kind) and event.choice == choice)


@given(plans(), st.sampled_from(sorted(RENDERERS.keys() - SERVER_SIDE)), st.integers(1, 30))
def test_turns_of_every_dialect_go_round(plan: Plan, source: str, size: int) -> None:
    """Law 25: a turn of any dialect, written in any that can be written, is read as the same calls, all exact."""
    sent = [encode.Call(f"call_{n}", plan.names[n], plan.raw(n)) for n in range(len(plan))]
    events = parse([RENDERERS[source](encode.Turn(sent), encode.every(size))], "auto")

    for dialect in ENCODERS:
        found = again(events, dialect)
        expected = [(*call, "exact") for call in calls(events, dialect)]
        assert expected == [(*label(e), e.status) for e in in_order(found) if isinstance(e, ToolCall)], (
            dialect
        )
        assert len(plan) == len(expected)


def call(index: int, name: str, value: dict[str, Any], kind: str) -> Any:
    """Return a call of some kind or status."""
    id, raw = f"call_{index}", json.dumps(value, ensure_ascii=False)
    if kind == "custom":
        return CustomToolCall(0, 0, index, id, name, raw[1:])
    if kind == "builtin":
        return BuiltinToolCall(0, 0, index, id, "shell", {"action": value})
    if kind == "empty":
        return ToolCall(0, 0, index, id, name, {}, "", "empty")
    return ToolCall(0, 0, index, id, name, value, raw if kind == "exact" else raw[:-1] + ",}", kind)  # type: ignore[arg-type]


NAMED = st.tuples(
    st.sampled_from(quirky.NAMES),
    objects,
    st.sampled_from(("exact", "recovered", "empty", "custom", "builtin")),
)
SPOKEN = st.tuples(st.sampled_from((TextDelta, ReasoningDelta)), texts)


@st.composite
def turns(draw: st.DrawFn) -> list[Any]:
    """Draw the events of a turn: words and calls of each kind and status, in any order, and an end."""
    events: list[Any] = [TurnStarted(0, 0, "responses", "r1", "m1")]
    for index, part in enumerate(draw(st.lists(NAMED | SPOKEN, max_size=5))):
        if len(part) == 3:
            events.append(call(index, *part))
        else:
            events.append(part[0](0, 0, part[1]))
    return [*events, TurnFinished(0, 0, draw(st.sampled_from(("stop", "length"))), None)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dialect", ENCODERS)
@given(turns())
def test_any_events_go_round(dialect: str, events: list[Any]) -> None:
    """Law 25: the calls of any turn, written and read again, are equal, in their order, and also its words."""
    found = again(events, dialect)
    sent = calls(events, dialect)

    assert sent == calls(in_order(found), dialect)
    assert {"exact"} >= {event.status for event in found if isinstance(event, ToolCall)}
    assert ["tool_calls" if sent else events[-1].reason] == [
        event.reason for event in found if isinstance(event, TurnFinished)
    ]
    for kind in (TextDelta, ReasoningDelta):
        assert said(events, kind) == said(found, kind)


RECORDED = {entry["name"]: entry for entry in corpora.cases()}


def whole_turns(name: str) -> list[list[Event]]:
    """Return the events of a recording, turn by turn, but for turns that were broken off."""
    events = bless.parse([corpora.recorded(RECORDED[name])])
    turns = [[event for event in events if event.turn == number] for number in {e.turn for e in events}]
    return [turn for turn in turns if not any(isinstance(e, StreamFault) and e.fatal for e in turn)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dialect", ENCODERS)
def test_recorded_turns_go_round(dialect: str) -> None:
    """Law 25: the same for the calls of every recording, in the order of emission, and its words."""
    n_calls = 0
    for name in RECORDED:
        for events in whole_turns(name):
            found = again(events, dialect)
            n_calls += len(calls(found, dialect))
            for choice in range(2 if dialect in MANY else 1):
                assert calls(events, dialect, choice) == calls(in_order(found), dialect, choice), name
                for kind in (TextDelta, ReasoningDelta):
                    assert said(events, kind, choice) == said(found, kind, choice), name

    assert n_calls > 300
