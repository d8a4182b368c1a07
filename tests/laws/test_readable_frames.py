"""Law 126: every frame that leaves the repairer can be read by clients of its wire."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support import corpora
from wholecall.repairing import Repairer

DONE = b"data: [DONE]\n\n"
# A healthy stream of each wire, and kinds of frames that may occur in it.
STREAMS = {
    "chat-completions": "parallel-sequential",
    "responses": "single-call",
    "anthropic": "unicode-pieces",
    "gemini": "single-call",
}
UNREADABLE = {
    "null": b"data: null\n\n",
    "a number": b"data: 5\n\n",
    "a text": b'data: "x"\n\n',
    "an array": b"data: [1]\n\n",
    "words": b"data: hello\n\n",
    "words under a name": b"event: usage\ndata: hello\n\n",
    "no data": b"data:\n\n",
    "a name alone": b"event: heartbeat\n\n",
    "no number": b"data: NaN\n\n",
    "a cut object": b'data: {"a": 1\n\n',
    "two objects": b'data: {"a":1}{"b":2}\n\n',
}
UNTYPED = {"an object": b'data: {"foo": 1}\n\n', "an odd type": b'data: {"type": 5}\n\n'}
UNKNOWN = b'event: vendor.news\ndata: {"type":"vendor.news","foo":1}\n\n'
NAMED = b'event: vendor.news\ndata: {"foo":1}\n\n'
TYPED_WIRES = ("anthropic", "responses")


def blocks(wire: str) -> list[bytes]:
    """Return the frames of the stream of a wire."""
    path = corpora.RECORDINGS / wire / f"{STREAMS[wire]}.sse"
    data = path.read_bytes().replace(b"\r\n", b"\n")
    return [block + b"\n\n" for block in data.split(b"\n\n") if block.strip()]


def repaired(frames: list[bytes]) -> bytes:
    """Return a repairer's output for frames."""
    repairer = Repairer()
    return repairer.feed(b"".join(frames)) + repairer.close()


def placed(wire: str, frame: bytes) -> Iterator[bytes]:
    """Yield the repairer's output with a frame after the first, the second … frame of a stream."""
    frames = blocks(wire)
    for at in range(1, len(frames) + 1):
        yield repaired([*frames[:at], frame, *frames[at:]])


def unread(wire: str, out: bytes) -> list[bytes]:
    """Return the data that no client of a wire can read."""
    found = []
    for line in out.splitlines():
        data = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or data == b"[DONE]":
            continue
        try:
            value = json.loads(data)
        except ValueError:
            value = None
        is_object = isinstance(value, dict)
        if not is_object or (wire in TYPED_WIRES and not isinstance(value.get("type"), str)):
            found.append(data)
    return found


@pytest.mark.parametrize("wire", STREAMS)
def test_the_streams_are_healthy(wire: str) -> None:
    """The streams of this law leave unchanged."""
    frames = blocks(wire)

    assert b"".join(frames) == repaired(frames)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("wire", STREAMS)
@pytest.mark.parametrize("frame", UNREADABLE.values(), ids=UNREADABLE)
def test_what_holds_no_object_goes_nowhere(wire: str, frame: bytes) -> None:
    """At any place; the rest of the stream is up to the parser."""
    assert [] == [data for out in placed(wire, frame) for data in unread(wire, out)]


@pytest.mark.parametrize("wire", TYPED_WIRES)
@pytest.mark.parametrize("frame", UNTYPED.values(), ids=UNTYPED)
def test_events_without_a_type_go_nowhere(wire: str, frame: bytes) -> None:
    """The rest of the stream is the same byte for byte."""
    assert {b"".join(blocks(wire))} == set(placed(wire, frame))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("wire", TYPED_WIRES)
@pytest.mark.parametrize("frame", [UNKNOWN, NAMED], ids=["typed", "named"])
def test_unknown_events_pass(wire: str, frame: bytes) -> None:
    """They do so under their type, or else under their name; clients that validate survive them."""
    news = [
        json.loads(line[6:])
        for out in placed(wire, frame)
        for line in out.splitlines()
        if b"vendor.news" in line and line.startswith(b"data: ")
    ]

    assert [{"type": "vendor.news", "foo": 1}] * len(blocks(wire)) == news


@pytest.mark.parametrize("wire", TYPED_WIRES)
def test_done_stands_at_the_end_alone(wire: str) -> None:
    """Clients read nothing after a `[DONE]`: before the end of the turn it is withheld."""
    whole = b"".join(blocks(wire))
    *early, late = placed(wire, DONE)

    assert ({whole}, whole + DONE) == (set(early), late)


@pytest.mark.parametrize("wire", STREAMS)
def test_an_error_in_words_stays(wire: str) -> None:
    """A server's text of an error reaches the client."""
    error = b"event: error\ndata: overloaded\n\n"

    assert all(error in repaired([*blocks(wire)[:at], error]) for at in (1, 2))
