"""The envelopes in which the providers send pieces of calls and text, member for member as they do.

A chunk of chat completions has about 345 B, an event of Anthropic 140 B, one of Responses 194 B (more with
`obfuscation`). An envelope writes one stream: an opening; the head, the pieces and the tail of each call, in any
order that the wire allows; an ending.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from benchmarks.texts import Call

__all__ = ["ENVELOPES", "Anthropic", "Chat", "Envelope", "Responses"]

JSON = dict[str, Any]

_CHUNK_ID = "chatcmpl-CPx7hWq3nTz0VbYk2LmDs8RfGeUa4"
_CHUNK_HEAD: JSON = {
    "id": _CHUNK_ID,
    "object": "chat.completion.chunk",
    "created": 1_760_000_000,
    "model": "gpt-4.1-mini-2025-04-14",
    "service_tier": "default",
    "system_fingerprint": "fp_4c2851f862",
}


class Envelope(Protocol):
    """Writes the events of one stream; `index` says which call of the turn is meant."""

    events: list[bytes]

    def opening(self) -> None:
        """Begin the turn."""

    def head(self, index: int, call: Call) -> None:
        """Name a call."""

    def piece(self, index: int, text: str, id: str = "") -> None:
        """Send a piece of a call's arguments; `id` is what the provider repeats with it, where it does."""

    def tail(self, index: int, call: Call) -> None:
        """Close a call, where the wire does."""

    def text(self, pieces: Sequence[str]) -> None:
        """Send visible text."""

    def ending(self, *, calls: bool) -> None:
        """End the turn."""


def _sse(payload: JSON) -> bytes:
    data = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return f"data: {data}\n\n".encode()


def _named_sse(payload: JSON) -> bytes:
    return f"event: {payload['type']}\n".encode() + _sse(payload)


class Chat:
    """Chat completions: one chunk a piece, and nothing that closes a call."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, delta: JSON, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        self.events.append(_sse({**_CHUNK_HEAD, "choices": [choice], "usage": None}))

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


class Anthropic:
    """Anthropic: a block a call."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, type_: str, **fields: Any) -> None:
        self.events.append(_named_sse({"type": type_, **fields}))

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

    def ending(self, *, calls: bool) -> None:
        """End the turn."""
        delta = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        self._say("message_delta", delta=delta, usage={"output_tokens": 89})
        self._say("message_stop")


class Responses:
    """Responses: numbered events, every text restated when it is done; `obfuscated` pads the deltas."""

    def __init__(self, *, obfuscated: bool = False) -> None:
        self.events: list[bytes] = []
        self._padding = {"obfuscation": "k3Jx9QpLw7Rt"} if obfuscated else {}
        self._output: list[JSON] = []

    def _say(self, name: str, **fields: Any) -> None:
        payload = {"type": f"response.{name}", "sequence_number": len(self.events)} | fields
        self.events.append(_named_sse(payload))

    def _response(self, name: str, status: str) -> None:
        response: JSON = {"id": "resp_68d2a1b3c4", "object": "response", "created_at": 1_760_000_000}
        usage = {"input_tokens": 64, "output_tokens": 512, "total_tokens": 576}
        response |= {"status": status, "model": "gpt-4.1", "output": self._output, "usage": usage}
        self._say(name, response=response)

    def _item(self, index: int, call: Call) -> JSON:
        item: JSON = {"id": _item_id(index), "type": "function_call", "status": "in_progress"}
        return item | {"arguments": "", "call_id": call.id, "name": call.name}

    def opening(self) -> None:
        """Begin the turn."""
        self._response("created", "in_progress")
        self._response("in_progress", "in_progress")

    def head(self, index: int, call: Call) -> None:
        """Open an item."""
        self._say("output_item.added", output_index=index, item=self._item(index, call))

    def piece(self, index: int, text: str, id: str = "") -> None:
        """Send a piece of a call's arguments."""
        where = {"item_id": id or _item_id(index), "output_index": index}
        self._say("function_call_arguments.delta", **where, delta=text, **self._padding)

    def tail(self, index: int, call: Call) -> None:
        """Restate the arguments and close the item."""
        where = {"item_id": _item_id(index), "output_index": index}
        self._say("function_call_arguments.done", **where, arguments=call.arguments)
        item = self._item(index, call) | {"arguments": call.arguments, "status": "completed"}
        self._say("output_item.done", output_index=index, item=item)
        self._output.append(item)

    def text(self, pieces: Sequence[str]) -> None:
        """Send a message of text, and restate it."""
        item: JSON = {"id": "msg_68d2a1", "type": "message", "role": "assistant", "status": "in_progress"}
        self._say("output_item.added", output_index=0, item=item | {"content": []})
        where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        part: JSON = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        self._say("content_part.added", **where, part=part)
        for piece in pieces:
            self._say("output_text.delta", **where, delta=piece, **self._padding)
        part |= {"text": "".join(pieces)}
        self._say("output_text.done", **where, text=part["text"])
        self._say("content_part.done", **where, part=part)
        item |= {"status": "completed", "content": [part]}
        self._say("output_item.done", output_index=0, item=item)
        self._output.append(item)

    def ending(self, *, calls: bool) -> None:  # noqa: ARG002 - the output says it
        """End the turn, and restate all calls."""
        self._response("completed", "completed")


def _item_id(index: int) -> str:
    return f"fc_68d2a1{index:03}"


ENVELOPES: dict[str, Callable[[], Envelope]] = {
    "chat-completions": Chat,
    "anthropic": Anthropic,
    "responses": Responses,
}
