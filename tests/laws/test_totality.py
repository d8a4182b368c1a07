"""Totality: for any bytes, `feed` and `close` return, and their results are well formed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.mutate import mutated
from tests.fuzz.streams import unaccounted
from tests.laws.test_timeline import RECORDINGS, cut
from tests.support import quirky
from tests.support.turns import Plan, frame, full_objects, parse, plans, stream, values, violations
from wholecall import StreamClosed, ToolCallParser
from wholecall.dialects import table

DIALECTS = ("auto", *(dialect.name for dialect in table.DIALECTS))
TOKENS = (
    b"data: ", b"data:", b"\n\n", b"\r", b"\xef\xbb\xbf", b"\xff", b"\x00", b'"index":', b'"id":', b'"function":',
    b"null", b"{", b"}", b"[", b"]", b"[DONE]", b'"', b"\\", b"\\ud800", b"1e999", b"-1", b"true", b'"type":"x"',
)  # fmt: skip
# Every place where a view of the wire expects one type, and gets another.
SHAPES = (
    "choices", "delta", "tool_calls", "function", "index", "id", "name", "arguments", "finish_reason", "message",
    "type", "item", "output", "response", "content_block", "content", "usage", "error", "custom", "function_call",
    "partial_json", "call_id", "item_id", "output_index", "sequence_number", "text", "stop_reason", "model",
    "thinking", "done", "event_type", "tool_call_delta", "parameters", "tool_plan", "meta", "generation_id",
)  # fmt: skip


@given(st.binary(max_size=300), st.sampled_from(DIALECTS))
def test_any_bytes(data: bytes, dialect: str) -> None:
    """Law 4: no bytes make `feed` or `close` raise."""
    assert [] == violations(parse([data], dialect))


@given(st.lists(st.sampled_from(TOKENS), max_size=30).map(b"".join), st.sampled_from(DIALECTS))
def test_any_tokens(data: bytes, dialect: str) -> None:
    """Law 4: nor do the wire's own tokens in any order."""
    assert [] == violations(parse([b"data: " + data], dialect))


@given(st.integers(0, 10**6), st.data())
def test_damaged_quirky_streams(number: int, data: Any) -> None:
    """Law 4: nor do quirky streams with bytes deleted, replaced, doubled or swapped."""
    octets = bytearray(quirky.make_numbered(4, number).bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place, size = data.draw(st.integers(0, len(octets))), data.draw(st.integers(0, 20))
        piece = bytes(octets[place : place + size])
        octets[place : place + size] = data.draw(st.sampled_from((b"", piece + piece, piece[::-1], *TOKENS)))

    assert [] == violations(parse([bytes(octets)], "auto"))


@given(st.sampled_from(RECORDINGS), st.integers(0, 1 << 32))
def test_damaged_recordings(path: Path, seed: int) -> None:
    """Laws 1, 4 and 10: nor do streams of any dialect in which bytes, tokens, events or values were changed.

    They are read alike in any chunks, and the text of each call is the one that was shown.
    """
    rng = random.Random(seed)
    data = mutated(path.read_bytes(), rng)
    events = parse([data], "auto")

    assert [] == [*violations(events), *unaccounted(events)]
    assert events == parse([chunk for _, chunk in cut(data, rng)], "auto")


def _wild(draw: st.DrawFn, depth: int) -> Any:
    if depth <= 0 or draw(st.integers(0, 3)) == 0:
        return draw(
            st.one_of(values, st.sampled_from(("", "0", -1, 1.0, 2**70, True, None, [], {}, [None], [[]])))
        )
    members = draw(st.lists(st.sampled_from(SHAPES), max_size=3, unique=True))
    inner = {member: _wild(draw, depth - 1) for member in members}
    return [inner] if draw(st.booleans()) else inner


@st.composite
def wild_payloads(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a payload whose known members hold anything."""
    payload = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": _wild(draw, 4)}]}
    if draw(st.booleans()):
        payload = {"choices": _wild(draw, 5)}
    if draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(("response.created", "response.output_item.done", "content_block_start",
                                     "message_start", "content_block_delta", "error", "response.completed", "tool-call-start",
                                     "tool-call-delta", "message-end", "tool-calls-chunk", "stream-end")))  # fmt: skip
        payload = {member: _wild(draw, 3) for member in draw(st.lists(st.sampled_from(SHAPES), max_size=4))}
        payload["type"] = payload["event_type"] = kind  # Cohere has called it both
    return payload


@given(st.lists(wild_payloads(), min_size=1, max_size=3), st.sampled_from(DIALECTS))
def test_any_shapes(payloads: list[dict[str, Any]], dialect: str) -> None:
    """Law 4: nor do payloads whose members have any type, and the sane call next to them still ends once."""
    frames = [frame(payload) for payload in payloads]

    assert [] == violations(parse(frames, dialect))


@given(st.lists(wild_payloads(), min_size=1, max_size=3), st.sampled_from(DIALECTS))
def test_any_decoded_shapes(payloads: list[dict[str, Any]], dialect: str) -> None:
    """Law 4: the door for decoded payloads is as patient."""
    parser = ToolCallParser(dialect)
    found = [event for payload in payloads for event in parser.feed_event(payload)]

    assert [] == violations([*found, *parser.close()])


@given(plans(), st.integers(0, 400))
def test_stop_anywhere(plan: Plan, place: int) -> None:
    """Law 4: a stream may stop at any byte, by its end or by `abort`."""
    data = b"".join(stream(plan.fragments()))[:place]
    parser = ToolCallParser("chat-completions")
    found = [*parser.feed(data), *parser.abort("the caller went away")]

    assert [] == violations(found)
    assert [] == violations(parse([data]))


@given(full_objects, st.sampled_from((bytes, bytearray, memoryview)))
def test_bytes_like(arguments: dict[str, Any], kind: type) -> None:
    """Law 4: `feed` accepts any bytes-like object, and keeps no reference to it."""
    plan = Plan(("f",), (arguments,), ((json.dumps(arguments),),))
    data = b"".join(stream(plan.fragments()))
    octets = bytearray(data)
    parser = ToolCallParser()
    found = parser.feed(memoryview(octets) if kind is memoryview else kind(octets))
    octets[:] = b"x" * len(octets)

    assert parse([data], "auto") == [*found, *parser.close()]


def test_text_is_refused() -> None:
    """A `str` is the caller's mistake, and the message names the remedy."""
    parser = ToolCallParser()

    with pytest.raises(TypeError, match=r"\.encode\(\)"):
        parser.feed("data: [DONE]\n\n")  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ["close", "abort"])
def test_feeding_after_the_end(end: str) -> None:
    """Feeding after the end is the caller's mistake; a repeated `close` gives no new events."""
    parser = ToolCallParser()
    _ = parser.close() if end == "close" else parser.abort("enough")

    with pytest.raises(StreamClosed):
        parser.feed(b"data: [DONE]\n\n")
    with pytest.raises(StreamClosed):
        parser.feed_event({})
    assert [] == parser.close()
