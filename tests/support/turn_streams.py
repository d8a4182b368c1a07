"""Turns as streams: blocks of Anthropic, items of Responses, parts of Gemini, each sent in pieces as by its server."""

from __future__ import annotations

import json
from typing import Any

JSON = dict[str, Any]


def sse(*events: JSON) -> bytes:
    """Return events as a server sends them, each under its type."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _pieces(block: JSON) -> tuple[JSON, list[JSON]]:
    """Return how a block of Anthropic starts, and its deltas."""
    kind = block["type"]
    if kind == "text":
        cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
        half = len(block["text"]) // 2
        texts = [
            {"type": "text_delta", "text": text} for text in (block["text"][:half], block["text"][half:])
        ]
        return {"type": "text", "text": ""}, [texts[0], *cited, texts[1]]
    if kind == "thinking":
        said = {"type": "thinking_delta", "thinking": block["thinking"]}
        return {**block, "thinking": "", "signature": ""}, [
            said,
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    if "input" in block:
        return {**block, "input": {}}, [
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        ]
    if kind == "compaction":
        half = len(block["content"]) // 2
        parts = (block["content"][:half], block["content"][half:])
        return {"type": kind, "content": ""}, [
            {"type": "compaction_delta", "content": part} for part in parts
        ]
    return block, []


def message_stream(blocks: list[JSON], reason: str, **ends: Any) -> bytes:
    """Return a message of Anthropic with these blocks; `ends` goes next to its finish reason."""
    events: list[JSON] = [{"type": "message_start", "message": {"id": "m", "model": "x", "content": []}}]
    for index, block in enumerate(blocks):
        start, deltas = _pieces(block)
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": index},
        ]
    events += [{"type": "message_delta", "delta": {"stop_reason": reason, **ends}}, {"type": "message_stop"}]
    return sse(*events)


def response(items: list[JSON], status: str = "completed") -> JSON:
    """Return a response with these items."""
    return {"id": "r", "object": "response", "model": "x", "status": status, "output": items}


def response_stream(items: list[JSON], listed: list[JSON]) -> bytes:
    """Return a stream that tells items, and lists some of them when it ends."""
    events: list[JSON] = [{"type": "response.created", "response": response([], "in_progress")}]
    for index, item in enumerate(items):
        empty = {"content": []} if item["type"] == "message" else {}
        skeleton = {**item, **empty, **({"arguments": ""} if "arguments" in item else {})}
        events.append({"type": "response.output_item.added", "output_index": index, "item": skeleton})
        for part in item.get("content", ()):
            kind = "refusal" if "refusal" in part else "output_text"
            said = part.get("text") or part["refusal"]
            events.append({"type": f"response.{kind}.delta", "output_index": index, "delta": said})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return sse(*events, {"type": "response.completed", "response": response(listed)})


def content_stream(parts: list[JSON]) -> bytes:
    """Return a stream of Gemini, a part a chunk."""
    chunks: list[JSON] = [{"content": {"role": "model", "parts": [part]}} for part in parts]
    chunks[-1]["finishReason"] = "STOP"
    bodies = [
        {"candidates": [{"index": 0, **chunk}], "responseId": "r", "modelVersion": "m"} for chunk in chunks
    ]
    return "".join(f"data: {json.dumps(body)}\n\n" for body in bodies).encode()
