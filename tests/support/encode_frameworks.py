"""Render abstract turns as frameworks send them on: the two protocols of the Vercel AI SDK, and LangChain.

Written from the frameworks' documentation; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, compact, done, json_lines, members, sse, whole

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


# LangChain's messages


def lc_call_chunk(index: Any, *, id: Any = None, name: Any = None, args: Any = None) -> JSON:
    """Return a piece of a call."""
    return {"name": name, "args": args, "id": id, "index": index, "type": "tool_call_chunk"}


def lc_chunk(*calls: JSON, id: Any = "run-1", content: Any = "", **more: Any) -> JSON:
    """Return a chunk of a message, as LangServe writes it."""
    empty: JSON = {"additional_kwargs": {}, "response_metadata": {}, "type": "AIMessageChunk", "name": None}
    rest: JSON = {"example": False, "tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None}
    return {"content": content} | empty | {"id": id} | rest | {"tool_call_chunks": list(calls)} | more


def lc_last(turn: Turn, id: str) -> JSON:
    """Return the last chunk, with the reason and the counts."""
    reason = turn.stopped or ("tool_calls" if turn.calls else "stop")
    usage = {"input_tokens": 64, "output_tokens": turn.tokens, "total_tokens": 64 + turn.tokens}
    told = {"finish_reason": reason, "model_name": turn.model}
    return lc_chunk(id=id, response_metadata=told, usage_metadata=usage, chunk_position="last")


def lc_chunks(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the chunks of a turn."""
    id = f"run--{turn.id}"
    thoughts = [{"reasoning_content": piece} for piece in pieces(turn.reasoning)]
    chunks = [lc_chunk(id=id, additional_kwargs=thought) for thought in thoughts]
    chunks += [lc_chunk(id=id, content=piece) for piece in pieces(turn.text)]
    for index, call in enumerate(turn.calls):
        chunks.append(lc_chunk(lc_call_chunk(index, id=call.id, name=call.name, args=""), id=id))
        chunks += [lc_chunk(lc_call_chunk(index, args=piece), id=id) for piece in pieces(call.arguments)]
    return [*chunks, lc_last(turn, id)]


def lc_message(turn: Turn, **more: Any) -> JSON:
    """Return a turn as a whole message, with its calls as LangChain reads them."""
    calls = [
        {"name": call.name, "args": json.loads(call.arguments), "id": call.id, "type": "tool_call"}
        for call in turn.calls
    ]
    last = lc_last(turn, f"run--{turn.id}")
    told = {key: last[key] for key in ("id", "response_metadata", "usage_metadata", "additional_kwargs")}
    message: JSON = {"content": turn.text, "type": "ai", "name": None, "example": False}
    return message | told | {"tool_calls": calls, "invalid_tool_calls": []} | more


def render_langchain(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as LangServe streams it."""
    chunks = b"".join(sse(chunk, "data") for chunk in lc_chunks(turn, pieces))
    return sse({"run_id": "3f1c"}, "metadata") + chunks + b"event: end\n\n"


def lc_event(kind: str, run: str, data: JSON, name: str = "ChatOpenAI") -> JSON:
    """Return an event of `astream_events`."""
    about: JSON = {"event": f"on_{kind}", "data": data, "run_id": run, "name": name}
    return about | {"tags": ["seq:step:1"], "metadata": {"ls_provider": "openai"}, "parent_ids": []}


def render_langchain_events(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as events, one a line."""
    events = [lc_event("chat_model_start", "r1", {"input": {"messages": []}})]
    events += [lc_event("chat_model_stream", "r1", {"chunk": chunk}) for chunk in lc_chunks(turn, pieces)]
    return json_lines([*events, lc_event("chat_model_end", "r1", {"output": lc_message(turn)})])
