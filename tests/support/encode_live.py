"""Render abstract turns as Gemini's Live sessions send them. Knows nothing of wholecall.

Written from the Live API reference ("Messages from the server").
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, json_lines, whole

__all__ = [
    "audio",
    "content",
    "live_payloads",
    "part",
    "render_live",
    "setup",
    "tool_call",
    "turn_complete",
    "usage",
]

AUDIO = "+P/7/wQACQAMAAoABgAAAPr/9v/1//f/+/8="


def setup(session: str = "9b1d2c70-live") -> JSON:
    """Return the first message of a session."""
    return {"setupComplete": {"sessionId": session}}


def content(**members: Any) -> JSON:
    """Return a message with something of the turn."""
    return {"serverContent": members}


def part(*parts: JSON) -> JSON:
    """Return a message with parts of the model's turn."""
    return content(modelTurn={"role": "model", "parts": list(parts)})


def audio(text: str | None = None) -> JSON:
    """Return a message with a piece of speech, perhaps with its transcription."""
    message = part({"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": AUDIO}})
    if text is not None:
        message["serverContent"]["outputTranscription"] = {"text": text}
    return message


def function_call(call: Call) -> JSON:
    """Return a whole call; its arguments must be valid JSON."""
    return {"name": call.name, "args": json.loads(call.arguments), "id": call.id}


def tool_call(*calls: JSON | Call) -> JSON:
    """Return a message with calls."""
    found = [function_call(call) if isinstance(call, Call) else call for call in calls]
    return {"toolCall": {"functionCalls": found}}


def usage(prompt: int, response: int) -> JSON:
    """Return the counts of a turn."""
    return {
        "promptTokenCount": prompt,
        "responseTokenCount": response,
        "totalTokenCount": prompt + response,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    }


def turn_complete(tokens: int = 24, **members: Any) -> JSON:
    """Return the last message of a turn."""
    return content(turnComplete=True, **members) | {"usageMetadata": usage(180, tokens)}


def live_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the messages of a session of one turn: thoughts, calls in one message, speech, the end."""
    thoughts = [part({"text": piece, "thought": True}) for piece in pieces(turn.reasoning)]
    calls = [tool_call(*turn.calls)] if turn.calls else []
    speech = [audio(piece) for piece in pieces(turn.text)]
    ends = [content(generationComplete=True), turn_complete(turn.tokens)]
    return [setup(), *thoughts, *calls, *speech, *ends]


def render_live(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a session of one turn, a message a line."""
    return json_lines(live_payloads(turn, pieces))
