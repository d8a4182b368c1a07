"""The target that restores parsers from snapshots that anybody may have written.

The payload is the inside of a snapshot, which gets the right checksum here: damage that a checksum finds says little
about the code after it. An option leaves the payload as it is instead.
"""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import msgspec

from tests.fuzz.model import OPTIONS, Options, Target, held, opened
from tests.fuzz.mutate import mutated
from tests.fuzz.streams import DIALECTS, TOOLS, parser_of, recordings
from tests.support import snapshots
from wholecall import BadSnapshot, ToolCallParser

_AS_IT_IS = bytes((0, 0, 1, 0, 0, 0, 0, 0))
_PAYLOADS = (
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"type": "error"},
    [],
    "x",
)


def run_snapshots(data: bytes) -> None:
    """Restore a parser: nothing raises but `BadSnapshot`, and the restored parser takes the rest of a stream."""
    options, payload = opened(data)
    told = payload if options.flag(2, 0) else snapshots.sealed(payload)
    try:
        parser = ToolCallParser.restore(told, tools=TOOLS[options.flag(3, 7)])
    except BadSnapshot as error:
        held("law 4: a refusal says nothing", str(error))
        return
    again = ToolCallParser.restore(parser.snapshot(), tools=TOOLS[options.flag(3, 7)])
    held("law 20: what was restored is not what is written down", again.snapshot() == parser.snapshot())
    said = _rest(parser, options)
    held("law 20: what is restored twice goes on otherwise", said == _rest(again, options))


def _rest(parser: ToolCallParser[Any], options: Options) -> list[str]:
    """Let the parser read the rest of a stream of its dialect, through both doors; return all that it says."""
    made = snapshots.opened(parser.snapshot())[1]
    live, watch = made.get("live", False), made.get("watch")
    said = [repr((parser, parser.turn, parser.turns))]
    closed = "closed" in repr(parser)
    for chunk in () if closed else options.cut(_stream(parser.dialect, options)):
        events = parser.feed(chunk)
        said += _told(events)
        shown = [event for event in events if hasattr(event, "index")] if live and watch is None else []
        said += [repr(found and found.value) for found in map(parser.partial, shown)]
    if options.flag(2, 1) and not closed:
        said += _told(parser.feed_event(options.pick(1, _PAYLOADS), "error" if options.flag(2, 2) else None))
    if options.flag(2, 3):
        parser.forget()
    said += _told(parser.abort("enough") if options.flag(2, 4) else parser.close())
    held("law 4: closing twice says more", [] == parser.close())
    return [*said, repr(parser.turns)]


def _told(events: list[Any]) -> list[str]:
    for event in events:
        json.loads(event.to_json())
    return [repr(event) for event in events]


def _stream(dialect: str | None, options: Options) -> bytes:
    """Return a stream from some place on; of the dialect, if that is known."""
    streams = [data for name, data in recordings() if dialect in (None, name)] or [b""]
    data = options.pick(0, streams)
    return data[options.number(1) * len(data) // 255 :]


def changed(payload: bytes, rng: random.Random) -> bytes:
    """Return a payload with some of its values changed; bytes, where it holds no values."""
    if rng.random() < 0.1:
        return mutated(payload, rng)
    try:
        inside = msgspec.msgpack.decode(payload)
        return msgspec.msgpack.encode(snapshots.changed(inside, rng))
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError, RecursionError):
        return mutated(payload, rng)


# Snapshots within streams of every dialect, and the options of the rest.


@cache
def _seeds() -> list[bytes]:
    found = [_seed(number, *stream, way) for number, stream in enumerate(recordings()) for way in range(2)]
    whole = snapshots.sealed(found[-1][OPTIONS:])
    return [*found, _AS_IT_IS + whole, _AS_IT_IS + whole[:-1]]


def _seed(number: int, dialect: str, data: bytes, way: int) -> bytes:
    """Return a snapshot somewhere in a stream: of a usual parser, and of one with other options."""
    named = DIALECTS.index(dialect) if way and dialect in DIALECTS else 0
    options = number % 6 + 128 * (number % 2) if way else 0  # policy and tools
    parser = parser_of(Options(bytes((named, 0, 64 * (number % 4) if way else 0, options))))
    place = (97 * number + 131 * way) % 255
    parser.feed(data[: place * len(data) // 255])
    if way and number % 11 == 0:
        parser.close()
    inside = snapshots.opened(parser.snapshot())
    rest = [stream for name, stream in recordings() if parser.dialect in (None, name)]
    head = (rest.index(data) % 256 if data in rest else 0, place, 2 * (number % 13), options, 9, 0, 70, 1)
    return bytes(head) + msgspec.msgpack.encode(inside)


TARGETS = (Target("snapshots", run_snapshots, _seeds, damage=changed),)
