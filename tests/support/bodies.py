"""Assistant messages as whole, non-streamed response bodies. Independent of wholecall.

A client's history has the shape of the provider's answer, so that a body can be put around it and read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

JSON = dict[str, Any]


def _chat(messages: Sequence[JSON]) -> JSON:
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"} for message in messages]
    return {"id": "chatcmpl-h", "object": "chat.completion", "model": "m", "choices": choices}


def _responses(items: Sequence[JSON]) -> JSON:
    return {"id": "resp_h", "object": "response", "status": "completed", "model": "m", "output": list(items)}


def _anthropic(messages: Sequence[JSON]) -> JSON:
    (message,) = messages
    return {"id": "msg_h", "type": "message", "model": "m", "stop_reason": "tool_use", **message}


def _gemini(messages: Sequence[JSON]) -> JSON:
    (message,) = messages
    candidate = {"index": 0, "content": message, "finishReason": "STOP"}
    return {"responseId": "r-h", "modelVersion": "m", "candidates": [candidate]}


def _converse(messages: Sequence[JSON]) -> JSON:
    (message,) = messages
    return {"output": {"message": message}, "stopReason": "tool_use", "usage": {"inputTokens": 1}}


def _cohere(messages: Sequence[JSON]) -> JSON:
    (message,) = messages
    whole = {"tool_calls": [], **message}
    return {"id": "c-h", "finish_reason": "TOOL_CALL", "message": whole}


def _ollama(messages: Sequence[JSON]) -> JSON:
    (message,) = messages
    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    return {**head, "message": message, "done": True, "done_reason": "stop"}


def _conversation(entries: Sequence[JSON]) -> JSON:
    return {"object": "conversation.response", "conversation_id": "conv_h", "outputs": list(entries)}


def _langchain(messages: Sequence[JSON]) -> JSON:
    (message,) = messages
    return {**message, "id": "run-h", "response_metadata": {"finish_reason": "tool_calls"}}


def _ag_ui(messages: Sequence[JSON]) -> list[JSON]:
    """Return the run in which the agent streamed the message: whole messages are not answers."""
    *_, message = messages
    events: list[JSON] = [{"type": "RUN_STARTED", "threadId": "t-h", "runId": "r-h"}]
    about = {"messageId": message["id"]}
    if "content" in message:
        events.append({"type": "TEXT_MESSAGE_START", **about, "role": "assistant"})
        events.append({"type": "TEXT_MESSAGE_CONTENT", **about, "delta": message["content"]})
        events.append({"type": "TEXT_MESSAGE_END", **about})
    for call in message.get("toolCalls", ()):
        of, function = {"toolCallId": call["id"]}, call["function"]
        events.append({"type": "TOOL_CALL_START", **of, "toolCallName": function["name"]})
        events.append({"type": "TOOL_CALL_ARGS", **of, "delta": function["arguments"]})
        events.append({"type": "TOOL_CALL_END", **of})
    return [*events, {"type": "RUN_FINISHED", "threadId": "t-h", "runId": "r-h"}]


def _vercel(messages: Sequence[JSON]) -> JSON:
    (message,) = messages
    return message


BODIES: dict[str, Callable[[Sequence[JSON]], JSON | list[JSON]]] = {
    "chat-completions": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock-converse": _converse,
    "cohere-v2": _cohere,
    "ollama": _ollama,
    "mistral-conversations": _conversation,
    "langchain": _langchain,
    "ag-ui": _ag_ui,
    "vercel-ui": _vercel,
}
