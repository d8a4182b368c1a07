"""A part of an answer that is sent back unchanged: one block, item or detail, perhaps in pieces."""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.calls.output.turns import OtherBlock
from wholecall.deltas import BlockKept
from wholecall.machine.said import SaidText

_LABELS = frozenset({"type", "index", "id", "format"})  # of a part that comes in pieces


class Kept(msgspec.Struct):
    """A part in the wire's form; `pieces` are those of the member `grows`, and `of_text` means that it is a text."""

    value: dict[str, Any]
    of_text: bool = False
    grows: str | None = None
    pieces: SaidText = msgspec.field(default_factory=SaidText)

    def take(self, delta: BlockKept) -> bool:
        """Take one more piece; return False if it belongs to another part, by its labels or after a seal."""
        said, value, grows = delta.value, self.value, self.grows
        if grows is None or delta.grows != grows or value.get("signature"):
            return False
        news = {}
        for name, one in said.items():
            if one is not None and name != grows and value.get(name) != one:
                if name in _LABELS:
                    return False
                news[name] = one
        value |= news
        self.pieces.add(said[grows])
        return True

    def seen(self, text: str) -> OtherBlock:
        """Return the part for users; `text` is its share of the visible text."""
        grown = {} if self.grows is None else {self.grows: self.pieces.text}
        return OtherBlock(self.value | grown, text)
