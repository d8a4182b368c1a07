"""Gemini: every frame is a whole response of about 330 B; a call is whole in its part, or streamed as values at paths."""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmarks.envelopes.base import JSON, sse
from benchmarks.texts import Call, every

_USAGE = {
    "promptTokenCount": 84,
    "candidatesTokenCount": 12,
    "totalTokenCount": 96,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 84}],
}
_ABOUT = {"usageMetadata": _USAGE, "modelVersion": "gemini-2.5-flash", "responseId": "kXwBaZ-tide-0001"}


class Gemini:
    """Gemini: a part a call, and the reason in the last frame."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, part: JSON, **more: str) -> None:
        candidate = {"content": {"parts": [part], "role": "model"}, **more, "index": 0}
        self.events.append(sse({"candidates": [candidate], **_ABOUT}))

    def opening(self) -> None:
        """Do nothing."""

    def head(self, index: int, call: Call) -> None:
        """Do nothing."""

    def piece(self, index: int, text: str, id: str = "") -> None:
        """Do nothing."""

    def tail(self, index: int, call: Call) -> None:  # noqa: ARG002
        """Send a call, whole."""
        self._say({"functionCall": {"name": call.name, "args": json.loads(call.arguments), "id": call.id}})

    def text(self, pieces: Sequence[str]) -> None:
        """Send visible text."""
        for piece in pieces:
            self._say({"text": piece})

    def thought(self, pieces: Sequence[str]) -> None:
        """Send summaries of thoughts."""
        for piece in pieces:
            self._say({"text": piece, "thought": True})

    def ending(self, *, calls: bool) -> None:  # noqa: ARG002 - the reason is the same
        """End the turn."""
        self._say({"text": ""}, finishReason="STOP")


class GeminiStreamed(Gemini):
    """Gemini with streamed arguments, which have to be strings: 4 characters of one at its path a part."""

    def head(self, index: int, call: Call) -> None:  # noqa: ARG002
        """Name a call."""
        self._say({"functionCall": {"name": call.name, "id": call.id, "willContinue": True}})

    def tail(self, index: int, call: Call) -> None:  # noqa: ARG002
        """Send the arguments in pieces, and end the call."""
        for key, value in json.loads(call.arguments).items():
            for piece in every(value, 4):
                self._value({"jsonPath": f"$.{key}", "stringValue": piece, "willContinue": True})
            self._value({"jsonPath": f"$.{key}", "stringValue": ""})
        self._say({"functionCall": {}})

    def _value(self, value: JSON) -> None:
        self._say({"functionCall": {"partialArgs": [value], "willContinue": True}})
