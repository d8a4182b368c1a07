"""Bedrock InvokeModelWithResponseStream: chunks in, the inner dialect's deltas out."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.support.parts import without_parts
from tests.support.together import together
from wholecall import ToolCall, ToolCallParser
from wholecall.deltas import (
    CallSeen,
    Delta,
    Finish,
    Noted,
    Run,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.dialects.amazon.converse import ConverseTranslator
from wholecall.dialects.amazon.invoke import InvokeTranslator
from wholecall.dialects.anthropic import AnthropicTranslator
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.dialects.table import detect_dialect
from wholecall.framing.frame import Frame

PIECES: list[dict[str, Any]] = [
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    },
    *(
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": text},
        }
        for text in ('{"a":', "1", "}")
    ),
]
SEEN = CallSeen(0, 0, None, "t", "f", begins=True)


def coded(payload: dict[str, Any] | bytes) -> str:
    """Return a payload as the bytes of a chunk are written."""
    return base64.b64encode(payload if isinstance(payload, bytes) else json.dumps(payload).encode()).decode()


def chunk(payload: dict[str, Any] | bytes) -> Frame:
    """Return the frame of one chunk."""
    return Frame("chunk", json.dumps({"bytes": coded(payload), "p": "abcd"}))


def translate(*frames: Frame) -> list[Delta]:
    """Translate chunks of Anthropic Messages one by one."""
    translator = InvokeTranslator(AnthropicTranslator)
    deltas = [delta for frame in frames for delta in translator.translate(frame)]
    return without_parts(deltas + translator.close())


def test_chunks_hold_events_of_the_inner_dialect() -> None:
    """Its translator gives the same for the events as for the chunks, one by one or in a row."""
    inner, outer = AnthropicTranslator(), InvokeTranslator(AnthropicTranslator)
    frames = [chunk(payload) for payload in PIECES]

    assert [SEEN, *(Slot(0, 0, None, text) for text in ('{"a":', "1", "}"))] == translate(*frames)
    assert inner.translate_all([Frame("", json.dumps(p)) for p in PIECES]) == outer.translate_all(frames)


def test_pieces_in_a_row_are_one_run() -> None:
    """The row ends where something else has to be said."""
    frames = [chunk(payload) for payload in PIECES]
    first, second, third = '{"a":', "1", "}"
    broken = Frame("chunk", '{"bytes":"?"}')
    deltas = InvokeTranslator(AnthropicTranslator).translate_all([*frames[:3], broken, frames[3]])

    assert [SEEN, Run(Slot(0, 0, None, ""), [first, second])] == deltas[:2]
    assert [True] == [delta.hole for delta in deltas[2:] if isinstance(delta, WireFault)]
    assert [Run(Slot(0, 0, None, ""), [third])] == deltas[3:]


def test_each_inner_dialect_has_its_own_events() -> None:
    """Nova's events are members of ConverseStream, other models send chat completions."""
    nova = InvokeTranslator(ConverseTranslator).translate(chunk({"messageStop": {"stopReason": "end_turn"}}))
    chat = InvokeTranslator(ChatTranslator).translate(
        chunk({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"content": "Hi"}}]})
    )

    assert [Finish(0, "stop", "end_turn"), TurnEnded()] == nova
    assert [TurnOpened(None, "c1", "m"), TextFragment(0, "Hi")] == chat


@pytest.mark.parametrize(
    "payload",
    [
        {"chunk": {"bytes": coded(PIECES[0])}},
        {"chunk": {"bytes": json.dumps(PIECES[0])}},
        {"bytes": json.dumps(PIECES[0])},
    ],
)
def test_chunks_as_an_sdk_decodes_them(payload: dict[str, Any]) -> None:
    """Wrapped once more, and their bytes may be decoded already."""
    assert [SEEN] == translate(Frame("", json.dumps(payload)))


def test_bytes_at_the_object_door() -> None:
    """An SDK's chunk holds real bytes."""
    parser = ToolCallParser()
    for payload in [*PIECES, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}]:
        parser.feed_event({"chunk": {"bytes": json.dumps(payload).encode()}})

    assert [{"a": 1}] == [event.arguments for event in parser.turn.calls if isinstance(event, ToolCall)]
    assert "bedrock-invoke-anthropic" == parser.turn.dialect


def test_what_is_no_chunk_goes_to_the_inner_dialect() -> None:
    """The body of a whole response, an event without its chunk, `[DONE]`, keep-alives."""
    body = {"type": "message", "id": "m1", "content": [{"type": "text", "text": "Hi"}]}

    assert [TurnOpened("m1", "m1", restart=True), TextFragment(0, "Hi"), TurnEnded("m1")] == translate(
        Frame("", json.dumps(body))
    )
    assert [SEEN] == translate(Frame("", json.dumps(PIECES[0])))
    assert [] == translate(Frame("", "[DONE]"))
    assert [] == translate(Frame("", "{}"), Frame("chunk", ""), chunk(b""), chunk(b"{}"))
    assert [Noted(0, "unknown_events")] == translate(Frame("chunk", '{"p":"abc"}'))


@pytest.mark.parametrize(
    ("frame", "detail", "error"),
    [
        (
            Frame("error", '{"code":"modelTimeoutException","message":"late"}'),
            "modelTimeoutException: late",
            {"code": "modelTimeoutException", "message": "late"},
        ),
        (
            Frame("", '{"modelTimeoutException":{"message":"late"}}'),
            "modelTimeoutException: late",
            {"code": "modelTimeoutException", "message": "late"},
        ),
        (
            chunk({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
            "overloaded_error: busy",
            {"type": "overloaded_error", "message": "busy"},
        ),
    ],
)
def test_errors_are_fatal(frame: Frame, detail: str, error: dict[str, Any]) -> None:
    """Bedrock's exceptions are next to the chunks, the model's own errors in them (quirk 52)."""
    assert [WireFault("provider_error", detail, error=error, fatal=True)] == translate(frame)


@pytest.mark.parametrize(
    ("frame", "kind", "detail", "raw"),
    [
        (Frame("chunk", '{"bytes":"a"}'), "undecodable_frame", "a chunk holds no base64", '{"bytes":"a"}'),
        (Frame("chunk", '{"bytes":"é="}'), "undecodable_frame", "a chunk holds no base64", '{"bytes":"é="}'),
        (Frame("chunk", '{"bytes":7}'), "undecodable_frame", "a chunk holds no base64", '{"bytes":7}'),
        (Frame("chunk", '{"byt'), "undecodable_frame", "a frame holds no JSON object", '{"byt'),
        (chunk(b'{"ty'), "undecodable_frame", "a frame holds no JSON object", '{"ty'),
        (
            Frame("chunk", '{"bytes":"/w=="}'),
            "invalid_utf8",
            "a chunk holds bytes that are not UTF-8",
            '{"bytes":"/w=="}',
        ),
    ],
)
def test_chunks_that_cannot_be_read_are_holes(frame: Frame, kind: Any, detail: str, raw: str) -> None:
    """Their content may have been argument text."""
    assert [WireFault(kind, detail, raw=raw, hole=True)] == translate(frame)


def test_oddities_in_the_envelope_lose_nothing() -> None:
    """A padding that the fast decoder refuses, and two chunks in one event, are read (quirks 35 and 55)."""
    first, second = (json.dumps({"bytes": coded(payload)}) for payload in PIECES[:2])

    assert [SEEN] == translate(Frame("chunk", first[:-1] + ',"p":"\\ud83d"}'))
    assert [SEEN, Slot(0, 0, None, '{"a":')] == translate(Frame("message", f"{first}\n{second}"))


class Parting(AnthropicTranslator):
    """A dialect that has something to say at the end of its stream."""

    def close(self) -> list[Delta]:
        """Say it."""
        return [TextFragment(0, "bye")]


def test_the_inner_dialect_has_the_last_word() -> None:
    """The end of the stream is the end of the inner one."""
    assert [TextFragment(0, "bye")] == InvokeTranslator(Parting).close()


@together(
    ("payload", "name"),
    [
        ({"bytes": coded(PIECES[0])}, "bedrock-invoke-anthropic"),
        ({"chunk": {"bytes": coded(PIECES[0])}}, "bedrock-invoke-anthropic"),
        ({"bytes": coded({"messageStart": {"role": "assistant"}})}, "bedrock-invoke-nova"),
        ({"bytes": coded({"choices": [{"text": "x"}]})}, "bedrock-invoke-legacy-completions"),
        ({"bytes": coded({"choices": [{"delta": {}}]})}, "bedrock-invoke-chat-completions"),
        ({"bytes": coded({"generation": "x", "stop_reason": None})}, "bedrock-invoke-legacy-completions"),
        ({"bytes": coded({"generation_id": "x"})}, None),
        ({"bytes": coded({"type": "ping"})}, None),
        ({"bytes": coded(b"[1]")}, None),
        ({"bytes": coded(b"\xff")}, None),
        ({"bytes": "?"}, None),
        ({"bytes": 7}, None),
        ({"chunk": [1]}, None),
        ({"chunk": None, "bytes": coded(PIECES[0])}, None),
    ],
)
def test_the_event_in_the_chunk_decides(payload: dict[str, Any], name: str | None) -> None:
    """A chunk belongs to its content's dialect; pings and unknown frames decide nothing."""
    dialect = detect_dialect(payload, "chunk")

    assert name == (dialect.name if dialect is not None else None)
