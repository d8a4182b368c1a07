"""Chat completions: chunks of about 345 B from OpenAI, and those of others who serve it (`gateways`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.envelopes.base import JSON, sse
from benchmarks.envelopes.gateways import OPENAI, Gateway
from benchmarks.texts import Call


class Chat:
    """Chat completions: one chunk a piece, and nothing that closes a call."""

    def __init__(self, gateway: Gateway = OPENAI) -> None:
        self.events: list[bytes] = []
        self._gateway = gateway

    def _say(self, delta: JSON, finish: str | None = None, **beside: Any) -> None:
        gateway = self._gateway
        choice = {"index": 0, "delta": delta, **gateway.choice, "finish_reason": finish, **beside}
        self.events.append(sse({**gateway.chunk, "choices": [choice], **gateway.last}))

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
        function = {"arguments": text, **self._gateway.function}
        call = {"index": index, **self._gateway.call, **labels, "function": function}
        self._say({**self._gateway.around_calls, "tool_calls": [call]})

    def tail(self, index: int, call: Call) -> None:
        """Do nothing."""

    def text(self, pieces: Sequence[str]) -> None:
        """Send visible text."""
        for piece in pieces:
            self._say({**self._gateway.around_text, "content": piece})

    def thought(self, pieces: Sequence[str]) -> None:
        """Send reasoning, and the details of it where the gateway adds them."""
        gateway = self._gateway
        for piece in pieces:
            details = {"reasoning_details": [{**gateway.details, "text": piece}]} if gateway.details else {}
            self._say({**gateway.around_thought, gateway.thought: piece, **details})

    def ending(self, *, calls: bool) -> None:
        """End the turn."""
        self._say({}, "tool_calls" if calls else "stop")
        self.events.append(b"data: [DONE]\n\n")
