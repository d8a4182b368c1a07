"""Answers of Responses, as a good server sends them."""

from __future__ import annotations

from random import Random
from typing import Any

from wholecall.grading.probe.selftest.script import Script, Scripted

Payload = dict[str, Any]
_ITEM = "response.output_item."
_CALL = "response.function_call_arguments."


def frames(script: Script, _random: Random) -> list[Payload]:
    """Return the events of a stream."""
    begun = _response(script, "in_progress", [])
    found: list[Payload] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    if script.texts:
        found += _message_events(script)
    for index, call in enumerate(script.calls, bool(script.texts)):
        found += _call_events(script, index, call)
    word = "incomplete" if script.ended == "length" else "completed"
    found.append({"type": f"response.{word}", "response": body(script)})
    return [{**event, "sequence_number": number} for number, event in enumerate(found)]


def _message_events(script: Script) -> list[Payload]:
    text, item = "".join(script.texts), _message(script)
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    return [
        {
            "type": f"{_ITEM}added",
            "output_index": 0,
            "item": {**item, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **place, "part": empty},
        *(
            {"type": "response.output_text.delta", **place, "delta": each, "logprobs": []}
            for each in script.texts
        ),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": {**empty, "text": text}},
        {"type": f"{_ITEM}done", "output_index": 0, "item": item},
    ]


def _call_events(script: Script, index: int, call: Scripted) -> list[Payload]:
    item = _function(script, index, call)
    place = {"item_id": item["id"], "output_index": index}
    return [
        {
            "type": f"{_ITEM}added",
            "output_index": index,
            "item": {**item, "arguments": "", "status": "in_progress"},
        },
        *({"type": f"{_CALL}delta", **place, "delta": piece} for piece in call.pieces),
        {"type": f"{_CALL}done", **place, "name": call.name, "arguments": call.text},
        {"type": f"{_ITEM}done", "output_index": index, "item": item},
    ]


def _message(script: Script) -> Payload:
    content = [{"type": "output_text", "text": "".join(script.texts), "annotations": []}]
    return {
        "type": "message",
        "id": f"msg_{script.item}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _function(script: Script, index: int, call: Scripted) -> Payload:
    return {
        "type": "function_call",
        "id": f"fc_{script.item}{index}",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.text,
        "status": "completed" if call.is_whole else "incomplete",
    }


def body(script: Script) -> Payload:
    """Return a whole response."""
    items = [_message(script)] if script.texts else []
    items += [_function(script, index, call) for index, call in enumerate(script.calls, len(items))]
    return _response(script, "incomplete" if script.ended == "length" else "completed", items)


def _response(script: Script, status: str, items: list[Payload]) -> Payload:
    given, made = script.tokens
    counts = {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + made,
    }
    return {
        "id": script.id,
        "object": "response",
        "created_at": script.created,
        "model": script.model,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": script.request.get("tool_choice", "auto"),
        "tools": [],
        "usage": None if status == "in_progress" else counts,
    }
