"""The views of Copilot's session events, and which of them are not about the answer."""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.dialects.decode import NO_TEXT

__all__ = ["DECODER", "Data", "Event", "Request", "is_quiet"]

_ANSWER: Final = ("assistant.", "tool.", "external_tool.")
_QUIET: Final = frozenset(
    {
        *("assistant.intent", "assistant.message_start", "assistant.streaming_delta"),
        *("assistant.server_tool_progress", "external_tool.completed"),
        *("tool.execution_partial_result", "tool.execution_progress", "ping"),
    }
)


class Request(msgspec.Struct, gc=False, rename="camel"):
    """A call as a message describes it."""

    tool_call_id: Any = None
    name: Any = None
    type: Any = None
    arguments: msgspec.Raw = NO_TEXT
    mcp_server_name: Any = None
    mcp_tool_name: Any = None
    tool_title: Any = None
    intention_summary: Any = None


class _Permission(msgspec.Struct, gc=False, rename="camel"):
    tool_call_id: Any = None


class _Result(msgspec.Struct, gc=False):
    kind: Any = None


class Data(msgspec.Struct, gc=False, rename="camel"):
    """The data of an event."""

    tool_call_id: Any = None
    tool_name: Any = None
    tool_type: Any = None
    input_delta: Any = None
    arguments: msgspec.Raw = NO_TEXT
    mcp_server_name: Any = None
    mcp_tool_name: Any = None
    parent_tool_call_id: Any = None
    message_id: Any = None
    content: Any = None
    delta_content: Any = None
    tool_requests: Union[list[Request], None] = None
    reasoning_id: Any = None
    reasoning_text: Any = None
    reasoning_opaque: Any = None
    encrypted_content: Any = None
    turn_id: Any = None
    model: Any = None
    finish_reason: Any = None
    request_id: Any = None
    session_id: Any = None
    permission_request: Union[_Permission, None] = None
    result: Union[_Result, None] = None
    delivery: Any = None
    reason: Any = None
    aborted: Any = None
    error_type: Any = None
    message: Any = None
    status_code: Any = None
    shutdown_type: Any = None
    error_reason: Any = None


class Event(msgspec.Struct, gc=False, rename="camel"):
    """An event of a session; `exit_code` is in the last line of the command line's output."""

    type: Union[str, None] = None
    agent_id: Any = None
    data: Union[Data, None] = None
    exit_code: Any = None
    error: Any = None


DECODER = msgspec.json.Decoder(Event)


def is_quiet(kind: str | None) -> bool:
    """Return whether an event is not about the answer: a session reports much about itself, more with each version."""
    return kind in _QUIET or (kind is not None and "." in kind and not kind.startswith(_ANSWER))
