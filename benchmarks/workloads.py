"""Deterministic streams to measure with, in the envelopes that the providers send.

W1 is one response with 20 parallel calls of about 380 B arguments in 4-character deltas. W2 is one call whose
arguments grow to 8, 64 or 512 KB, in deltas of 4 (`d4`) or 40 (`d40`) characters. A chunk of chat completions
has about 345 B, an event of Anthropic 140 B, one of Responses 194 B (more with `obfuscation`). The others are
the shapes in which something could grow faster than its input.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import msgspec

__all__ = [
    "DIALECTS",
    "GROWTH",
    "KIB",
    "PROFILES",
    "SHRINKING",
    "Call",
    "Workload",
    "big_done_event",
    "cut",
    "id_churn",
    "interleaved",
    "long_arguments",
    "many_calls",
    "one_call",
    "parallel_calls",
    "plain_text",
    "small_arguments",
    "snapshots",
    "w1",
    "w2",
]

KIB = 1024
JSON = dict[str, Any]

_CHUNK_ID = "chatcmpl-CPx7hWq3nTz0VbYk2LmDs8RfGeUa4"
_ITEM_ID = "fc_68d2a1"
_WORDS = [
    "alder",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbour",
    "inlet",
    "juniper",
    "kelp",
    "lagoon",
    "meadow",
    "névé",
    "orchard",
    "prairie",
    "quarry",
    "ridge",
    "spruce",
    "tundra",
    "upland",
    "valley",
    "willow",
    "yarrow",
]


@dataclass(frozen=True)
class Call:
    """One tool call with its argument text and the pieces in which it is sent."""

    id: str
    name: str
    arguments: str
    pieces: Sequence[str]


@dataclass(frozen=True)
class Workload:
    """A stream, and how many events it has."""

    name: str
    dialect: str
    data: bytes
    n_events: int


# Arguments and text.


def _text(random_: random.Random, size: int) -> str:
    """Return about `size` characters of text with line feeds and quotes, which JSON has to escape."""
    words: list[str] = []
    length = 0
    while length < size:
        word = random_.choice(_WORDS)
        if random_.random() < 0.04:
            word = f'"{word}"\n'
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[:size]


def small_arguments(seed: int) -> str:
    """Return arguments of about 380 B, of every JSON type."""
    random_ = random.Random(seed)
    value = {
        "path": f"src/{random_.choice(_WORDS)}/{random_.choice(_WORDS)}_{seed}.py",
        "line": random_.randrange(2000),
        "tags": [random_.choice(_WORDS) for _ in range(4)],
        "options": {"recursive": True, "depth": 3, "ratio": 0.25, "owner": None},
        "content": _text(random_, 220),
    }
    return json.dumps(value, ensure_ascii=False)


def long_arguments(size: int) -> str:
    """Return arguments with one string of about `size` characters."""
    value = {"path": "docs/field_guide.md", "mode": "w", "content": _text(random.Random(size), size)}
    return json.dumps(value, ensure_ascii=False)


def _every(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


class Options(msgspec.Struct):
    """What the options of a small call are."""

    recursive: bool
    depth: int
    ratio: float
    owner: str | None


class WriteFile(msgspec.Struct):
    """The tool of the small calls, as a type."""

    path: str
    line: int
    tags: list[str]
    options: Options
    content: str


def _small_call(number: int, size: int = 4) -> Call:
    arguments = small_arguments(number)
    return Call(f"call_{number:024d}", "write_file", arguments, _every(arguments, size))


# Envelopes.


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _sse(payload: JSON) -> bytes:
    return b"data: " + _compact(payload) + b"\n\n"


def _named_sse(payload: JSON) -> bytes:
    return f"event: {payload['type']}\n".encode() + _sse(payload)


def _chat_chunk(delta: JSON, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _sse(
        {
            "id": _CHUNK_ID,
            "object": "chat.completion.chunk",
            "created": 1_760_000_000,
            "model": "gpt-4.1-mini-2025-04-14",
            "service_tier": "default",
            "system_fingerprint": "fp_4c2851f862",
            "choices": [choice],
            "usage": None,
        }
    )


def _chat_head(index: int, call: Call) -> JSON:
    function = {"name": call.name, "arguments": ""}
    return {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}


def _chat_piece(index: int, piece: str) -> JSON:
    return {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _chat_stream(deltas: Iterable[JSON], finish: str = "tool_calls") -> list[bytes]:
    opening: JSON = {"role": "assistant", "content": None, "refusal": None}
    events = [_chat_chunk(opening), *map(_chat_chunk, deltas), _chat_chunk({}, finish)]
    return [*events, b"data: [DONE]\n\n"]


def _chat(calls: Sequence[Call]) -> list[bytes]:
    deltas: list[JSON] = []
    for index, call in enumerate(calls):
        deltas.append(_chat_head(index, call))
        deltas += [_chat_piece(index, piece) for piece in call.pieces]
    return _chat_stream(deltas)


def _anthropic_message(blocks: list[JSON], reason: str) -> list[bytes]:
    usage = {"input_tokens": 412, "output_tokens": 2, "service_tier": "standard"}
    message: JSON = {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant"}
    message |= {"model": "claude-sonnet-4-5", "content": [], "stop_reason": None, "usage": usage}
    end: JSON = {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 89}}
    payloads: list[JSON] = [{"type": "message_start", "message": message}, {"type": "ping"}, *blocks]
    payloads += [{"type": "message_delta"} | end, {"type": "message_stop"}]
    return [_named_sse(payload) for payload in payloads]


def _anthropic_block(index: int, block: JSON, type_: str, member: str, pieces: Sequence[str]) -> list[JSON]:
    start: JSON = {"type": "content_block_start", "index": index, "content_block": block}
    deltas: list[JSON] = [
        {"type": "content_block_delta", "index": index, "delta": {"type": type_, member: piece}}
        for piece in pieces
    ]
    return [start, *deltas, {"type": "content_block_stop", "index": index}]


def _anthropic(calls: Sequence[Call]) -> list[bytes]:
    blocks: list[JSON] = []
    for index, call in enumerate(calls):
        block: JSON = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        blocks += _anthropic_block(index, block, "input_json_delta", "partial_json", ["", *call.pieces])
    return _anthropic_message(blocks, "tool_use")


class _Responses:
    """Numbers the events of one response."""

    def __init__(self, *, obfuscated: bool = False) -> None:
        self.events: list[bytes] = []
        self._obfuscated = obfuscated

    def say(self, name: str, **fields: Any) -> None:
        payload = {"type": f"response.{name}", "sequence_number": len(self.events)} | fields
        self.events.append(_named_sse(payload))

    def response(self, name: str, status: str, output: list[JSON]) -> None:
        response: JSON = {"id": "resp_68d2a1b3c4", "object": "response", "created_at": 1_760_000_000}
        usage = {"input_tokens": 64, "output_tokens": 512, "total_tokens": 576}
        response |= {"status": status, "model": "gpt-4.1", "output": output, "usage": usage}
        self.say(name, response=response)

    def pieces(self, kind: str, where: JSON, pieces: Sequence[str]) -> None:
        for piece in pieces:
            padding = {"obfuscation": "k3Jx9QpLw7Rt"} if self._obfuscated else {}
            self.say(f"{kind}.delta", **where, delta=piece, **padding)

    def call(self, index: int, call: Call) -> JSON:
        item: JSON = {"id": f"{_ITEM_ID}{index:03}", "type": "function_call", "status": "in_progress"}
        item |= {"arguments": "", "call_id": call.id, "name": call.name}
        self.say("output_item.added", output_index=index, item=item)
        where = {"item_id": item["id"], "output_index": index}
        self.pieces("function_call_arguments", where, call.pieces)
        self.say("function_call_arguments.done", **where, arguments=call.arguments)
        item |= {"arguments": call.arguments, "status": "completed"}
        self.say("output_item.done", output_index=index, item=item)
        return item


def _responses(calls: Sequence[Call], *, obfuscated: bool = False) -> list[bytes]:
    stream = _Responses(obfuscated=obfuscated)
    stream.response("created", "in_progress", [])
    stream.response("in_progress", "in_progress", [])
    output = [stream.call(index, call) for index, call in enumerate(calls)]
    stream.response("completed", "completed", output)
    return stream.events


def _responses_text(pieces: Sequence[str]) -> list[bytes]:
    stream = _Responses()
    stream.response("created", "in_progress", [])
    item: JSON = {"id": "msg_68d2a1", "type": "message", "role": "assistant", "status": "in_progress"}
    stream.say("output_item.added", output_index=0, item=item | {"content": []})
    where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part: JSON = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    stream.say("content_part.added", **where, part=part)
    stream.pieces("output_text", where, pieces)
    part |= {"text": "".join(pieces)}
    stream.say("output_text.done", **where, text=part["text"])
    stream.say("content_part.done", **where, part=part)
    item |= {"status": "completed", "content": [part]}
    stream.say("output_item.done", output_index=0, item=item)
    stream.response("completed", "completed", [item])
    return stream.events


DIALECTS: dict[str, Callable[[Sequence[Call]], list[bytes]]] = {
    "chat-completions": _chat,
    "anthropic": _anthropic,
    "responses": _responses,
}


def _workload(name: str, dialect: str, events: Sequence[bytes]) -> Workload:
    return Workload(name, dialect, b"".join(events), len(events))


# The workloads.


def parallel_calls(dialect: str, n: int) -> Workload:
    """Return `n` parallel calls of about 380 B arguments in 4-character deltas."""
    calls = [_small_call(number) for number in range(n)]
    return _workload(f"{n} calls d4", dialect, DIALECTS[dialect](calls))


@functools.cache
def w1(dialect: str, *, obfuscated: bool = False) -> Workload:
    """Return workload W1; `obfuscated` is for Responses."""
    if not obfuscated:
        return _workload("W1", dialect, DIALECTS[dialect]([_small_call(number) for number in range(20)]))
    events = _responses([_small_call(number) for number in range(20)], obfuscated=True)
    return _workload("W1 obfuscated", dialect, events)


@functools.cache
def w2(dialect: str, size: int, delta: int) -> Workload:
    """Return workload W2: one call with `size` characters of text in deltas of `delta` characters."""
    arguments = long_arguments(size)
    call = Call("call_w2", "write_file", arguments, _every(arguments, delta))
    return _workload(f"W2 {size // KIB}K d{delta}", dialect, DIALECTS[dialect]([call]))


def one_call(n: int) -> Workload:
    """Return a chat call that arrives in `n` deltas of one character."""
    arguments = json.dumps({"content": "x" * max(n - 14, 0)})
    call = Call("call_n", "write_file", arguments, _every(arguments, 1))
    return _workload(f"{n} one-character deltas", "chat-completions", _chat([call]))


def interleaved(n: int = 20) -> Workload:
    """Return chat calls whose deltas take turns."""
    calls = [_small_call(number) for number in range(n)]
    deltas = [_chat_head(index, call) for index, call in enumerate(calls)]
    for pieces in zip_longest(*(call.pieces for call in calls), fillvalue=""):
        deltas += [_chat_piece(index, piece) for index, piece in enumerate(pieces) if piece]
    return _workload("interleaved", "chat-completions", _chat_stream(deltas))


def id_churn(n: int) -> Workload:
    """Return one chat call of `n` fragments, each with a new id, all on one index."""
    arguments = json.dumps({"content": "y" * (4 * n - 15)})
    deltas: list[JSON] = []
    for number, piece in enumerate(_every(arguments, 4)):
        function = {"name": "write_file" if number == 0 else None, "arguments": piece}
        deltas.append({"tool_calls": [{"index": 0, "id": f"call_{number}", "function": function}]})
    return _workload(f"{n} changing ids", "chat-completions", _chat_stream(deltas))


def snapshots(n: int, step: int = 200) -> Workload:
    """Return a chat call that is sent `n` times, every time `step` characters longer; bytes grow as n²."""
    arguments = json.dumps({"path": "a", "content": "z" * (n * step)})
    call = Call("call_s", "write_file", arguments, ())
    texts = [arguments[: 24 + number * step] for number in range(n)] + [arguments]
    deltas = [_chat_head(0, call), *(_chat_piece(0, text) for text in texts)]
    return _workload(f"{n} snapshots", "chat-completions", _chat_stream(deltas))


def blanks(n: int) -> Workload:
    """Return a chat call of 40 `n` characters, and `n` fragments of white space after its end."""
    arguments = json.dumps({"content": "y" * (40 * n)})
    call = Call("call_b", "write_file", arguments, ())
    blank: JSON = {"tool_calls": [{"index": 0, "id": "call_b", "function": {"arguments": "\n"}}]}
    deltas = [_chat_head(0, call), _chat_piece(0, arguments), *(blank for _ in range(n))]
    return _workload(f"{n} blank fragments", "chat-completions", _chat_stream(deltas))


def many_calls(n: int) -> Workload:
    """Return `n` chat calls of few deltas each."""
    arguments = '{"city": "Oslo"}'
    calls = [Call(f"call_{number}", "weather", arguments, _every(arguments, 8)) for number in range(n)]
    return _workload(f"{n} calls", "chat-completions", _chat(calls))


def plain_text(dialect: str, size: int = 32 * KIB) -> Workload:
    """Return a turn that holds nothing but text, in 4-character deltas."""
    pieces = _every(_text(random.Random(7), size), 4)
    if dialect == "chat-completions":
        events = _chat_stream([{"content": piece} for piece in pieces], "stop")
    elif dialect == "anthropic":
        block = {"type": "text", "text": ""}
        events = _anthropic_message(_anthropic_block(0, block, "text_delta", "text", pieces), "end_turn")
    else:
        events = _responses_text(pieces)
    return _workload("plain text", dialect, events)


def big_done_event(size: int = 1024 * KIB) -> Workload:
    """Return a response whose one call comes in a single `.done` event of about `size` bytes."""
    stream = _Responses()
    stream.response("created", "in_progress", [])
    item: JSON = {"id": "fc_big", "type": "function_call", "call_id": "call_big", "name": "write_file"}
    stream.say("output_item.added", output_index=0, item=item | {"arguments": ""})
    where: JSON = {"item_id": "fc_big", "output_index": 0}
    stream.say("function_call_arguments.done", **where, arguments=long_arguments(size))
    stream.response("completed", "completed", [])
    return _workload("1 MB event", "responses", stream.events)


# What a stream can have more of, with the n to begin at.
GROWTH: dict[str, tuple[Callable[[int], Workload], int]] = {
    "bytes of text": (lambda n: plain_text("chat-completions", n), 32 * KIB),
    "bytes of one call (d40)": (lambda n: w2("chat-completions", n, 40), 256 * KIB),
    "one-character deltas": (one_call, 8000),
    "calls": (many_calls, 1000),
    "fragments with changing ids": (id_churn, 4000),
    "bytes of snapshots": (snapshots, 100),
    "fragments after the end of a call": (blanks, 8000),
    "bytes of one event": (big_done_event, 256 * KIB),
}


# What old arguments are made of, by about so many characters.
SHRINKING: dict[str, Callable[[int], str]] = {
    "one long string": long_arguments,
    "strings of 300 characters": lambda n: json.dumps({f"key{at}": "y" * 300 for at in range(n // 312)}),
    "escapes": lambda n: json.dumps({"content": "line\n" * (n // 6)}),
    "numbers in arrays": lambda n: json.dumps([[at, 0.5, None] for at in range(n // 23)]),
    "nested arrays": lambda n: "[" * (n // 16) + json.dumps("z" * (n - n // 8)) + "]" * (n // 16),
}


# How a stream is cut into reads.


def _sized(size: int) -> Callable[[bytes], list[bytes]]:
    return lambda data: [data[start : start + size] for start in range(0, len(data), size)]


def _frames(data: bytes) -> list[bytes]:
    *frames, rest = data.split(b"\n\n")
    reads = [frame + b"\n\n" for frame in frames]
    return [*reads, rest] if rest else reads


def _fuzzed(data: bytes, seed: int = 11) -> list[bytes]:
    """Cut at seeded random places: mostly network-like reads, some of a few bytes."""
    random_ = random.Random(seed)
    reads: list[bytes] = []
    start = 0
    while start < len(data):
        size = random_.randint(1, 16) if random_.random() < 0.2 else random_.randint(17, 3000)
        reads.append(data[start : start + size])
        start += size
    return reads


PROFILES: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda data: [data],
    "frame": _frames,
    "1460": _sized(1460),
    "64": _sized(64),
    "7": _sized(7),
    "1": _sized(1),
    "fuzzed": _fuzzed,
}


def cut(data: bytes, size: int) -> list[bytes]:
    """Cut a stream into reads of `size` bytes."""
    return _sized(size)(data)
