"""Streams of an agent's turns in three dialects: a call of `get_tide` as servers send it, whole and broken, and an answer.

A turn is written from the dialect's documentation, an event a piece. The faults of a call are the same in all dialects:

    whole       as documented
    cut         the stream ends inside the arguments, and says nothing more
    doubled     the call is said twice, under one id
    churning    each piece of the call has another label than the one before
    no-ids      the call has no id, so that the parser makes one up, the same in every turn
    misfit      the arguments are JSON, and do not fit the tool
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

BROKEN = ("cut", "doubled", "churning", "no-ids", "misfit")
PATHS = {
    "chat-completions": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
DIALECTS = tuple(PATHS)
ID = "call_1"
Events = list[dict[str, Any]]


def tide(dialect: str, way: str = "whole") -> list[bytes]:
    """Return a turn with one call: `get_tide` at Brest."""
    text = '{"port":["Brest"]}' if way == "misfit" else '{"port":"Brest"}'
    return _WRITERS[dialect][0](way, None if way == "no-ids" else ID, [text[:6], text[6:]])


def told(dialect: str, way: str) -> bool:
    """Return whether the model is told that the call was not executed: a block's text has an owner, or it is lost."""
    return way in {"cut", "misfit"} or (way == "churning" and dialect == "anthropic")


def said(dialect: str, text: str = "At 06:12.") -> list[bytes]:
    """Return a turn with text only."""
    return _WRITERS[dialect][1](text)


def _lines(events: Events, *, named: bool) -> list[bytes]:
    head = "event: {type}\n" if named else ""
    return [(head.format(**event) + f"data: {json.dumps(event)}\n\n").encode() for event in events]


# Chat Completions.


def _chat_chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def _chat_entry(text: str, id: str | None, name: str | None) -> dict[str, Any]:
    labels = ({} if id is None else {"id": id}) | ({} if name is None else {"type": "function"})
    function = {"arguments": text} | ({} if name is None else {"name": name})
    return _chat_chunk({"tool_calls": [{"index": 0, **labels, "function": function}]})


def _chat_tide(way: str, id: str | None, texts: list[str]) -> list[bytes]:
    later = "call_{}" if way == "churning" else None
    pieces = [_chat_entry("", id, "get_tide")]
    pieces += [_chat_entry(text, later and later.format(n + 2), None) for n, text in enumerate(texts)]
    if way == "cut":
        return _lines(pieces[:-1], named=False)
    again = [_chat_entry("".join(texts), id, "get_tide")] if way == "doubled" else []
    return [*_lines([*pieces, *again, _chat_chunk({}, "tool_calls")], named=False), b"data: [DONE]\n\n"]


def _chat_said(text: str) -> list[bytes]:
    return [
        *_lines([_chat_chunk({"content": text}), _chat_chunk({}, "stop")], named=False),
        b"data: [DONE]\n\n",
    ]


# Anthropic Messages.


def _message(events: Events, reason: str) -> list[bytes]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    about = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    start = {"type": "message_start", "message": {**about, "stop_reason": None, "stop_sequence": None}}
    delta = {"stop_reason": reason, "stop_sequence": None}
    end = [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
    return _lines([start, *events, *end], named=True)


def _block(
    index: int, block: dict[str, Any], deltas: Events, at: Callable[[int], int] | None = None
) -> Events:
    place = at or (lambda _: index)
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *(
            {"type": "content_block_delta", "index": place(n), "delta": delta}
            for n, delta in enumerate(deltas)
        ),
        {"type": "content_block_stop", "index": index},
    ]


def _anthropic_tide(way: str, id: str | None, texts: list[str]) -> list[bytes]:
    labels = {} if id is None else {"id": id}
    block = {"type": "tool_use", **labels, "name": "get_tide", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": text} for text in texts]
    if way == "churning":  # the index of the deltas counts on; the block has but one
        return _message(_block(0, block, deltas, lambda n: n), "tool_use")
    events = _block(0, block, deltas)
    if way == "cut":
        return _message(events, "tool_use")[:3]
    return _message(events * (2 if way == "doubled" else 1), "tool_use")


def _anthropic_said(text: str) -> list[bytes]:
    deltas = [{"type": "text_delta", "text": text}]
    return _message(_block(0, {"type": "text", "text": ""}, deltas), "end_turn")


# Responses.


def _response(events: Events, output: Events) -> list[bytes]:
    about = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "tools": [], "output": []}
    about |= {"parallel_tool_calls": True, "tool_choice": "auto", "status": "in_progress"}
    done = {**about, "status": "completed", "output": output}
    every = [
        {"type": "response.created", "response": about},
        *events,
        {"type": "response.completed", "response": done},
    ]
    return _lines([{**event, "sequence_number": n} for n, event in enumerate(every)], named=True)


def _item(item: dict[str, Any], pieces: Events, at: int = 0) -> Events:
    open_item = {**item, "status": "in_progress"} | (
        {"arguments": ""} if "arguments" in item else {"content": []}
    )
    return [
        {"type": "response.output_item.added", "output_index": at, "item": open_item},
        *({"item_id": item["id"], "output_index": at, **piece} for piece in pieces),
        {"type": "response.output_item.done", "output_index": at, "item": item},
    ]


def _responses_tide(way: str, id: str | None, texts: list[str]) -> list[bytes]:
    labels = {} if id is None else {"call_id": id}
    item = {"id": "i1", "type": "function_call", "status": "completed", "name": "get_tide", **labels}
    item["arguments"] = "".join(texts)
    delta = "response.function_call_arguments.delta"
    pieces: Events = [{"type": delta, "delta": text} for text in texts]
    pieces += [
        {"type": "response.function_call_arguments.done", "name": "get_tide", "arguments": "".join(texts)}
    ]
    if way == "churning":  # each event gives the item a new id, like a relay that seals its ids
        pieces = [{**piece, "item_id": f"i{n + 2}"} for n, piece in enumerate(pieces)]
    events = _item(item, pieces)
    if way == "cut":
        return _response(events, [item])[:3]
    return _response(events * (2 if way == "doubled" else 1), [item])


def _responses_said(text: str) -> list[bytes]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "i1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    delta = {"type": "response.output_text.delta", "content_index": 0, "delta": text, "logprobs": []}
    return _response(_item(item, [delta]), [item])


_WRITERS: dict[str, tuple[Callable[[str, Any, list[str]], list[bytes]], Callable[[str], list[bytes]]]] = {
    "chat-completions": (_chat_tide, _chat_said),
    "responses": (_responses_tide, _responses_said),
    "anthropic": (_anthropic_tide, _anthropic_said),
}
