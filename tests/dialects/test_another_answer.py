"""Another answer on a connection: the one before has not ended, and its calls are not emitted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped

JSON = dict[str, Any]


def _chat(delta: JSON, id: str | None = "r1", model: str | None = "m", finish: str | None = None) -> JSON:
    return {"id": id, "model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _head(name: str, text: str = "", **more: Any) -> JSON:
    call = {"index": 0, "id": f"c_{name}", "function": {"name": name, "arguments": text}}
    return {"tool_calls": [call], **more}


def _dashscope(id: str, finish: str, *names: str) -> JSON:
    calls = [
        {"index": n, "id": f"c_{name}", "function": {"name": name, "arguments": ""}}
        for n, name in enumerate(names)
    ]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    return {"output": {"choices": [{"message": message, "finish_reason": finish}]}, "request_id": id}


def _xai(id: str, finish: str | None, *names: str) -> JSON:
    calls = [{"id": f"c_{name}", "function": {"name": name}} for name in names]
    return {"chunk": {"id": id, "outputs": [{"delta": {"tool_calls": calls}, "finish_reason": finish}]}}


def _llama(id: str | None, kind: str, reason: str | None = None, delta: JSON | None = None) -> JSON:
    told = delta or {"type": "text", "text": ""}
    return {"id": id, "event": {"event_type": kind, "delta": told, "stop_reason": reason}}


def _gemini(id: str | None, *parts: JSON, finish: str | None = None) -> JSON:
    return {"responseId": id, "candidates": [{"content": {"parts": list(parts)}, "finishReason": finish}]}


def _block(event: str, index: int, **more: Any) -> JSON:
    return {event: {"contentBlockIndex": index, **more}}


GO: JSON = {"type": "tool_call", "id": "c_go", "function": {"name": "go"}}
PIECES: JSON = {"functionCall": {"name": "go", "willContinue": True}}
ENDS_CHAT = _chat({}, "r2", finish="stop")
STREAMS: dict[str, list[JSON]] = {
    "chat: two chunks had the id": [
        _chat({"role": "assistant"}),
        _chat(_head("go")),
        _chat({"role": "assistant", "content": "Hi"}, "r2"),
        ENDS_CHAT,
    ],
    "chat: the one chunk before told a call": [
        _chat(_head("go")),
        _chat({"role": "assistant", "content": "Hi"}, "r2"),
        ENDS_CHAT,
    ],
    "chat: ids that varied prove to be a name": [
        _chat({"role": "assistant"}, "r0"),
        _chat(_head("go"), "r1"),
        _chat(_head("to"), "r2"),
        _chat({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}, "r2"),
        _chat({"content": "."}, "r2"),
        ENDS_CHAT,
    ],
    "chat: another model": [
        _chat({"role": "assistant"}, None),
        _chat(_head("go"), None),
        _chat({"role": "assistant", "content": "Hi"}, None, "n"),
        _chat({}, None, "n", finish="stop"),
    ],
    "chat: who speaks is said again": [
        _chat({"role": "assistant"}),
        _chat(_head("go")),
        _chat({"role": "assistant", "content": ""}),
        _chat({}, finish="stop"),
    ],
    "chat: another prompt was judged": [
        _chat(_head("go", role="assistant")),
        {"id": "", "model": "m", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        _chat({"role": "assistant"}),
        _chat({}, finish="stop"),
    ],
    "dashscope": [_dashscope("q1", "null", "go"), _dashscope("q2", "null"), _dashscope("q2", "stop")],
    "xai-grpc": [_xai("x1", None, "go"), _xai("x2", "REASON_STOP")],
    "llama-api: another id": [
        _llama("l1", "start"),
        _llama("l1", "progress", delta=GO),
        _llama("l2", "progress"),
        _llama("l2", "complete", "stop"),
    ],
    "llama-api: another start": [
        _llama("l1", "start"),
        _llama("l1", "progress", delta=GO),
        _llama(None, "start"),
        _llama(None, "complete", "stop"),
    ],
    "gemini": [_gemini("g1", PIECES), _gemini("g2", {"text": "Hi"}), _gemini("g2", finish="STOP")],
    "gemini: without an id": [
        _gemini("g1", PIECES),
        _gemini(None, {"text": "Hi"}),
        _gemini(None, finish="STOP"),
    ],
    "bedrock-converse: a block below": [
        _block("contentBlockStart", 1, start={"toolUse": {"toolUseId": "c_go", "name": "go"}}),
        _block("contentBlockDelta", 0, delta={"text": "Hi"}),
        _block("contentBlockStop", 0),
        {"messageStop": {"stopReason": "end_turn"}},
    ],
    "vercel-ui: a message starts within a call": [
        {"type": "start", "messageId": "u1"},
        {"type": "tool-input-start", "toolCallId": "c_go", "toolName": "go"},
        {"type": "start", "messageId": "u2"},
        {"type": "finish", "finishReason": "stop"},
    ],
    "vercel-ui: other calls are told whole": [
        {"type": "start"},
        {"type": "tool-input-start", "toolCallId": "c_go", "toolName": "go"},
        {"type": "tool-input-available", "toolCallId": "c_to", "toolName": "to", "input": {}},
        {"type": "finish", "finishReason": "tool-calls"},
    ],
    "cohere-v1: the answer names another call": [
        {"event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "name": "go"}},
        {"event_type": "tool-calls-generation", "tool_calls": [{"name": "to", "parameters": {}}]},
        {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": {}},
    ],
    "workers-ai: then chat completions": [
        {"response": None, "tool_calls": [{"id": "c_go", "index": 0, "function": {"name": "go"}}]},
        _chat({"role": "assistant", "content": "Hi"}),
        _chat({}, finish="stop"),
    ],
    "responses: the end of a Realtime session": [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "function_call", "id": "fc", "call_id": "c_go", "name": "go", "arguments": ""},
        },
        {"type": "response.done", "response": {"id": "resp_2", "status": "completed", "output": []}},
    ],
}


def _ends(frames: list[JSON]) -> list[str]:
    parser: ToolCallParser[Any] = ToolCallParser()
    events = [event for frame in frames for event in parser.feed_event(frame)] + parser.close()
    return [
        event.name if isinstance(event, ToolCall) else f"no {event.name}"
        for event in events
        if isinstance(event, (ToolCall, ToolCallDropped))
    ]


@together("stream", STREAMS)
def test_another_answer_ends_no_call(stream: str) -> None:
    """A call without text needs its own answer's end: the end of another answer, which came instead, does not count."""
    assert "go" not in _ends(STREAMS[stream])
    assert "no go" in _ends(STREAMS[stream])


SAME: dict[str, list[JSON]] = {
    "each chunk has an id of its own": [
        _chat({"role": "assistant"}, "a"),
        _chat(_head("go"), "b"),
        _chat({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}, "c"),
        _chat({}, "d", finish="tool_calls"),
    ],
    "a relay names the first chunk": [
        _chat({"role": "assistant"}, "relay"),
        _chat(_head("go")),
        _chat({}, finish="tool_calls"),
    ],
    "who speaks is said in each chunk": [
        _chat(_head("go", role="assistant")),
        _chat({"role": "assistant", "content": ""}),
        _chat({"role": "assistant"}, finish="tool_calls"),
    ],
    "a chunk that says nothing keeps the connection open": [
        _chat({"role": "assistant"}),
        _chat(_head("go")),
        _chat({"content": ""}, "keepalive", "keepalive"),
        _chat({}, finish="tool_calls"),
    ],
    "the last chunk has another id": [
        _chat({"role": "assistant"}),
        _chat(
            _head("go", "{}")
        ),  # without text it would not be emitted, for a gateway may have made the end up
        _chat({}, "last", finish="tool_calls"),
    ],
}


@pytest.mark.parametrize("stream", SAME)
def test_odd_ids_of_chunks_are_no_other_answer(stream: str) -> None:
    """The known uses that servers make of a chunk's id, and of the role, lose no call (quirk 14)."""
    assert ["go"] == _ends(SAME[stream])
