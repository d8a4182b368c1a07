"""The views of pi's events, and which of them are not about the answer."""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.dialects.decode import NO_TEXT
from wholecall.dialects.translator import EventView

__all__ = ["DECODER", "PARTIAL_DECODER", "QUIET", "Block", "Message", "Update", "View"]

QUIET: Final = frozenset(
    {
        *("session", "response", "agent_start", "turn_start", "turn_end", "queue_update"),
        *("tool_execution_start", "tool_execution_update", "tool_execution_end"),
        *("auto_compaction_start", "auto_compaction_end", "compaction_start", "compaction_end", "compaction"),
        *("auto_retry_start", "auto_retry_end", "extension_error", "extension_ui_request", "ping"),
    }
)


class Block(msgspec.Struct, gc=False, rename="camel"):
    """A block of a message: text, a thought, or a call."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    thinking_signature: Any = None
    id: Any = None
    name: Any = None
    arguments: msgspec.Raw = NO_TEXT


class Message(msgspec.Struct, gc=False, rename="camel"):
    """A message of any author; of the model's, why it ended."""

    role: Any = None
    content: Union[list[Block], None] = None
    model: Any = None
    stop_reason: Any = None
    error_message: Any = None
    usage: Any = None


class Update(msgspec.Struct, gc=False, rename="camel"):
    """The new part of a message; `partial` is all of it so far, and is read only where a call starts."""

    type: Any = None
    content_index: Any = None
    delta: Any = None
    content: Any = None
    tool_call: Union[Block, None] = None
    partial: msgspec.Raw = NO_TEXT


class View(EventView, gc=False, rename="camel"):
    """An event of the agent."""

    message: Union[Message, None] = None
    messages: Union[list[Message], None] = None
    assistant_message_event: Union[Update, None] = None


DECODER = msgspec.json.Decoder(View)
PARTIAL_DECODER = msgspec.json.Decoder(Message)
