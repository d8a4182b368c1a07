"""Responses: events of about 194 B, more with `obfuscation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.envelopes.base import JSON, named_sse
from benchmarks.texts import Call


class Responses:
    """Responses: numbered events, every text restated when it is done; `obfuscated` pads the deltas."""

    def __init__(self, *, obfuscated: bool = False) -> None:
        self.events: list[bytes] = []
        self._padding = {"obfuscation": "k3Jx9QpLw7Rt"} if obfuscated else {}
        self._output: list[JSON] = []

    def _say(self, name: str, **fields: Any) -> None:
        payload = {"type": f"response.{name}", "sequence_number": len(self.events)} | fields
        self.events.append(named_sse(payload))

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

    def thought(self, pieces: Sequence[str]) -> None:
        """Send a summary of reasoning, and restate it."""
        item: JSON = {"id": "rs_68d2a1", "type": "reasoning", "summary": []}
        self._say("output_item.added", output_index=0, item=item)
        where = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
        part = {"type": "summary_text", "text": ""}
        self._say("reasoning_summary_part.added", **where, part=part)
        for piece in pieces:
            self._say("reasoning_summary_text.delta", **where, delta=piece, **self._padding)
        part |= {"text": "".join(pieces)}
        self._say("reasoning_summary_text.done", **where, text=part["text"])
        self._say("reasoning_summary_part.done", **where, part=part)
        item |= {"summary": [part]}
        self._say("output_item.done", output_index=0, item=item)
        self._output.append(item)

    def ending(self, *, calls: bool) -> None:  # noqa: ARG002 - the output says it
        """End the turn, and restate all calls."""
        self._response("completed", "completed")


def _item_id(index: int) -> str:
    return f"fc_68d2a1{index:03}"
