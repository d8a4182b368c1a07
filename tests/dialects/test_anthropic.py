"""Anthropic Messages: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.parts import without_parts
from wholecall.deltas import (
    CallClosed,
    Delta,
    WireFault,
)
from wholecall.dialects.anthropic import AnthropicTranslator
from wholecall.framing.frame import Frame


def translate(*payloads: dict[str, Any] | str | Frame) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = AnthropicTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = (
            payload if isinstance(payload, str) else json.dumps(payload) if isinstance(payload, dict) else ""
        )
        deltas += translator.translate(payload if isinstance(payload, Frame) else Frame("message", data))
    return without_parts(deltas + translator.close())


def start(index: object, **block: Any) -> dict[str, Any]:
    """Build the start of a block, a tool's unless said otherwise."""
    tool = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    return {"type": "content_block_start", "index": index, "content_block": {**tool, **block}}


def piece(index: object, text: object) -> dict[str, Any]:
    """Build a piece of argument text."""
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def delta(index: object, **fields: Any) -> dict[str, Any]:
    """Build any other piece."""
    return {"type": "content_block_delta", "index": index, "delta": fields}


def stop(index: object) -> dict[str, Any]:
    """Build the end of a block."""
    return {"type": "content_block_stop", "index": index}


@pytest.mark.parametrize(
    "said", [{"type": "text_delta", "text": "x"}, {"type": "thinking_delta", "thinking": "x"}]
)
def test_the_stop_of_text_without_a_start_ends_no_call(said: dict[str, Any]) -> None:
    """A block's content shows that it is not a call, in one frame or many: a call next to it continues (quirk 77)."""
    events = [start(0), delta(1, **said), stop(1), piece(0, "{}")]
    runs = AnthropicTranslator().translate_all([Frame("", json.dumps(event)) for event in events])

    assert [] == [told for told in [*translate(*events), *runs] if isinstance(told, CallClosed)]


@pytest.mark.parametrize("block", [{"type": "foo_tool"}, {"foo": "tool_use", "id": "toolu_1", "name": "f"}])
def test_an_unknown_block_that_begins_in_a_call_is_lost_text(block: dict[str, Any]) -> None:
    """A start of an unknown kind in the place of an open call is a fault; after the call's stop it is another block."""
    again = {"type": "content_block_start", "index": 0, "content_block": block}
    stop = {"type": "content_block_stop", "index": 0}

    assert [True] == [one.hole for one in translate(start(0), again) if isinstance(one, WireFault)]
    assert [] == [one for one in translate(start(0), stop, again) if isinstance(one, WireFault)]
    assert [] == [one for one in translate(start(1), again) if isinstance(one, WireFault)]
