"""Law 118: what leaves the repairer is as the published schema of its wire asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import corpora, quirky
from wholecall.repairing import Repairer
from wholecall.repairing.schema import CHOICE, CHUNK, EVENTS, ITEMS, MESSAGE, RESPONSE, flaws

WIRES = ("anthropic", "chat-completions", "responses")


def of_chunk(payload: dict[str, Any]) -> Iterator[str]:
    """Yield the flaws of a chunk of chat completions."""
    yield from (f"chunk: {name}" for name in flaws(payload, CHUNK))
    for choice in payload.get("choices") or ():
        yield from (f"choice: {name}" for name in flaws(choice, CHOICE))
        delta = choice.get("delta") or {}
        if delta.get("role") == "" or choice.get("finish_reason") in ("", "null"):
            yield "choice: a blank"
        yield from (
            "call: index" for call in delta.get("tool_calls") or () if type(call.get("index")) is not int
        )


def of_event(payload: dict[str, Any]) -> Iterator[str]:
    """Yield the flaws of an event of Responses or of Anthropic's."""
    kind = str(payload.get("type"))
    yield from (f"{kind}: {name}" for name in flaws(payload, EVENTS.get(kind, {})))
    for name, schema in (("response", RESPONSE), ("message", MESSAGE if kind == "message_start" else {})):
        if isinstance(payload.get(name), dict):
            yield from (f"{name}: {flaw}" for flaw in flaws(payload[name], schema))
    for name in ("item", "content_block"):
        thing = payload.get(name)
        if isinstance(thing, dict):
            yield from (
                f"{thing.get('type')}: {flaw}" for flaw in flaws(thing, ITEMS.get(str(thing["type"]), {}))
            )


def wrong(data: bytes) -> set[str]:
    """Return the flaws of what a repairer makes of a stream, if it is one that it repairs."""
    repairer = Repairer()
    out = repairer.feed(data) + repairer.close()
    report = repairer.report
    if report.unread or report.dialect not in WIRES:
        return set()
    check = of_chunk if report.dialect == "chat-completions" else of_event
    return {flaw for payload in payloads(out) for flaw in check(payload)}


def payloads(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the payloads of a stream that can be read, and are no error."""
    for line in data.splitlines():
        try:
            payload = json.loads(line.removeprefix(b"data: ")) if line.startswith(b"data: {") else None
        except ValueError:
            continue
        if payload is not None and not payload.get("error") and payload.get("type") not in ("error", "ping"):
            yield payload


def test_recordings_leave_the_repairer_as_the_schema_asks() -> None:
    """Every frame of every recording; errors of a server, and what nobody can read, aside."""
    found = {
        f"{path.parent.name}/{path.stem}": flaws_
        for path in corpora.streams()
        if path.parent.name in WIRES and path.suffix == ".sse" and (flaws_ := wrong(path.read_bytes()))
    }

    assert {} == found


@pytest.mark.parametrize("mode", quirky.MODES)
def test_quirky_streams_leave_it_so(mode: str) -> None:
    """So do the streams of every server with a quirk."""
    assert [set()] * 3 == [wrong(quirky.make(f"schema:{number}", (mode,)).bytes()) for number in range(3)]


@pytest.mark.cases
def test_further_recordings_leave_it_so(recordings_dir: Path) -> None:
    """So do further recorded streams."""
    paths = [path for path in sorted(recordings_dir.iterdir()) if path.suffix == ".sse"]

    assert {} == {path.name: flaws_ for path in paths if (flaws_ := wrong(path.read_bytes()))}


def test_flaws_are_found() -> None:
    """The law is about something: each member of a schema is missed, and so is an empty id."""
    sound = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []}

    assert [] == flaws(sound, RESPONSE)
    assert [[name] for name in sound] == [
        flaws({key: value for key, value in sound.items() if key != name}, RESPONSE) for name in sound
    ]
    assert ["id"] == flaws({**sound, "id": ""}, RESPONSE)
    assert ["created_at"] == flaws({**sound, "created_at": True}, RESPONSE)
