"""Gemini: every frame is a whole response of about 330 B, and every call is whole in its part."""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmarks.envelopes.base import JSON, sse
from benchmarks.texts import Call

__all__ = ["Gemini"]

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

    def ending(self, *, calls: bool) -> None:  # noqa: ARG002 - the reason is the same
        """End the turn."""
        self._say({"text": ""}, finishReason="STOP")
