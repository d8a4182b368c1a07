"""The events of a Responses stream: the view of them, and which say nothing new."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.dialects.decode import NO_TEXT
from wholecall.dialects.responses_items import Item, Response
from wholecall.vocabulary import Kind

__all__ = ["BODY_DECODER", "DECODER", "DONE_EVENTS", "ERROR_DECODER", "FRAGMENTS", "QUIET", "Event"]

# Text of a call, in pieces and whole: (field of the whole text, kind).
DONE_EVENTS: Final[dict[str | None, tuple[str, Kind]]] = {
    "response.function_call_arguments.done": ("arguments", "function"),
    "response.custom_tool_call_input.done": ("input", "custom"),
    "response.mcp_call_arguments.done": ("arguments", "server"),
}
FRAGMENTS = (
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
)

# Families of events that say nothing new: the finished item or the finished response restates them.
_QUIET_FAMILIES = (
    "output_text",
    "content_part",
    "refusal",
    "reasoning_summary_part",
    "reasoning_summary_text",
    "reasoning_text",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "code_interpreter_call_code",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "shell_call_command",
    "shell_call_output_content",
    "apply_patch_call_operation_diff",
    "audio",
)
_QUIET_PREFIXES = ("ping", "keepalive", "rate_limits.", "codex.")
QUIET = (*_QUIET_PREFIXES, *(f"response.{family}." for family in _QUIET_FAMILIES))


class Event(msgspec.Struct, gc=False):
    """The view of an event; the first fields stand in the order of the most common one, which reads fastest."""

    type: str | None = None
    sequence_number: Any = None
    item_id: Any = None
    output_index: Any = None
    delta: Any = None
    name: Any = None
    arguments: msgspec.Raw = NO_TEXT
    input: msgspec.Raw = NO_TEXT
    item: Item | None = None
    response: Response | None = None
    error: Any = None
    object: Any = None
    stream_id: Any = None


class _FlatError(msgspec.Struct, gc=False):
    """An `error` event of the older form, without an `error` object."""

    code: Any = None
    message: Any = None
    param: Any = None


DECODER = msgspec.json.Decoder(Event)
BODY_DECODER = msgspec.json.Decoder(Response)  # a whole, non-streamed body is a response at the top level
ERROR_DECODER = msgspec.json.Decoder(_FlatError)
