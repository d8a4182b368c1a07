"""Streams of public bug threads: each gives its calls and drops, in any chunks, and nothing unsent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import bless
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
)
from wholecall.calls.output.events import Event

pytestmark = pytest.mark.cases

SIZES = (1, 7, 64)


def _cases(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "thread_cases.jsonl").read_text("utf-8").splitlines()]


def _events(case: dict[str, Any], size: int | None = None) -> list[Event]:
    """The events of a case, its dialect undeclared; whole unless cut after each `size` bytes."""
    data = case["stream"].encode()
    parser: Any = ToolCallParser(tools=case.get("tools"))
    events = [event for chunk in bless.in_chunks(data, size or len(data)) for event in parser.feed(chunk)]
    return [*events, *parser.close()]


def _calls(events: list[Event]) -> list[list[Any]]:
    """The calls to execute, as they came; one that the wire takes back later is not executed."""
    taken_back = {event.id for event in events if isinstance(event, ToolCallCancelled)}
    calls = [event for event in events if isinstance(event, ToolCall) and event.id not in taken_back]
    return [[call.name, call.arguments] for call in calls]


def _others(events: list[Event]) -> list[list[str]]:
    """The calls of other kinds, as the cases write them; a free text counts with its text."""
    others = []
    for event in events:
        if isinstance(event, CustomToolCall):
            others.append(["custom", event.name, event.input])
        elif isinstance(event, ServerToolCall):
            others.append(["ServerToolCall", event.name])
        elif isinstance(event, BuiltinToolCall):
            others.append(["BuiltinToolCall", event.name])
    return others


def _complaints(case: dict[str, Any], events: list[Event]) -> list[str]:
    calls, others = _calls(events), _others(events)
    reasons = [event.reason for event in events if isinstance(event, ToolCallDropped)]
    complaints = []
    if calls not in (case["expected_calls"], *case["accept"]):
        complaints.append(f"the calls {calls}")
    if others != case.get("expected_others", others):
        complaints.append(f"the other calls {others}")
    if len(reasons) != case.get("expected_drops", len(reasons)):
        complaints.append(f"the drops {reasons}")
    if not set(reasons) <= set(case.get("accepted_reasons", reasons)):
        complaints.append(f"the reasons {reasons}")
    return complaints


def _failures(folder: Path) -> dict[str, list[str]]:
    """The troubles of the cases, by case: in the whole stream, and where its chunks change an event."""
    failures = {}
    for case in _cases(folder):
        whole = _events(case)
        complaints = _complaints(case, whole)
        complaints += [f"chunks of {size}" for size in SIZES if _events(case, size) != whole]
        failures[case["id"]] = complaints
    return {case: complaints for case, complaints in failures.items() if complaints}


def test_streams_of_bug_threads_give_their_calls(vectors_dir: Path) -> None:
    """Each stream that once broke a client gives the calls it holds, in any chunks."""
    assert _failures(vectors_dir) == {}
