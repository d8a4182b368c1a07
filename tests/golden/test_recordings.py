"""Streams that other projects recorded: every call and every cut call of them, under any cut of their bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import bless
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
)
from wholecall.calls.output.events import Event
from wholecall.dialects import table
from wholecall.repairing import Repairer

pytestmark = pytest.mark.cases

DIALECTS = tuple(dialect.name for dialect in table.DIALECTS)
BUILTIN = {
    "shell_call": "shell",
    "local_shell_call": "local_shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "tool_search_call": "tool_search",
}
NOT_TO_EXECUTE = (ServerToolCall, ToolCallDropped)
ENDS = (ToolCall, CustomToolCall, BuiltinToolCall, ServerToolCall, ToolCallDropped)

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def _streams(folder: Path, dialect: str) -> list[tuple[str, bytes]]:
    rows = (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(row) for row in rows]
    return [
        (row["name"], (folder / row["file"]).read_bytes()) for row in entries if row["dialect"] == dialect
    ]


def _ended(events: list[Event]) -> list[Any]:
    found: list[Any] = [event for event in events if isinstance(event, ENDS)]
    return sorted(found, key=lambda event: (event.turn, event.choice, event.index))


def _is_whole(wanted: dict[str, Any]) -> bool:
    """Return whether the wire held the whole call: readable text, or none at all, in a block that ended."""
    return wanted.get("complete", True) and (wanted["parse_ok"] is not False or bool(wanted.get("custom")))


def _values(event: Any, wanted: dict[str, Any]) -> bool:
    """Return whether an emitted call has the arguments of the wire."""
    if isinstance(event, CustomToolCall):
        return event.input == wanted["arguments_raw"]
    arguments = wanted["arguments"] or {}
    if isinstance(event, ServerToolCall) and "code" in arguments:
        return event.arguments in (arguments, {"input": arguments["code"]})
    if event.arguments != arguments:
        return False
    by_text = wanted["args_form"] in ("string", "empty") and isinstance(event, ToolCall)
    return not by_text or event.raw_arguments == wanted["arguments_raw"]


def _kind(wanted: dict[str, Any]) -> type:
    if wanted.get("server"):
        return ServerToolCall
    if wanted.get("custom"):
        return CustomToolCall
    return BuiltinToolCall if wanted.get("item_type") in BUILTIN else ToolCall


def _complaint(event: Any, wanted: dict[str, Any]) -> str | None:
    if wanted["id"] not in (None, event.id):
        return f"id {event.id!r}, not {wanted['id']!r}"
    if isinstance(event, BuiltinToolCall):
        if event.name != BUILTIN.get(wanted.get("item_type", "")):
            return f"name {event.name}"
    elif event.name != wanted["name"]:
        return f"name {event.name!r}, not {wanted['name']!r}"
    if isinstance(event, ToolCallDropped):
        unended = event.reason == "unterminated" and wanted.get("server")  # a fixture of one event: never run
        if _is_whole(wanted) and wanted["args_form"] != "empty" and not unended:
            return f"dropped: {event.reason}"
        by_text = wanted["args_form"] in ("string", "empty")
        return None if not by_text or event.raw_arguments == wanted["arguments_raw"] else "another raw text"
    if not _is_whole(wanted):
        return "emitted, but its text was cut or is no JSON"
    if not isinstance(event, _kind(wanted)):
        return f"a {type(event).__name__}, not a {_kind(wanted).__name__}"
    return None if _values(event, wanted) else "other arguments"


def _complaints(events: list[Event], expected: list[dict[str, Any]]) -> list[str]:
    found = _ended(events)
    wanted = sorted(expected, key=lambda call: call.get("choice", 0))
    if len(found) != len(wanted):
        return [f"{len(found)} calls ended, not {len(wanted)}"]
    complaints = [_complaint(event, call) for event, call in zip(found, wanted, strict=True)]
    return [complaint for complaint in complaints if complaint]


@each_dialect
def test_recorded_streams_give_the_calls_they_hold(recordings_dir: Path, dialect: str) -> None:
    """Ids, names, arguments and raw text are those of the wire; a cut call is dropped with its raw text."""
    wrong = {}
    for name, data in _streams(recordings_dir, dialect):
        expected = json.loads((recordings_dir / "expected" / f"{name}.json").read_bytes())
        complaints = _complaints(bless.parse([data]), expected)
        if complaints:
            wrong[name] = complaints
    assert wrong == {}


@each_dialect
def test_no_chunk_size_changes_an_event_of_a_recorded_stream(recordings_dir: Path, dialect: str) -> None:
    """Whole or in chunks of any usual size, a recorded stream gives the same full event list."""
    wrong = []
    for name, data in _streams(recordings_dir, dialect):
        whole = bless.parse([data])
        wrong += [
            (name, size) for size in bless.CHUNK_SIZES if bless.parse(bless.in_chunks(data, size)) != whole
        ]
    assert wrong == []


@pytest.mark.slow
@pytest.mark.sampled(9)
@each_dialect
def test_no_random_cut_changes_an_event_of_a_recorded_stream(recordings_dir: Path, dialect: str) -> None:
    """Cut 20 times at seeded random places, a recorded stream gives the same full event list."""
    wrong = []
    for name, data in _streams(recordings_dir, dialect):
        whole = bless.parse([data])
        wrong += [(name, seed) for seed in range(20) if bless.parse(bless.at_random(data, seed)) != whole]
    assert wrong == []


@pytest.mark.parametrize("dialect", ["anthropic", "chat-completions", "responses"])
def test_repaired_recordings_give_the_same_calls(recordings_dir: Path, dialect: str) -> None:
    """Law 49: every recorded stream, repaired and read again, gives the calls that it gave before."""
    wrong = []
    for name, data in _streams(recordings_dir, dialect):
        repairer = Repairer()
        out = repairer.feed(data) + repairer.close()
        before, after = (
            [event for event in _ended(bless.parse([d])) if not isinstance(event, NOT_TO_EXECUTE)]
            for d in (data, out)
        )
        minted = [event.index for event in before if "id_generated" in event.flags]
        if [_label(event, minted) for event in before] != [_label(event, minted) for event in after]:
            wrong.append((name, before, after))
    assert wrong == []


def _label(event: Any, minted: list[int]) -> Any:
    """Return the parts of an executable call that must survive; a made id is made anew, for it is to be unique beyond
    the turn.
    """
    id_ = None if event.index in minted else event.id
    if isinstance(event, BuiltinToolCall):
        return id_, event.name, event.arguments
    return id_, event.name, event.input if isinstance(event, CustomToolCall) else event.arguments
