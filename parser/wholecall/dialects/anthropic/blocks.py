"""The content blocks of one Anthropic message: which of them are calls, and what a block says.

Text, thinking and calls share the numbers of blocks; blocks of an unknown type are skipped with their deltas.
"""

from __future__ import annotations

from typing import Final

import msgspec

from wholecall.deltas import (
    OBJECT,
    CallCancelled,
    CallSeen,
    CallWhole,
    Delta,
    Index,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
)
from wholecall.dialects.anthropic.views import Block
from wholecall.dialects.decode import dumped, is_blank, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.other_blocks import OtherBlocks
from wholecall.types import Kind

__all__ = ["Blocks", "reasoning_deltas"]

# Who executes the call of a block. Client tools that Anthropic defines (bash, computer) are `tool_use` too.
_CALL_BLOCKS: Final[dict[str, Kind]] = {
    "tool_use": "function",
    "server_tool_use": "server",
    "mcp_tool_use": "server",
}


_QUIET_BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "container_upload", "compaction"})


class Blocks:
    """The blocks of one message."""

    _others: OtherBlocks
    _skipped: set[Index | None]

    def __init__(self) -> None:
        self._others = OtherBlocks()
        self._skipped = set()  # of an unknown type

    def clear(self) -> None:
        """Forget all blocks, as the message is over."""
        self._others.indices.clear()
        self._skipped.clear()

    def start(self, index: Index | None, block: Block) -> list[Delta]:
        """Return the deltas of the start of a block, or of a whole one."""
        kind = _CALL_BLOCKS.get(block.type or "")
        if kind is not None:
            return self._start_call(index, block, kind)
        deltas: list[Delta] = []
        self._others.indices.add(index)
        if block.type not in _QUIET_BLOCKS:
            self._skipped.add(index)
            if not (block.type or "").endswith("tool_result"):
                deltas.append(Noted(0, "unknown_events"))
            elif (answered := id_label(block.tool_use_id)) is not None:
                deltas.append(CallCancelled(answered, answered=True))
        if (text := text_label(block.text)) and block.type == "text":
            deltas.append(TextFragment(0, text))
        return deltas + reasoning_deltas(index, block.thinking, block.signature, block.data)

    def _start_call(self, index: Index | None, block: Block, kind: Kind) -> list[Delta]:
        self._skipped.discard(index)
        self._others.indices.discard(index)
        return _call_deltas(index, block, kind)

    def spoken(self, index: Index | None) -> None:
        """Note that a block with text or thinking is no call: its start may be lost (quirk 77)."""
        self._others.indices.add(index)

    def piece(self, index: Index | None, text: object) -> Slot | None:
        """Return a piece of a call's text; None if it is empty, or belongs to a block of an unknown type."""
        if not text:
            return None  # the first piece is usually empty
        slot = self.slot(index)
        return slot and msgspec.structs.replace(slot, text=text if type(text) is str else dumped(text))

    def slot(self, index: Index | None) -> Slot | None:
        """Return the slot for a call's text; None if the block is of an unknown type."""
        return None if index in self._skipped else Slot(0, index, None, "")

    def stop(self, index: Index | None) -> list[Delta]:
        """Report that the block in a slot ended."""
        self._skipped.discard(index)
        return self._others.stop(index)

    def whole(self, blocks: list[Block] | None) -> list[Delta]:
        """Return the deltas of whole blocks, one after the other."""
        deltas: list[Delta] = []
        for index, block in enumerate(blocks or ()):
            deltas += self.start(index, block)
            deltas += self.stop(index)
        self._skipped.clear()
        return deltas


def _call_deltas(index: Index | None, block: Block, kind: Kind) -> list[Delta]:
    """Return the start of a call's block: its labels, and its input if it is not empty."""
    id_, name, namespace = id_label(block.id), name_label(block.name), name_label(block.toolset_name)
    extra = None
    if block.caller is not None or block.server_name is not None:
        origins = {"caller": block.caller, "server_name": block.server_name}
        extra = {key: value for key, value in origins.items() if value is not None}
    if text := _whole(block.input):
        return [CallWhole(0, index, None, id_, name, text, OBJECT, kind, namespace, extra=extra, begins=True)]
    return [CallSeen(0, index, None, id_, name, kind, namespace, extra=extra, begins=True)]


def _whole(raw: msgspec.Raw) -> str:
    """Return the text of an input that is not empty; empty ones are placeholders, never text."""
    text = wire_text(raw)
    return "" if is_blank(text) else text


def reasoning_deltas(index: Index | None, thinking: object, signature: object, data: object) -> list[Delta]:
    """Return a piece of thinking, or what seals it; nothing if there is neither."""
    text, signed, sealed = text_label(thinking), text_label(signature), text_label(data)
    if text is signed is sealed is None:
        return []
    return [ReasoningFragment(0, text or "", index, signature=signed, data=sealed)]
