"""Answers of Anthropic's Messages, as a good server sends them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from wholecall.grading.probe.selftest.script import Script, Scripted

Payload = dict[str, Any]
_REASONS = {"calls": "tool_use", "stop": "end_turn", "length": "max_tokens"}


def frames(script: Script, random: Random) -> list[Payload]:
    """Return the events of a stream."""
    begun = {**_message(script, [], None), "usage": {"input_tokens": script.tokens[0], "output_tokens": 1}}
    found: list[Payload] = [{"type": "message_start", "message": begun}]
    if script.texts:
        found += _block(0, {"type": "text", "text": ""}, "text_delta", "text", script.texts)
    if random.random() < 0.5:
        found.insert(random.randint(1, len(found)), {"type": "ping"})
    for index, call in enumerate(script.calls, bool(script.texts)):
        found += _used(index, call, random)
    found.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": _REASONS[script.ended], "stop_sequence": None},
            "usage": {"output_tokens": script.tokens[1]},
        }
    )
    return [*found, {"type": "message_stop"}]


def _block(index: int, block: Payload, kind: str, name: str, pieces: list[str]) -> list[Payload]:
    deltas = ({"type": kind, name: piece} for piece in pieces)
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _used(index: int, call: Scripted, random: Random) -> list[Payload]:
    pieces = [] if call.text == "{}" and random.random() < 0.5 else ["", *call.pieces]
    start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
    return _block(index, start, "input_json_delta", "partial_json", pieces)


def _message(script: Script, content: list[Payload], reason: str | None) -> Payload:
    return {
        "id": script.id,
        "type": "message",
        "role": "assistant",
        "model": script.model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": script.tokens[0], "output_tokens": script.tokens[1]},
    }


def body(script: Script) -> Payload:
    """Return a whole message; of a call that was cut, an empty object."""
    content: list[Payload] = [{"type": "text", "text": "".join(script.texts)}] if script.texts else []
    for call in script.calls:
        value = json.loads(call.text) if call.is_whole else {}
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": value})
    return _message(script, content, _REASONS[script.ended])


def error(message: str) -> Payload:
    """Return the body of a refusal."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
