"""Whole bodies of chat completions: the calls in the message of each choice, its text, and its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall
from wholecall.dialects.reasons import turn_reason
from wholecall.repairing.chat import places
from wholecall.repairing.encoders.base import Executable, argument_text
from wholecall.repairing.encoders.chat import error_of
from wholecall.repairing.schema import BODIES, END_WORDS
from wholecall.repairing.wire import Body, Leaked
from wholecall.repairing.withholding import Losses


def _rewritten(
    payload: dict[str, Any], calls: Sequence[Executable], losses: Losses, *, legacy: bool | None = None
) -> dict[str, Any]:
    """Return the body with these calls in its choices; the same value if it has them already, in the requested form."""
    choices = payload.get("choices")
    if not isinstance(choices, list):
        return payload
    ours: dict[int, list[Executable]] = {}
    for call in calls:
        if not isinstance(call, BuiltinToolCall):
            ours.setdefault(call.choice, []).append(call)
    edited = [
        _choice(choice, ours.get(places.number_of(choice), []), losses, legacy)
        if isinstance(choice, dict)
        else choice
        for choice in choices
    ]
    return {**payload, "choices": edited}


def _choice(
    choice: dict[str, Any], calls: Sequence[Executable], losses: Losses, legacy: bool | None
) -> dict[str, Any]:
    message = choice.get("message")
    if not isinstance(message, dict):
        return choice
    came_legacy = bool(message.get(places.LEGACY)) and not message.get("tool_calls")
    is_legacy = came_legacy if legacy is None else legacy and len(calls) <= 1
    expected = [_label(call, is_legacy=is_legacy) for call in calls]
    told = places.legacy_told_in(message) if came_legacy else places.told_in(message)
    edited = {**choice, "index": places.number_of(choice)}
    if told != expected or message.get("toolCalls") or (calls and is_legacy != came_legacy):
        rest = {field: value for field, value in message.items() if field not in places.CALL_FIELDS}
        edited["message"] = {**rest, **places.with_calls(calls, is_legacy=is_legacy)}
    known = turn_reason(choice.get("finish_reason"))
    claimed = "stop" if known is None else known[0]
    reason = losses.reason(claimed, executed=bool(calls), choice=places.number_of(choice))
    if reason == "tool_calls":
        edited["finish_reason"] = places.LEGACY if is_legacy else reason
    elif known is not None:
        edited["finish_reason"] = END_WORDS["chat-completions"].fitting(known[1], claimed, reason)
    else:
        edited.pop("finish_reason", None)  # such as `""`
    return edited


def _label(call: Executable, *, is_legacy: bool) -> tuple[object, ...]:
    kind = "custom" if isinstance(call, CustomToolCall) else "function"
    name = "" if isinstance(call, BuiltinToolCall) else call.name
    return (name, argument_text(call)) if is_legacy else (call.id, kind, name, argument_text(call))


# Calls that were leaked into text.


def _unleaked(payload: dict[str, Any], found: Leaked) -> dict[str, Any]:
    return {**payload, "choices": [_unleaked_choice(choice, found) for choice in places.choices_of(payload)]}


def _unleaked_choice(choice: dict[str, Any], found: Leaked) -> dict[str, Any]:
    number, message = places.number_of(choice), choice.get("message")
    if not isinstance(message, dict) or not found.is_told(number):
        return choice
    listed = message.get("tool_calls")
    calls = places.with_calls(found.calls(number), is_legacy=False).get("tool_calls", [])
    edited = {
        "content": found.text(number) or None,
        "tool_calls": [*(listed if isinstance(listed, list) else []), *calls],
    }
    return {**choice, "message": {**message, **edited}}


BODY: Final = Body(
    places.claims_of, _rewritten, error_of, _unleaked, schema=BODIES["chat-completions"], has_older_form=True
)
