"""Recorded turns sent back: every recording, in every format, read again from one whole body."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.support import corpora
from tests.support.bodies import BODIES
from tests.support.otel import OUTPUT_MESSAGES
from tests.support.turns import canonical
from wholecall import ToolCallParser, Turn
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
)
from wholecall.history import HISTORY_FORMATS, Encoded, encode_calls

NEVER_SENT = ("nameless", "aborted", "too_many_calls")
BARE = ("langchain",)  # carries objects, and malformed text where there is a place for it

each_format = pytest.mark.parametrize("format", BODIES)


def _turns(data: bytes) -> Iterator[Turn]:
    parser = ToolCallParser()
    parser.feed(data)
    parser.close()
    for turn in parser.turns:
        yield from (turn, *turn.others.values())


def _events(turn: Turn) -> dict[int, Any]:
    groups: tuple[tuple[Any, ...], ...] = (
        turn.calls,
        turn.custom_calls,
        turn.builtin_calls,
        turn.server_calls,
        turn.dropped,
    )
    return {event.index: event for group in groups for event in group}


def _read(format: str, encoded: Encoded) -> Turn:
    """Return the encoded turn as it reads when a server sends it."""
    parser = ToolCallParser(format)
    parser.feed(json.dumps(BODIES[format](encoded.messages), allow_nan=False).encode())
    parser.close()
    return parser.turn


def _objects(sent: ToolCallDropped) -> list[dict[str, Any]]:
    """Return the content of a dropped call's text, if it is the JSON of an object, and the wrapped text if not."""
    try:
        said = json.loads(sent.raw_arguments or "{}")
    except ValueError:
        return []
    return [said] if isinstance(said, dict) else []


def _agrees(sent: Any, found: Any, format: str) -> bool:
    """Return whether a call that went out is the one that came back."""
    as_text = HISTORY_FORMATS[format].carries == "string"
    if isinstance(sent, ToolCall):
        same = isinstance(found, ToolCall) and sent.name == found.name
        same = same and canonical(sent.arguments) == canonical(found.arguments)
        return same and (not as_text or sent.status != "exact" or sent.raw_arguments == found.raw_arguments)
    if isinstance(sent, ToolCallDropped) and sent.kind == "function":
        if as_text or format in BARE:
            nothing = "{}" if as_text else sent.raw_arguments
            return bool(
                found.raw_arguments == (sent.raw_arguments if sent.raw_arguments.strip() else nothing)
            )
        return bool(found.arguments in ({"INVALID_JSON": sent.raw_arguments}, *_objects(sent)))
    if isinstance(sent, BuiltinToolCall):
        return bool((sent.name, sent.arguments) == (found.name, found.arguments))
    text = sent.input if isinstance(sent, CustomToolCall) else sent.raw_arguments
    if isinstance(found, CustomToolCall):
        return bool(text == found.input)
    return bool({"input": text} == found.arguments)


def _may_be_left_out(event: Any) -> bool:
    if isinstance(event, ServerToolCall):
        return True
    if not isinstance(event, ToolCallDropped):
        return False
    return not event.name or event.reason in NEVER_SENT or event.kind in ("builtin", "server")


def _complaints(turn: Turn, format: str) -> list[str]:
    encoded = encode_calls(turn, format)
    complaints = [f"left out: {event!r}" for event in encoded.left_out if not _may_be_left_out(event)]
    if not encoded.messages:
        return complaints + (["nothing was sent"] if encoded.by_index or turn.text.strip() else [])
    read = _read(format, encoded)
    found = {event.id: event for event in _events(read).values()}
    bare = [event for event in _events(read).values() if "id_generated" in getattr(event, "flags", ())]
    found |= dict(zip([encoded.by_index[index] for index in sorted(encoded.without_id)], bare, strict=False))
    sent = _events(turn)
    for index, id in encoded.by_index.items():
        if id not in found or not _agrees(sent[index], found[id], format):
            complaints.append(f"{sent[index]!r} came back as {found.get(id)!r}")
    if "".join(read.text.split()) != "".join(turn.text.split()):  # blank pieces stay at home
        complaints.append("another text")
    return complaints + [f"fault: {fault.kind}" for fault in read.faults]


def _wrong(
    recordings: Iterable[tuple[str, bytes]], complaints_of: Callable[[Turn], list[str]]
) -> dict[str, list[str]]:
    wrong: dict[str, list[str]] = {}
    for name, data in recordings:
        for turn in _turns(data):
            wrong.setdefault(name, []).extend(complaints_of(turn))
    return {name: complaints for name, complaints in wrong.items() if complaints}


@pytest.mark.sampled(11)
@each_format
def test_recorded_turns_survive_the_journey(format: str) -> None:
    """Law 46: each call of the corpora comes back equal, malformed text byte for byte where text is carried, and no text as `{}`."""
    recordings = [(entry["name"], corpora.recorded(entry)) for entry in corpora.cases()]

    assert recordings
    assert {} == _wrong(recordings, partial(_complaints, format=format))


@pytest.mark.cases
@each_format
def test_further_recorded_turns_survive_the_journey(recordings_dir: Path, format: str) -> None:
    """Law 46: the same for the recordings of other projects."""
    rows = (recordings_dir / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(row) for row in rows]
    recordings = [(entry["name"], (recordings_dir / entry["file"]).read_bytes()) for entry in entries]

    assert recordings
    assert {} == _wrong(recordings, partial(_complaints, format=format))


# Telemetry, from which nothing comes back.

ALLOWED = jsonschema_rs.validator_for(OUTPUT_MESSAGES)


def _as_it_was(event: Any) -> str:
    if isinstance(event, ToolCallDropped):
        return canonical(event.raw_arguments)
    return canonical(event.input if isinstance(event, CustomToolCall) else event.arguments)


def _untold(turn: Turn) -> list[str]:
    encoded = encode_calls(turn, "otel")
    parts = [part for message in encoded.messages for part in message["parts"]]
    told = {part["id"]: canonical(part["arguments"]) for part in parts if part["type"] == "tool_call"}
    events = _events(turn)
    text, thought = (
        "".join(part["content"] for part in parts if part["type"] == kind) for kind in ("text", "reasoning")
    )
    complaints = [error.message for error in ALLOWED.iter_errors(encoded.messages)]
    complaints += [
        f"{events[index]!r} became {told.get(id)!r}"
        for index, id in encoded.by_index.items()
        if told.get(id) != _as_it_was(events[index])
    ]
    complaints += ["another text"] if "".join(text.split()) != "".join(turn.text.split()) else []
    return complaints + (["another thought"] if thought.split() != turn.reasoning.text.split() else [])


def test_recorded_turns_are_told_to_telemetry() -> None:
    """Law 46: the record of each turn is one that OpenTelemetry allows; calls, text and thoughts are as they were."""
    recordings = [(entry["name"], corpora.recorded(entry)) for entry in corpora.cases()]

    assert recordings
    assert {} == _wrong(recordings, _untold)
