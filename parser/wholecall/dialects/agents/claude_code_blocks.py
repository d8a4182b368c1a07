"""The blocks of one message of Claude Code, as events and as whole lines; every call is the agent's."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from wholecall.deltas import (
    ITEM_DONE,
    CallCancelled,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Index,
    TextBegan,
)
from wholecall.dialects import report
from wholecall.dialects.agents.claude_code_views import Writing
from wholecall.dialects.anthropic.blocks import reasoning_deltas
from wholecall.dialects.anthropic.views import Block, DeltaView, Event, usage_deltas
from wholecall.dialects.decode import is_blank, wire_text
from wholecall.dialects.labels import id_label, index_label, name_label

__all__ = ["event_deltas", "new_slot", "whole_block"]

_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_QUIET_BLOCKS: Final = frozenset({"redacted_thinking", "container_upload", "compaction"})
_QUIET_DELTAS: Final = frozenset({"citations_delta", "compaction_delta"})
_THINKING: Final = frozenset({"thinking_delta", "signature_delta"})


def new_slot(message: Writing, id: str | None) -> str:
    """Return the slot of a call that is not a block of events."""
    message.n_calls += 1
    slot = f"call {message.n_calls}"
    if id is not None:
        message.calls[id] = slot
    return slot


def event_deltas(message: Writing, event: Event) -> list[Delta]:
    """Return the deltas of an event of a streamed message."""
    index = index_label(event.index)
    if event.type == "content_block_delta":
        return _piece(message, index, event.delta or DeltaView())
    if event.type == "content_block_start":
        return _start(message, index, event.content_block or Block())
    if event.type == "content_block_stop":
        return [replace(end, waits=True) for end in message.blocks.stop(index) if isinstance(end, CallClosed)]
    if event.type == "message_delta":
        message.reason = (event.delta or DeltaView()).stop_reason or message.reason
        return usage_deltas(event.usage)
    if event.type == "message_stop":
        message.stopped = True
        return []
    return [] if event.type == "ping" else report.unknown()


def _start(message: Writing, index: Index | None, block: Block) -> list[Delta]:
    deltas: list[Delta] = []
    for said in message.blocks.start(index, block):
        if isinstance(said, (CallSeen, CallWhole)):
            message.n_calls += 1
            if said.id is not None:
                message.calls[said.id] = index
            deltas.append(replace(said, kind="server"))
        elif not isinstance(said, (CallCancelled, TextBegan)):
            deltas.append(said)
    return deltas


def _piece(message: Writing, index: Index | None, delta: DeltaView) -> list[Delta]:
    if delta.type == "input_json_delta":
        piece = message.blocks.piece(index, delta.partial_json)
        return [] if piece is None else [piece]
    said = report.text(delta.text) if delta.type == "text_delta" else []
    if delta.type in _THINKING:
        said = reasoning_deltas(index, delta.thinking, delta.signature, None)
    if said:
        message.blocks.spoken(index)
    known = delta.type in _THINKING or delta.type in _QUIET_DELTAS or delta.type == "text_delta"
    return said if known else report.unknown()


def whole_block(message: Writing, block: Block) -> list[Delta]:
    """Return the deltas that a whole block adds to those of its events."""
    if block.type in _CALLS:
        return _whole_call(message, block)
    if message.streamed or block.type in _QUIET_BLOCKS or (block.type or "").endswith("tool_result"):
        return []
    if block.type == "text":
        return report.text(block.text)
    if block.type == "thinking":
        message.n_blocks += 1
        return reasoning_deltas(message.n_blocks, block.thinking, block.signature, block.data)
    return report.unknown()


def _whole_call(message: Writing, block: Block) -> list[Delta]:
    """Return a call, or the last word on a streamed one; `{}` is not one, for the agent also writes it for cut text."""
    id_, text = id_label(block.id), wire_text(block.input)
    if id_ is not None and id_ in message.over:
        return []
    if id_ is None or id_ not in message.calls:
        slot: Index | None = new_slot(message, id_)
    elif message.streamed and not is_blank(text):
        slot = message.calls[id_]
    else:
        return []
    extra = report.extra(caller=block.caller, server_name=block.server_name)
    name = name_label(block.name)
    return [CallWhole(0, slot, None, id_, name, text, ITEM_DONE, "server", extra=extra)]
