"""Mistral's conversations: event in, deltas out."""

from __future__ import annotations

from typing import Any

from wholecall import ToolCall, ToolCallDropped, ToolCallParser

STARTED = {"type": "conversation.response.started", "conversation_id": "k"}
DONE = {"type": "conversation.response.done", "usage": {"total_tokens": 3}}


def call(arguments: Any, id: Any = "e", call_id: Any = "c", name: Any = "f", **more: Any) -> dict[str, Any]:
    """Return an event of a function call."""
    labels = {"id": id, "tool_call_id": call_id, "name": name}
    return {"type": "function.call.delta", **labels, "arguments": arguments, **more}


def test_a_denied_call_is_dropped() -> None:
    """The drop keeps the text, and other calls are emitted."""
    parser = ToolCallParser("mistral-conversations")
    payloads = [STARTED, call('{"a":1}', confirmation_status="denied"), call("{}", "e2", "c2"), DONE]
    events = parser.feed_event(payloads) + parser.close()

    assert [("c", "aborted", '{"a":1}')] == [
        (event.id, event.reason, event.raw_arguments)
        for event in events
        if isinstance(event, ToolCallDropped)
    ]
    assert ["c2"] == [event.id for event in events if isinstance(event, ToolCall)]
