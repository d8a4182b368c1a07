"""Stretches of frames that come again, as after a connection that was resumed too early: no call takes over another's text."""

from __future__ import annotations

import json
import struct
from collections import Counter
from itertools import combinations, product
from typing import Any

import pytest

from tests.support import share
from tests.support.encode import Call, Pieces, Turn, every, whole
from tests.support.renderers import RENDERERS
from wholecall import EXECUTABLE, TERMINAL, ToolCallDropped, ToolCallParser
from wholecall.calls.arguments.strict import is_json

Said = Counter[tuple[str | None, str]]

TURNS = {
    "two calls": Turn(
        (
            Call("call_a", "get_tide", '{"port":"Brest","days":2}'),
            Call("call_b", "read_log", '{"path":"/tmp/x","lines":[1,2]}'),
        ),
        text="Let me look.",
    ),
    "three calls": Turn(
        (
            Call("call_a", "get_tide", '{"port":"Brest"}'),
            Call("call_b", "read_log", "{}"),
            Call("call_c", "send", '{"to":1}'),
        )
    ),
}
# Wires on which a piece says neither which call it continues nor where: the same piece once more is more text.
UNLABELLED = frozenset({"gemini, with streamed arguments", "snowflake-cortex"})
CUTS = {7: whole, 12: every(6)}  # of texts, and the frames of a stretch: less than a whole step


def _frames(data: bytes) -> list[bytes]:
    """Return the frames of a stream; none of a JSON array, whose elements are no frames of their own."""
    if data.startswith(b"\0"):
        frames = []
        while data:
            size = struct.unpack(">I", data[:4])[0]
            frames, data = [*frames, data[:size]], data[size:]
        return frames
    if data.startswith(b"["):
        return []
    ending = next(end for end in (b"\r\n\r\n", b"\n\n", b"\n") if end in data)
    return [frame + ending for frame in data.split(ending) if frame]


def _told(data: bytes) -> tuple[Said, bool]:
    """Return the calls by names and arguments, executable ones counted, and whether anything tells of trouble."""
    parser: ToolCallParser[Any] = ToolCallParser()
    events = [*parser.feed(data), *parser.close()]
    calls = [event for event in events if isinstance(event, TERMINAL)]
    said, run = Said(), Said()
    for call in calls:
        if not isinstance(call, ToolCallDropped):
            key = call.name, json.dumps(call.arguments, sort_keys=True)
            said[key] = 1
            run[key] += isinstance(call, EXECUTABLE)
    is_told = any(isinstance(call, ToolCallDropped) for call in calls) or any(
        event.type == "stream_fault" or (event.type == "turn_finished" and bool(event.anomalies))
        for event in events
    )
    return said | run, is_told


def _sent(turn: Turn) -> Said:
    return Counter((call.name, _sorted(call.arguments)) for call in turn.calls)


def _sorted(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def _with_pieces_again(turn: Turn, cut: Pieces) -> Said:
    """Return calls in whose text pieces come again: the same piece once more in one call is more text."""
    may_come = Said()
    for call in turn.calls:
        pieces = cut(call.arguments)
        for start, stop in combinations(range(len(pieces) + 1), 2):
            text = "".join([*pieces[:stop], *pieces[start:]])
            if is_json(text):
                may_come[call.name, _sorted(text)] = 1
    return may_come


@share.in_parts(50)
@pytest.mark.parametrize("name", sorted(RENDERERS.keys() - UNLABELLED))
def test_no_call_takes_over_text_that_comes_again(part: share.Part, name: str) -> None:
    """Law 141: any stretch of up to twelve frames comes once more right after itself: no call comes that was not
    sent, or more often than it was, and none is lost without a word; of pieces, only those of one call are its text.
    """
    wrong = []
    for (title, turn), (most, cut) in product(TURNS.items(), CUTS.items()):
        frames, sent, changed = (
            _frames(RENDERERS[name](turn, cut)),
            _sent(turn),
            _with_pieces_again(turn, cut),
        )
        stretches = [(at, n) for n in range(1, most + 1) for at in range(len(frames) - n + 1)]
        for at, n in part.of(stretches, f"{name}, {title}"):
            said, is_told = _told(b"".join([*frames[: at + n], *frames[at:]]))
            if said - sent - changed or (sent - said and not (is_told or said & changed)):
                wrong.append((title, at, n, said, sent))

    assert wrong == []
