"""Workers AI: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall
from wholecall.deltas import (
    Delta,
    Noted,
    TurnEnded,
)
from wholecall.dialects.others.workers_ai import WorkersTranslator
from wholecall.framing.frame import Frame

USAGE = {"total_tokens": 3}


def translate(*payloads: dict[str, Any] | str, event: str = "message") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = WorkersTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def frame(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a frame with calls."""
    return {"response": None, "tool_calls": list(calls), **more}


def entry(*, id: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """Return an entry of `tool_calls` as streams have it."""
    return {"id": id, "function": {"name": name, "arguments": arguments}, **more}


def calls(*entries: dict[str, Any]) -> list[Delta]:
    """Return the events of frames with one entry each."""
    return translate(*map(frame, entries))[1:]


def test_a_deep_envelope_is_harmless() -> None:
    """Nested results are not followed: depth is the sender's to choose."""
    body = '{"result":' * 900 + '{"response":"x"}' + "}" * 900

    assert [Noted(0, "unknown_events"), TurnEnded()] == translate(body)


def test_a_lone_body_gives_its_calls_through_the_object_door() -> None:
    """A binding's return value is a body."""
    parser = ToolCallParser()
    events = parser.feed_event(frame(entry(id="c", name="f", index=0, arguments='{"a":1}'), usage=USAGE))
    events += parser.close()

    assert [{"a": 1}] == [event.arguments for event in events if isinstance(event, ToolCall)]
