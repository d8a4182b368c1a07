"""The views of a Messages stream, and the deltas of its events other than blocks.

Nearly every event is a piece of a block, its start or its end. `COMMON` reads those into the narrowest views there are,
and refuses anything odd; refused events are read by the wide views.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from wholecall.deltas import CarriesOn, Delta, Finish, UsageSeen
from wholecall.dialects.decode import NO_TEXT, member
from wholecall.dialects.labels import id_label
from wholecall.dialects.reasons import turn_reason

__all__ = [
    "BODY_DECODER",
    "COMMON",
    "DECODER",
    "Block",
    "BlockStart",
    "BlockStop",
    "DeltaView",
    "Event",
    "InputPiece",
    "Message",
    "Piece",
    "TextPiece",
    "ThinkingPiece",
    "container_deltas",
    "finish_deltas",
    "usage_deltas",
]


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
    tool_use_id: Any = None
    citations: Any = None


class BlockStart(msgspec.Struct, gc=False, tag="content_block_start"):
    """The start of a block."""

    index: int
    content_block: Block
    delta: None = None
    message: None = None


class BlockStop(msgspec.Struct, gc=False, tag="content_block_stop"):
    """The end of a block."""

    index: int
    delta: None = None
    content_block: None = None
    message: None = None


class InputPiece(msgspec.Struct, gc=False, tag="input_json_delta"):
    """A piece of a call's text."""

    text: str = msgspec.field(name="partial_json")


class TextPiece(msgspec.Struct, gc=False, tag="text_delta"):
    """A piece of text."""

    text: str


class ThinkingPiece(msgspec.Struct, gc=False, tag="thinking_delta"):
    """A piece of reasoning."""

    text: str = msgspec.field(name="thinking")


class Piece(msgspec.Struct, gc=False, tag="content_block_delta"):
    """A piece of a block."""

    index: int
    delta: Union[InputPiece, TextPiece, ThinkingPiece]
    content_block: None = None
    message: None = None


class DeltaView(msgspec.Struct, gc=False):
    """A piece of a block, or the changes of `message_delta`."""

    type: str | None = None
    partial_json: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    stop_reason: Any = None
    container: Any = None


class Message(msgspec.Struct, gc=False):
    """A message, as it starts or as a whole body."""

    id: Any = None
    model: Any = None
    content: list[Block] | None = None
    stop_reason: Any = None
    container: Any = None
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


COMMON = msgspec.json.Decoder(Union[Piece, BlockStart, BlockStop])
DECODER = msgspec.json.Decoder(Event)
BODY_DECODER = msgspec.json.Decoder(Message)  # a whole, non-streamed body is a message at the top level


def finish_deltas(raw: object) -> list[Delta]:
    """Return the stop reason, if there is one; a refusal takes back the calls that were begun."""
    known = turn_reason(raw)
    if known is None:
        return []
    reason, provider_reason = known
    return [Finish(0, reason, provider_reason, drops=provider_reason == "refusal")]


def usage_deltas(usage: object) -> list[Delta]:
    """Return the token counts: `message_start` counts the input, `message_delta` the output (quirk 88)."""
    if not isinstance(usage, dict):
        return []
    return [UsageSeen({name: count for name, count in usage.items() if count is not None})]


def container_deltas(container: object) -> list[Delta]:
    """Return the container in which the provider ran code: the next request names it, so that its state is there."""
    id_ = id_label(member(container, "id"))
    return [] if id_ is None else [CarriesOn({"container": id_})]
