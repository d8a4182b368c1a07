"""The views of a Messages stream, and what its blocks say in deltas."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.deltas import OBJECT, CallSeen, CallWhole, Delta, Finish, Index, ReasoningFragment
from wholecall.dialects.decode import NO_TEXT, is_blank, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.vocabulary import Kind

__all__ = [
    "BODY_DECODER",
    "CALL_BLOCKS",
    "DECODER",
    "Block",
    "DeltaView",
    "Event",
    "Message",
    "call_deltas",
    "finish_deltas",
    "reasoning_deltas",
]

# Who executes the call of a block. Client tools that Anthropic defines (bash, computer) are `tool_use` too.
CALL_BLOCKS: Final[dict[str, Kind]] = {
    "tool_use": "function",
    "server_tool_use": "server",
    "mcp_tool_use": "server",
}


class Block(msgspec.Struct, gc=False):
    """A content block, as it starts or whole."""

    type: str | None = None
    id: Any = None
    name: Any = None
    input: msgspec.Raw = NO_TEXT
    caller: Any = None
    toolset_name: Any = None
    server_name: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    data: Any = None


class DeltaView(msgspec.Struct, gc=False):
    """A piece of a block, or what `message_delta` changes."""

    type: str | None = None
    partial_json: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    stop_reason: Any = None


class Message(msgspec.Struct, gc=False):
    """A message, as it starts or as a whole body."""

    id: Any = None
    model: Any = None
    content: list[Block] | None = None
    stop_reason: Any = None
    usage: Any = None


class Event(msgspec.Struct, gc=False):
    """An event of the stream."""

    type: str | None = None
    index: Any = None
    delta: DeltaView | None = None
    content_block: Block | None = None
    message: Message | None = None
    usage: Any = None
    error: Any = None


DECODER = msgspec.json.Decoder(Event)
BODY_DECODER = msgspec.json.Decoder(Message)  # a whole, non-streamed body is a message at the top level


def call_deltas(index: Index | None, block: Block, kind: Kind) -> list[Delta]:
    """Return what the start of a call's block says: its labels, and its input if that holds something."""
    id_, name, namespace = id_label(block.id), name_label(block.name), name_label(block.toolset_name)
    origins = {"caller": block.caller, "server_name": block.server_name}
    extra = {key: value for key, value in origins.items() if value is not None}
    deltas: list[Delta] = [CallSeen(0, index, None, id_, name, kind, namespace, extra=extra or None)]
    if text := _whole(block.input):
        deltas.append(CallWhole(0, index, None, id_, name, text, OBJECT, kind, namespace))
    return deltas


def _whole(raw: msgspec.Raw) -> str:
    """Return the text of an input that holds something; empty ones are placeholders, never text."""
    text = wire_text(raw)
    return "" if is_blank(text) else text


def reasoning_deltas(index: Index | None, thinking: object, signature: object, data: object) -> list[Delta]:
    """Return a piece of thinking, or what seals it; nothing if there is neither."""
    text, signed, sealed = text_label(thinking), text_label(signature), text_label(data)
    if text is signed is sealed is None:
        return []
    return [ReasoningFragment(0, text or "", index, signature=signed, data=sealed)]


def finish_deltas(raw: object) -> list[Delta]:
    """Return the stop reason, if there is one; a refusal takes back what was begun."""
    known = turn_reason(raw)
    if known is None:
        return []
    reason, provider_reason = known
    return [Finish(0, reason, provider_reason, drops=provider_reason == "refusal")]
