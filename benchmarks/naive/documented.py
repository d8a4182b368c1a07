"""The loops that people paste for the three APIs that most libraries read."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.naive.splitting import Loads, Pending, gathered, payloads
from benchmarks.texts import Result


def chat(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read chunks of chat completions."""
    text: list[str] = []
    calls: Pending = {}
    for data in payloads(reads):
        if data == "[DONE]":
            break
        chunk = loads(data)
        if not chunk["choices"]:
            continue
        delta = chunk["choices"][0]["delta"]
        if delta.get("content"):
            text.append(delta["content"])
        for piece in delta.get("tool_calls") or ():
            call = calls.setdefault(piece["index"], {"id": None, "name": None, "arguments": []})
            function = piece["function"]
            if piece.get("id"):
                call["id"] = piece["id"]
            if function.get("name"):
                call["name"] = function["name"]
            if function.get("arguments"):
                call["arguments"].append(function["arguments"])
    return gathered(text, calls, loads)


def anthropic(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read a stream of Anthropic Messages."""
    text: list[str] = []
    calls: Pending = {}
    for data in payloads(reads):
        event = loads(data)
        if event["type"] == "content_block_delta":
            delta = event["delta"]
            if delta["type"] == "input_json_delta":
                calls[event["index"]]["arguments"].append(delta["partial_json"])
            elif delta["type"] == "text_delta":
                text.append(delta["text"])
        elif event["type"] == "content_block_start":
            block = event["content_block"]
            if block["type"] == "tool_use":
                calls[event["index"]] = {"id": block["id"], "name": block["name"], "arguments": []}
        elif event["type"] == "message_stop":
            break
    return gathered(text, calls, loads)


def responses(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read a stream of Responses."""
    text: list[str] = []
    calls: Pending = {}
    for data in payloads(reads):
        event = loads(data)
        kind = event["type"]
        if kind == "response.function_call_arguments.delta":
            calls[event["output_index"]]["arguments"].append(event["delta"])
        elif kind == "response.output_text.delta":
            text.append(event["delta"])
        elif kind == "response.output_item.added":
            item = event["item"]
            if item["type"] == "function_call":
                calls[event["output_index"]] = {"id": item["call_id"], "name": item["name"], "arguments": []}
        elif kind == "response.function_call_arguments.done":
            calls[event["output_index"]]["arguments"] = [event["arguments"]]
        elif kind == "response.completed":
            break
    return gathered(text, calls, loads)
