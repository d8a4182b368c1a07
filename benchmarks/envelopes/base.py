"""Base class of envelopes, and the two usual ways to put JSON on the wire."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from benchmarks.texts import Call

JSON = dict[str, Any]


class Envelope(Protocol):
    """Writes the events of one stream; `index` says which call of the turn is meant."""

    events: list[bytes]

    def opening(self) -> None:
        """Begin the turn."""

    def head(self, index: int, call: Call) -> None:
        """Name a call."""

    def piece(self, index: int, text: str, id: str = "") -> None:
        """Send a piece of a call's arguments; `id` is the id that the provider repeats with it, if it does."""

    def tail(self, index: int, call: Call) -> None:
        """Close a call, where the wire does."""

    def text(self, pieces: Sequence[str]) -> None:
        """Send visible text."""

    def ending(self, *, calls: bool) -> None:
        """End the turn."""


class Thinking(Envelope, Protocol):
    """An envelope for reasoning, too."""

    def thought(self, pieces: Sequence[str]) -> None:
        """Send reasoning."""


def dumped(payload: JSON) -> str:
    """Return a payload as servers write it: no spaces, no escapes that are not needed."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def sse(payload: JSON) -> bytes:
    """Return an event of one data line."""
    return f"data: {dumped(payload)}\n\n".encode()


def named_sse(payload: JSON) -> bytes:
    """Return an event that is named by the type of its payload."""
    return f"event: {payload['type']}\n".encode() + sse(payload)
