"""Anthropic Messages: calls are blocks, and all results of a turn come first in the next user message.

Source: the request of `POST /v1/messages`. Consecutive messages of the same role are one turn.
"""

from __future__ import annotations

from typing import Any

from wholecall.history.markers import MISSING_RESULT
from wholecall.history.parts import Message, Part
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.blocks import block_types, read_message
from wholecall.output.results import Answer, tool_result

__all__ = ["ANTHROPIC", "block_result"]

_OWN_BLOCKS = frozenset({"tool_use", "tool_result", "redacted_thinking", "server_tool_use", "mcp_tool_use"})
_USUAL_BLOCKS = frozenset({"thinking", "document", "search_result"})


def block_result(call: Part, _block: Message) -> Message:
    """Return a block that states that the result is missing."""
    return tool_result("anthropic", Answer(call.id, call.name, MISSING_RESULT, failed=True))


def _carrier(results: list[Any], _near: Message) -> Message:
    return {"role": "user", "content": results}


def _is_own(message: Message) -> bool:
    return bool(block_types(message) & _OWN_BLOCKS)


def _is_like(message: Message) -> bool:
    return "stop_reason" in message or bool(block_types(message) & _USUAL_BLOCKS)


ANTHROPIC = Shape(
    name="anthropic",
    read=read_message,
    result=block_result,
    carrier=_carrier,
    is_own=_is_own,
    is_like=_is_like,
    holder="content",
    gathers=True,
    merges=True,
)
