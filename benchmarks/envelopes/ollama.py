"""Ollama: lines of JSON of about 130 B, and every call is whole in its line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.envelopes.base import JSON, dumped
from benchmarks.texts import Call

_TIMES = {"total_duration": 7_577_982_042, "load_duration": 58_847_000, "eval_count": 23}


class Ollama:
    """Ollama: one message a line."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, content: str, *, done: bool = False, **more: Any) -> None:
        at = f"2026-03-02T09:41:{len(self.events) // 50 % 60:02}.{len(self.events) % 50 * 20_000 + 104:06}Z"
        message: JSON = {"role": "assistant", "content": content, **({} if done else more)}
        line = {"model": "qwen3:8b", "created_at": at, "message": message, "done": done}
        self.events.append((dumped(line | more if done else line) + "\n").encode())

    def opening(self) -> None:
        """Do nothing."""

    def head(self, index: int, call: Call) -> None:
        """Do nothing."""

    def piece(self, index: int, text: str, id: str = "") -> None:
        """Do nothing."""

    def tail(self, index: int, call: Call) -> None:
        """Send a call, whole."""
        function = {"index": index, "name": call.name, "arguments": json.loads(call.arguments)}
        self._say("", tool_calls=[{"id": call.id, "function": function}])

    def text(self, pieces: Sequence[str]) -> None:
        """Send visible text."""
        for piece in pieces:
            self._say(piece)

    def ending(self, *, calls: bool) -> None:  # noqa: ARG002 - the reason is the same
        """End the turn."""
        self._say("", done=True, done_reason="stop", **_TIMES)
