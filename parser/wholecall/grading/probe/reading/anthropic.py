"""Anthropic's Messages, read strictly."""

from __future__ import annotations

from typing import Any

from wholecall.grading.probe.reading.model import (
    UNSET,
    Answer,
    BlockSeen,
    CallSeen,
    Label,
    member,
    note,
    objects,
    say,
)


def read_event(answer: Answer, frame: int, name: str, value: dict[str, Any]) -> None:
    """Read one event of a stream."""
    kind = value.get("type", name)
    if kind == "error" or (kind is UNSET and value.get("error")):
        answer.errors.append(Label(frame, value.get("error")))
    elif kind == "message_start":
        message = member(value, "message")
        note(answer.ids, frame, message, "id")
        note(answer.roles, frame, message, "role")
        if message.get("usage") is not None:
            note(answer.usages, frame, message, "usage")
    elif kind == "content_block_start":
        _start(answer, frame, value)
    elif kind == "content_block_delta":
        _delta(answer, frame, value)
    elif kind == "content_block_stop":
        _stop(answer, frame, value)
    elif kind == "message_delta":
        if member(value, "delta").get("stop_reason") is not None:
            note(answer.reasons, frame, value["delta"], "stop_reason")
        if value.get("usage") is not None:
            note(answer.usages, frame, value, "usage")


def _start(answer: Answer, frame: int, value: dict[str, Any]) -> None:
    position, block = value.get("index", UNSET), member(value, "content_block")
    answer.contents.append(frame)
    known = _block(answer, position)
    if known is not None:
        known.again = frame
    answer.blocks.append(BlockSeen(position, str(block.get("type", "")), opened=frame))
    say(answer.texts, frame, block.get("text"))
    if block.get("type") == "tool_use":
        answer.calls.append(_used(frame, position, block))


def _used(frame: int, position: Any, block: dict[str, Any]) -> CallSeen:
    call = CallSeen(frame, position, last=frame, start=block.get("input", UNSET))
    note(call.ids, frame, block, "id")
    note(call.names, frame, block, "name")
    return call


def _delta(answer: Answer, frame: int, value: dict[str, Any]) -> None:
    position, delta = value.get("index", UNSET), member(value, "delta")
    answer.contents.append(frame)
    block = _block(answer, position)
    if block is None:
        answer.strays.append(frame)
    say(answer.texts, frame, delta.get("text"))
    say(answer.reasonings, frame, delta.get("thinking"))
    call = _call(answer, position)
    if delta.get("type") == "input_json_delta" and call is not None:
        note(call.pieces, frame, delta, "partial_json")
        call.last = frame
        if call.closed is not None:
            call.late.append(frame)


def _stop(answer: Answer, frame: int, value: dict[str, Any]) -> None:
    position = value.get("index", UNSET)
    block, call = _block(answer, position), _call(answer, position)
    if block is None:
        answer.strays.append(frame)
    elif block.closed is None:
        block.closed = frame
    if call is not None and call.closed is None:
        call.closed = frame


def _block(answer: Answer, position: Any) -> BlockSeen | None:
    return next((block for block in reversed(answer.blocks) if block.position == position), None)


def _call(answer: Answer, position: Any) -> CallSeen | None:
    return next((call for call in reversed(answer.calls) if call.position == position), None)


def read_body(answer: Answer, value: dict[str, Any]) -> None:
    """Read a whole message."""
    answer.is_whole = True
    note(answer.ids, 0, value, "id")
    if value.get("error") or value.get("type") == "error":
        answer.errors.append(Label(0, value.get("error")))
    if value.get("usage") is not None:
        note(answer.usages, 0, value, "usage")
    if value.get("stop_reason") is not None:
        note(answer.reasons, 0, value, "stop_reason")
    for position, block in enumerate(objects(value.get("content"))):
        say(answer.texts, 0, block.get("text"))
        say(answer.reasonings, 0, block.get("thinking"))
        if block.get("type") == "tool_use":
            call = _used(0, position, block)
            call.wholes.append(Label(0, call.start))
            answer.calls.append(call)
