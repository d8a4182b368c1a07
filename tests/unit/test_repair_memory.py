"""Memory of a repairer, which does not grow with a text."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from wholecall.repairing import Repairer

TEXT = "x" * 1000
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
RESPONSE = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
ITEM = {"type": "message", "id": "i", "role": "assistant", "content": [], "status": "in_progress"}


def choice(delta: dict[str, str], reason: str | None) -> dict[str, Any]:
    """Return a chunk of chat."""
    return {**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


# How a stream begins, a reason included where one may come early, and a piece of its text.
STREAMS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "chat": ([choice({"role": "assistant"}, "stop")], choice({"content": TEXT}, None)),
    "chat, a reason with each": ([choice({"role": "assistant"}, None)], choice({"content": TEXT}, "stop")),
    "anthropic": (
        [
            {"type": "message_start", "message": MESSAGE},
            BLOCK,
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        ],
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
    ),
    "responses": (
        [
            {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
        ],
        {
            "type": "response.output_text.delta",
            "output_index": 0,
            "item_id": "i",
            "content_index": 0,
            "delta": TEXT,
        },
    ),
    "gemini": (
        [],
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": TEXT}]}, "index": 0, "finishReason": "STOP"}
            ]
        },
    ),
}


def event(payload: dict[str, Any]) -> bytes:
    """Return an event of a stream."""
    name = f"event: {payload['type']}\n" if "type" in payload else ""
    return f"{name}data: {json.dumps(payload)}\n\n".encode()


def held(name: str, n: int, **options: Any) -> int:
    """Return how many bytes a repairer holds at most while so many pieces of a text come."""
    first, piece = STREAMS[name]
    events = [*map(event, first), *[event(piece)] * n]
    repairer = Repairer(**options)
    tracemalloc.start()
    try:
        for each in events:
            repairer.feed(each)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.sampled(11)
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_a_long_text_takes_no_memory(name: str, live: bool) -> None:
    """For a text of a megabyte, after an early reason too, hardly more than the last pieces are held."""
    options = {"live_arguments": live}
    held(name, 10, **options)  # modules that are imported and remembered once

    assert held(name, 1000, **options) < 300_000
