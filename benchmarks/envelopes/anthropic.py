"""Anthropic Messages: events of about 140 B."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.envelopes.base import JSON, named_sse
from benchmarks.texts import Call


class Anthropic:
    """Anthropic: a block a call."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, type_: str, **fields: Any) -> None:
        self.events.append(named_sse({"type": type_, **fields}))

    def opening(self) -> None:
        """Begin the turn."""
        usage = {"input_tokens": 412, "output_tokens": 2, "service_tier": "standard"}
        message: JSON = {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant"}
        message |= {"model": "claude-sonnet-4-5", "content": [], "stop_reason": None, "usage": usage}
        self._say("message_start", message=message)
        self._say("ping")

    def head(self, index: int, call: Call) -> None:
        """Open a block, with the empty piece that comes first."""
        block: JSON = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        self._say("content_block_start", index=index, content_block=block)
        self.piece(index, "")

    def piece(self, index: int, text: str, id: str = "") -> None:  # noqa: ARG002 - deltas carry no id here
        """Send a piece of a call's arguments."""
        self._say(
            "content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": text}
        )

    def tail(self, index: int, call: Call) -> None:  # noqa: ARG002
        """Close the block."""
        self._say("content_block_stop", index=index)

    def text(self, pieces: Sequence[str]) -> None:
        """Send a block of text."""
        self._say("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in pieces:
            self._say("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        self._say("content_block_stop", index=0)

    def thought(self, pieces: Sequence[str]) -> None:
        """Send a block of thinking, which its signature seals."""
        self._say(
            "content_block_start",
            index=0,
            content_block={"type": "thinking", "thinking": "", "signature": ""},
        )
        for piece in pieces:
            self._say("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": piece})
        self._say(
            "content_block_delta", index=0, delta={"type": "signature_delta", "signature": "EqQBCkYIBxgC"}
        )
        self._say("content_block_stop", index=0)

    def ending(self, *, calls: bool) -> None:
        """End the turn."""
        delta = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        self._say("message_delta", delta=delta, usage={"output_tokens": 89})
        self._say("message_stop")
