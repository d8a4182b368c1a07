"""Calls that a server leaked into the text of a whole body, put where structured ones stand.

Theory of operation. As for streams (`leaks`): a parser of its own reads the body with `text=`; where a call came out of
a choice's text, its message gets the call, and the text without it. This is for Chat Completions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.dialects.decode import plain
from wholecall.encoders.base import argument_text, json_bytes
from wholecall.output.events import Event, TextDelta, ToolCall, ToolCallDropped
from wholecall.repairing.chat_reading import choices_of, number_of
from wholecall.repairing.mender import lasting
from wholecall.stream.parser import ToolCallParser

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.policy import Policy
    from wholecall.text import TextCalls
    from wholecall.tools import Tools

__all__ = ["without_leaks"]


def without_leaks(
    data: bytes, wanted: TextCalls, *, tools: Tools[Any] | None, policy: Policy, limits: Limits
) -> bytes:
    """Return the body with its leaked calls told as structured ones; as it is where there is none."""
    parser: ToolCallParser[Any] = ToolCallParser(tools=tools, text=wanted, policy=policy, limits=limits)
    events = [*parser.feed(data), *parser.close()]
    if parser.dialect != "chat-completions" or parser.is_enveloped:
        return data
    told = [event for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
    ours = [event for event in told if _is_told(event) and parser.is_from_text(event)]
    payload = plain(data.decode("utf-8-sig", "replace")) if ours else None
    if not isinstance(payload, dict):
        return data
    choices = [_mended(choice, events, ours, parser.turn.response_id) for choice in choices_of(payload)]
    return json_bytes({**payload, "choices": choices})


def _is_told(event: ToolCall[Any] | ToolCallDropped) -> bool:
    return isinstance(event, ToolCall) or event.reason == "told_twice"


def _mended(
    choice: dict[str, Any], events: list[Event[Any]], ours: list[Any], response_id: str | None
) -> dict[str, Any]:
    """Return a choice with its calls; what was no call is text again."""
    number, message = number_of(choice), choice.get("message")
    told = [event for event in ours if event.choice == number]
    if not told or not isinstance(message, dict):
        return choice
    said = [event for event in events if isinstance(event, TextDelta) and event.choice == number]
    kept = [
        event.raw_arguments
        for event in events
        if isinstance(event, ToolCallDropped) and event.choice == number and event not in told
    ]
    listed = message.get("tool_calls")
    calls = [_call(event, response_id) for event in told if isinstance(event, ToolCall)]
    return {
        **choice,
        "message": {
            **message,
            "content": "".join([*(event.text for event in said), *kept]) or None,
            "tool_calls": [*(listed if isinstance(listed, list) else []), *calls],
        },
    }


def _call(event: ToolCall[Any], response_id: str | None) -> dict[str, Any]:
    body = {"name": event.name, "arguments": argument_text(event)}
    return {"id": lasting(event, response_id).id, "type": "function", "function": body}
