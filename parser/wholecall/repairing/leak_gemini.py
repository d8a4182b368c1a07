"""The wire of Gemini: parts with text, in the responses of a stream and in whole ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from wholecall.encoders.gemini import GeminiEncoder, call_part
from wholecall.output.events import ToolCall
from wholecall.repairing import gemini_reading as reading
from wholecall.repairing.leak_wire import Wire
from wholecall.repairing.pieces import Piece

__all__ = ["GeminiWire", "with_spoken"]

_SAID: Final = frozenset({"text", "thought"})  # members of a part that holds nothing but text


class GeminiWire(Wire):
    """Responses with candidates."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._encoder = GeminiEncoder()

    def see(self, piece: Piece) -> bool:
        """Take note of the members that each response has."""
        if head := reading.head_of(_response(piece)):
            self._encoder.set_head(head)
        return True

    def ends(self, piece: Piece) -> bool:
        """Return whether the response ends a candidate."""
        return bool(reading.endings_of(_response(piece)))

    def stripped(self, piece: Piece) -> bytes | None:
        """Return the response without its text; nothing if it neither ends nor shows anything else."""
        response = _response(piece)
        rest = reading.mapped(response, _without_speech)
        if rest == response:
            return None
        is_over = reading.endings_of(rest) or reading.numbers_with(rest)
        return piece.with_payload(reading.with_response(piece.payload or {}, rest)) if is_over else b""

    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:
        """Return a response with this text."""
        return self._encoder.parts(choice, [{"text": text, **({"thought": True} if reasoning else {})}])

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:  # noqa: ARG002
        """Return a response with a whole call, without an id: the wire had none."""
        called = {"name": name, "args": json.loads(arguments)}
        return [self._encoder.parts(choice, [{"functionCall": called}])]


def _response(piece: Piece) -> dict[str, Any]:
    """Return the response in a frame as clients read it, an empty one if it holds none."""
    return reading.shaped(reading.response_of(piece.payload or {}) or {})


def _without_speech(candidate: dict[str, Any]) -> dict[str, Any]:
    """Return a candidate without its text; a signature on a text stays, on an empty one."""
    parts = reading.parts_of(candidate)
    kept = [_silenced(part) for part in parts if not (part.get("text") and part.keys() <= _SAID)]
    return candidate if kept == parts else reading.with_parts(candidate, kept)


def _silenced(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "text": ""} if part.get("text") else part


def with_spoken(candidate: dict[str, Any], text: str, calls: Sequence[ToolCall[Any]]) -> dict[str, Any]:
    """Return a candidate of a whole response with this text instead of its own, and with calls after its parts."""
    kept: list[dict[str, Any]] = []
    for part in reading.parts_of(candidate):
        if not part.get("text") or part.get("thought"):
            kept.append(part)
        elif text:
            kept.append({**part, "text": text})
            text = ""
    return reading.with_parts(candidate, [*kept, *(call_part(call, with_minted=False) for call in calls)])
