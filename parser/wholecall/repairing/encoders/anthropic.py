"""Encode events as a strict stream of Anthropic Messages: every block begins, has its deltas, and ends.

Source: Anthropic API reference, "Streaming Messages".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from wholecall.calls.output.call_events import ToolCall
from wholecall.calls.output.events import ReasoningDelta, StreamFault, TextDelta, TurnFinished, TurnStarted
from wholecall.repairing.encoders import base
from wholecall.repairing.encoders.counts import counts_of
from wholecall.types import Kind, TurnReason

_REASONS: Final[dict[TurnReason, str]] = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "pause": "pause_turn",
}
TEXT: Final = {"type": "text", "text": ""}
THINKING: Final = {"type": "thinking", "thinking": "", "signature": ""}


def error_of(message: str, code: str) -> dict[str, Any]:  # noqa: ARG001 - it has no place in this dialect
    """Return the object that reports an error, of one of the API's own types."""
    return {"type": "error", "error": {"type": "api_error", "message": message}}


def reason_of(reason: TurnReason, n_calls: int) -> str:
    """Return the reason for which a message ended, in this wire's words; calls outrank it."""
    return "tool_use" if n_calls else _REASONS.get(reason, "end_turn")


class AnthropicEncoder(base.Encoder):
    """The encoder of choice 0 of one turn.

    Free-text calls and calls of provider-defined tools have no form in this dialect and are left out.

    Attributes:
        next_index: the number of the next content block.
    """

    def __init__(self) -> None:
        self.next_index = 0
        self._open: str | None = None  # the type of the open block of speech
        self._n_calls = 0

    def close(self) -> bytes:
        """Return nothing: `message_stop` is the end."""
        return b""

    def call(self, call: base.Executable) -> bytes:
        """Return the block of a whole call."""
        if not isinstance(call, ToolCall):
            return b""
        opened, data = self.begin(0, call.id, call.name, base.argument_text(call))
        return data + self.end(opened, call)

    def begin(
        self, choice: int, id: str, name: str, text: str = "", kind: Kind = "function"
    ) -> tuple[base.OpenCall, bytes]:
        """Return a call with the next block's number, and the start of that block."""
        block = {"type": "tool_use", "id": id, "name": name, "input": {}}
        data = self._end_speech()
        call = base.OpenCall(choice, self.next_index, kind)
        data += self.open(block)
        return call, data + (self.more(call, text) if text else b"")

    def more(self, call: base.OpenCall, text: str) -> bytes:
        """Return further argument text."""
        return _delta(call.index, {"type": "input_json_delta", "partial_json": text})

    def end(self, call: base.OpenCall, whole: base.Executable) -> bytes:  # noqa: ARG002
        """Return the end of a call's block."""
        self._n_calls += 1
        return _sent({"type": "content_block_stop", "index": call.index})

    def whole(self, block: Mapping[str, Any]) -> bytes:
        """Return a block that gets no deltas."""
        index = self.next_index
        return self.open(block) + _sent({"type": "content_block_stop", "index": index})

    def finish(self, reason: str, usage: Mapping[str, Any] | None = None) -> bytes:
        """Return the frame with the reason why the message ended."""
        delta = {"stop_reason": reason, "stop_sequence": None}
        tokens = {"output_tokens": 0} if usage is None else counts_of(usage).as_anthropic()
        return _sent({"type": "message_delta", "delta": delta, "usage": tokens})

    def error(self, message: str, code: str = "stream_error") -> bytes:
        """Return the frame that reports an error; clients raise for it."""
        return _sent(error_of(message, code))

    def ping(self) -> bytes:
        """Return the frame without content."""
        return _sent({"type": "ping"})

    def start(self, id: str | None = None, model: str | None = None) -> bytes:
        """Return the start of a message."""
        message: dict[str, Any] = {
            "id": id or "msg_0",
            "type": "message",
            "role": "assistant",
            "model": model or "",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        return _sent({"type": "message_start", "message": message})

    def _say(self, block: Mapping[str, Any], delta: str, text: str) -> bytes:
        kind = block["type"]
        data = b""
        if self._open != kind:
            data = self._end_speech() + self.open(block)
            self._open = kind
        return data + _delta(self.next_index - 1, {"type": delta, kind: text})

    def open(self, block: Mapping[str, Any]) -> bytes:
        """Return the start of a block with the next number."""
        index = self.next_index
        self.next_index += 1
        return _sent({"type": "content_block_start", "index": index, "content_block": block})

    def _end_speech(self) -> bytes:
        if self._open is None:
            return b""
        self._open = None
        return _sent({"type": "content_block_stop", "index": self.next_index - 1})

    def _finished(self, event: TurnFinished) -> bytes:
        if self._is_broken_off(event, self._n_calls):
            return b""
        reason = reason_of(event.reason, self._n_calls)
        return self._end_speech() + self.finish(reason, event.usage) + _sent({"type": "message_stop"})

    _events: ClassVar = {
        TurnStarted: lambda self, event: self.start(event.id, event.model),
        TextDelta: lambda self, event: self._say(TEXT, "text_delta", event.text),
        ReasoningDelta: lambda self, event: self._say(THINKING, "thinking_delta", event.text),
        ToolCall: lambda self, event: self.call(event),
        TurnFinished: _finished,
        StreamFault: lambda self, event: self._fault(event),
    }


def _sent(payload: Mapping[str, Any]) -> bytes:
    return base.server_sent(payload, payload["type"])


def _delta(index: int, delta: Mapping[str, Any]) -> bytes:
    return _sent({"type": "content_block_delta", "index": index, "delta": delta})
