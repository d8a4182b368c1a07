"""Calls that a server leaked into the text of a whole body, moved to the place of structured calls.

Theory of operation. As for streams (`leaks`): a separate parser reads the body with `text=`; where a choice's text held
a call, its message gets the call, and the text without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from wholecall.dialects.decode import plain
from wholecall.encoders.base import argument_text, json_bytes
from wholecall.output.events import Event, TextDelta, ToolCall, ToolCallDropped
from wholecall.repairing import gemini_reading as reading
from wholecall.repairing.chat_reading import choices_of, number_of
from wholecall.repairing.leak_gemini import with_spoken
from wholecall.repairing.leak_responses import call_item, with_text
from wholecall.repairing.rewriter import lasting
from wholecall.stream.parser import ToolCallParser

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.policy import Policy
    from wholecall.text.options import TextCalls
    from wholecall.tools import Tools

__all__ = ["without_leaks"]


def without_leaks(
    data: bytes, wanted: TextCalls, *, tools: Tools[Any] | None, policy: Policy, limits: Limits
) -> bytes:
    """Return the body with its leaked calls as structured calls; the body itself if there are none."""
    parser: ToolCallParser[Any] = ToolCallParser(tools=tools, text=wanted, policy=policy, limits=limits)
    events = [*parser.feed(data), *parser.close()]
    rewrite = _FORMS.get(parser.dialect or "")
    if rewrite is None or parser.is_enveloped:
        return data
    ended = [event for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
    found = _Found(events, [event for event in ended if parser.is_from_text(event)], parser.turn.response_id)
    payload = plain(data.decode("utf-8-sig", "replace")) if found.is_told() else None
    return json_bytes(rewrite(payload, found)) if isinstance(payload, dict) else data


class _Found(NamedTuple):
    """The content of a body: all events, those that end calls from text, and the id of the response."""

    events: list[Event[Any]]
    ours: list[ToolCall[Any] | ToolCallDropped]
    response_id: str | None

    def is_told(self, choice: int | None = None) -> bool:
        """Return whether a call was emitted from the text, or was a duplicate."""
        return any(
            choice in (None, event.choice) and (isinstance(event, ToolCall) or event.reason == "told_twice")
            for event in self.ours
        )

    def text(self, choice: int) -> str:
        """Return the shown part of a choice's text; text that is not a call is text again."""
        said = [e.text for e in self.events if isinstance(e, TextDelta) and e.choice == choice]
        kept = [
            event.raw_arguments
            for event in self.ours
            if isinstance(event, ToolCallDropped) and event.choice == choice and event.reason != "told_twice"
        ]
        return "".join([*said, *kept])

    def calls(self, choice: int) -> list[ToolCall[Any]]:
        """Return the calls from a choice's text, with unique ids."""
        calls = [event for event in self.ours if isinstance(event, ToolCall) and event.choice == choice]
        return [replace(call, id=lasting(call, self.response_id).id) for call in calls]


def _chat(payload: dict[str, Any], found: _Found) -> dict[str, Any]:
    return {**payload, "choices": [_choice(choice, found) for choice in choices_of(payload)]}


def _choice(choice: dict[str, Any], found: _Found) -> dict[str, Any]:
    number, message = number_of(choice), choice.get("message")
    if not isinstance(message, dict) or not found.is_told(number):
        return choice
    listed = message.get("tool_calls")
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": argument_text(call)}}
        for call in found.calls(number)
    ]
    edited = {
        "content": found.text(number) or None,
        "tool_calls": [*(listed if isinstance(listed, list) else []), *calls],
    }
    return {**choice, "message": {**message, **edited}}


def _anthropic(payload: dict[str, Any], found: _Found) -> dict[str, Any]:
    """Write the text into the first block of text, and the calls after all blocks."""
    content = payload.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block for block in blocks if block.get("type") == "text"]
    text, kept = found.text(0), []
    for block in blocks:
        if block not in texts:
            kept.append(block)
        elif block is texts[0] and text:
            kept.append({**block, "text": text})
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in found.calls(0)
    ]
    return {**payload, "content": [*kept, *calls]}


def _responses(payload: dict[str, Any], found: _Found) -> dict[str, Any]:
    """Write the text into the first part with text, and the calls after all items."""
    output = payload.get("output")
    items = with_text(output, found.text(0)) if isinstance(output, list) else []
    calls = [call_item(call.id, call.name, argument_text(call)) for call in found.calls(0)]
    return {**payload, "output": [*items, *calls]}


def _gemini(payload: dict[str, Any], found: _Found) -> dict[str, Any]:
    """Write the text into the first part of a candidate with text, and the calls after all parts."""

    def edit(candidate: dict[str, Any]) -> dict[str, Any]:
        number = reading.number_of(candidate)
        if not found.is_told(number):
            return candidate
        return with_spoken(candidate, found.text(number), found.calls(number))

    response = reading.response_of(payload)
    if response is None:
        return payload
    return reading.with_response(payload, reading.mapped(reading.shaped(response), edit))


_FORMS: Final[Mapping[str, Callable[[dict[str, Any], _Found], dict[str, Any]]]] = MappingProxyType(
    {"anthropic": _anthropic, "chat-completions": _chat, "gemini": _gemini, "responses": _responses}
)
