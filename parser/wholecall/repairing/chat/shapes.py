"""Complete a chunk with the members that clients expect: choices, in each a delta, its number and text.

Client code iterates over `choices` and reads `delta` without a check; accumulators join `content`, and skip objects
that are not labelled as chunks. A frame without these makes them raise, or lose its content. Therefore it gets an empty
list, an empty delta, and as text the text that the parser read elsewhere in the frame: in a whole `message` (quirks 40,
90), in a list of parts, with its thoughts (quirk 95), in a frame of another shape (quirk 89). A frame without any
content is left out. Source: OpenAI API reference, "Chat streaming".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Any, Final

from wholecall.calls.output.events import Event, ReasoningDelta, TextDelta
from wholecall.dialects.reasons import turn_reason
from wholecall.repairing.chat.places import choices_of, number_of
from wholecall.repairing.pieces import Piece
from wholecall.repairing.schema import ROLES

Words = Mapping[str, str]  # the texts of a delta, by its members

_MEMBERS: Final = {TextDelta: "content", ReasoningDelta: "reasoning_content"}
_SPEAKERS: Final = (*ROLES, None)
_SPOKEN: Final = frozenset({"text", "thinking"})  # parts of content that have their own place
_EMPTY: Final = frozenset({"choices", "type"})  # members that mean nothing where there are no choices


def said_in(events: Iterable[Event[Any]]) -> dict[int, dict[str, str]]:
    """Return the text that the parser has read, by choice."""
    said: dict[int, dict[str, str]] = {}
    for event in events:
        if isinstance(event, (TextDelta, ReasoningDelta)) and event.text:
            words, member = said.setdefault(event.choice, {}), _MEMBERS[type(event)]
            words[member] = words.get(member, "") + event.text
    return said


def shaped(piece: Piece, said: Mapping[int, Words], has_role: Callable[[int], bool]) -> Piece | None:
    """Return a frame that clients can read: itself, if they can; None if it has no content.

    Args:
        piece: the frame.
        said: the text that the parser has read in it, by choice.
        has_role: whether the role of a choice was sent before.
    """
    payload = piece.payload
    if payload is None:
        return None if piece.event == "ping" else piece
    if piece.is_error:
        return piece  # clients should not continue as if nothing had happened
    if "error" in payload:  # a null one: some clients only check that the member exists
        piece = piece.changed({name: value for name, value in payload.items() if name != "error"})
        payload = piece.payload or {}
    if not isinstance(payload.get("choices"), list):
        return _with_choices(piece, payload, said)
    known = choices_of(payload)
    choices = [_choice(choice, said.get(number_of(choice), {}), has_role) for choice in known]
    if len(known) == len(payload["choices"]) and all(map(is_, choices, known)):
        return piece
    return piece.changed({**payload, "choices": choices})


def _with_choices(piece: Piece, payload: Mapping[str, Any], said: Mapping[int, Words]) -> Piece | None:
    """Return a frame with a list of choices, made of its content."""
    if not any(value for member, value in payload.items() if member not in _EMPTY):
        return None
    choices = [{"index": choice, "delta": words, "finish_reason": None} for choice, words in said.items()]
    return piece.changed({**payload, "choices": choices})


def _choice(choice: dict[str, Any], words: Words, has_role: Callable[[int], bool]) -> dict[str, Any]:
    """Return a choice with its number, and a delta of the parser's text; the choice itself, if it has both."""
    delta, message = choice.get("delta"), choice.get("message")
    if choice.get("index") != number_of(choice):
        choice = {**choice, "index": number_of(choice)}  # rewritten calls have it, too
    reason = choice.get("finish_reason")
    if reason is not None and turn_reason(reason) is None:
        choice = {**choice, "finish_reason": None}  # such as `""`
    if isinstance(delta, dict) and delta.get("role", "assistant") not in _SPEAKERS:  # such as `""`
        rest = {field: value for field, value in delta.items() if field != "role"}
        delta = rest if has_role(number_of(choice)) else {"role": "assistant", **rest}
        choice = {**choice, "delta": delta}
    if not isinstance(delta, dict):
        role = message.get("role") if isinstance(message, dict) else None
        return {**choice, "delta": {**({"role": role} if role else {}), **words}}
    is_parted = _is_speech(delta.get("content"))
    if not is_parted and not isinstance(message, dict):
        return choice
    whole = {**delta, **({"content": ""} if is_parted else {}), **words}
    return choice if whole == delta else {**choice, "delta": whole}


def _is_speech(content: object) -> bool:
    """Return whether content is a list of text and thought parts only; other parts have no other place."""
    return isinstance(content, list) and all(
        isinstance(part, dict) and str(part.get("type")) in _SPOKEN for part in content
    )
