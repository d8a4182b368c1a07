"""The content blocks of one Anthropic message: which of them are calls, and their deltas.

Text, thinking and calls share the numbers of blocks. Any other block is kept and goes back as it came: results of the
provider's tools, compactions, blocks of unknown types. The content of its deltas is joined to it, member by member. A
text with citations is kept with them.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.deltas import (
    OBJECT,
    BlockKept,
    CallCancelled,
    CallSeen,
    CallWhole,
    Delta,
    Index,
    Noted,
    ReasoningFragment,
    Slot,
    TextBegan,
    TextFragment,
)
from wholecall.dialects import report
from wholecall.dialects.anthropic.views import Block
from wholecall.dialects.decode import dumped, is_blank, listed, member, plain, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.types import Kind

__all__ = ["Blocks", "reasoning_deltas"]

# Who executes the call of a block. Client tools that Anthropic defines (bash, computer) are `tool_use` too.
_CALL_BLOCKS: Final[dict[str, Kind]] = {
    "tool_use": "function",
    "server_tool_use": "server",
    "mcp_tool_use": "server",
}


_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_QUIET_BLOCKS = frozenset({"container_upload", "compaction"})  # of blocks that are kept


class Growing(msgspec.Struct):
    """A block that is kept, with its later content: members that come in pieces, and those that came whole."""

    value: dict[str, Any]
    pieces: dict[str, list[str]] = {}

    def take(self, delta: dict[str, Any]) -> None:
        """Take the content of a delta: texts are joined, citations listed, anything else replaces the old value."""
        for name, said in delta.items():
            if name == "citation":
                if type(self.value.get("citations")) is not list:
                    self.value["citations"] = []
                self.value["citations"].append(said)
            elif type(said) is str and name != "type":
                self.pieces.setdefault(name, []).append(said)
            elif name != "type":
                self.value[name] = said

    def whole(self) -> dict[str, Any]:
        """Return the block."""
        grown = {
            name: f"{text_label(self.value.get(name)) or ''}{''.join(pieces)}"
            for name, pieces in self.pieces.items()
        }
        return self.value | grown


class Blocks:
    """The blocks of one message."""

    _others: set[Index | None]
    _skipped: set[Index | None]
    _growing: dict[Index | None, Growing]
    _text: list[Index | None]

    def __init__(self) -> None:
        self._others = set()  # open blocks that are not calls: text, thinking, results
        self._skipped = set()  # blocks whose pieces are not a call's, and which go back as they came
        self._growing = {}  # blocks that are kept, until they end
        self._text = []  # the block of text that began last, if no other has begun

    def clear(self) -> None:
        """Forget all blocks, as the message is over."""
        self._others.clear()
        self._skipped.clear()
        self._growing.clear()
        self._text.clear()

    def start(self, index: Index | None, block: Block, wire: str | dict[str, Any] = "") -> list[Delta]:
        """Return the deltas of the start of a block, or of a whole one.

        `wire` is the block as the wire has it, or the text of the event that starts it; without it nothing is kept.
        """
        self._text.clear()
        kind = _CALL_BLOCKS.get(block.type or "")
        if kind is not None:
            return self._start_call(index, block, kind)
        self._others.add(index)
        if block.type == "text":
            return self._start_text(index, block)
        if block.type not in _THOUGHTS:
            return self._start_other(index, block, wire)
        return reasoning_deltas(index, block.thinking, block.signature, block.data)

    def _start_text(self, index: Index | None, block: Block) -> list[Delta]:
        self._text.append(index)
        if block.citations:
            self._growing[index] = Growing({"type": "text", "citations": listed(block.citations)})
        text = text_label(block.text)
        return [TextBegan(0)] if not text else [TextBegan(0), TextFragment(0, text)]

    def _start_other(self, index: Index | None, block: Block, wire: str | dict[str, Any]) -> list[Delta]:
        self._skipped.add(index)
        told = member(plain(wire), "content_block") if isinstance(wire, str) else wire
        if isinstance(told, dict) and told:
            self._growing[index] = Growing(told)
        if block.type in _QUIET_BLOCKS:
            return []
        if not (block.type or "").endswith("tool_result"):
            return [Noted(0, "unknown_events")]
        answered = id_label(block.tool_use_id)
        return [] if answered is None else [CallCancelled(answered, answered=True)]

    def grow(self, index: Index | None, delta: object) -> None:
        """Add to a block the content of a delta other than text, thinking or a call: it goes back with it."""
        if not isinstance(delta, dict):
            return
        if index not in self._growing and index in self._text:
            self._growing[index] = Growing({"type": "text"})
        if (growing := self._growing.get(index)) is not None:
            growing.take(delta)

    def _start_call(self, index: Index | None, block: Block, kind: Kind) -> list[Delta]:
        self._skipped.discard(index)
        self._others.discard(index)
        return _call_deltas(index, block, kind)

    def spoken(self, index: Index | None) -> None:
        """Note that a block with text or thinking is not a call: its start may be lost (quirk 77)."""
        self._others.add(index)

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
        growing = self._growing.pop(index, None)
        if growing is None:
            return report.block_closed(index, self._others)
        kept = BlockKept(0, growing.whole(), of_text=growing.value.get("type") == "text")
        return [
            *report.block_closed(index, self._others),
            *([kept] if not kept.of_text or index in self._text else []),
        ]

    def whole(self, blocks: list[Block], wire: object) -> list[Delta]:
        """Return the deltas of whole blocks, one after the other; `wire` are these as the wire has them."""
        deltas: list[Delta] = []
        for index, block in enumerate(blocks):
            told = member(wire, index)
            deltas += self.start(index, block, told if isinstance(told, dict) else {})
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
    """Return a piece of thinking, or its seal; nothing if there is neither."""
    text, signed, sealed = text_label(thinking), text_label(signature), text_label(data)
    if text is signed is sealed is None:
        return []
    return [ReasoningFragment(0, text or "", index, signature=signed, data=sealed)]
