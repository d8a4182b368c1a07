"""The UI message stream of Vercel's AI SDK: events of about 100 B without names; whole input after its pieces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.envelopes.base import sse
from benchmarks.texts import Call


class VercelUI:
    """Vercel: a start, pieces and the whole input for each call."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self._ids: dict[int, str] = {}  # pieces name their call by it

    def _say(self, type_: str, **fields: Any) -> None:
        self.events.append(sse({"type": type_, **fields}))

    def opening(self) -> None:
        """Begin the turn and its step."""
        self._say("start", messageId="msg-71Kc0wPq")
        self._say("start-step")

    def head(self, index: int, call: Call) -> None:
        """Name a call."""
        self._ids[index] = call.id
        self._say("tool-input-start", toolCallId=call.id, toolName=call.name)

    def piece(self, index: int, text: str, id: str = "") -> None:
        """Send a piece of a call's arguments."""
        self._say("tool-input-delta", toolCallId=id or self._ids[index], inputTextDelta=text)

    def tail(self, index: int, call: Call) -> None:  # noqa: ARG002
        """Restate the arguments."""
        arguments = json.loads(call.arguments)
        self._say("tool-input-available", toolCallId=call.id, toolName=call.name, input=arguments)

    def text(self, pieces: Sequence[str]) -> None:
        """Send a text."""
        self._say("text-start", id="1")
        for piece in pieces:
            self._say("text-delta", id="1", delta=piece)
        self._say("text-end", id="1")

    def ending(self, *, calls: bool) -> None:
        """End the step and the turn."""
        self._say("finish-step")
        self._say("finish", finishReason="tool-calls" if calls else "stop")
        self.events.append(b"data: [DONE]\n\n")
