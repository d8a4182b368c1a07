"""The wire of Chat Completions for leaks: chunks with choices."""

from __future__ import annotations

from typing import Final

from wholecall.repairing.chat import places
from wholecall.repairing.encoders.chat import ChatEncoder
from wholecall.repairing.pieces import Piece
from wholecall.repairing.wire import LeakWire

_NO_HEAD: Final = places.NO_HEAD | {"object"}


class ChatLeaks(LeakWire):
    """Chunks with choices."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._encoder = ChatEncoder()
        self._encoder.set_head({})

    def see(self, piece: Piece) -> bool:
        """Take note of the members that each chunk has, and of the used indices."""
        payload = piece.payload or {}
        choices = places.choices_of(payload)
        if choices:
            self._encoder.set_head({key: value for key, value in payload.items() if key not in _NO_HEAD})
        for choice in choices:
            for index in places.indices_of(choice):
                self._encoder.use_index(places.number_of(choice), index)
        return True

    def ends(self, piece: Piece) -> bool:
        """Return whether a chunk ends a choice, or the stream."""
        return piece.is_done or bool(places.finishes(piece.payload or {}))

    def stripped(self, piece: Piece) -> bytes | None:
        """Return the chunk without its text; nothing if it holds nothing else."""
        payload = piece.payload or {}
        choices = places.choices_of(payload)
        if not any(map(places.speaks, choices)):
            return None
        rest = {**payload, "choices": [places.without_speech(choice) for choice in choices]}
        return piece.with_payload(rest) if places.has_content(rest) else b""

    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:
        """Return a chunk with this text."""
        return self._encoder.say(choice, text, reasoning=reasoning)

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:
        """Return the chunk of a whole call."""
        return [self._encoder.begin(choice, id, name, arguments)[1]]
