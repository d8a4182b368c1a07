"""The views of LangChain's messages, and the deltas of a message other than calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Union

import msgspec
from msgspec.structs import replace

from wholecall.deltas import Delta, Finish
from wholecall.dialects import report
from wholecall.dialects.decode import member
from wholecall.dialects.labels import text_label
from wholecall.dialects.openai.chat_views import ToolCallView
from wholecall.dialects.reasons import turn_reason

__all__ = [
    "BATCH",
    "DECODER",
    "EVENT",
    "Event",
    "Message",
    "answered",
    "ended",
    "kind_of",
    "model_of",
    "spoken",
]

_REASONS = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")
_TOOLS = frozenset({"tool", "ToolMessage", "ToolMessageChunk"})
_MODELS = ("model_name", "model", "model_id")


class Message(msgspec.Struct, gc=False):
    """A message or a chunk of one; in LC-JSON its members are in `kwargs`, in LangServe's answers in `output`."""

    type: Any = None
    id: Any = None
    content: Any = None
    tool_call_chunks: Union[list[ToolCallView], None] = None
    tool_calls: Union[list[ToolCallView], None] = None
    invalid_tool_calls: Union[list[ToolCallView], None] = None
    response_metadata: Union[dict[str, Any], None] = None
    usage_metadata: Union[dict[str, Any], None] = None
    additional_kwargs: Union[dict[str, Any], None] = None
    chunk_position: Any = None
    tool_call_id: Any = None
    error: Any = None
    kwargs: Union[Message, None] = None
    output: Union[Message, None] = None


class _Batch(msgspec.Struct, gc=False):
    items: Union[list[Message], None] = None


class _Data(msgspec.Struct, gc=False):
    chunk: Union[Message, None] = None
    output: Union[Message, None] = None


class Event(msgspec.Struct, gc=False):
    """An event of `astream_events`."""

    event: Any = None
    type: Any = None
    run_id: Any = None
    data: Union[_Data, None] = None
    error: Any = None


DECODER = msgspec.json.Decoder(Message)
BATCH = msgspec.json.Decoder(_Batch)
EVENT = msgspec.json.Decoder(Event)


def answered(message: Message) -> list[Delta]:
    """Return the deltas of a tool's message: the call has its result, so the agent executed it."""
    return report.answered((message.kwargs or message).tool_call_id) if kind_of(message) in _TOOLS else []


def kind_of(message: Message) -> str | None:
    """Return whose message it is, in the words of either form."""
    if message.type == "constructor":
        path = message.id if isinstance(message.id, list) else []
        return text_label(path[-1]) if path else None
    return text_label(message.type)


def model_of(message: Message) -> str | None:
    """Return the model's name, where the message knows it."""
    return next(_said(message.response_metadata, _MODELS), None)


def spoken(message: Message) -> list[Delta]:
    """Return reasoning and text; content is text or a list of blocks (quirk 95)."""
    blocks = message.content if isinstance(message.content, list) else [message.content]
    deltas = report.thought(member(message.additional_kwargs, "reasoning_content"))
    for block in blocks:
        deltas += _block(block if isinstance(block, dict) else {"text": block})
    return deltas


def _block(block: dict[str, Any]) -> list[Delta]:
    thought = text_label(block.get("thinking")) or block.get("reasoning")
    return report.thought(thought, signature=block.get("signature")) + report.text(block.get("text"))


def ended(message: Message, *, lacks_calls: bool = False) -> list[Delta]:
    """Return the counts and the reason, which come with the last chunk.

    The reason of a whole message that lacks the calls of its chunks is not that of these calls.
    """
    usage, metadata = report.usage(message.usage_metadata), message.response_metadata
    finish = report.finish(next(_said(metadata, _REASONS), None), drops_at="error") or _status(metadata)
    if lacks_calls:
        finish = [replace(delta, foreign=True) if isinstance(delta, Finish) else delta for delta in finish]
    return usage + finish


def _status(metadata: object) -> list[Delta]:
    """Return why a message ended whose model uses Responses: it has a status there, and no reason."""
    status = member(metadata, "status")
    if status == "completed":
        return [Finish(0, "stop", status)]
    if status == "incomplete":  # cut, for any word (quirk 76)
        word = turn_reason(member(metadata, "incomplete_details", "reason"))
        return [Finish(0, "content_filter" if word and word[0] == "content_filter" else "length", status)]
    return [Finish(0, "error", status, drops=True)] if status in ("failed", "cancelled") else []


def _said(metadata: object, members: tuple[str, ...]) -> Iterator[str]:
    known: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    for name in members:
        if text := text_label(known.get(name)):
            yield text
