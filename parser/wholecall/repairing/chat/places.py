"""The places in chunks and messages of chat completions: calls, text, roles, and reasons of choices.

The keys that hold calls are those that the dialect's views read (quirks 39, 40, 83). Nothing else in this room knows
them: rewriters, leaks and whole bodies ask these functions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall
from wholecall.dialects import labels, reasons
from wholecall.repairing.encoders.base import Executable, argument_text
from wholecall.repairing.encoders.chat import CALL_TEXT
from wholecall.repairing.responses.places import CALL_EVENTS, CALL_ITEMS
from wholecall.types import TurnReason

Payload = Mapping[str, Any]

LEGACY: Final = "function_call"  # the older form, of which a choice has one
CALL_FIELDS: Final = ("tool_calls", "toolCalls", LEGACY)
_CALL_FIELDS: Final = frozenset(CALL_FIELDS)
TEXT_FIELDS: Final = frozenset({"content", "reasoning_content", "reasoning"})  # of a delta
NO_HEAD: Final = frozenset({"choices", "usage", "error"})  # all other members are in every chunk
# Members that may wait with the calls: `reasoning_details` alone holds signatures and encrypted blocks, not text.
_QUIET: Final = frozenset({*CALL_FIELDS, "role", "reasoning_details"})
_GUEST_ITEMS: Final = ("response.output_item.added", "response.output_item.done")


def choices_of(payload: Payload) -> list[dict[str, Any]]:
    """Return the choices of a chunk."""
    choices = payload.get("choices")
    if type(choices) is not list:
        return []
    if len(choices) == 1 and type(choices[0]) is dict:  # nearly always
        return choices
    return [choice for choice in choices if isinstance(choice, dict)]


def number_of(choice: Payload) -> int:
    """Return the number of a choice, as the parser counts it."""
    return labels.choice_label(choice.get("index"))


def views(choice: Payload) -> list[dict[str, Any]]:
    """Return the objects of a choice that may hold calls and text."""
    return [view for name in ("delta", "message") if type(view := choice.get(name)) is dict]


def holds_calls(view: Payload) -> bool:
    """Return whether such an object holds calls."""
    return not _CALL_FIELDS.isdisjoint(view) and any(view.get(field) for field in CALL_FIELDS)


# Calls, text and reasons of a chunk.


def has_calls(payload: Payload) -> bool:
    """Return whether a chunk holds any part of a call that a client would execute."""
    if choices := choices_of(payload):
        return any(holds_calls(view) for choice in choices for view in views(choice))
    if _is_guest(payload):
        return _is_guest_call(payload) or len(_guest_output(payload)) < len(
            _guest_output(payload, every=True)
        )
    message = payload.get("message")
    return bool(payload.get("toolCalls")) or (isinstance(message, dict) and holds_calls(message))


def finishes(payload: Payload) -> list[int]:
    """Return the choices that the chunk ends."""
    return [
        number_of(choice)
        for choice in choices_of(payload)
        if choice.get("finish_reason") is not None
        and reasons.turn_reason(choice["finish_reason"]) is not None
    ]


def claims_of(payload: Payload) -> list[TurnReason]:
    """Return the reasons for which choices end, in our words."""
    return [reason for _, _, reason in endings_of(payload)]


def endings_of(payload: Payload) -> list[tuple[int, str, TurnReason]]:
    """Return the choices that end, each with its reason, in the wire's word and in ours."""
    known = ((choice, reasons.turn_reason(choice.get("finish_reason"))) for choice in choices_of(payload))
    return [
        (number_of(choice), choice["finish_reason"], reason[0])
        for choice, reason in known
        if reason is not None
    ]


def shows_content(payload: Payload) -> bool:
    """Return whether a chunk shows text, reasoning or anything else in a delta that is not a call."""
    deltas = (choice.get("delta") for choice in choices_of(payload))
    return any(
        value and field not in _QUIET
        for delta in deltas
        if isinstance(delta, dict)
        for field, value in delta.items()
    )


def has_content(payload: Payload) -> bool:
    """Return whether a chunk holds anything except calls: shown content, a role, a reason, token counts."""
    if _is_guest(payload):
        return not _is_guest_call(payload)
    if payload.get("usage") or finishes(payload):
        return True
    return any(value for choice in choices_of(payload) for view in views(choice) for value in view.values())


def piece_in(payload: Payload) -> tuple[int, int, object] | None:
    """Return choice, index and text of a chunk's piece of a call; None if it holds more, or begins a call."""
    choices = choices_of(payload)
    if len(choices) != 1 or len(payload["choices"]) != 1 or "message" in choices[0]:
        return None
    choice = choices[0]
    delta = choice.get("delta")
    listed = delta.get("tool_calls") if type(delta) is dict else None
    if type(listed) is not list or len(listed) != 1 or type(listed[0]) is not dict:
        return None
    call = listed[0]
    number, index, body = choice.get("index"), call.get("index"), call.get("function") or call.get("custom")
    if (
        type(number) is not int
        or type(index) is not int
        or call.get("id") is not None
        or type(body) is not dict
    ):
        return None
    return number, index, body.get("arguments", body.get("input"))


def rest_of(payload: Payload) -> dict[str, Any]:
    """Return the chunk without its calls."""
    if _is_guest(payload):
        response = payload.get("response")
        return (
            {**payload, "response": {**response, "output": _guest_output(payload)}}
            if response
            else {**payload}
        )
    if not choices_of(payload):
        return {field: _without_calls(value) for field, value in payload.items() if field not in CALL_FIELDS}
    return {**payload, "choices": [_rest_of_choice(choice) for choice in choices_of(payload)]}


def _rest_of_choice(choice: Payload) -> dict[str, Any]:
    """Return a choice without its calls; of a message with calls only the role stays, in the delta."""
    rest = {field: _without_calls(value) for field, value in choice.items()}
    message = choice.get("message")
    if not isinstance(message, dict) or not holds_calls(message):
        return rest
    del rest["message"]
    role = {"role": message["role"]} if message.get("role") else {}
    delta = rest.get("delta")
    return {**rest, "delta": {**role, **(delta if isinstance(delta, dict) else {})}}


def _without_calls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {field: inner for field, inner in value.items() if field not in CALL_FIELDS}


def unfinished(payload: Payload, choices: Collection[int] | None = None) -> dict[str, Any]:
    """Return the chunk without ends of these choices, or of all."""
    kept = [
        {**choice, "finish_reason": None} if choices is None or number_of(choice) in choices else choice
        for choice in choices_of(payload)
    ]
    return {**payload, "choices": kept}


def shown_of(payload: Payload) -> dict[str, Any]:
    """Return the part of a chunk that is shown at once: no calls, no reasons, and no counts that come with a reason."""
    shown = rest_of(payload) if has_calls(payload) else dict(payload)
    if not finishes(payload):
        return shown
    return unfinished({field: value for field, value in shown.items() if field != "usage"})


def without_messages(payload: Payload, choices: Collection[int]) -> dict[str, Any]:
    """Return the chunk without the messages of the choices.

    Clients that keep a snapshot of a choice replace the content of its deltas with such a message.
    """
    kept = [
        {field: value for field, value in choice.items() if field != "message"}
        if number_of(choice) in choices
        else choice
        for choice in choices_of(payload)
    ]
    return {**payload, "choices": kept}


def only(payload: Payload, *fields: str) -> dict[str, Any]:
    """Return the chunk with only the given fields in its deltas and messages, and no empty message."""
    choices = []
    for choice in choices_of(payload):
        kept = dict(choice)
        for view in ("delta", "message"):
            if isinstance(choice.get(view), dict):
                kept[view] = {field: value for field, value in choice[view].items() if field in fields}
        if kept.get("message") == {}:
            del kept["message"]
        choices.append(kept)
    return {**payload, "choices": choices}


# Roles and text of a choice.


def tells_role(choice: Payload) -> bool:
    """Return whether a choice has a role."""
    delta = choice.get("delta")
    return type(delta) is dict and bool(delta.get("role"))


def indices_of(choice: Payload) -> list[int]:
    """Return the indices of the calls in a delta."""
    delta = choice.get("delta")
    listed = delta.get("tool_calls") if isinstance(delta, dict) else None
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    return [index for call in calls if type(index := call.get("index")) is int and index >= 0]


def speaks(choice: Payload) -> bool:
    """Return whether a delta has a member for text or reasoning."""
    delta = choice.get("delta")
    return isinstance(delta, dict) and not delta.keys().isdisjoint(TEXT_FIELDS)


def without_speech(choice: dict[str, Any]) -> dict[str, Any]:
    """Return a choice without text and reasoning in its delta."""
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return choice
    return {**choice, "delta": {key: value for key, value in delta.items() if key not in TEXT_FIELDS}}


# Calls in the message of a whole body.


def told_in(message: Payload) -> list[tuple[object, ...]]:
    """Return the labels that a client reads of the calls in a message."""
    given = message.get("tool_calls")
    listed = [given] if given and isinstance(given, dict) else given
    found: list[tuple[object, ...]] = []
    for call in listed if isinstance(listed, list) else ():
        kind = str(call.get("type")) if isinstance(call, dict) else ""
        body = call.get(kind) if kind in CALL_TEXT else None
        if not isinstance(body, dict):
            return [()]  # a client would fail on it
        found.append((call.get("id"), kind, body.get("name"), body.get(CALL_TEXT[kind])))
    return found


def legacy_told_in(message: Payload) -> list[tuple[object, ...]]:
    """Return the same of a call in the older form."""
    body = message[LEGACY]
    return [(body.get("name"), body.get("arguments"))] if isinstance(body, dict) else [()]


def with_calls(calls: Sequence[Executable], *, is_legacy: bool) -> dict[str, Any]:
    """Return the members of a message that hold calls; none without calls."""
    bodies = []
    for call in calls:
        kind = "custom" if isinstance(call, CustomToolCall) else "function"
        name = "" if isinstance(call, BuiltinToolCall) else call.name
        body = {"name": name, CALL_TEXT[kind]: argument_text(call)}
        if is_legacy:
            return {LEGACY: body}  # a choice has one
        bodies.append({"id": call.id, "type": kind, kind: body})
    return {"tool_calls": bodies} if bodies else {}


# Frames of the Responses dialect in a chat stream (quirk 89).


def _is_guest(payload: Payload) -> bool:
    """Return whether a frame is of the Responses dialect."""
    return not choices_of(payload) and str(payload.get("type")).startswith("response.")


def _is_guest_call(payload: Payload) -> bool:
    kind = str(payload.get("type"))
    return kind.startswith(CALL_EVENTS) or (kind in _GUEST_ITEMS and _is_call_item(payload.get("item")))


def _is_call_item(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") in CALL_ITEMS


def _guest_output(payload: Payload, *, every: bool = False) -> list[Any]:
    """Return the items of a finished response, with calls only on request."""
    response = payload.get("response")
    output = response.get("output") if isinstance(response, dict) else None
    items = output if isinstance(output, list) else []
    return [item for item in items if every or not _is_call_item(item)]
