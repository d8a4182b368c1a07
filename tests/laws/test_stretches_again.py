"""Stretches of frames that come again, as after a connection that was resumed too early: no call takes over another's text."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from tests.support import share
from tests.support.encode import Call, Turn, whole
from tests.support.renderers import RENDERERS
from wholecall import TERMINAL, ToolCallDropped, ToolCallParser

Said = set[tuple[str | None, str]]

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
MOST = 7  # frames of a stretch


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
    """Return names and arguments of the calls, and whether anything tells of trouble."""
    parser: ToolCallParser[Any] = ToolCallParser()
    events = [*parser.feed(data), *parser.close()]
    calls = [event for event in events if isinstance(event, TERMINAL)]
    said = {
        (call.name, json.dumps(call.arguments, sort_keys=True))
        for call in calls
        if not isinstance(call, ToolCallDropped)
    }
    is_told = any(isinstance(call, ToolCallDropped) for call in calls) or any(
        event.type == "stream_fault" or (event.type == "turn_finished" and bool(event.anomalies))
        for event in events
    )
    return said, is_told


def _sent(turn: Turn) -> Said:
    return {(call.name, json.dumps(json.loads(call.arguments), sort_keys=True)) for call in turn.calls}


@share.in_parts(37)
@pytest.mark.parametrize("name", sorted(RENDERERS.keys() - UNLABELLED))
def test_no_call_takes_over_text_that_comes_again(part: share.Part, name: str) -> None:
    """Law 141: any stretch of up to seven frames comes once more right after itself: no call comes that was not sent,
    and none is lost without a word.
    """
    wrong = []
    for title, turn in TURNS.items():
        frames = _frames(RENDERERS[name](turn, whole))
        stretches = [(at, n) for n in range(1, MOST + 1) for at in range(len(frames) - n + 1)]
        for at, n in part.of(stretches, f"{name}, {title}"):
            said, is_told = _told(b"".join([*frames[: at + n], *frames[at:]]))
            if said - _sent(turn) or (_sent(turn) - said and not is_told):
                wrong.append((title, at, n, said ^ _sent(turn)))

    assert wrong == []
