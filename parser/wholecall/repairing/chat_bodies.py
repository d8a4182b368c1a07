"""Whole bodies of chat completions: the calls in the message of each choice, and its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wholecall.dialects.reasons import turn_reason
from wholecall.encoders.base import Executable, argument_text
from wholecall.output.events import BuiltinToolCall, CustomToolCall
from wholecall.repairing.chat_reading import CALL_FIELDS, number_of
from wholecall.repairing.wires import END_WORDS
from wholecall.repairing.withholding import Losses

__all__ = ["chat_body"]

_TEXT: Final = {"function": "arguments", "custom": "input"}
_LEGACY: Final = "function_call"


def chat_body(
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
        _choice(choice, ours.get(number_of(choice), []), losses, legacy)
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
    came_legacy = bool(message.get(_LEGACY)) and not message.get("tool_calls")
    is_legacy = came_legacy if legacy is None else legacy and len(calls) <= 1
    expected = [_label(call, is_legacy=is_legacy) for call in calls]
    told = _legacy_told(message) if came_legacy else _told(message)
    edited = {**choice, "index": number_of(choice)}
    if told != expected or message.get("toolCalls") or (calls and is_legacy != came_legacy):
        rest = {field: value for field, value in message.items() if field not in CALL_FIELDS}
        edited["message"] = {**rest, **_written(calls, is_legacy=is_legacy)}
    known = turn_reason(choice.get("finish_reason"))
    claimed = "stop" if known is None else known[0]
    reason = losses.reason(claimed, executed=bool(calls), choice=number_of(choice))
    if reason == "tool_calls":
        edited["finish_reason"] = _LEGACY if is_legacy else reason
    elif known is not None:
        edited["finish_reason"] = END_WORDS["chat-completions"].word(
            known[1] if reason == claimed else "", reason
        )
    else:
        edited.pop("finish_reason", None)  # such as `""`
    return edited


def _label(call: Executable, *, is_legacy: bool) -> tuple[object, ...]:
    kind = "custom" if isinstance(call, CustomToolCall) else "function"
    name = "" if isinstance(call, BuiltinToolCall) else call.name
    return (name, argument_text(call)) if is_legacy else (call.id, kind, name, argument_text(call))


def _told(message: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return the labels that a client reads of the calls in a message."""
    given = message.get("tool_calls")
    listed = [given] if given and isinstance(given, dict) else given
    found: list[tuple[object, ...]] = []
    for call in listed if isinstance(listed, list) else ():
        kind = str(call.get("type")) if isinstance(call, dict) else ""
        body = call.get(kind) if kind in _TEXT else None
        if not isinstance(body, dict):
            return [()]  # a client would fail on it
        found.append((call.get("id"), kind, body.get("name"), body.get(_TEXT[kind])))
    return found


def _legacy_told(message: dict[str, Any]) -> list[tuple[object, ...]]:
    body = message[_LEGACY]
    return [(body.get("name"), body.get("arguments"))] if isinstance(body, dict) else [()]


def _written(calls: Sequence[Executable], *, is_legacy: bool) -> dict[str, Any]:
    """Return the members of a message that hold calls; none without calls."""
    bodies = []
    for call in calls:
        kind = "custom" if isinstance(call, CustomToolCall) else "function"
        name = "" if isinstance(call, BuiltinToolCall) else call.name
        body = {"name": name, _TEXT[kind]: argument_text(call)}
        if is_legacy:
            return {_LEGACY: body}  # a choice has one
        bodies.append({"id": call.id, "type": kind, kind: body})
    return {"tool_calls": bodies} if bodies else {}
