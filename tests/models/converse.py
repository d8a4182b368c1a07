"""Amazon Bedrock's ConverseStream, as its SDK decodes it: the blocks of Anthropic, those of text without a start."""

from __future__ import annotations

from typing import Any

from tests.models import blocks
from tests.models.streams import Event, Model
from tests.models.written import present

HABITS = {
    **blocks.HABITS,
    "text": {
        **blocks.HABITS["text"],
        "given": (1, "quirk 77: relays of Anthropic's blocks: the input at the start"),
    },
}


def _encode(event: Event) -> list[dict[str, Any]]:
    kind, *of = event
    if kind == "message":
        return [{"messageStart": {"role": "assistant"}}]
    if kind == "reason":
        reason = {"right": "tool_use", "wrong": "end_turn"}.get(of[0])
        return [{"messageStop": present(stopReason=reason)}, {"metadata": {"usage": {"totalTokens": 9}}}]
    at = present(contentBlockIndex=of[0])
    if kind == "text":
        return [{"contentBlockDelta": {**at, "delta": {"text": "hm"}}}, {"contentBlockStop": at}]
    if kind == "start":
        labels = present(toolUseId=of[1], name=of[2], input=of[3] or None)
        return [{"contentBlockStart": {**at, "start": {"toolUse": labels}}}]
    if kind == "delta":
        return [{"contentBlockDelta": {**at, "delta": {"toolUse": {"input": of[1]}}}}]
    return [{"contentBlockStop": at}]


_LENGTH: list[dict[str, Any]] = [{"messageStop": {"stopReason": "max_tokens"}}]
MODEL = Model(
    "bedrock-converse",
    HABITS,
    blocks.send,
    _encode,
    {"length": _LENGTH, "silence": []},
    blocks.sensible,
    evident=blocks.evident,
)
