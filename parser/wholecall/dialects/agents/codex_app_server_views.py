"""The views of the Codex app server's messages."""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.dialects.decode import NO_TEXT

__all__ = ["DECODER", "QUIET_ITEMS", "Item", "Message", "Params"]


class Item(msgspec.Struct, gc=False, rename="camel"):
    """A message, thought or action of the agent."""

    type: Any = None
    id: Any = None
    text: Any = None
    summary: Any = None
    content: Any = None
    status: Any = None
    tool: Any = None
    server: Any = None
    namespace: Any = None
    command: msgspec.Raw = NO_TEXT
    changes: msgspec.Raw = NO_TEXT
    arguments: msgspec.Raw = NO_TEXT
    query: msgspec.Raw = NO_TEXT
    action: msgspec.Raw = NO_TEXT
    path: msgspec.Raw = NO_TEXT
    prompt: msgspec.Raw = NO_TEXT
    receiver_thread_ids: msgspec.Raw = NO_TEXT


class _Turn(msgspec.Struct, gc=False):
    id: Any = None
    status: Any = None
    error: Any = None


class _Thread(msgspec.Struct, gc=False):
    id: Any = None


class _Usage(msgspec.Struct, gc=False):
    last: Any = None


class Params(msgspec.Struct, gc=False, rename="camel"):
    """The parameters of a notification or of a request."""

    thread_id: Any = None
    turn_id: Any = None
    turn: Union[_Turn, None] = None
    item: Union[Item, None] = None
    item_id: Any = None
    delta: Any = None
    token_usage: Union[_Usage, None] = None
    error: Any = None
    will_retry: Any = None
    call_id: Any = None
    conversation_id: Any = None
    tool: Any = None
    namespace: Any = None
    arguments: msgspec.Raw = NO_TEXT
    command: msgspec.Raw = NO_TEXT
    changes: msgspec.Raw = msgspec.field(name="fileChanges", default=NO_TEXT)


class _Result(msgspec.Struct, gc=False):
    thread: Union[_Thread, None] = None
    model: Any = None


class Message(msgspec.Struct, gc=False):
    """A message of JSON-RPC, whose header is left out on this wire."""

    method: Any = None
    params: Union[Params, None] = None
    id: Any = None
    result: Union[_Result, None] = None
    error: Any = None
    type: Any = None


DECODER = msgspec.json.Decoder(Message)

# Items that are not calls, and add nothing to the answer.
QUIET_ITEMS: Final = frozenset(
    {
        *("userMessage", "hookPrompt", "plan", "enteredReviewMode", "exitedReviewMode"),
        *("contextCompaction", "subAgentActivity", "imageGeneration", "sleep"),
    }
)
