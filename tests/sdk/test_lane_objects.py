"""Law 129 for objects: pieces that are read by their attributes give the events of their objects' text."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from tests.laws.test_lanes import change, decoded
from tests.support.lanes import WIRES
from wholecall import ToolCallParser

pytestmark = pytest.mark.sdk

TYPES = {
    "anthropic": ("anthropic", "anthropic.types", "RawMessageStreamEvent"),
    "chat-completions": ("openai", "openai.types.chat", "ChatCompletionChunk"),
    "responses": ("openai", "openai.types.responses", "ResponseStreamEvent"),
}


def maker(dialect: str) -> Callable[[Any], Any]:
    """Return the function that makes an object of any payload, as the SDK does for a stream."""
    package, module, name = TYPES[dialect]
    construct = import_module(f"{package}._models").construct_type
    type_ = getattr(import_module(module), name)
    return lambda payload: construct(type_=type_, value=payload)


def said(objects: list[Any], *, lane: bool) -> tuple[list[Any], Any, bool]:
    """Return the events of objects, and whether a lane has read them to their end."""
    parser = ToolCallParser[Any]()
    parser._may_begin_in = parser._may_begin_in if lane else ""
    events = [parser.feed_event(each) for each in objects]
    events.append(parser.close())
    is_of_lane = parser._ended is not None
    return events, parser.turns, is_of_lane


@pytest.mark.parametrize("dialect", TYPES)
def test_objects(dialect: str) -> None:
    """Law 129: of conforming streams, and of streams with lost, duplicate, late or strange frames."""
    make, wire, rng, n_whole = maker(dialect), WIRES[dialect], random.Random(5), 0
    for _ in range(400):
        frames = wire.stream(rng)
        is_odd = rng.random() < 0.6
        if is_odd:
            change(frames, rng, wire)
        payloads = [payload for _, payload in map(decoded, frames) if payload is not None]
        objects = [make(payload) for payload in payloads]
        assert said(objects, lane=False)[:2] == said(objects, lane=True)[:2], frames
        n_whole += not is_odd and said(objects, lane=True)[2]

    assert n_whole > 100


MORE: list[dict[str, Any]] = [
    {"content": "a\ud83d"},
    {"content": ["a"]},
    {"content": "a", "refusal": "b"},
    {"content": "", "reasoning_content": "b"},
    {"content": None, "reasoning": "b", "reasoning_details": [{"type": "reasoning.text", "text": "b"}]},
    {"content": "a", "reasoning_content": "b"},
    {"content": "a", "annotations": [{"x": 1}]},
    {"content": "a", "executed_tools": [{"name": "f"}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": "1"}, "x": 1}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": {"a": 1}}}]},
    {"tool_calls": [{"index": "0", "function": {"arguments": "1"}}]},
    {"tool_calls": [{"index": 0, "function": None}]},
    {
        "tool_calls": [
            {"index": 0, "function": {"arguments": "1"}},
            {"index": 1, "function": {"arguments": "2"}},
        ]
    },
    {"function_call": {"arguments": "1"}},
    {"role": "assistant", "content": "a"},
    {"audio": {"id": "x", "data": "y"}},
]
BESIDE: list[dict[str, Any]] = [
    {},
    {"error": {"message": "x"}},
    {"x_groq": {"usage": {"a": 1}}},
    {"provider": "P"},
]


@pytest.mark.parametrize("before", ["text", "thought", "head"])
def test_chunks_with_more_in_them(before: str) -> None:
    """Law 129: of chunks after a piece or a head, with any member next to it, declared or not."""
    make, wire = maker("chat-completions"), WIRES["chat-completions"]
    names = ("text", before) if before != "head" else (before,)
    first = [decoded(frame)[1] for frame in (wire.opening, *(wire.documented[name] for name in names))]
    for delta in MORE:
        for beside in BESIDE:
            for of_choice in ({}, {"finish_reason": "stop"}, {"index": 1}, {"stop_reason": 9}):
                choice = {"index": 0, "delta": delta, "finish_reason": None, **of_choice}
                chunk = {**first[0], "choices": [choice], **beside}
                objects = [make(payload) for payload in (*first, chunk, first[-1])]
                assert said(objects, lane=False)[:2] == said(objects, lane=True)[:2], chunk
