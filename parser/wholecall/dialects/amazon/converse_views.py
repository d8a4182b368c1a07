"""Views of Bedrock's Converse: its events and its whole body."""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.dialects.decode import NO_TEXT

__all__ = ["PIECE", "WRAPPED_PIECE", "Event", "Member", "Message", "Part", "Piece", "ToolUse"]


class _Input(msgspec.Struct, gc=False):
    input: str


class _Thought(msgspec.Struct, gc=False, rename="camel"):
    text: str
    signature: None = None
    redacted_content: None = None
    reasoning_text: None = None


class _Delta(msgspec.Struct, gc=False, rename="camel"):
    text: str = ""
    tool_use: _Input | None = None
    reasoning_content: _Thought | None = None
    citations_content: None = None


class _Alone(msgspec.Struct, gc=False, rename="camel"):
    """An event that holds no other one."""

    content_block_start: None = None
    content_block_stop: None = None
    message_start: None = None
    message_stop: None = None
    metadata: None = None
    output: None = None
    start: None = None


class Piece(_Alone, gc=False, rename="camel", kw_only=True):
    """A piece of a call's text, of visible text or of reasoning."""

    content_block_index: int
    delta: _Delta
    content_block_delta: None = None


class WrappedPiece(_Alone, gc=False, rename="camel", kw_only=True):
    """The same as SDKs decode it."""

    content_block_delta: Piece
    delta: None = None


class ToolUse(msgspec.Struct, gc=False, rename="camel"):
    """A tool call: its head, a piece of its input, or all of it."""

    tool_use_id: Any = None
    name: Any = None
    type: Any = None
    input: msgspec.Raw = NO_TEXT


class Signed(msgspec.Struct, gc=False, rename="camel"):
    """Text that may be signed."""

    text: Any = None
    signature: Any = None


class Reasoning(msgspec.Struct, gc=False, rename="camel"):
    """A piece of reasoning, or (nested) a whole block of it."""

    text: Any = None
    signature: Any = None
    redacted_content: Any = None
    reasoning_text: Signed | None = None


class Citations(msgspec.Struct, gc=False, rename="camel"):
    """A whole text with its sources."""

    content: list[Signed] | None = None


class Part(msgspec.Struct, gc=False, rename="camel"):
    """The start of a block, a piece of one, or a whole one."""

    text: Any = None
    tool_use: ToolUse | None = None
    reasoning_content: Reasoning | None = None
    citations_content: Citations | None = None
    tool_result: Any = None
    citation: Any = None
    image: Any = None


class Message(msgspec.Struct, gc=False, rename="camel"):
    """A whole message."""

    content: list[Part] | None = None


class Output(msgspec.Struct, gc=False, rename="camel"):
    """The content of the whole body."""

    message: Message | None = None


class Member(msgspec.Struct, gc=False, rename="camel"):
    """The content of one event."""

    content_block_index: Any = None
    start: Part | None = None
    delta: Part | None = None
    stop_reason: Any = None
    usage: Any = None


class Event(Member, gc=False, rename="camel"):
    """A frame: one event, bare or as the member of its name, or the whole body."""

    content_block_delta: Member | None = None
    content_block_start: Member | None = None
    content_block_stop: Member | None = None
    message_start: Member | None = None
    message_stop: Member | None = None
    metadata: Member | None = None
    output: Output | None = None


PIECE = msgspec.json.Decoder(Piece)
WRAPPED_PIECE = msgspec.json.Decoder(WrappedPiece)
