"""What wholecall is compared with: the loop that people paste, and the floor below which nothing robust goes.

The *naive* loops split at blank lines, read every event with `json.loads` and gather the pieces in dicts of
lists. They know of no quirk, no limit and no cut stream, and they give no events on the way. The *floor* is
wholecall's own framing and its dialect's own typed decoding of the same frames, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from benchmarks.workloads import Result
from wholecall import Limits, ToolCallParser, Tools
from wholecall.dialects.anthropic import views as anthropic_views
from wholecall.dialects.openai import chat_views, responses_events
from wholecall.framing import FRAMINGS

__all__ = ["NAIVE", "Result", "floor", "found", "naive_payloads", "ours", "parse"]

Pending = dict[int, dict[str, Any]]


# Ours.


def parse(
    reads: Iterable[bytes],
    limits: Limits = Limits(),  # noqa: B008 - frozen
    tools: Tools[Any] | None = None,
    *,
    events: Literal["all", "calls"] = "all",
) -> ToolCallParser[Any]:
    """Feed a stream to a parser of unknown dialect and close it: this is what is timed."""
    parser: ToolCallParser[Any] = ToolCallParser(tools=tools, events=events, limits=limits)
    for read in reads:
        parser.feed(read)
    parser.close()
    return parser


def ours(reads: Iterable[bytes], limits: Limits = Limits()) -> Result:  # noqa: B008 - frozen
    """Return what wholecall makes of a stream."""
    return found(parse(reads, limits))


def found(parser: ToolCallParser[Any]) -> Result:
    """Return what a parser has read."""
    turn = parser.turn
    return Result(turn.text, [(call.id, call.name, call.arguments) for call in turn.calls])


# The naive loop.


def naive_payloads(reads: Iterable[bytes]) -> Iterator[str]:
    """Split at blank lines and take the data lines."""
    buffer = b""
    for read in reads:
        buffer += read
        if b"\n\n" in buffer:
            *events, buffer = buffer.split(b"\n\n")
            for event in events:
                yield event[event.index(b"data: ") + 6 :].decode()


def _naive_chat(reads: Iterable[bytes]) -> Result:
    text: list[str] = []
    calls: Pending = {}
    for data in naive_payloads(reads):
        if data == "[DONE]":
            break
        chunk = json.loads(data)
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
    return _naive_result(text, calls)


def _naive_anthropic(reads: Iterable[bytes]) -> Result:
    text: list[str] = []
    calls: Pending = {}
    for data in naive_payloads(reads):
        event = json.loads(data)
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
    return _naive_result(text, calls)


def _naive_responses(reads: Iterable[bytes]) -> Result:
    text: list[str] = []
    calls: Pending = {}
    for data in naive_payloads(reads):
        event = json.loads(data)
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
    return _naive_result(text, calls)


def _naive_result(text: Sequence[str], calls: Pending) -> Result:
    found = [
        (call["id"], call["name"], json.loads("".join(call["arguments"])))
        for _, call in sorted(calls.items())
    ]
    return Result("".join(text), found)


NAIVE: dict[str, Callable[[Iterable[bytes]], Result]] = {
    "chat-completions": _naive_chat,
    "anthropic": _naive_anthropic,
    "responses": _naive_responses,
}


# The floor.

_DECODE: dict[str, Callable[[str], Any]] = {
    "chat-completions": chat_views.NARROW.decode,
    "anthropic": anthropic_views.DECODER.decode,
    "responses": responses_events.DECODER.decode,
}


def floor(reads: Iterable[bytes], dialect: str) -> int:
    """Frame and decode a stream; return how many frames there were."""
    framing = FRAMINGS["sse"](Limits())
    decode = _DECODE[dialect]
    n_frames = 0
    for read in reads:
        for frame in framing.feed(read):
            n_frames += 1
            try:
                decode(frame.data)
            except msgspec.DecodeError:
                continue  # `[DONE]`
    framing.close()
    return n_frames
