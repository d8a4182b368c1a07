"""What the three broken clients share: frames of an event stream, and the naive table of calls that loops keep.

Nothing here is wrong by intent: each client has its own one fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from protocol import Run

Table = dict[Any, dict[str, Any]]


def frames(chunks: list[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the JSON object of each frame; a cut last frame is left out."""
    *whole, _rest = b"".join(chunks).replace(b"\r\n", b"\n").split(b"\n\n")
    for frame in whole:
        lines = [line[5:].strip() for line in frame.split(b"\n") if line.startswith(b"data:")]
        data = b"\n".join(lines)
        if data and data != b"[DONE]":
            yield json.loads(data)


def pieces(wire: str, frame: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each piece of a call: its key, and the members `id`, `name`, `arguments` that it has."""
    if wire == "chat-completions":
        for choice in (frame.get("choices") or ())[:1]:
            for call in choice.get("delta", {}).get("tool_calls") or ():
                made = call.get("function") or {}
                yield (
                    call.get("index"),
                    {"id": call.get("id"), "name": made.get("name"), "arguments": made.get("arguments")},
                )
    elif wire == "anthropic":
        yield from _of_messages(frame)
    else:
        yield from _of_responses(frame)


def _of_messages(frame: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    kind = frame.get("type")
    if kind == "content_block_start" and frame["content_block"].get("type") == "tool_use":
        block = frame["content_block"]
        given = json.dumps(block["input"]) if block.get("input") else ""
        yield frame.get("index"), {"id": block.get("id"), "name": block.get("name"), "arguments": given}
    elif kind == "content_block_delta" and frame["delta"].get("type") == "input_json_delta":
        yield frame.get("index"), {"arguments": frame["delta"].get("partial_json")}


def _of_responses(frame: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    kind = frame.get("type")
    if kind == "response.output_item.added" and frame["item"].get("type") == "function_call":
        item = frame["item"]
        yield (
            frame.get("output_index"),
            {"id": item.get("call_id"), "name": item.get("name"), "arguments": item.get("arguments")},
        )
    elif kind == "response.function_call_arguments.delta":
        yield frame.get("output_index"), {"arguments": frame.get("delta")}


def table_of(run: Run) -> Table:
    """Return the calls of a run by their key: the first id and name count, arguments are appended."""
    table: Table = {}
    for frame in frames(run.chunks):
        for key, piece in pieces(run.wire, frame):
            if key not in table and not piece.get("name"):
                continue  # a piece of something else, or of a call whose beginning was lost
            call = table.setdefault(key, {"id": None, "name": None, "arguments": ""})
            call["id"] = call["id"] or piece.get("id")
            call["name"] = call["name"] or piece.get("name")
            call["arguments"] += piece.get("arguments") or ""
    return table
