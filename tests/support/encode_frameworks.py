"""Render abstract turns as frameworks send them on: the two protocols of the Vercel AI SDK, and LangChain.

Written from the frameworks' documentation; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, compact, done, members, sse, whole

__all__ = [
    "data_body",
    "data_call",
    "data_end",
    "data_lines",
    "data_parts",
    "invocation",
    "line",
    "render_data",
    "render_ui",
    "ui_available",
    "ui_body",
    "ui_call",
    "ui_chunks",
    "ui_delta",
    "ui_input_start",
    "ui_part",
    "ui_stream",
    "ui_text",
]

_AI_REASONS = {None: "stop", "length": "length"}


def ai_reason(turn: Turn) -> str:
    """Return the finish reason of a turn, as the AI SDK spells it."""
    return "tool-calls" if turn.calls and not turn.stopped else _AI_REASONS[turn.stopped]


# The UI message stream of the AI SDK


def ui_input_start(id: Any, name: Any, **more: Any) -> JSON:
    """Return the chunk that opens a call."""
    return {"type": "tool-input-start"} | members(toolCallId=id, toolName=name) | more


def ui_delta(id: Any, text: Any) -> JSON:
    """Return a piece of a call's input."""
    return {"type": "tool-input-delta"} | members(toolCallId=id) | {"inputTextDelta": text}


def ui_available(id: Any, name: Any, value: Any, **more: Any) -> JSON:
    """Return the chunk that has the whole input."""
    return {"type": "tool-input-available"} | members(toolCallId=id, toolName=name, input=value) | more


def ui_call(call: Call, pieces: Pieces = whole, **more: Any) -> list[JSON]:
    """Return the life of a call."""
    deltas = [ui_delta(call.id, piece) for piece in pieces(call.arguments)]
    available = ui_available(call.id, call.name, json.loads(call.arguments), **more)
    return [ui_input_start(call.id, call.name, **more), *deltas, available]


def ui_text(kind: str, id: str, pieces: Iterable[str], **end: Any) -> list[JSON]:
    """Return a block of `text` or `reasoning`."""
    deltas = [{"type": f"{kind}-delta", "id": id, "delta": piece} for piece in pieces]
    return [{"type": f"{kind}-start", "id": id}, *deltas, {"type": f"{kind}-end", "id": id} | end]


def ui_chunks(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the chunks of a turn of one step."""
    chunks: list[JSON] = [{"type": "start", "messageId": turn.id}, {"type": "start-step"}]
    if turn.reasoning:
        chunks += ui_text("reasoning", "0", pieces(turn.reasoning))
    if turn.text:
        chunks += ui_text("text", "1", pieces(turn.text))
    for call in turn.calls:
        chunks += ui_call(call, pieces)
    return [*chunks, {"type": "finish-step"}, {"type": "finish", "finishReason": ai_reason(turn)}]


def ui_stream(chunks: Iterable[JSON]) -> bytes:
    """Return chunks as a stream with its end marker."""
    return b"".join(sse(chunk) for chunk in chunks) + done()


def render_ui(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a UI message stream."""
    return ui_stream(ui_chunks(turn, pieces))


def ui_part(call: Call, state: str = "input-available", **more: Any) -> JSON:
    """Return a call as a whole message holds it."""
    part = {"type": f"tool-{call.name}", "toolCallId": call.id, "state": state}
    return part | {"input": json.loads(call.arguments)} | more


def ui_body(id: str, *parts: JSON) -> JSON:
    """Return a whole message."""
    return {"id": id, "role": "assistant", "metadata": {"createdAt": 1_760_000_000}, "parts": list(parts)}


# The data stream protocol of the AI SDK


def line(code: str, value: Any) -> bytes:
    """Return one line."""
    return f"{code}:{compact(value)}\n".encode()


def invocation(id: Any, name: Any, args: Any, **more: Any) -> JSON:
    """Return a whole call."""
    return {"toolCallId": id, "toolName": name, "args": args} | more


def data_call(call: Call, pieces: Pieces = whole) -> list[tuple[str, Any]]:
    """Return the life of a call."""
    deltas = [("c", {"toolCallId": call.id, "argsTextDelta": piece}) for piece in pieces(call.arguments)]
    begun = ("b", {"toolCallId": call.id, "toolName": call.name})
    return [begun, *deltas, ("9", invocation(call.id, call.name, json.loads(call.arguments)))]


def data_end(reason: str = "tool-calls", tokens: int = 9) -> list[tuple[str, Any]]:
    """Return the end of a step and of the message."""
    about = {"finishReason": reason, "usage": {"promptTokens": 64, "completionTokens": tokens}}
    return [("e", about | {"isContinued": False}), ("d", about)]


def data_parts(turn: Turn, pieces: Pieces = whole) -> list[tuple[str, Any]]:
    """Return the lines of a turn of one step."""
    parts: list[tuple[str, Any]] = [("f", {"messageId": turn.id})]
    parts += [("g", piece) for piece in pieces(turn.reasoning)]
    parts += [("0", piece) for piece in pieces(turn.text)]
    for call in turn.calls:
        parts += data_call(call, pieces)
    return parts + data_end(ai_reason(turn), turn.tokens)


def data_lines(*parts: tuple[str, Any]) -> bytes:
    """Return lines as a stream, which has no end marker."""
    return b"".join(line(code, value) for code, value in parts)


def render_data(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a data stream."""
    return data_lines(*data_parts(turn, pieces))


def data_body(id: str, content: str, *invocations: JSON, thought: str = "") -> JSON:
    """Return a whole message, which tells its calls in its parts and beside them."""
    parts: list[JSON] = [{"type": "step-start"}]
    parts += [{"type": "reasoning", "reasoning": thought, "details": []}] if thought else []
    parts += [{"type": "tool-invocation", "toolInvocation": told} for told in invocations]
    parts.append({"type": "text", "text": content})
    about = {"id": id, "createdAt": "2025-03-02T09:41:07.000Z", "role": "assistant", "content": content}
    return about | {"toolInvocations": list(invocations), "parts": parts}
