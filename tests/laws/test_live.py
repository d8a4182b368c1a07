"""Laws of arguments in progress: the shown text is in the call at the end."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support import quirky
from tests.support.turns import Plan, log, parse, plans, stream
from wholecall import ArgumentsProgress, ArgumentsReset, ToolCall


def final_states(events: list[Any]) -> dict[tuple[int, int, int], dict[str, Any]]:
    """Return each call's top-level members as last reported by the progress."""
    states: dict[tuple[int, int, int], tuple[int, dict[str, Any]]] = {}
    for event in events:
        if not isinstance(event, (ArgumentsProgress, ArgumentsReset)):
            continue
        key = event.turn, event.choice, event.index
        if isinstance(event, ArgumentsReset):  # voids the shown text
            states[key] = states.get(key, (0, {}))[0] + 1, {}
            continue
        resets, members = states.get(key, (0, {}))
        if event.resets > resets:
            members = {}
        if event.closed and len(event.path) == 1:
            members[str(event.path[0])] = event.value
        states[key] = event.resets, members
    return {key: members for key, (_, members) in states.items()}


def disagreements(events: list[Any]) -> list[Any]:
    """Return exact calls whose progress ended in something else than their arguments."""
    states = final_states(events)
    calls = [event for event in events if isinstance(event, ToolCall) and event.status == "exact"]
    return [
        (call, states.get((call.turn, call.choice, call.index)))
        for call in calls
        if call.arguments != states.get((call.turn, call.choice, call.index), {})
    ]


@given(plans())
def test_progress_ends_in_the_arguments(plan: Plan) -> None:
    """Law 6: the members that progress reported for an exact call are exactly its arguments."""
    assert [] == disagreements(parse(stream(plan.fragments()), live=True))


@given(st.integers(0, 10**6))
def test_progress_of_quirky_streams(number: int) -> None:
    """Law 6: it also holds where servers repeat, restate and interleave; text before a reset is void."""
    assert [] == disagreements(parse([quirky.make_numbered(11, number).bytes("\n")], "auto", live=True))


@given(st.integers(0, 10**6))
def test_live_changes_no_other_event(number: int) -> None:
    """Law 6: with the progress taken out the events are those of a parser that is not live."""
    octets = quirky.make_numbered(13, number).bytes("\n")
    live = [e for e in parse([octets], "auto", live=True) if not isinstance(e, ArgumentsProgress)]

    assert log(parse([octets], "auto")) == log(live)
