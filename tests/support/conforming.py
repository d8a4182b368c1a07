"""Complete streams and bodies of four wires, by the published schemas; and servers' variants of their members."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Payload = dict[str, Any]


def stream_of(dialect: str, frames: Sequence[Payload]) -> bytes:
    """Return frames as a server sends them: named where the wire has names, with a `[DONE]` where it has one."""
    out = b""
    for frame in frames:
        kind = frame.get("type")
        if dialect in {"anthropic", "responses"} and type(kind) is str and kind:
            out += b"event: " + kind.encode() + b"\n"
        out += b"data: " + json.dumps(frame).encode() + b"\n\n"
    return out + (b"data: [DONE]\n\n" if dialect == "chat-completions" else b"")


def payloads(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the payloads of a stream that can be read, and are not errors; of Code Assist the response in them."""
    for block in re.split(rb"\r?\n\r?\n", data):
        head, _, text = block.rpartition(b"data:")
        try:
            payload = json.loads(text)
        except ValueError:
            continue
        is_error = b"event: error" in head or not isinstance(payload, dict) or payload.get("error")
        if not is_error and payload.get("type") not in ("error", "ping"):
            inner = payload.get("response") if "candidates" not in payload and "type" not in payload else None
            yield inner if isinstance(inner, dict) else payload


# Values that a server may write instead: every JSON type, blank and not, and nothing at all.
OTHERS: Mapping[str, Any] = {
    "null": None,
    "blank": "",
    "word": "zzz",
    "number": 7,
    "fraction": 0.5,
    "flag": True,
    "object": {"q": 1},
    "empty object": {},
    "list": [1],
    "empty list": [],
}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every member in a value, at any depth."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict):
            yield (*at, key)
        if isinstance(each, (dict, list)):
            yield from places(each, (*at, key))


def changed_at(value: Any, at: tuple[Any, ...], name: str) -> Any:
    """Return a copy of a value with the member at a place gone, or of another type."""
    copied = copy.deepcopy(value)
    holder = copied
    for key in at[:-1]:
        holder = holder[key]
    if name == "gone":
        del holder[at[-1]]
    else:
        holder[at[-1]] = OTHERS[name]
    return copied


def changed(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value with one member gone, or of another type: the change, and the value."""
    for at in places(value):
        for name in ("gone", *OTHERS):
            copied = changed_at(value, at, name)
            if copied != value:
                yield f"{'.'.join(map(str, at))} {name}", copied


# Chat Completions.

_TOKENS = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def _chunk(delta: Payload, reason: str | None = None) -> Payload:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def _piece(**call: Any) -> Payload:
    return _chunk({"tool_calls": [{"index": 0, **call}]})


_COUNTS = {**_chunk({}), "choices": [], "usage": _TOKENS}
_TALK = [_chunk({"role": "assistant", "content": ""}), _chunk({"content": "hi"}), _chunk({"content": " ho"})]
_CALLING = [
    _piece(id="c1", type="function", function={"name": "f", "arguments": ""}),
    _piece(function={"arguments": '{"a":'}),
    _piece(function={"arguments": " 1}"}),
]


def _completion(reason: str, **message: Any) -> Payload:
    choice = {
        "index": 0,
        "message": {"role": "assistant", **message},
        "logprobs": None,
        "finish_reason": reason,
    }
    head = {"id": "r1", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice], "usage": _TOKENS}


# Responses.


def _response(status: str, *items: Payload, **more: Any) -> Payload:
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": status}
    return {
        **head,
        "output": list(items),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }


def _text(text: str) -> Payload:
    return {"type": "output_text", "text": text, "annotations": []}


def _message(status: str, *parts: Payload) -> Payload:
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": list(parts)}


def _function(status: str, text: str) -> Payload:
    labels = {"id": "fc_1", "call_id": "call_1", "name": "f"}
    return {"type": "function_call", **labels, "arguments": text, "status": status}


_PART = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
_USAGE = {
    "input_tokens": 1,
    "output_tokens": 2,
    "total_tokens": 3,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}
_ANSWER = _response(
    "completed", _message("completed", _text("hi ho")), _function("completed", '{"a": 1}'), usage=_USAGE
)
_EVENTS: list[tuple[str, Payload]] = [
    ("created", {"response": _response("in_progress")}),
    ("output_item.added", {"output_index": 0, "item": _message("in_progress")}),
    ("content_part.added", {**_PART, "part": _text("")}),
    ("output_text.delta", {**_PART, "delta": "hi", "logprobs": []}),
    ("output_text.delta", {**_PART, "delta": " ho", "logprobs": []}),
    ("output_text.done", {**_PART, "text": "hi ho", "logprobs": []}),
    ("content_part.done", {**_PART, "part": _text("hi ho")}),
    ("output_item.done", {"output_index": 0, "item": _message("completed", _text("hi ho"))}),
    ("output_item.added", {"output_index": 1, "item": _function("in_progress", "")}),
    ("function_call_arguments.delta", {"item_id": "fc_1", "output_index": 1, "delta": '{"a": 1}'}),
    (
        "function_call_arguments.done",
        {"item_id": "fc_1", "output_index": 1, "name": "f", "arguments": '{"a": 1}'},
    ),
    ("output_item.done", {"output_index": 1, "item": _function("completed", '{"a": 1}')}),
    ("completed", {"response": _ANSWER}),
]

# Anthropic.

_USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}


def claude(content: list[Payload], reason: str | None) -> Payload:
    """Return a message of Anthropic's."""
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    tokens = {"input_tokens": 1, "output_tokens": 1}
    return {**head, "stop_reason": reason, "stop_sequence": None, "usage": tokens}


_BLOCKS: list[Payload] = [
    {"type": "message_start", "message": claude([], None)},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " ho"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {**_USE, "input": {}}},
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'},
    },
    {"type": "content_block_stop", "index": 1},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 3},
    },
    {"type": "message_stop"},
]

# Gemini.


def _gemini(*parts: Payload, **more: Any) -> Payload:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
    return {"candidates": [candidate], "responseId": "r1", "modelVersion": "m"}


_METADATA = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}
_PARTS = ({"text": "hi"}, {"functionCall": {"name": "f", "args": {"a": 1}}})

STREAMS: Mapping[str, list[list[Payload]]] = {
    "anthropic": [_BLOCKS],
    "chat-completions": [
        [*_TALK, _chunk({}, "stop"), _COUNTS],
        [*_TALK[:2], *_CALLING, _chunk({}, "tool_calls"), _COUNTS],
    ],
    "gemini": [
        [
            _gemini(_PARTS[0]),
            _gemini({"text": " ho"}),
            _gemini(_PARTS[1]),
            {**_gemini({"text": ""}, finishReason="STOP"), "usageMetadata": _METADATA},
        ]
    ],
    "responses": [
        [
            {"type": f"response.{kind}", "sequence_number": number, **event}
            for number, (kind, event) in enumerate(_EVENTS)
        ]
    ],
}
BODIES: Mapping[str, list[Payload]] = {
    "anthropic": [claude([{"type": "text", "text": "hi"}, _USE], "tool_use")],
    "chat-completions": [
        _completion("stop", content="hi", refusal=None),
        _completion("tool_calls", content=None, tool_calls=[_CALL]),
    ],
    "gemini": [{**_gemini(*_PARTS, finishReason="STOP"), "usageMetadata": _METADATA}],
    "responses": [_ANSWER],
}
