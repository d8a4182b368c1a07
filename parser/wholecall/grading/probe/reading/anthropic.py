"""Anthropic's Messages, read strictly."""

from __future__ import annotations

from typing import Any

from wholecall.grading.probe.reading import model


def read_event(answer: model.Answer, frame: int, name: str, value: dict[str, Any]) -> None:
    """Read one event of a stream."""
    kind = value.get("type", name)
    if kind == "error" or (kind is model.UNSET and value.get("error")):
        answer.errors.append(model.Label(frame, value.get("error")))
    elif kind == "message_start":
        message = model.member(value, "message")
        model.note(answer.ids, frame, message, "id")
        model.note(answer.roles, frame, message, "role")
        if message.get("usage") is not None:
            model.note(answer.usages, frame, message, "usage")
    elif kind == "content_block_start":
        _start(answer, frame, value)
    elif kind == "content_block_delta":
        _delta(answer, frame, value)
    elif kind == "content_block_stop":
        _stop(answer, frame, value)
    elif kind == "message_delta":
        if model.member(value, "delta").get("stop_reason") is not None:
            model.note(answer.reasons, frame, value["delta"], "stop_reason")
        if value.get("usage") is not None:
            model.note(answer.usages, frame, value, "usage")


def _start(answer: model.Answer, frame: int, value: dict[str, Any]) -> None:
    position, block = value.get("index", model.UNSET), model.member(value, "content_block")
    answer.contents.append(frame)
    known = _block(answer, position)
    if known is not None:
        known.again = frame
    answer.blocks.append(model.BlockSeen(position, str(block.get("type", "")), opened=frame))
    model.say(answer.texts, frame, block.get("text"))
    if block.get("type") == "tool_use":
        answer.calls.append(_used(frame, position, block))


def _used(frame: int, position: Any, block: dict[str, Any]) -> model.CallSeen:
    call = model.CallSeen(frame, position, last=frame, start=block.get("input", model.UNSET))
    model.note(call.ids, frame, block, "id")
    model.note(call.names, frame, block, "name")
    return call


def _delta(answer: model.Answer, frame: int, value: dict[str, Any]) -> None:
    position, delta = value.get("index", model.UNSET), model.member(value, "delta")
    answer.contents.append(frame)
    block = _block(answer, position)
    if block is None:
        answer.strays.append(frame)
    model.say(answer.texts, frame, delta.get("text"))
    model.say(answer.reasonings, frame, delta.get("thinking"))
    call = _call(answer, position)
    if delta.get("type") == "input_json_delta" and call is not None:
        model.note(call.pieces, frame, delta, "partial_json")
        call.last = frame
        if call.closed is not None:
            call.late.append(frame)


def _stop(answer: model.Answer, frame: int, value: dict[str, Any]) -> None:
    position = value.get("index", model.UNSET)
    block, call = _block(answer, position), _call(answer, position)
    if block is None:
        answer.strays.append(frame)
    elif block.closed is None:
        block.closed = frame
    if call is not None and call.closed is None:
        call.closed = frame


def _block(answer: model.Answer, position: Any) -> model.BlockSeen | None:
    return next((block for block in reversed(answer.blocks) if block.position == position), None)


def _call(answer: model.Answer, position: Any) -> model.CallSeen | None:
    return next((call for call in reversed(answer.calls) if call.position == position), None)


def read_body(answer: model.Answer, value: dict[str, Any]) -> None:
    """Read a whole message."""
    answer.is_whole = True
    model.note(answer.ids, 0, value, "id")
    if value.get("error") or value.get("type") == "error":
        answer.errors.append(model.Label(0, value.get("error")))
    if value.get("usage") is not None:
        model.note(answer.usages, 0, value, "usage")
    if value.get("stop_reason") is not None:
        model.note(answer.reasons, 0, value, "stop_reason")
    for position, block in enumerate(model.objects(value.get("content"))):
        model.say(answer.texts, 0, block.get("text"))
        model.say(answer.reasonings, 0, block.get("thinking"))
        if block.get("type") == "tool_use":
            call = _used(0, position, block)
            call.wholes.append(model.Label(0, call.start))
            answer.calls.append(call)
