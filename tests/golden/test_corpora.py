"""The project's own recordings: hand-written expectations, golden logs, and any cut of the same bytes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.support import bless, corpora
from wholecall.output.events import (
    BuiltinToolCall,
    CustomToolCall,
    Event,
    ServerToolCall,
    StreamFault,
    TextDelta,
    ToolCall,
    ToolCallDropped,
    TurnFinished,
)

ENTRIES = corpora.cases()
SMALL = 4096
KINDS = {
    "calls": ToolCall,
    "dropped": ToolCallDropped,
    "custom": CustomToolCall,
    "server": ServerToolCall,
    "builtin": BuiltinToolCall,
}
# An expectation's member, and the event's field where the name differs.
FIELDS = {"raw": "raw_arguments"}

every_recording = pytest.mark.parametrize("entry", ENTRIES, ids=[entry["name"] for entry in ENTRIES])
every_recording_long_ones_slow = pytest.mark.parametrize(
    "entry",
    [
        pytest.param(
            entry,
            id=entry["name"],
            marks=pytest.mark.slow if len(corpora.recorded(entry)) > 2 * SMALL else (),
        )
        for entry in ENTRIES
    ],
)
every_small_recording = pytest.mark.parametrize(
    "entry",
    [pytest.param(entry, id=entry["name"]) for entry in ENTRIES if len(corpora.recorded(entry)) <= SMALL],
)


def _digest(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _as_expected(event: Any, member: str, wanted: Any) -> bool:
    if member == "id" and wanted is None and not isinstance(event, ToolCallDropped):
        return bool(event.id)
    if member == "flags":
        return set(wanted) <= set(event.flags)
    if member == "edits":
        return set(wanted) == {edit.kind for edit in event.edits}
    if member == "arguments_sha256":
        return wanted == _digest(event.arguments)
    if member == "raw_sha256":
        return wanted == _digest(event.raw_arguments)
    return wanted == getattr(event, FIELDS.get(member, member))


def _of_kind(events: list[Event], kind: type) -> list[Any]:
    found: list[Any] = [event for event in events if isinstance(event, kind)]
    return sorted(found, key=lambda event: (event.turn, event.choice, event.index))


def _differences(events: list[Event], expected: dict[str, Any]) -> list[str]:
    differences = []
    for name, kind in KINDS.items():
        found, wanted = _of_kind(events, kind), expected.get(name, [])
        if len(found) != len(wanted):
            differences.append(f"{len(found)} {name} instead of {len(wanted)}")
        for number, (event, members) in enumerate(zip(found, wanted, strict=False)):
            wrong = [member for member in members if not _as_expected(event, member, members[member])]
            differences += [
                f"{name}[{number}].{member}: {members[member]!r}, not {event!r}" for member in wrong
            ]
    ends = [event for event in events if isinstance(event, TurnFinished)]
    if "reason" in expected and ends[-1].reason != expected["reason"]:
        differences.append(f"turn reason {ends[-1].reason}, not {expected['reason']}")
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    if expected.get("text", text) != text:
        differences.append(f"text {text!r}, not {expected['text']!r}")
    missing = set(expected.get("anomalies", ())) - {anomaly for end in ends for anomaly in end.anomalies}
    differences += [f"no anomaly {anomaly}" for anomaly in sorted(missing)]
    faults = {event.kind for event in events if isinstance(event, StreamFault)}
    if faults != set(expected.get("faults", ())):
        differences.append(f"faults {sorted(faults)}, not {expected.get('faults', [])}")
    return differences


@every_recording
def test_what_was_expected_by_hand_comes_out(entry: dict[str, Any]) -> None:
    """A recording gives the calls and drops that were derived by hand from the rules, and no others."""
    assert _differences(bless.parse([corpora.recorded(entry)]), entry["expect"]) == []


@every_recording
def test_the_event_log_is_the_golden_one(entry: dict[str, Any]) -> None:
    """The event lines of a recording are those that were blessed last."""
    assert bless.lines(bless.parse([corpora.recorded(entry)])) == corpora.golden(entry).read_bytes()


@every_recording_long_ones_slow
def test_no_chunk_size_changes_an_event(entry: dict[str, Any]) -> None:
    """Whole or in chunks of any usual size, the same bytes give the same full event list."""
    data = corpora.recorded(entry)
    whole = bless.parse([data])
    for size in bless.CHUNK_SIZES:
        assert bless.parse(bless.in_chunks(data, size)) == whole, size


@every_recording_long_ones_slow
def test_no_random_cut_changes_an_event(entry: dict[str, Any]) -> None:
    """Cut at seeded random places, the same bytes give the same full event list."""
    data = corpora.recorded(entry)
    whole = bless.parse([data])
    for seed in range(5):
        assert bless.parse(bless.at_random(data, seed)) == whole, seed


@pytest.mark.slow
@every_small_recording
def test_no_chunk_size_at_all_changes_an_event(entry: dict[str, Any]) -> None:
    """A small recording gives the same full event list at every chunk size there is."""
    data = corpora.recorded(entry)
    whole = bless.parse([data])
    for size in range(1, len(data) + 1):
        assert bless.parse(bless.in_chunks(data, size)) == whole, size


def test_long_arguments_are_among_the_recordings() -> None:
    """At least five recordings hold arguments of 8 KB or more, two of them 64 KB or more."""
    longest = []
    for entry in ENTRIES:
        members = [*entry["expect"].get("calls", ()), *entry["expect"].get("dropped", ())]
        if any("arguments_sha256" in found or "raw_sha256" in found for found in members):
            events = bless.parse([corpora.recorded(entry)])
            ended = [*_of_kind(events, ToolCall), *_of_kind(events, ToolCallDropped)]
            longest.append(max(len(event.raw_arguments.encode()) for event in ended))
    assert sum(size >= 8 * 1024 for size in longest) >= 5
    assert sum(size >= 64 * 1024 for size in longest) >= 2
