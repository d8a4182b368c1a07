"""Anthropic Messages: a call is a content block."""

from __future__ import annotations

import json
from typing import Any

from tests.models import blocks
from tests.models.streams import Event, Model
from tests.models.written import event_of, present


def _ending(reason: str | None) -> bytes:
    told = event_of(
        "message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 9}
    )
    return (told if reason else b"") + event_of("message_stop")


def _message(id: str) -> bytes:
    message = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    return event_of("message_start", message=message)


def _text(at: int | None) -> bytes:
    start = event_of("content_block_start", index=at, content_block={"type": "text", "text": ""})
    said = event_of("content_block_delta", index=at, delta={"type": "text_delta", "text": "hm"})
    return start + said + event_of("content_block_stop", index=at)


def _start(at: int | None, id: str | None, name: str | None, given: str) -> bytes:
    block = {"type": "tool_use", **present(id=id, name=name), "input": json.loads(given or "{}")}
    return event_of("content_block_start", index=at, content_block=block)


def _delta(at: int | None, text: str) -> bytes:
    return event_of("content_block_delta", index=at, delta={"type": "input_json_delta", "partial_json": text})


def _stop(at: int | None) -> bytes:
    return event_of("content_block_stop", index=at)


def _reason(reason: str) -> bytes:
    return _ending({"right": "tool_use", "wrong": "end_turn"}.get(reason))


_WRITTEN: dict[str, Any] = {
    "message": _message,
    "text": _text,
    "start": _start,
    "delta": _delta,
    "stop": _stop,
    "reason": _reason,
}


def _encode(event: Event) -> bytes:
    kind, *of = event
    written: bytes = _WRITTEN[kind](*of)
    return written


MODEL = Model(
    "anthropic",
    blocks.HABITS,
    blocks.send,
    _encode,
    {"length": _ending("max_tokens"), "silence": b""},
    blocks.sensible,
    evident=blocks.evident,
)
