"""Calls of chat that come in `tool_calls` and once more in the older `function_call`: executed once, or not at all."""

from __future__ import annotations

import json
from itertools import pairwise, product
from typing import Any

import pytest

from wholecall import ToolCall, ToolCallDropped, ToolCallParser

Event = Any
TEXT = '{"path": "/tmp/a"}'
NAME, ID = "delete", "call_1"
PLACES = ("beside", "before", "after", "message")


def _chunk(delta: dict[str, Any], finish: str | None = None, **members: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish} | members
    return b"data: " + json.dumps({"id": "r", "model": "m", "choices": [choice]}).encode() + b"\n\n"


def _listed(text: str, *, first: bool, repeats: bool) -> dict[str, Any]:
    head = {"id": ID, "type": "function"} if first or repeats else {}
    function = {"arguments": text} | ({"name": NAME} if first or repeats else {})
    return {"tool_calls": [{"index": 0, **head, "function": function}]}


def _older(text: str, *, first: bool, repeats: bool) -> dict[str, Any]:
    return {"function_call": {"arguments": text} | ({"name": NAME} if first or repeats else {})}


def _stream(cuts: tuple[int, ...], place: str, *, repeats: bool) -> list[bytes]:
    """Return a stream of one call in pieces of its text, its older form beside, before or after it, or in a message."""
    bounds = [0, *cuts, len(TEXT)]
    texts = [TEXT[start:end] for start, end in pairwise(bounds)]
    listed = [_listed(text, first=n == 0, repeats=repeats) for n, text in enumerate(texts)]
    older = [_older(text, first=n == 0, repeats=repeats) for n, text in enumerate(texts)]
    found = {
        "beside": [_chunk(one | other) for one, other in zip(listed, older, strict=True)],
        "before": [_chunk(one) for one in (*older, *listed)],
        "after": [_chunk(one) for one in (*listed, *older)],
        "message": [_chunk(one) for one in listed],
    }[place]
    whole = {"role": "assistant", "content": None, **_older(TEXT, first=True, repeats=True)}
    members = {"message": whole} if place == "message" else {}
    return [_chunk({"role": "assistant"}), *found, _chunk({}, "tool_calls", **members), b"data: [DONE]\n\n"]


def _calls(frames: list[bytes]) -> list[tuple[str, Any]]:
    parser: ToolCallParser[Any] = ToolCallParser()
    events = [event for frame in frames for event in parser.feed(frame)] + parser.close()
    return [(event.name, event.arguments) for event in events if isinstance(event, ToolCall)]


@pytest.mark.parametrize("place", PLACES)
def test_a_call_in_two_forms_is_executed_once(place: str) -> None:
    """Law 135: wherever the older form comes, in whatever pieces, the call comes out once."""
    streams = [
        _stream(cuts, place, repeats=repeats)
        for cuts, repeats in product([(), (0,), (1,), (9,), (1, 9), (0, 1, 9, 17)], (False, True))
    ]

    assert [[(NAME, json.loads(TEXT))]] * len(streams) == [_calls(frames) for frames in streams]


@pytest.mark.parametrize("place", ["beside", "before", "after"])
def test_a_call_in_two_forms_survives_no_lost_frame_as_another(place: str) -> None:
    """Law 135: if any frame of the stream is lost, the whole call comes out once, or none does."""
    frames = _stream((1, 9), place, repeats=True)
    found = [_calls(frames[:n] + frames[n + 1 :]) for n in range(len(frames))]

    assert [] == [calls for calls in found if calls not in ([], [(NAME, json.loads(TEXT))])]


def test_text_in_the_older_form_alone_is_lost_text() -> None:
    """Law 135: a call that began in both forms and goes on in the older one alone is a drop, not a call without text."""
    parser: ToolCallParser[Any] = ToolCallParser()
    head = _listed("", first=True, repeats=True) | _older("", first=True, repeats=True)
    frames = [_chunk(head), _chunk(_older(TEXT, first=False, repeats=False)), _chunk({}, "tool_calls")]
    last = [event for frame in frames for event in parser.feed(frame)] + parser.close()

    assert ["incomplete_input"] == [event.reason for event in last if isinstance(event, ToolCallDropped)]
    assert [] == [event for event in last if isinstance(event, ToolCall)]


@pytest.mark.parametrize("place", ["beside", "before"])
def test_another_call_in_the_older_form_is_another_call(place: str) -> None:
    """A call in the older form that differs from each in the list is executed, too."""
    listed, other = (
        _listed(TEXT, first=True, repeats=True),
        {"function_call": {"name": "note", "arguments": "{}"}},
    )
    frames = [_chunk(listed | other)] if place == "beside" else [_chunk(other), _chunk(listed)]

    assert {NAME, "note"} == {name for name, _ in _calls([*frames, _chunk({}, "tool_calls")])}


def test_a_body_in_two_forms_is_executed_once() -> None:
    """Law 135: a whole response holds the call once."""
    message = {
        "role": "assistant",
        **_listed(TEXT, first=True, repeats=True),
        **_older(TEXT, first=True, repeats=True),
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = json.dumps({"id": "r", "object": "chat.completion", "model": "m", "choices": [choice]}).encode()

    assert [(NAME, json.loads(TEXT))] == _calls([body])
