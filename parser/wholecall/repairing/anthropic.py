"""Anthropic Messages: what a frame is to calls, what a naive reader gets, and the numbers of blocks.

A block of type `tool_use` is a call that the client executes; blocks of server tools pass. `message_delta` waits
behind the calls, whose last is decided by it, and its reason is put right.
"""

from __future__ import annotations

from typing import Any, Final

from wholecall.dialects.reasons import turn_reason
from wholecall.encoders.anthropic import AnthropicEncoder
from wholecall.limits import Limits
from wholecall.repairing.items import ItemMender, Role
from wholecall.repairing.mender import Piece
from wholecall.repairing.strict import Track

__all__ = ["AnthropicMender"]

_ENDS: Final = {"message_start": Role.BEGINS, "message_stop": Role.ENDS}
_CALL: Final = "tool_use"
_PLACEHOLDERS: Final[tuple[Any, ...]] = ({}, None)


class AnthropicMender(ItemMender[AnthropicEncoder]):
    """Mends one Messages stream."""

    def __init__(self, limits: Limits, *, live: bool) -> None:
        super().__init__(AnthropicEncoder(), limits, live=live)
        self._blocks: dict[Any, str] = {}  # by the wire's number: the type of the block that has it
        self._numbers: dict[Any, int] = {}  # and ours
        self._has_reason = False
        self._begin_tracks()

    def _role(self, piece: Piece) -> Role:
        payload = piece.payload or {}
        kind, index = payload.get("type"), _hashable(payload.get("index"))
        if kind == "ping":
            return Role.LIVES
        if isinstance(kind, str) and kind in _ENDS:
            self._blocks.clear()
            return _ENDS[kind]
        if kind == "content_block_start":
            block = payload.get("content_block")
            self._blocks[index] = str(block.get("type")) if isinstance(block, dict) else ""
            return Role.OPENS if self._blocks[index] == _CALL else Role.PASSES
        if kind == "content_block_delta" and index not in self._blocks:
            delta = payload.get("delta")
            if isinstance(delta, dict) and delta.get("type") == "input_json_delta":
                self._blocks[index] = _CALL  # its start is missing
                return Role.OPENS
        is_block = kind in {"content_block_delta", "content_block_stop"}
        return Role.BELONGS if is_block and self._blocks.get(index) == _CALL else Role.PASSES

    # What a naive reader gets.

    def _begin_tracks(self) -> None:
        self._tracks: dict[Any, Track] = {}
        self._stopped: set[Any] = set()

    def _track(self, piece: Piece) -> bool:
        payload = piece.payload or {}
        kind, index = payload["type"], _hashable(payload.get("index"))
        if piece.event != kind or type(index) is not int or index in self._stopped:
            return False
        if kind == "content_block_start":
            expected = len(self._numbers) + len(self._tracks)
            block = payload["content_block"]
            if index in self._tracks or index != expected or block.get("input") not in _PLACEHOLDERS:
                return False
            track = self._tracks[index] = Track(_CALL, "text")
            return track.begin(block.get("id") or "", {"name": block.get("name"), "text": ""})
        if index not in self._tracks:
            return False
        if kind == "content_block_stop":
            self._stopped.add(index)
            return True
        return self._tracks[index].add(payload["delta"].get("partial_json"))

    def _read(self) -> list[tuple[str, str, str]]:
        if self._stopped != self._tracks.keys():
            return [("", "", "")]  # a call without an end
        # Without any text the placeholder at the start stands: that is how the API itself sends no arguments.
        return [(track.id, track.name, track.text or "{}") for track in self._tracks.values()]

    # What goes out.

    def _passing(self, piece: Piece) -> bytes:
        payload = piece.payload or {}
        kind, index = payload.get("type"), _hashable(payload.get("index"))
        if kind == "message_start":
            return self._started(piece)
        if kind == "content_block_start":
            self._numbers[index] = self._encoder.next_index
            self._encoder.next_index += 1
        if kind == "message_delta":
            return self._with_reason(piece)
        if kind == "message_stop" and self._executed and not self._has_reason:
            return self._encoder.finish("tool_use") + piece.raw
        number = self._numbers.get(index, index)
        if not self._is_shifted or "index" not in payload or number == index:
            return piece.raw
        return piece.with_payload({**payload, "index": number})

    def _started(self, piece: Piece) -> bytes:
        """Begin a message; whole calls in it are written as blocks instead."""
        payload = piece.payload or {}
        message = payload.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks: list[Any] = content if isinstance(content, list) else []
        kept = [block for block in blocks if not (isinstance(block, dict) and block.get("type") == _CALL)]
        self._numbers = {}
        self._executed.clear()
        self._has_reason = False
        self._encoder.next_index = len(kept)
        if len(kept) == len(blocks):
            self._is_shifted = False
            return piece.raw
        self._is_shifted = True
        return piece.with_payload({**payload, "message": {**(message or {}), "content": kept}})

    def _with_reason(self, piece: Piece) -> bytes:
        payload = piece.payload or {}
        delta = payload.get("delta")
        if not isinstance(delta, dict) or (told := turn_reason(delta.get("stop_reason"))) is None:
            return piece.raw
        self._has_reason = True
        reason = told[1]
        if self._executed:
            reason = _CALL
        elif told[0] == "tool_calls":
            reason = "end_turn"
        if reason == told[1]:
            return piece.raw
        return piece.with_payload({**payload, "delta": {**delta, "stop_reason": reason}})


def _hashable(index: object) -> Any:
    return index if isinstance(index, (int, str)) else None
