"""Hostile streams: shapes of which a server can send more and more, to make a reader look again at what it has.

Each is cheap for its sender. None is a healthy stream, so what is right is how many events of one kind come out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import workloads
from benchmarks.claims import Contender
from benchmarks.workloads import READ
from wholecall import ToolCallParser

__all__ = ["HOSTILE", "OURS", "Attack", "attack"]

_FORGET_EVERY = 64  # reads
_COLLIDING = 2**61 - 1  # its multiples all have the hash 0


class Attack(NamedTuple):
    """The reads of a stream, and how many events of a kind it has."""

    reads: list[bytes]
    size: int
    kind: str
    count: int


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


# What there is more of: how it is made, the n to begin at, and of which kind one event in how many comes.
HOSTILE: dict[str, tuple[Callable[[int], bytes], int, str, Callable[[int], int]]] = {
    "turns that begin": (_starts, 2000, "TurnStarted", lambda n: n),
    "holes in a stream of many turns": (_holes, 2000, "StreamFault", lambda n: n),
    "responses side by side, and holes": (_side_by_side, 2000, "StreamFault", lambda n: n),
    "finish reasons of an open call": (_finishes, 2000, "ArgumentsDelta", lambda n: n + 2),
    "changing indices": (_indices, 4000, "ArgumentsDelta", lambda n: n + 1),
    "indices of one hash": (_blocks, 2000, "TurnFinished", lambda _: 1),
    "equal texts that may restate": (_restated, 4000, "TurnFinished", lambda _: 1),
    "empty frames before the dialect": (_undecided, 8000, "TurnFinished", lambda _: 1),
}


def attack(what: str, n: int) -> Attack:
    """Return the stream of a shape that has `n` of what makes it hostile."""
    make, _, kind, count = HOSTILE[what]
    data = make(n)
    return Attack(workloads.cut(data, READ), len(data), kind, count(n))


def _count(subject: Attack) -> int:
    """Read a stream as `events` does, and return how many events of its kind came."""
    parser: ToolCallParser[Any] = ToolCallParser()
    found = 0
    for number, read in enumerate(subject.reads):
        found += sum(type(event).__name__ == subject.kind for event in parser.feed(read))
        if number % _FORGET_EVERY == 0:
            parser.forget()
    return found + sum(type(event).__name__ == subject.kind for event in parser.close())


OURS = Contender(_count, lambda subject, found: bool(found == subject.count))
