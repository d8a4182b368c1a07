"""Answers of Gemini's generateContent, as a good server sends them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from wholecall.grading.probe.selftest.script import Script, Scripted

Payload = dict[str, Any]
_REASONS = {"calls": "STOP", "stop": "STOP", "length": "MAX_TOKENS"}


def frames(script: Script, random: Random) -> list[Payload]:
    """Return the chunks of a stream: texts in pieces, calls whole, the reason in the last one."""
    parts: list[Payload] = [{"text": piece} for piece in script.texts]
    parts += map(_called, _whole(script))
    if not parts or random.random() < 0.5:
        parts.append({"text": ""})
    return [
        _chunk(script, [part], _REASONS[script.ended] if number == len(parts) else None)
        for number, part in enumerate(parts, 1)
    ]


def body(script: Script) -> Payload:
    """Return a whole answer; a call that was cut is not in it."""
    parts: list[Payload] = [{"text": "".join(script.texts)}] if script.texts else []
    return _chunk(script, [*parts, *map(_called, _whole(script))], _REASONS[script.ended])


def _whole(script: Script) -> list[Scripted]:
    return [call for call in script.calls if call.is_whole]


def _called(call: Scripted) -> Payload:
    return {"functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.text)}}


def _chunk(script: Script, parts: list[Payload], reason: str | None) -> Payload:
    candidate: Payload = {"content": {"role": "model", "parts": parts}, "index": 0}
    asked, said = script.tokens
    return {
        "candidates": [candidate | ({"finishReason": reason} if reason else {})],
        "usageMetadata": {
            "promptTokenCount": asked,
            "candidatesTokenCount": said,
            "totalTokenCount": asked + said,
        },
        "modelVersion": script.model,
        "responseId": script.id,
    }


def error(message: str) -> Payload:
    """Return the body of a refusal."""
    return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
