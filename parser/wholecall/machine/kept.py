"""A part of an answer that goes back as it came: one block, item or detail, perhaps in pieces."""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.deltas import BlockKept
from wholecall.output.turns import OtherBlock

__all__ = ["Kept"]

_LABELS = ("type", "index", "id", "format")  # of a part that comes in pieces


class Kept(msgspec.Struct):
    """A part as it came; `pieces` are those of the member `grows`, and `of_text` means that it is a text."""

    value: dict[str, Any]
    of_text: bool = False
    grows: str | None = None
    pieces: list[str] = []

    def take(self, delta: BlockKept) -> bool:
        """Take one more piece; return False if it is of another part: one with other labels, or after a seal."""
        said, value = delta.value, self.value
        if delta.grows is None or self.grows != delta.grows or value.get("signature"):
            return False
        if any(said.get(label) not in (None, value.get(label)) for label in _LABELS):
            return False
        self.pieces.append(said[delta.grows])
        value.update((name, one) for name, one in said.items() if one is not None and name != self.grows)
        return True

    def seen(self, text: str) -> OtherBlock:
        """Return the part for users; `text` is what it says of the visible text."""
        grown = {} if self.grows is None else {self.grows: "".join(self.pieces)}
        return OtherBlock(self.value | grown, text)
