"""Gemini's Interactions API: the blocks of Anthropic are its steps."""

from __future__ import annotations

import json

from tests.models import blocks
from tests.models.streams import Event, Model
from tests.models.written import data_of, present

HABITS = {
    **blocks.HABITS,
    "message": {
        "once": (0, "the provider"),
        "retold": (1.5, "quirk 128: relays that send what they have buffered once more"),
    },
}


def _event(kind: str, **members: object) -> bytes:
    return f"event: {kind}\n".encode() + data_of({"event_type": kind, **present(**members)})


def _ending(status: str | None) -> bytes:
    return _event("interaction.completed", interaction={"id": "int_1", **present(status=status)})


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "message":
        return _event("interaction.created", interaction={"id": of[0], "status": "in_progress"})
    if kind == "text":
        start = _event("step.start", index=of[0], step={"type": "model_output"})
        said = _event("step.delta", index=of[0], delta={"type": "text", "text": "hm"})
        return start + said + _event("step.stop", index=of[0])
    if kind == "start":
        given = json.loads(of[3] or "{}")
        step = {"type": "function_call", **present(id=of[1], name=of[2]), "arguments": given}
        return _event("step.start", index=of[0], step=step)
    if kind == "delta":
        return _event("step.delta", index=of[0], delta={"type": "arguments_delta", "arguments": of[1]})
    if kind == "stop":
        return _event("step.stop", index=of[0])
    return _ending({"right": "requires_action", "wrong": "completed"}.get(of[0]))


MODEL = Model(
    "gemini-interactions",
    HABITS,
    blocks.send,
    _encode,
    {"length": _ending("incomplete"), "silence": b""},
    blocks.sensible,
    evident=blocks.evident,
)
