"""The wire of Gemini for leaks: parts with text, in the responses of a stream."""

from __future__ import annotations

import json
from typing import Any, Final

from wholecall.repairing.encoders.gemini import GeminiEncoder
from wholecall.repairing.gemini import places
from wholecall.repairing.pieces import Piece
from wholecall.repairing.wire import LeakWire

_SAID: Final = frozenset({"text", "thought"})  # members of a part that holds nothing but text


class GeminiLeaks(LeakWire):
    """Responses with candidates."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._encoder = GeminiEncoder()

    def see(self, piece: Piece) -> bool:
        """Take note of the members that each response has."""
        if head := places.head_of(_response(piece)):
            self._encoder.set_head(head)
        return True

    def ends(self, piece: Piece) -> bool:
        """Return whether the response ends a candidate."""
        return bool(places.endings_of(_response(piece)))

    def stripped(self, piece: Piece) -> bytes | None:
        """Return the response without its text; nothing if it neither ends nor shows anything else."""
        response = _response(piece)
        rest = places.mapped(response, _without_speech)
        if rest == response:
            return None
        is_over = places.endings_of(rest) or places.numbers_with(rest)
        return piece.with_payload(places.with_response(piece.payload or {}, rest)) if is_over else b""

    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:
        """Return a response with this text."""
        return self._encoder.parts(choice, [{"text": text, **({"thought": True} if reasoning else {})}])

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:  # noqa: ARG002
        """Return a response with a whole call, without an id: the wire had none."""
        called = {"name": name, "args": json.loads(arguments)}
        return [self._encoder.parts(choice, [{"functionCall": called}])]


def _response(piece: Piece) -> dict[str, Any]:
    """Return the response in a frame as clients read it, an empty one if it holds none."""
    return places.shaped(places.response_of(piece.payload or {}) or {})


def _without_speech(candidate: dict[str, Any]) -> dict[str, Any]:
    """Return a candidate without its text; a signature on a text stays, on an empty one."""
    parts = places.parts_of(candidate)
    kept = [_silenced(part) for part in parts if not (part.get("text") and part.keys() <= _SAID)]
    return candidate if kept == parts else places.with_parts(candidate, kept)


def _silenced(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "text": ""} if part.get("text") else part
