"""Cohere's chat, version 2: named events of about 150 B."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.envelopes.base import JSON, named_sse
from benchmarks.texts import Call


class Cohere:
    """Cohere: a start, pieces and an end for each call and each text."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, type_: str, index: int | None = None, message: JSON | None = None, **more: Any) -> None:
        payload: JSON = {"type": type_}
        if index is not None:
            payload["index"] = index
        if message is not None:
            payload["delta"] = {"message": message}
        self.events.append(named_sse(payload | more))

    def opening(self) -> None:
        """Begin the turn."""
        empty: JSON = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        self._say("message-start", message=empty, id="6d1c0c52-7a1e-4a57-9a0e-2f6a1a3f7c01")

    def head(self, index: int, call: Call) -> None:
        """Name a call."""
        function = {"name": call.name, "arguments": ""}
        self._say(
            "tool-call-start",
            index,
            {"tool_calls": {"id": call.id, "type": "function", "function": function}},
        )

    def piece(self, index: int, text: str, id: str = "") -> None:  # noqa: ARG002 - deltas carry no id here
        """Send a piece of a call's arguments."""
        self._say("tool-call-delta", index, {"tool_calls": {"function": {"arguments": text}}})

    def tail(self, index: int, call: Call) -> None:  # noqa: ARG002
        """Close a call."""
        self._say("tool-call-end", index)

    def text(self, pieces: Sequence[str]) -> None:
        """Send a content of text."""
        self._say("content-start", 0, {"content": {"type": "text", "text": ""}})
        for piece in pieces:
            self._say("content-delta", 0, {"content": {"text": piece}})
        self._say("content-end", 0)

    def thought(self, pieces: Sequence[str]) -> None:
        """Send a content of thinking."""
        self._say("content-start", 0, {"content": {"type": "thinking", "thinking": ""}})
        for piece in pieces:
            self._say("content-delta", 0, {"content": {"thinking": piece}})
        self._say("content-end", 0)

    def ending(self, *, calls: bool) -> None:
        """End the turn."""
        usage = {"tokens": {"input_tokens": 968, "output_tokens": 82}}
        reason = "TOOL_CALL" if calls else "COMPLETE"
        self._say("message-end", delta={"finish_reason": reason, "usage": usage})
        self.events.append(b"data: [DONE]\n\n")
