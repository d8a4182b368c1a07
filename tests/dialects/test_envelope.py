"""Frames in envelopes of a gateway's own (quirk 120)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import bless, corpora
from tests.support.encode import compact
from wholecall import detect
from wholecall.dialects.envelope import opened
from wholecall.framing.frame import Frame
from wholecall.repairing import Repairer

Wrap = Callable[[str, str], str]

WRAPS: dict[str, Wrap] = {
    "data and success": lambda _, data: f'{{"data":{data},"success":true}}',
    "behind a code": lambda _, data: f'{{"code":0,"msg":"ok","data":{data}}}',
    "as text": lambda _, data: compact({"success": True, "data": data}),
    "of a folder": lambda _, data: f'{{"directory":"/srv","payload":{data}}}',
    "as an event": lambda name, data: f'{{"event":{compact(name)},"data":{data}}}',
    "as an event with text": lambda name, data: compact({"event": name, "data": data}),
}


def _events(data: bytes) -> list[tuple[str, str]] | None:
    """Return names and payloads of events, None where one is not a JSON object or `[DONE]` in one line."""
    found: list[tuple[str, str]] = []
    for block in data.decode("utf-8", "replace").split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        name = lines[0].removeprefix("event: ") if lines[0].startswith("event: ") else "message"
        if not lines[-1].startswith("data: {") or len(lines) > 2 - (name == "message"):
            if lines == ["data: [DONE]"]:
                continue
            return None
        found.append((name, lines[-1].removeprefix("data: ")))
    try:
        return found if all(isinstance(json.loads(text), dict) for _, text in found) else None
    except ValueError:
        return None


ENTRIES = [
    entry
    for entry in corpora.cases()
    if 120 not in entry["quirks"]
    and "error" not in entry["name"]
    and entry["dialect"] in ("chat-completions", "responses", "anthropic", "gemini", "ollama", "cohere-v2")
    and _events(corpora.recorded(entry))
]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS.keys())
@pytest.mark.parametrize("entries", corpora.groups(ENTRIES))
def test_an_envelope_changes_nothing(entries: list[dict[str, Any]], wrap: Wrap) -> None:
    """A stream whose every frame comes in an envelope gives the same events."""
    names = "event: {}\n" if "event" not in wrap("", "{}") else ""
    for entry in entries:
        events = _events(corpora.recorded(entry)) or ()
        plain = [f"event: {name}\ndata: {data}\n\n" for name, data in events]
        wrapped = [f"{names.format(name)}data: {wrap(name, data)}\n\n" for name, data in events]
        expected, actual = (bless.parse(["".join(blocks).encode()]) for blocks in (plain, wrapped))

        assert expected == actual, entry["name"]


CHUNK = '{"choices":[{"index":0,"delta":{"content":"x"}}]}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{{"type":"stream_event","data":{CHUNK}}}', id="an event with a type"),
        pytest.param(f'{{"event":{CHUNK}}}', id="another member"),
        pytest.param('{"data":[1],"success":true}', id="a list"),
        pytest.param('{"data":null,"success":true}', id="nothing"),
        pytest.param('{"data":"x","success":true}', id="a word"),
    ],
)
def test_what_is_no_envelope_stays_as_it_is(text: str) -> None:
    """Agents wrap the events of a model in their own events, and execute its calls: the client may not."""
    assert Frame("message", text) == opened(Frame("message", text))
    assert detect(text.encode()) is None


def test_lines_that_were_joined_are_opened_one_by_one() -> None:
    """Envelopes in one event, because nothing ends it (quirk 55), are each taken off; `[DONE]` needs none."""
    lines = f'{{"data":{CHUNK}}}\n[DONE]\n{{"data":"[DONE]"}}'

    assert Frame("message", f"{CHUNK}\n[DONE]\n[DONE]") == opened(Frame("message", lines))


def test_a_repairer_leaves_envelopes_alone() -> None:
    """Clients of such a gateway take them off themselves: the stream passes as it is."""
    call = '{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}'
    chunk = f'{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}},"finish_reason":"stop"}}]}}'
    data = f'data: {{"data":{chunk},"success":true}}\n\ndata: [DONE]\n\n'.encode()
    repairer = Repairer()

    assert data == repairer.feed(data) + repairer.close()


@pytest.mark.parametrize(
    ("text", "event", "data"),
    [
        ('["messages", [{"a":1.0},{}]]', "messages", '[{"a":1.0},{}]'),
        ('[["n:1"],"updates",{"a":1}]', "updates", '{"a":1}'),
        ('["updates",{"a":"\\ud83d"}]', "updates", '{"a":"\\ud83d"}'),
        ('[{"a":1},{"langgraph_step":1}]', "messages", '[{"a":1},{"langgraph_step":1}]'),
        ('[{"a":1},{"b":1}]', "message", '[{"a":1},{"b":1}]'),
        ('["messages"', "message", '["messages"'),
        ("[1,2]", "message", "[1,2]"),
    ],
)
def test_arrays_of_a_mode_are_frames(text: str, event: str, data: str) -> None:
    """LangGraph's output with several modes matches its event names over HTTP (quirk 122)."""
    assert Frame(event, data) == opened(Frame("message", text))
