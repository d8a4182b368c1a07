"""Gemini's generateContent, read strictly: a chunk of a stream has the form of a whole answer."""

from __future__ import annotations

from typing import Any

from wholecall.grading.probe.reading.model import Answer, CallSeen, Label, member, note, objects, say


def read_event(answer: Answer, frame: int, name: str, value: dict[str, Any]) -> None:  # noqa: ARG001 - there are none
    """Read one chunk of a stream."""
    _read(answer, frame, value)


def read_body(answer: Answer, value: dict[str, Any]) -> None:
    """Read a whole answer."""
    answer.is_whole = True
    _read(answer, 0, value)


def _read(answer: Answer, frame: int, value: dict[str, Any]) -> None:
    if value.get("error"):
        answer.errors.append(Label(frame, value["error"]))
    if value.get("responseId") is not None:
        note(answer.ids, frame, value, "responseId")
    if value.get("usageMetadata") is not None:
        note(answer.usages, frame, value, "usageMetadata")
    for candidate in objects(value.get("candidates"))[:1]:
        content = member(candidate, "content")
        if content.get("role") is not None:
            note(answer.roles, frame, content, "role")
        for part in objects(content.get("parts")):
            _part(answer, frame, part)
        if candidate.get("finishReason") is not None:
            note(answer.reasons, frame, candidate, "finishReason")


def _part(answer: Answer, frame: int, part: dict[str, Any]) -> None:
    texts = answer.reasonings if part.get("thought") is True else answer.texts
    if say(texts, frame, part.get("text")):
        answer.contents.append(frame)
    if isinstance(part.get("functionCall"), dict):
        answer.contents.append(frame)
        answer.calls.append(_called(frame, part["functionCall"]))


def _called(frame: int, given: dict[str, Any]) -> CallSeen:
    """Return a call, which comes whole in one part; without arguments the object may be left out."""
    call = CallSeen(frame, last=frame, start={})
    note(call.ids, frame, given, "id")
    note(call.names, frame, given, "name")
    if given.get("args") is not None:
        note(call.wholes, frame, given, "args")
    return call
