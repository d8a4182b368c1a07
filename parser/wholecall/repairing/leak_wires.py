"""The wires of Chat Completions and of Anthropic Messages, and which dialect has which wire."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from wholecall.encoders.base import server_sent
from wholecall.encoders.chat import CHUNK
from wholecall.repairing.chat_reading import choices_of, finishes, has_content, number_of
from wholecall.repairing.leak_gemini import GeminiWire
from wholecall.repairing.leak_responses import ResponsesWire
from wholecall.repairing.leak_wire import Wire
from wholecall.repairing.pieces import Piece

__all__ = ["WIRES"]

# Chat Completions.

_SAID: Final = ("content", "reasoning_content", "reasoning")  # members of a delta that hold text
_NO_HEAD: Final = frozenset({"choices", "usage", "error", "object"})


class _ChatWire(Wire):
    """Chunks with choices."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._head: dict[str, Any] = {}
        self._n_calls: dict[int, int] = {}  # by choice: how many indices were used

    def see(self, piece: Piece) -> bool:
        payload = piece.payload or {}
        if choices_of(payload):
            self._head = {key: value for key, value in payload.items() if key not in _NO_HEAD}
        for choice in choices_of(payload):
            number = number_of(choice)
            for index in _indices(choice):
                self._n_calls[number] = max(self._n_calls.get(number, 0), index + 1)
        return True

    def ends(self, piece: Piece) -> bool:
        return piece.is_done or bool(finishes(piece.payload or {}))

    def stripped(self, piece: Piece) -> bytes | None:
        payload = piece.payload or {}
        if not any(map(_speaks, choices_of(payload))):
            return None
        rest = {**payload, "choices": [_without_speech(choice) for choice in choices_of(payload)]}
        return piece.with_payload(rest) if has_content(rest) else b""

    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:
        return self._delta(choice, {"reasoning_content" if reasoning else "content": text})

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:
        index = self._n_calls.get(choice, 0)
        self._n_calls[choice] = index + 1
        body = {"name": name, "arguments": arguments}
        call = {"index": index, "id": id, "type": "function", "function": body}
        return [self._delta(choice, {"tool_calls": [call]})]

    def _delta(self, choice: int, delta: dict[str, Any]) -> bytes:
        body = {"index": choice, "delta": delta, "finish_reason": None}
        return server_sent({**self._head, "object": CHUNK, "choices": [body]})


def _indices(choice: dict[str, Any]) -> list[int]:
    delta = choice.get("delta")
    listed = delta.get("tool_calls") if isinstance(delta, dict) else None
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    return [index for call in calls if type(index := call.get("index")) is int and index >= 0]


def _speaks(choice: dict[str, Any]) -> bool:
    delta = choice.get("delta")
    return isinstance(delta, dict) and not delta.keys().isdisjoint(_SAID)


def _without_speech(choice: dict[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return choice
    return {**choice, "delta": {key: value for key, value in delta.items() if key not in _SAID}}


# Anthropic Messages.

_DELTAS: Final = {"text": "text_delta", "thinking": "thinking_delta"}  # by the member with the text
_KINDS: Final = frozenset(_DELTAS.values())


class _AnthropicWire(Wire):
    """Content blocks; text goes to the block of its kind that began last."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._blocks: dict[str, int] = {}  # by their kind
        self._next = 0

    def see(self, piece: Piece) -> bool:
        payload = piece.payload or {}
        index, block = payload.get("index"), payload.get("content_block")
        if type(index) is int:
            self._next = max(self._next, index + 1)
            if piece.kind == "content_block_start" and isinstance(block, dict):
                self._blocks[str(block.get("type"))] = index
        return True

    def ends(self, piece: Piece) -> bool:
        return piece.kind in ("message_delta", "message_stop")

    def stripped(self, piece: Piece) -> bytes | None:
        payload = piece.payload or {}
        delta, block = payload.get("delta"), payload.get("content_block")
        if piece.kind == "content_block_delta" and isinstance(delta, dict) and delta.get("type") in _KINDS:
            return b""
        if piece.kind == "content_block_start" and isinstance(block, dict) and block.get("text"):
            return piece.with_payload({**payload, "content_block": {**block, "text": ""}})
        return None

    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:  # noqa: ARG002 - there is one
        kind = "thinking" if reasoning else "text"
        if kind not in self._blocks:  # a delta without a start gets one from the rewriter
            self._blocks[kind], self._next = self._next, self._next + 1
        delta = {"type": _DELTAS[kind], kind: text}
        return _event("content_block_delta", index=self._blocks[kind], delta=delta)

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:  # noqa: ARG002 - as above
        index, self._next = self._next, self._next + 1
        block = {"type": "tool_use", "id": id, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": arguments}
        return [
            _event("content_block_start", index=index, content_block=block),
            _event("content_block_delta", index=index, delta=delta),
            _event("content_block_stop", index=index),
        ]


def _event(kind: str, **members: Any) -> bytes:
    return server_sent({"type": kind, **members}, kind)


WIRES: Final[Mapping[str, type[Wire]]] = MappingProxyType(
    {
        "anthropic": _AnthropicWire,
        "chat-completions": _ChatWire,
        "gemini": GeminiWire,
        "responses": ResponsesWire,
    }
)
