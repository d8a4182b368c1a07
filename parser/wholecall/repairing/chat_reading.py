"""Read a chunk of chat completions except its text: calls in any place, reasons of its choices.

The keys that hold calls are those that the dialect's views read (quirks 39, 40, 83).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from wholecall.dialects.labels import choice_label
from wholecall.dialects.reasons import turn_reason
from wholecall.repairing.pieces import Piece
from wholecall.repairing.strict import Track
from wholecall.types import TurnReason

__all__ = [
    "CALL_FIELDS",
    "ChatTracks",
    "choices_of",
    "claims_of",
    "endings_of",
    "finishes",
    "has_calls",
    "has_content",
    "number_of",
    "only",
    "piece_in",
    "rest_of",
    "shown_of",
    "shows_content",
    "tells_role",
    "unfinished",
    "without_messages",
]

Payload = Mapping[str, Any]

CALL_FIELDS: Final = ("tool_calls", "toolCalls", "function_call")
_CALL_FIELDS: Final = frozenset(CALL_FIELDS)
# Members that may wait with the calls: `reasoning_details` alone holds signatures and encrypted blocks, not text.
_QUIET: Final = frozenset({*CALL_FIELDS, "role", "reasoning_details"})
# Frames of the Responses dialect that are about calls.
_GUESTS: Final = ("response.function_call_arguments.", "response.custom_tool_call_input.")
_GUEST_ITEMS: Final = ("response.output_item.added", "response.output_item.done")
_GUEST_CALLS: Final = ("function_call", "custom_tool_call")


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
    return choice_label(choice.get("index"))


def has_calls(payload: Payload) -> bool:
    """Return whether a chunk holds any part of a call that a client would execute."""
    if choices := choices_of(payload):
        return any(_holds_calls(view) for choice in choices for view in _views(choice))
    if _is_guest(payload):
        return _is_guest_call(payload) or len(_guest_output(payload)) < len(
            _guest_output(payload, every=True)
        )
    message = payload.get("message")
    return bool(payload.get("toolCalls")) or (isinstance(message, dict) and _holds_calls(message))


def finishes(payload: Payload) -> list[int]:
    """Return the choices that the chunk ends."""
    return [
        number_of(choice)
        for choice in choices_of(payload)
        if choice.get("finish_reason") is not None and turn_reason(choice["finish_reason"]) is not None
    ]


def claims_of(payload: Payload) -> list[TurnReason]:
    """Return the reasons for which choices end, in our words."""
    return [reason for _, _, reason in endings_of(payload)]


def endings_of(payload: Payload) -> list[tuple[int, str, TurnReason]]:
    """Return the choices that end, each with its reason, in the wire's word and in ours."""
    known = ((choice, turn_reason(choice.get("finish_reason"))) for choice in choices_of(payload))
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
    return any(value for choice in choices_of(payload) for view in _views(choice) for value in view.values())


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


def tells_role(choice: Payload) -> bool:
    """Return whether a choice has a role."""
    delta = choice.get("delta")
    return type(delta) is dict and bool(delta.get("role"))


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


def _rest_of_choice(choice: Payload) -> dict[str, Any]:
    """Return a choice without its calls; of a message with calls only the role stays, in the delta."""
    rest = {field: _without_calls(value) for field, value in choice.items()}
    message = choice.get("message")
    if not isinstance(message, dict) or not _holds_calls(message):
        return rest
    del rest["message"]
    role = {"role": message["role"]} if message.get("role") else {}
    delta = rest.get("delta")
    return {**rest, "delta": {**role, **(delta if isinstance(delta, dict) else {})}}


def _is_guest(payload: Payload) -> bool:
    """Return whether a frame in a chat stream is of the Responses dialect (quirk 89)."""
    return not choices_of(payload) and str(payload.get("type")).startswith("response.")


def _is_guest_call(payload: Payload) -> bool:
    kind = str(payload.get("type"))
    return kind.startswith(_GUESTS) or (kind in _GUEST_ITEMS and _is_call_item(payload.get("item")))


def _is_call_item(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") in _GUEST_CALLS


def _guest_output(payload: Payload, *, every: bool = False) -> list[Any]:
    """Return the items of a finished response, with calls only on request."""
    response = payload.get("response")
    output = response.get("output") if isinstance(response, dict) else None
    items = output if isinstance(output, list) else []
    return [item for item in items if every or not _is_call_item(item)]


def _views(choice: Payload) -> list[dict[str, Any]]:
    return [view for name in ("delta", "message") if type(view := choice.get(name)) is dict]


def _holds_calls(view: Payload) -> bool:
    return not _CALL_FIELDS.isdisjoint(view) and any(view.get(field) for field in CALL_FIELDS)


def _without_calls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {field: inner for field, inner in value.items() if field not in CALL_FIELDS}


class ChatTracks:
    """A naive reader's view of the fragments of a turn, as long as all readers agree.

    Attributes:
        strict: whether every accumulator that goes by index reads the same calls so far.
    """

    def __init__(self) -> None:
        self.strict = True
        self._fields: set[str] = set()  # fields that held calls
        self._calls: dict[int, list[Track]] = {}  # by choice
        self._ended: set[int] = set()

    def see(self, piece: Piece) -> None:
        """Take a frame with calls."""
        payload = piece.payload or {}
        for choice in choices_of(payload):
            self._fields.update(field for view in _views(choice) for field in CALL_FIELDS if view.get(field))
        self.strict = (
            self.strict
            and piece.plain
            and bool(choices_of(payload))
            and all(map(self._choice, choices_of(payload)))
        )

    def end(self, choices: Iterable[int]) -> None:
        """Note that choices ended: a later call comes too late for many loops."""
        self._ended.update(choices)

    @property
    def legacy(self) -> bool:
        """Return whether the calls came as `function_call`, and in no other form."""
        return self._fields == {"function_call"}

    def read(self) -> dict[int, list[tuple[str, str, str]]]:
        """Return id, name and text of the calls, by choice."""
        return {
            choice: [(track.id, track.name, track.text) for track in tracks]
            for choice, tracks in self._calls.items()
            if tracks
        }

    def track(self, choice: int, index: int) -> Track | None:
        """Return a call, as long as all readers agree."""
        tracks = self._calls.get(choice, ())
        return tracks[index] if self.strict and 0 <= index < len(tracks) else None

    def _choice(self, choice: Payload) -> bool:
        delta, number = choice.get("delta"), choice.get("index")
        message = choice.get("message")
        if (
            type(number) is not int
            or number in self._ended
            or (isinstance(message, dict) and _holds_calls(message))
        ):
            return False
        if not isinstance(delta, dict) or delta.get("toolCalls"):
            return False
        tracks = self._calls.setdefault(number, [])
        listed, legacy = delta.get("tool_calls"), delta.get("function_call")
        if legacy:
            return self.legacy and isinstance(legacy, dict) and _legacy(tracks, legacy)
        if not isinstance(listed, list):
            return not listed
        indices = {
            index for call in listed if isinstance(call, dict) and type(index := call.get("index")) is int
        }
        return len(indices) == len(listed) and all(_fragment(tracks, call) for call in listed)


def _fragment(tracks: list[Track], call: Any) -> bool:
    """Take a fragment; return False if readers could differ about it."""
    index = call.get("index") if isinstance(call, dict) else None
    if type(index) is not int or not 0 <= index <= len(tracks):
        return False
    kind = call.get("type")
    if index == len(tracks):
        if kind not in ("function", "custom"):
            return False
        tracks.append(Track(kind, "input" if kind == "custom" else "arguments"))
        body = call.get(kind)
        return isinstance(body, dict) and tracks[index].begin(call.get("id") or "", body)
    track = tracks[index]
    body = call.get(track.kind)
    return (
        index == len(tracks) - 1  # some clients take a call for over when the next one begins
        and call.get("id") is None
        and ("type" not in call or kind == track.kind)
        and isinstance(body, dict)
        and track.go_on(body)
    )


def _legacy(tracks: list[Track], body: Payload) -> bool:
    if not tracks:
        tracks.append(Track("function_call", "arguments"))
        return tracks[0].begin(None, body)
    return tracks[0].go_on(body)
