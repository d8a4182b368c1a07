"""The places in a response of Gemini: calls, text, reasons of its candidates; in the spelling that clients read.

REST writes camelCase, and some servers the snake_case of the Python SDK, which no client reads off the wire. Code Assist
puts each response into a member `response`. Source: Gemini API reference, "GenerateContentResponse".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from wholecall.calls.output.call_events import ToolCall
from wholecall.dialects import labels, reasons
from wholecall.repairing.encoders.gemini import call_part
from wholecall.repairing.withholding import Ends
from wholecall.types import TurnReason

Payload = dict[str, Any]
Label = tuple[int, object, object, object]  # candidate, id, name, arguments

ODD: Final[Label] = (-1, None, None, None)  # a call that no client reads
_CALL: Final = "functionCall"
_SILENT: Final = {
    "text": ""
}  # shows nothing, as the API sends it: an empty list of parts is invalid for some clients
# Members that clients read, and those that hold such members; all others keep their spelling.
_NAMES: Final = (
    *("usageMetadata", "modelVersion", "responseId", "promptFeedback", "blockReason", "finishReason"),
    *("finishMessage", "groundingMetadata", "citationMetadata", "safetyRatings", "functionCall"),
    *(
        "partialArgs",
        "willContinue",
        "thoughtSignature",
        "partMetadata",
        "executableCode",
        "functionResponse",
    ),
    *("codeExecutionResult", "toolCall", "toolType", "toolResponse", "inlineData", "fileData", "mimeType"),
    *("fileUri", "promptTokenCount", "candidatesTokenCount", "totalTokenCount", "thoughtsTokenCount"),
    *("cachedContentTokenCount", "toolUsePromptTokenCount", "promptTokensDetails", "candidatesTokensDetails"),
    *("cacheTokensDetails", "tokenCount"),
)
_SNAKE: Final[dict[str, str]] = {
    re.sub("[A-Z]", lambda hump: f"_{hump[0].lower()}", name): name for name in _NAMES
}
_INNER: Final = frozenset(
    {
        *("candidates", "content", "parts", "usageMetadata", "promptFeedback", "functionCall", "toolCall"),
        *("inlineData", "fileData", "promptTokensDetails", "candidatesTokensDetails", "cacheTokensDetails"),
    }
)
_HEAD: Final = ("modelVersion", "responseId")
_LABELS: Final = frozenset({"name", "args", "id"})


def response_of(payload: Mapping[str, Any]) -> Payload | None:
    """Return the response in a frame; None for anything else, such as an error."""
    if "error" in payload:
        return None
    inner = payload.get("response")
    if isinstance(inner, dict) and payload.get("candidates") is None:
        return inner if "error" not in inner else None
    return dict(payload)


def with_response(payload: Mapping[str, Any], response: Payload) -> Payload:
    """Return a frame with another response in it."""
    inner = payload.get("response")
    if isinstance(inner, dict) and payload.get("candidates") is None:
        return {**payload, "response": response}
    return response


def shaped(response: Payload) -> Payload:
    """Return a response as clients read it: camelCase, lists of parts and candidates, in order, no blank reason."""
    spelt: Payload = _respelt(response)
    if spelt.get("candidates") is None:
        return spelt
    listed = sorted(candidates_of(spelt), key=number_of)  # clients take the first for the answer
    return {**spelt, "candidates": [_shaped(candidate) for candidate in listed]}


def _shaped(candidate: Payload) -> Payload:
    edited = {name: value for name, value in candidate.items() if (name, value) != ("finishReason", "")}
    if edited.get("index") is not None and type(edited["index"]) is not int:
        edited["index"] = number_of(candidate)
    content = candidate.get("content")
    if isinstance(content, dict) and content.get("parts") is not None:
        edited["content"] = {
            **content,
            "parts": [part for part in parts_of(candidate) if isinstance(part, dict)],
        }
    return edited


def _respelt(value: Any) -> Any:
    """Return a part of a response in camelCase; of two spellings of a member the first with a value."""
    if isinstance(value, list):
        return [_respelt(each) for each in value]
    if not isinstance(value, dict):
        return value
    found: Payload = {}
    for member, each in value.items():
        name = _SNAKE.get(str(member), str(member))
        if found.get(name) is None:
            found[name] = _respelt(each) if name in _INNER else each
    return found


def candidates_of(response: Mapping[str, Any]) -> list[Payload]:
    """Return the candidates of a response."""
    candidates = response.get("candidates")
    listed = candidates if isinstance(candidates, list) else [candidates]  # one without its list (quirk 39)
    return [candidate for candidate in listed if isinstance(candidate, dict)]


def number_of(candidate: Mapping[str, Any]) -> int:
    """Return the number of a candidate, as the parser counts it."""
    return labels.choice_label(candidate.get("index"))


def head_of(response: Mapping[str, Any]) -> Payload:
    """Return the members of a response next to its candidates, which each further response has, too."""
    return {member: response[member] for member in _HEAD if response.get(member) is not None}


def parts_of(candidate: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a candidate; a part without its list counts as a list."""
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else [] if parts is None else [parts]


def _is_call(part: object) -> bool:
    return isinstance(part, dict) and part.get(_CALL) is not None


def has_calls(response: Mapping[str, Any]) -> bool:
    """Return whether a response holds any part of a call that a client would execute."""
    return any(_is_call(part) for candidate in candidates_of(response) for part in parts_of(candidate))


def shows_content(response: Mapping[str, Any]) -> bool:
    """Return whether a response shows text, thoughts, media, results or anything else that is not a call."""
    return bool(numbers_with(response, _shows))


def _shows(part: object) -> bool:
    return bool(part) and not _is_call(part) and part != _SILENT


def numbers_with(
    response: Mapping[str, Any], has: Callable[[Any], bool] = lambda part: _is_call(part) or _shows(part)
) -> set[int]:
    """Return the candidates that have such a part; by default one that shows something, or is of a call."""
    return {
        number_of(candidate)
        for candidate in candidates_of(response)
        if any(has(part) for part in parts_of(candidate))
    }


def endings_of(response: Mapping[str, Any]) -> list[tuple[int, str, TurnReason]]:
    """Return the candidates that end, each with its reason, in the wire's word and in ours."""
    known = ((each, reasons.turn_reason(each.get("finishReason"))) for each in candidates_of(response))
    return [(number_of(each), reason[1] or "", reason[0]) for each, reason in known if reason is not None]


def told_in(response: Mapping[str, Any]) -> list[Label]:
    """Return the labels of the calls in a response, by candidate; `ODD` for calls that clients cannot read."""
    ordered = sorted(candidates_of(response), key=number_of)
    return [
        _told(number_of(candidate), part[_CALL])
        for candidate in ordered
        for part in parts_of(candidate)
        if _is_call(part)
    ]


def _told(number: int, call: object) -> Label:
    if not isinstance(call, dict) or not isinstance(call.get("args"), dict) or not call.keys() <= _LABELS:
        return ODD
    return number, call.get("id"), call.get("name"), call["args"]


def label_of(call: ToolCall[Any]) -> Label:
    """Return the label that a client is to read of a call."""
    return _told(call.choice, call_part(call, with_minted=False)[_CALL])


def mapped(response: Payload, edit: Callable[[Payload], Payload]) -> Payload:
    """Return a response with each of its candidates edited."""
    if not candidates_of(response):
        return response
    return {**response, "candidates": [edit(candidate) for candidate in candidates_of(response)]}


def without(
    response: Payload, *, calls: bool = False, content: bool = False, ends: Iterable[int] = ()
) -> Payload:
    """Return a response without its calls, without its other content, or without the ends of candidates."""
    over = set(ends)

    def edit(candidate: Payload) -> Payload:
        edited = candidate
        if calls or content:
            kept = [part for part in parts_of(candidate) if not (calls if _is_call(part) else content)]
            if len(kept) < len(parts_of(candidate)):
                edited = with_parts(edited, kept)
        if number_of(candidate) in over:
            edited = {name: value for name, value in edited.items() if not name.startswith("finish")}
        return edited

    return mapped(response, edit)


def with_calls(candidate: Payload, calls: list[Payload]) -> Payload:
    """Return a candidate with other call parts, at the place of its first call."""
    parts = parts_of(candidate)
    place = next((at for at, part in enumerate(parts) if _is_call(part)), len(parts))
    if place == len(parts) and not calls:
        return candidate
    kept = [part for part in parts[place:] if not _is_call(part)]
    return with_parts(candidate, [*parts[:place], *calls, *kept])


def with_parts(candidate: Payload, parts: list[Any]) -> Payload:
    """Return a candidate with other parts."""
    content = candidate.get("content")
    members = content if isinstance(content, dict) else {"role": "model"}
    return {**candidate, "content": {**members, "parts": parts or [_SILENT]}}


def with_reasons(response: Payload, ends: Ends) -> Payload:
    """Return a response in which the reasons of candidates fit their output."""

    def edit(candidate: Payload) -> Payload:
        number = number_of(candidate)
        if candidate.get("finishReason") is None or number not in ends.words:
            return candidate
        return {**candidate, "finishReason": ends.reason(number)[1]}

    return mapped(response, edit)
