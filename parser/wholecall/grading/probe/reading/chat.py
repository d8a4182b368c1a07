"""Chat Completions, read strictly."""

from __future__ import annotations

from typing import Any

from wholecall.calls.parse import json_state
from wholecall.grading.probe.reading import model

_ELSEWHERE = ("parameters", "args", "input", "parsed_arguments")
_THOUGHTS = ("reasoning_content", "reasoning")


def read_event(answer: model.Answer, frame: int, _name: str, value: dict[str, Any]) -> None:
    """Read one chunk of a stream."""
    _head(answer, frame, value)
    for choice in model.objects(value.get("choices")):
        delta = model.member(choice, "delta") or model.member(choice, "message")
        _said(answer, frame, delta)
        for piece in model.objects(delta.get("tool_calls")):
            answer.contents.append(frame)
            _fragment(answer, frame, piece)
        if choice.get("finish_reason") is not None:
            model.note(answer.reasons, frame, choice, "finish_reason")


def read_body(answer: model.Answer, value: dict[str, Any]) -> None:
    """Read a whole completion."""
    answer.is_whole = True
    _head(answer, 0, value)
    for choice in model.objects(value.get("choices")):
        message = model.member(choice, "message")
        _said(answer, 0, message)
        for piece in model.objects(message.get("tool_calls")):
            call = model.CallSeen(0, piece.get("index", model.UNSET))
            answer.calls.append(call)
            _labels(call, 0, piece)
        if choice.get("finish_reason") is not None:
            model.note(answer.reasons, 0, choice, "finish_reason")


def _head(answer: model.Answer, frame: int, value: dict[str, Any]) -> None:
    if value.get("error"):
        answer.errors.append(model.Label(frame, value["error"]))
    if "choices" in value:
        model.note(answer.ids, frame, value, "id")
    if value.get("usage") is not None:
        model.note(answer.usages, frame, value, "usage")


def _said(answer: model.Answer, frame: int, delta: dict[str, Any]) -> None:
    if "role" in delta:
        model.note(answer.roles, frame, delta, "role")
    if model.say(answer.texts, frame, delta.get("content")):
        answer.contents.append(frame)
    if any(model.say(answer.reasonings, frame, delta.get(name)) for name in _THOUGHTS):
        answer.contents.append(frame)


def _fragment(answer: model.Answer, frame: int, piece: dict[str, Any]) -> None:
    position = piece.get("index", model.UNSET)
    call = _call_of(answer, position, piece)
    if call is None:
        call = model.CallSeen(frame, position)
        answer.calls.append(call)
    _labels(call, frame, piece)
    call.last = frame
    if position is not model.UNSET and position != call.position and call.churned is None:
        call.churned = frame


def _call_of(answer: model.Answer, position: Any, piece: dict[str, Any]) -> model.CallSeen | None:
    """Return the call that a fragment continues, None for one that begins a call."""
    if not answer.calls:
        return None
    at_index = [call for call in answer.calls if _is_same(call.position, position)]
    last = at_index[-1] if at_index else None
    if last is None:
        # A fragment without any label at a new index continues the open call before it.
        before = answer.calls[-1]
        is_bare = not model.is_id(piece.get("id")) and not model.member(piece, "function").get("name")
        return before if is_bare and json_state(before.text) != "complete" else None
    return None if _begins(last, piece) else last


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _begins(call: model.CallSeen, piece: dict[str, Any]) -> bool:
    """Return whether a fragment at the index of a call begins another one: new labels after a whole text."""
    name, named = piece.get("id"), model.member(piece, "function").get("name")
    is_whole = json_state(call.text) == "complete" or any(isinstance(value, dict) for _, value in call.pieces)
    if not named or not is_whole:
        return False
    # A new id begins a call. Without ids, new text of another call does; a repeat or a snapshot restates its beginning.
    if model.is_id(name) and model.is_id(call.id):
        return bool(name != call.id)
    text = model.member(piece, "function").get("arguments")
    return bool(isinstance(text, str) and text and not text.startswith(call.text))


def _labels(call: model.CallSeen, frame: int, piece: dict[str, Any]) -> None:
    function = model.member(piece, "function")
    model.note(call.ids, frame, piece, "id")
    model.note(call.types, frame, piece, "type")
    model.note(call.names, frame, function, "name")
    if "arguments" in function:
        model.note(call.pieces, frame, function, "arguments")
    if any(name in function for name in _ELSEWHERE):
        call.elsewhere.append(frame)
