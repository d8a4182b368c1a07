"""Responses, read strictly."""

from __future__ import annotations

from typing import Any

from wholecall.grading.probe.reading import model

_ENDS = frozenset({"completed", "incomplete", "failed", "cancelled"})
_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_THOUGHTS = frozenset({"response.reasoning_text.delta", "response.reasoning_summary_text.delta"})
_ARGUMENTS = "response.function_call_arguments."


def read_event(answer: model.Answer, frame: int, name: str, value: dict[str, Any]) -> None:
    """Read one event of a stream."""
    kind = value.get("type", name)
    kind = kind if isinstance(kind, str) else ""
    model.note(answer.sequence, frame, value, "sequence_number")
    if kind == "error" or (value.get("error") and not kind.startswith("response.")):
        answer.errors.append(model.Label(frame, value))
    elif kind in {"response.output_item.added", "response.output_item.done"}:
        _item(answer, frame, value, is_done=kind.endswith("done"))
    elif kind.startswith(_ARGUMENTS):
        _arguments(answer, frame, value, is_done=kind.endswith("done"))
    elif kind in _TEXTS | _THOUGHTS:
        said = model.say(answer.texts if kind in _TEXTS else answer.reasonings, frame, value.get("delta"))
        _content(answer, frame, value, said=said)
    elif isinstance(value.get("response"), dict):
        _response(answer, frame, value["response"], kind.rpartition(".")[2])


def _response(answer: model.Answer, frame: int, response: dict[str, Any], word: str) -> None:
    model.note(answer.ids, frame, response, "id")
    if word not in _ENDS:
        return
    answer.reasons.append(model.Label(frame, _reason(response, word)))
    if response.get("error"):
        answer.errors.append(model.Label(frame, response["error"]))
    if response.get("usage") is not None:
        model.note(answer.usages, frame, response, "usage")
    answer.final = model.Label(frame, response)
    for item in model.objects(response.get("output")):
        call = _same_call(answer, item) if item.get("type") == "function_call" else None
        if call is not None and "arguments" in item:
            model.note(call.wholes, frame, item, "arguments")


def _same_call(answer: model.Answer, item: dict[str, Any]) -> model.CallSeen | None:
    by_item = (call for call in answer.calls if any(label.value == item.get("id") for label in call.item_ids))
    by_call = (call for call in answer.calls if call.id and call.id == item.get("call_id"))
    return next(by_item, None) or next(by_call, None)


def _reason(response: dict[str, Any], word: str) -> str:
    """Return the word of an end, and for an incomplete answer its reason."""
    why = model.member(response, "incomplete_details").get("reason")
    return f"incomplete.{why}" if word == "incomplete" and isinstance(why, str) else word


def _item(answer: model.Answer, frame: int, value: dict[str, Any], *, is_done: bool) -> None:
    item, position = model.member(value, "item"), value.get("output_index", model.UNSET)
    block = _block(answer, position)
    if block is None:
        block = model.BlockSeen(position, str(item.get("type", "")), item.get("id", model.UNSET))
        answer.blocks.append(block)
    if is_done:
        block.closed = frame
    elif block.opened is None:
        block.opened = frame
    elif item.get("id", model.UNSET) != block.id:
        block.again = frame
    if item.get("type") == "function_call":
        answer.contents.append(frame)
        _call(answer, frame, position, item, is_done=is_done)


def _call(answer: model.Answer, frame: int, position: Any, item: dict[str, Any], *, is_done: bool) -> None:
    call = next((call for call in answer.calls if call.position == position), None)
    if call is None:
        call = model.CallSeen(frame, position)
        answer.calls.append(call)
    model.note(call.ids, frame, item, "call_id")
    model.note(call.names, frame, item, "name")
    model.note(call.item_ids, frame, item, "id")
    call.last = frame
    if is_done:
        call.closed = frame
        model.note(call.wholes, frame, item, "arguments")


def _arguments(answer: model.Answer, frame: int, value: dict[str, Any], *, is_done: bool) -> None:
    position = value.get("output_index", model.UNSET)
    call = next((call for call in answer.calls if call.position == position), None)
    answer.contents.append(frame)
    if call is None:
        answer.strays.append(frame)
        return
    call.last = frame
    model.note(call.item_ids, frame, value, "item_id")
    if is_done:
        model.note(call.wholes, frame, value, "arguments")
    else:
        model.note(call.pieces, frame, value, "delta")
    if call.closed is not None:
        call.late.append(frame)


def _block(answer: model.Answer, position: Any) -> model.BlockSeen | None:
    return next((block for block in answer.blocks if block.position == position), None)


def _content(answer: model.Answer, frame: int, value: dict[str, Any], *, said: bool) -> None:
    if said:
        answer.contents.append(frame)
    if _block(answer, value.get("output_index", model.UNSET)) is None:
        answer.strays.append(frame)


def read_body(answer: model.Answer, value: dict[str, Any]) -> None:
    """Read a whole response."""
    answer.is_whole = True
    model.note(answer.ids, 0, value, "id")
    if value.get("error"):
        answer.errors.append(model.Label(0, value["error"]))
    if value.get("usage") is not None:
        model.note(answer.usages, 0, value, "usage")
    if isinstance(value.get("status"), str):
        answer.reasons.append(model.Label(0, _reason(value, value["status"])))
    answer.final = model.Label(0, value)
    for position, item in enumerate(model.objects(value.get("output"))):
        if item.get("type") == "function_call":
            call = model.CallSeen(0, position)
            model.note(call.ids, 0, item, "call_id")
            model.note(call.names, 0, item, "name")
            model.note(call.item_ids, 0, item, "id")
            model.note(call.pieces, 0, item, "arguments")
            answer.calls.append(call)
        for part in model.objects(item.get("content")) if item.get("type") == "message" else []:
            model.say(answer.texts, 0, part.get("text"))
        for part in model.objects(item.get("summary")) if item.get("type") == "reasoning" else []:
            model.say(answer.reasonings, 0, part.get("text"))
