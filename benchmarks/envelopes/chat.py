"""Chat completions: chunks of about 345 B."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.envelopes.base import JSON, sse
from benchmarks.texts import Call

__all__ = ["Chat"]


_CHUNK_ID = "chatcmpl-CPx7hWq3nTz0VbYk2LmDs8RfGeUa4"
_CHUNK_HEAD: JSON = {
    "id": _CHUNK_ID,
    "object": "chat.completion.chunk",
    "created": 1_760_000_000,
    "model": "gpt-4.1-mini-2025-04-14",
    "service_tier": "default",
    "system_fingerprint": "fp_4c2851f862",
}


class Chat:
    """Chat completions: one chunk a piece, and nothing that closes a call."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, delta: JSON, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        self.events.append(sse({**_CHUNK_HEAD, "choices": [choice], "usage": None}))

    def opening(self) -> None:
        """Begin the turn."""
        self._say({"role": "assistant", "content": None, "refusal": None})

    def head(self, index: int, call: Call) -> None:
        """Name a call."""
        function = {"name": call.name, "arguments": ""}
        self._say({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})

    def piece(self, index: int, text: str, id: str = "") -> None:
        """Send a piece of a call's arguments."""
        labels = {"id": id} if id else {}
        self._say({"tool_calls": [{"index": index, **labels, "function": {"arguments": text}}]})

    def tail(self, index: int, call: Call) -> None:
        """Do nothing."""

    def text(self, pieces: Sequence[str]) -> None:
        """Send visible text."""
        for piece in pieces:
            self._say({"content": piece})

    def ending(self, *, calls: bool) -> None:
        """End the turn."""
        self._say({}, "tool_calls" if calls else "stop")
        self.events.append(b"data: [DONE]\n\n")
