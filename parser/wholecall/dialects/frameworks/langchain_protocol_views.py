"""The views of LangChain's content-block protocol, and the deltas of content blocks other than calls."""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.deltas import Delta, Finish, Index
from wholecall.dialects import report
from wholecall.dialects.decode import NO_TEXT, member
from wholecall.dialects.frameworks.langchain_views import Message as Ended
from wholecall.dialects.frameworks.langchain_views import ended
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.types import Kind

__all__ = [
    "CALLS",
    "DECODER",
    "QUIET_BLOCKS",
    "Content",
    "Data",
    "Envelope",
    "Params",
    "content_of",
    "finish_deltas",
    "message_id",
    "model_of",
    "sealed",
    "spoken",
]

# Blocks that hold a call, and who executes it.
CALLS: Final[dict[str | None, Kind]] = {
    "tool_call_chunk": "function",
    "tool_call": "function",
    "invalid_tool_call": "function",
    "server_tool_call_chunk": "server",
    "server_tool_call": "server",
}
QUIET_BLOCKS: Final = frozenset(
    {
        *("text", "reasoning", "thinking", "image", "audio", "video", "file", "non_standard"),
        *("server_tool_result", "citation", "text-plain"),
    }
)


class Content(msgspec.Struct, gc=False):
    """A content block, the fields of one, or a piece of one."""

    type: str | None = None
    id: Any = None
    name: Any = None
    args: msgspec.Raw = NO_TEXT
    error: Any = None
    text: Any = None
    reasoning: Any = None
    thinking: Any = None
    signature: Any = None
    extras: Any = None
    fields: Union[Content, None] = None


class Data(msgspec.Struct, gc=False):
    """An event of a message; in a pair the second member holds the event's origin."""

    event: str | None = None
    index: Any = None
    role: str | None = None
    id: Any = None
    message_id: Any = None
    messageId: Any = None  # noqa: N815 - as older servers spell it
    run_id: Any = None
    langgraph_node: Any = None
    metadata: Union[dict[str, Any], None] = None
    responseMetadata: Union[dict[str, Any], None] = None  # noqa: N815
    content: Union[Content, None] = None
    content_block: Union[Content, None] = None
    contentBlock: Union[Content, None] = None  # noqa: N815
    delta: Union[Content, None] = None
    usage: Any = None
    reason: Any = None
    message: Any = None
    code: Any = None
    error: Any = None


class Params(msgspec.Struct, gc=False):
    """The origin of an event, and the event."""

    namespace: Any = None
    node: Any = None
    data: Union[Data, list[Data], None] = None


class Envelope(Data, gc=False):
    """An event in its envelope, or bare."""

    type: str | None = None
    method: str | None = None
    params: Union[Params, None] = None
    seq: Any = None


DECODER = msgspec.json.Decoder(Envelope)
_NO_CONTENT: Final = Content()


def content_of(data: Data) -> Content:
    """Return the block that an event holds, in any of its spellings."""
    return data.content or data.content_block or data.contentBlock or _NO_CONTENT


def message_id(data: Data) -> str | None:
    """Return the id of a message, in any of its spellings."""
    return id_label(data.id) or id_label(data.message_id) or id_label(data.messageId)


def model_of(metadata: object) -> str | None:
    """Return the model's name, where the start of a message knows it."""
    return name_label(member(metadata, "model"))


def spoken(index: Index | None, content: Content) -> list[Delta]:
    """Return the visible content of a block: reasoning, then text."""
    thought = text_label(content.reasoning) or content.thinking
    return report.thought(thought, index) + report.text(content.text)


def sealed(index: Index | None, content: Content) -> list[Delta]:
    """Return the provider's signature over a block of reasoning, if it has one."""
    signature = text_label(content.signature) or member(content.extras, "signature")
    return report.thought(None, index, signature=signature)


def finish_deltas(data: Data) -> list[Delta]:
    """Return the counts and the reason: the provider's own, else the protocol's version of it."""
    metadata = data.metadata or data.responseMetadata
    deltas = ended(Ended(response_metadata=metadata, usage_metadata=data.usage))
    finished = any(isinstance(delta, Finish) for delta in deltas)
    return deltas if finished else deltas + report.finish(data.reason, drops_at="error")
