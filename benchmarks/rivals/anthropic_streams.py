"""The same habits on the wire of Anthropic's Messages, as far as they exist there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.rivals.streams import (
    BERTH,
    BERTH_PIECES,
    CUT_PIECES,
    PORTS,
    TIDE,
    TIDE_PIECES,
    TIDE_SNAPSHOTS,
    TIDE_TEXT,
    Expected,
    Stream,
    sse,
)

JSON = dict[str, Any]

_USAGE = {"input_tokens": 1, "output_tokens": 1}


def start(index: int = 0, name: str = "get_tide", id: str = "toolu_1", input: Any = None) -> JSON:
    """Return the start of a block that calls a tool."""
    block = {"type": "tool_use", "id": id, "name": name, "input": {} if input is None else input}
    return {"type": "content_block_start", "index": index, "content_block": block}


def deltas(texts: Sequence[Any], index: int = 0) -> list[JSON]:
    """Return events that each bring a piece of a block's input."""
    pieces = [{"type": "input_json_delta", "partial_json": text} for text in texts]
    return [{"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces]


def stop(index: int = 0) -> JSON:
    """Return the end of a block."""
    return {"type": "content_block_stop", "index": index}


def events(*payloads: JSON, reason: str | None = "tool_use", newline: str = "\n") -> list[bytes]:
    """Return the events of an answer; one without a reason breaks off."""
    message = {"id": "msg_q", "type": "message", "role": "assistant", "model": "m", "content": []}
    opened = {**message, "stop_reason": None, "stop_sequence": None, "usage": _USAGE}
    told = [{"type": "message_start", "message": opened}, *payloads]
    if reason is not None:
        said = {"stop_reason": reason, "stop_sequence": None}
        told += [{"type": "message_delta", "delta": said, "usage": _USAGE}, {"type": "message_stop"}]
    return [sse(payload, payload["type"], newline) for payload in told]


def _row(
    title: str, quirks: tuple[int, ...], expected: Sequence[Expected], pieces: Sequence[bytes]
) -> Stream:
    return Stream("anthropic", title, quirks, tuple(pieces), tuple(expected))


def _tide(texts: Sequence[Any], **begun: Any) -> list[JSON]:
    return [start(**begun), *deltas(texts), stop()]


def _berth(index: int) -> list[JSON]:
    return [start(index, "find_berth", "toolu_2"), *deltas(BERTH_PIECES, index), stop(index)]


def _broken() -> Stream:
    fault = {"type": "error", "error": {"type": "overloaded_error", "message": "the engine stopped"}}
    told = events(start(), *deltas(['{"port']), fault, reason=None)
    return _row("an error event in the middle", (52,), [], told)


def _bytewise() -> Stream:
    harbour = Expected("get_tide", {"port": "Göteborg 港"})
    text = json.dumps(harbour.arguments, ensure_ascii=False)
    data = b"".join(events(*_tide([text]), newline="\r\n"))
    return _row("CRLF, and a write for each byte", (35, 55), [harbour], [bytes((byte,)) for byte in data])


ANTHROPIC: tuple[Stream, ...] = (
    _row("two calls, as documented", (), [TIDE, BERTH], events(*_tide(TIDE_PIECES), *_berth(1))),
    _row("index 0 for every block", (3,), [TIDE, BERTH], events(*_tide(TIDE_PIECES), *_berth(0))),
    _row("each delta restates the text so far", (24,), [TIDE], events(*_tide(TIDE_SNAPSHOTS))),
    _row("deltas, then the whole text again", (23,), [TIDE], events(*_tide([*TIDE_PIECES, TIDE_TEXT]))),
    _row("a delta that is an object", (22,), [TIDE], events(*_tide([TIDE.arguments]))),
    _row("{} in a delta before the arguments", (25,), [TIDE], events(*_tide(["{}", TIDE_TEXT]))),
    _row("whole input at the start, no delta", (), [TIDE], events(*_tide([], input=TIDE.arguments))),
    _row(
        "whole input at the start, and deltas", (), [TIDE], events(*_tide(TIDE_PIECES, input=TIDE.arguments))
    ),
    _row("a tool without arguments: no delta", (26,), [PORTS], events(start(name="list_ports"), stop())),
    _row("cut text, called finished", (48,), [], events(*_tide(CUT_PIECES))),
    _row("cut at the token limit", (49,), [], events(*_tide(CUT_PIECES), reason="max_tokens")),
    _row("dropped after the name", (51,), [], events(start(), reason=None)),
    _row("dropped within the arguments", (51,), [], events(start(), *deltas(CUT_PIECES), reason=None)),
    _row("stop reason end_turn", (43,), [TIDE], events(*_tide(TIDE_PIECES), reason="end_turn")),
    _row("no stop of the block", (77,), [TIDE], events(start(), *deltas(TIDE_PIECES))),
    _broken(),
    _bytewise(),
)


def _farewell() -> bytes:
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    said = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}}
    return b"".join(events(begun, said, stop(), reason="end_turn"))


ANTHROPIC_FAREWELL = _farewell()
