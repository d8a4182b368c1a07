"""Damage to bytes as broken servers, proxies and attackers do it to a stream, drawn from a random generator.

Bytes alone rarely get past a decoder. Therefore half of the damage keeps the layer below intact: events are dropped,
doubled and swapped whole, values are changed inside of JSON that stays JSON, and messages of a binary event stream get
their checksums anew.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from typing import Any
from zlib import crc32

TOKENS = (
    b"data: ", b"data:", b"event: ", b"id: ", b"retry: ", b":", b"\n", b"\n\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"\xff",
    b"\x00", b"\xe2\x82", b"\xed\xa0\x80", b'"', b"\\", b"\\u", b"\\ud83d", b"\\u0000", b"{", b"}", b"[", b"]", b",", b"'",
    b"null", b"true", b"NaN", b"1e999", b"-1", b"9" * 30, b"[DONE]", b"```json\n", b"<|im_end|>", b"{}", b"{}{}", b'""',
    b'"index":', b'"id":', b'"name":', b'"arguments":', b'"type":', b"0:", b"9:", b"#", b"//", b"/*", b"&a ", b"*a", b"<<: *a",
    b"!!binary ", b"---\n", b"- ", b": ", b"? ", b"\t", b"[" * 60, b'{"a":' * 40, "é😀\u2028\u201c".encode(), b"\x1f\x8b", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 2**31, 2**63, 10**30, 1.0, -0.5, 1e300, "", " ", "0", "1", "null", "{", "{}", '{"a":1}', "}",
    '{"a":1}{"a":1}', "\ud83d", "\x00", "x" * 300, [], {}, [None], [[]], [{}], {"": None}, {"error": {"message": "no"}}, "stop",
    "tool_calls", "length", "error", "function", "tool_use", "get_tide", "call_1", "arguments", "completed", "[DONE]",
)  # fmt: skip


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to four damages."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(_DAMAGES)(data, rng)
    return data


def events_of(data: bytes) -> list[bytes]:
    """Cut a stream after each of its events: messages, events or lines. Together they are the bytes."""
    messages = _messages(data)
    if messages:
        return messages
    end = next((end for end in (b"\n\n", b"\r\n\r\n", b"\r\r") if end in data), b"\n")
    parts = data.split(end)
    found = [part + end for part in parts[:-1]]
    return [*found, parts[-1]] if parts[-1] else found


# Of bytes.


def _place(data: bytes, rng: random.Random, most: int = 24) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((0, 1, 1, 2, rng.randint(0, most))))


def _lose(data: bytes, rng: random.Random) -> bytes:
    start, end = _place(data, rng, 200)
    return data[:start] + data[end:]


def _double(data: bytes, rng: random.Random) -> bytes:
    start, end = _place(data, rng, 200)
    return data[:end] + data[start:end] + data[end:]


def _put(data: bytes, rng: random.Random) -> bytes:
    start, end = _place(data, rng)
    return data[:start] + rng.choice(TOKENS) + data[end:]


def _set(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    return data[:start] + rng.randbytes(1) + data[start + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


# Of events.


def _shuffle(data: bytes, rng: random.Random) -> bytes:
    """Drop an event, double one, or swap two."""
    events = events_of(data)
    if not events:
        return data
    one, other = rng.randrange(len(events)), rng.randrange(len(events))
    way = rng.randrange(3)
    if way == 0:
        del events[one]
    elif way == 1:
        events.insert(other, events[one])
    else:
        events[one], events[other] = events[other], events[one]
    return b"".join(events)


def _messages(data: bytes) -> list[bytes]:
    """Return the whole messages of a binary event stream, none if it is not one."""
    found: list[bytes] = []
    at = 0
    while at + 16 <= len(data):
        total = int.from_bytes(data[at : at + 4], "big")
        if not 16 <= total <= len(data) - at or crc32(data[at : at + 8]) != int.from_bytes(
            data[at + 8 : at + 12], "big"
        ):
            break
        found.append(data[at : at + total])
        at += total
    return [*found, data[at:]] if found and at < len(data) else found


# Of values.


def _alter(data: bytes, rng: random.Random) -> bytes:
    """Change a value inside one event; its carrier stays well formed."""
    events = events_of(data)
    if not events:
        return data
    at = rng.randrange(len(events))
    events[at] = (_altered_message if _messages(events[at]) else _altered_text)(events[at], rng)
    return b"".join(events)


def _altered_message(message: bytes, rng: random.Random) -> bytes:
    start = 12 + int.from_bytes(message[4:8], "big")
    return with_payload(message, _altered_text(message[start:-4], rng))


def with_payload(message: bytes, payload: bytes) -> bytes:
    """Return a message of a binary event stream with another payload, and with the checksums of this one."""
    start = 12 + int.from_bytes(message[4:8], "big")
    lengths = struct.pack(">II", len(payload) + start + 4, start - 12)
    body = lengths + struct.pack(">I", crc32(lengths)) + message[12:start] + payload
    return body + struct.pack(">I", crc32(body))


def _altered_text(text: bytes, rng: random.Random) -> bytes:
    start, end = text.find(b"{"), text.rfind(b"}") + 1
    if text.lstrip().startswith(b"["):
        start, end = text.find(b"["), text.rfind(b"]") + 1
    try:
        value = json.loads(text[start:end])
    except (ValueError, RecursionError):
        return _put(text, rng)
    changed = json.dumps(altered(value, rng), ensure_ascii=rng.random() < 0.3, separators=(",", ":"))
    return text[:start] + changed.encode("utf-8", "surrogatepass") + text[end:]


def altered(value: Any, rng: random.Random) -> Any:
    """Change one place of a decoded value, in place where it can be."""
    places = list(_places(value))
    if not places or rng.random() < 0.02:
        return rng.choice(ODD)
    holder, key = rng.choice(places)
    inner = holder[key]
    way = rng.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(inner, str):
        holder[key] = _altered_string(inner, rng)
    elif way == 2:
        other, name = rng.choice(places)
        holder[key] = json.loads(json.dumps(other[name])) if name in _keys(other) else None
    elif way == 3 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(inner)))
    elif way == 4 and isinstance(holder, dict):
        del holder[key]
        other, name = rng.choice(places)
        holder[name if isinstance(name, str) else "x"] = inner
    else:
        holder[key] = rng.choice(ODD)
    return value


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _places(value: Any) -> Any:
    stack = [value]
    while stack:
        holder = stack.pop()
        if isinstance(holder, (dict, list)):
            for key in _keys(holder):
                yield holder, key
                stack.append(holder[key])


def _altered_string(text: str, rng: random.Random) -> str:
    start, end = _place(text.encode("utf-8", "surrogatepass"), rng)
    new = rng.choice((*TOKENS, b"")).decode("utf-8", "replace")
    return text[: min(start, len(text))] + new + text[end:]


_Damage = Callable[[bytes, random.Random], bytes]
_DAMAGES: tuple[_Damage, ...] = (
    _lose,
    _double,
    _put,
    _put,
    _set,
    _cut,
    _shuffle,
    _shuffle,
    _alter,
    _alter,
    _alter,
    _alter,
)
