"""Hostile streams: shapes of which a server can send more and more, to make a reader scan its buffered input again.

Each is cheap for its sender. None is a healthy stream; the criterion is therefore the number of emitted events of one
kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import workloads
from benchmarks.claims import Contender
from benchmarks.workloads import READ
from wholecall import ToolCallParser

_FORGET_EVERY = 64  # reads
_COLLIDING = 2**61 - 1  # its multiples all have the hash 0


class Attack(NamedTuple):
    """The reads of a stream, and its number of events of a kind."""

    reads: list[bytes]
    size: int
    kind: str
    n_events: int


class Shape(NamedTuple):
    """A repeatable shape that a server can send.

    Attributes:
        make: makes the stream with so many repetitions.
        n: the number to begin at.
        kind: the events by which the reader is seen to have read all.
        n_events: the number of these events that are emitted.
    """

    make: Callable[[int], bytes]
    n: int
    kind: str = "TurnFinished"
    n_events: Callable[[int], int] = lambda _: 1


def _event(payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def _chat(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _call(index: int, text: str, **labels: str) -> bytes:
    name = {"name": labels.pop("name")} if "name" in labels else {}
    return _chat({"tool_calls": [{"index": index, **labels, "function": {**name, "arguments": text}}]})


_HEAD = _call(0, '{"a":"', id="c", name="f")
_BROKEN = b"data: {broken\n\n"


def _starts(n: int) -> bytes:
    return b"".join(_event({"type": "message_start", "message": {"id": f"m{k}"}}) for k in range(n))


def _holes(n: int) -> bytes:
    starts = (_event({"type": "message_start", "message": {"id": f"m{k}"}}) for k in range(n))
    return b"".join(start + _BROKEN for start in starts)


def _side_by_side(n: int) -> bytes:
    created = (
        _event({"type": "response.created", "stream_id": f"s{k}", "response": {"id": f"r{k}"}})
        for k in range(n)
    )
    return b"".join(created) + _BROKEN * n


def _finishes(n: int) -> bytes:
    return _HEAD + _call(0, "x" * (100 * n)) + (_call(0, "x") + _chat({}, "tool_calls")) * n


def _indices(n: int) -> bytes:
    return _HEAD + b"".join(_call(k, "x") for k in range(n))


def _blocks(n: int) -> bytes:
    block = {"type": "of_no_known_type"}
    return b"".join(
        _event({"type": "content_block_start", "index": (k + 1) * _COLLIDING, "content_block": block})
        for k in range(n)
    )


def _restated(n: int) -> bytes:
    message = {"role": "assistant", "content": "the same word again"}
    frame = _event(
        {"output": {"choices": [{"finish_reason": "null", "message": message}]}, "request_id": "r"}
    )
    return frame * n


def _undecided(n: int) -> bytes:
    return b"data:\n\n" * n


def _calls(n: int) -> bytes:
    return b"".join(_call(k, "{}", id=f"c{k}", name="f") for k in range(n)) + _chat({}, "tool_calls")


def _fields(n: int) -> bytes:
    calls = ({"index": 0, f"field_{k}": "x", "function": {"arguments": " "}} for k in range(n))
    return _call(0, "{}", id="c", name="f") + b"".join(_chat({"tool_calls": [call]}) for call in calls)


def _texts(make: Callable[[int], str]) -> Callable[[int], bytes]:
    """Return a maker of streams of one call with such a text."""
    return lambda n: _call(0, make(n), id="c", name="f") + _chat({}, "tool_calls")


def _members(n: int) -> str:
    return "{" + ",".join(f'"k{k}":0' for k in range(n)) + "}"


HOSTILE: dict[str, Shape] = {
    "turns that begin": Shape(_starts, 2000, "TurnStarted", lambda n: n),
    "holes in a stream of many turns": Shape(_holes, 2000, "StreamFault", lambda n: n),
    "responses side by side, and holes": Shape(_side_by_side, 2000, "StreamFault", lambda n: n),
    "finish reasons of an open call": Shape(_finishes, 2000, "ArgumentsDelta", lambda n: n + 2),
    "changing indices": Shape(_indices, 4000, "ArgumentsDelta", lambda n: n + 1),
    "indices of one hash": Shape(_blocks, 8000),
    "equal texts that may restate": Shape(_restated, 4000),
    "empty frames before the dialect": Shape(_undecided, 8000),
    # One call more than allowed begins: it represents all further calls.
    "calls beyond their limit": Shape(_calls, 8000, "ToolCallStarted", lambda n: min(n, 129)),
    "fields of a call, new in each fragment": Shape(_fields, 8000, "ArgumentsDelta", lambda n: n + 1),
    "a name in pieces": Shape(lambda n: _call(0, "", name="f" * 10) * n, 8000),
    "lines of one event": Shape(lambda n: _HEAD + b"data: x\n" * n, 32_000),
    "a line that does not end": Shape(lambda n: _HEAD + b"data: " + b"x" * (100 * n), 40_000),
    "a comment that does not end": Shape(lambda n: _HEAD + b":" * (100 * n), 32_000),
    "brackets that open": Shape(_texts(lambda n: '{"a":' * n), 16_000, "ToolCallDropped"),
    "brackets that open and close": Shape(_texts(lambda n: '{"a":' + "[" * n + "]" * n + "}"), 16_000),
    "members of an object": Shape(_texts(_members), 64_000, "ToolCall"),
    "digits of a number": Shape(_texts(lambda n: '{"a":' + "9" * n + "}"), 1_000_000),
    "slips in a text": Shape(_texts(lambda n: '{"a":[1' + ",," * n + "]}"), 16_000),
    "quotes in a text": Shape(_texts(lambda n: '{"a":' + "'\":" * n), 16_000, "ToolCallDropped"),
}


def attack(what: str, n: int) -> Attack:
    """Return the stream of a shape with `n` repetitions."""
    shape = HOSTILE[what]
    data = shape.make(n)
    return Attack(workloads.cut(data, READ), len(data), shape.kind, shape.n_events(n))


def _count(subject: Attack) -> int:
    """Read a stream as `events` does, and return the number of events of its kind."""
    parser: ToolCallParser[Any] = ToolCallParser()
    found = 0
    for number, read in enumerate(subject.reads):
        found += sum(type(event).__name__ == subject.kind for event in parser.feed(read))
        if number % _FORGET_EVERY == 0:
            parser.forget()
    return found + sum(type(event).__name__ == subject.kind for event in parser.close())


OURS = Contender(_count, lambda subject, found: bool(found == subject.n_events))
