"""Cohere's v2 chat: the blocks of Anthropic, with the text of arguments at the start."""

from __future__ import annotations

from typing import Any

from tests.models import blocks
from tests.models.streams import Event, Model
from tests.models.written import event_of, present

HABITS = {
    **blocks.HABITS,
    "text": {
        **blocks.HABITS["text"],
        "given": (1, "quirk 77: relays of whole answers: the text at the start, and no delta"),
    },
    "message": {
        "once": (0, "the provider"),
        "retold": (1.5, "quirk 128: relays that send what they have buffered once more"),
    },
    "speech": {"none": (0, "the provider"), "between": (0, "the provider: a plan before each call")},
}


def _told(**call: Any) -> dict[str, Any]:
    return {"message": {"tool_calls": call}}


def _ending(reason: str | None) -> bytes:
    usage = {"finish_reason": reason, "usage": {"tokens": {"output_tokens": 9}}}
    return event_of("message-end", delta=usage if reason else {})


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "message":
        message = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        return event_of("message-start", id=of[0], delta={"message": message})
    if kind == "text":
        return event_of("tool-plan-delta", delta={"message": {"tool_plan": "hm"}})
    if kind == "start":
        function = {**present(name=of[2]), "arguments": of[3]}
        call = _told(**present(id=of[1]), type="function", function=function)
        return event_of("tool-call-start", index=of[0], delta=call)
    if kind == "delta":
        return event_of("tool-call-delta", index=of[0], delta=_told(function={"arguments": of[1]}))
    if kind == "stop":
        return event_of("tool-call-end", index=of[0])
    return _ending({"right": "TOOL_CALL", "wrong": "COMPLETE"}.get(of[0]))


MODEL = Model(
    "cohere-v2",
    HABITS,
    blocks.send,
    _encode,
    {"length": _ending("MAX_TOKENS"), "silence": b""},
    blocks.sensible,
    evident=blocks.evident,
)
