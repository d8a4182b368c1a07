"""Messages of LangChain as dicts, in the three usual stored forms.

    {type: "ai", content, tool_calls: [{type: "tool_call", id, name, args: OBJECT}],
     invalid_tool_calls: [{type: "invalid_tool_call", id, name, args: TEXT, error}], response_metadata}
    {type: "tool", tool_call_id, content, status}
    {type: "ai", data: {...}}                                      as of `messages_to_dict`
    {lc: 1, type: "constructor", id: [..., "AIMessage"], kwargs}   as of `dumpd`

Each message is answered by itself, as in chat. Integrations also send invalid calls, which therefore need a result too;
their text is the model's, and is not changed. A call may have a twin, a block in the content or an entry in
`additional_kwargs`, which integrations send if the call is removed: a twin is removed with its call.

Source: LangChain reference, `AIMessage` and `ToolMessage`; `langchain_core.messages` and `langchain_core.load`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from wholecall.history.markers import MISSING_RESULT
from wholecall.history.parts import Line, Message, Part, Places, at, first_id, first_text, rebuild
from wholecall.history.shapes.base import Shape, expect_dict
from wholecall.history.shapes.blocks import CALL_TYPES, read_content, read_message, read_result, read_stop
from wholecall.output.results import Answer, tool_result

__all__ = ["LANGCHAIN"]

_TYPES: Final = {
    **dict.fromkeys(("ai", "AIMessageChunk"), "model"),
    **dict.fromkeys(("human", "system", "developer", "chat"), "user"),
    **dict.fromkeys(("tool", "function"), "result"),
}
# The types by class name; the chunk class of each has the same type.
_CLASSES: Final = {
    "AIMessage": "ai",
    "HumanMessage": "human",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}
_CALL: Final = Places((("id",),), (("name",),), (("args",),))
_RESULT: Final = Places((("tool_call_id",),), (("name",),))


def _inner(message: Message) -> tuple[str, Message, str]:
    """Return the type of a message, its members, and the member that holds these: "" if it is flat."""
    kind, data, arguments = message.get("type"), message.get("data"), message.get("kwargs")
    if kind == "constructor" and isinstance(arguments, dict):
        path = message.get("id")
        name = str(path[-1]) if isinstance(path, list) and path else ""
        return _CLASSES.get(name.removesuffix("Chunk"), ""), arguments, "kwargs"
    if isinstance(data, dict):
        return str(kind), data, "data"
    return str(kind), message, ""


def _read(message: Message) -> Line:
    kind, inner, _ = _inner(message)
    side = _TYPES.get(kind)
    if side is None or "role" in inner:
        return read_message(message)
    if side == "result":
        return Line("result", [read_result(inner, _RESULT, anonymous=kind == "function")])
    if side == "user":
        return Line("user", read_content(inner, "user"))
    calls = [*_calls(inner, "tool_calls"), *_calls(inner, "invalid_tool_calls")]
    ids = {call.id for call in calls if call.id}
    content = [_untwinned(part, ids) for part in read_content(inner, "model")]
    about = inner.get("response_metadata")
    return Line("model", [*content, *calls], read_stop(about) if isinstance(about, dict) else None)


def _calls(message: Message, field: str) -> Iterable[Part]:
    entries = message.get(field)
    for entry in entries if isinstance(entries, (list, tuple)) else ():
        block = expect_dict(entry, "a tool call")
        id, name = first_id(block, _CALL.id), first_text(block, _CALL.name)
        form: Any = "object" if field == "tool_calls" else "kept"
        yield Part(
            "call",
            block,
            field,
            places=_CALL,
            id=id,
            name=name,
            arguments=at(block, _CALL.arguments),
            form=form,
        )


def _untwinned(part: Part, ids: set[str]) -> Part:
    """Return a part of the content; a block that repeats a call of the message is its twin."""
    if part.kind != "call":
        return part
    return Part("blank" if part.id in ids else "other", part.value, part.field)


def _write(message: Message, parts: list[Part], left: list[Part]) -> Message:
    _, inner, member = _inner(message)
    written = rebuild(inner, parts, left)
    if written.get("content") is None:
        written["content"] = ""
    calls = [part for part in left if part.kind == "call"]
    if len(calls) < sum(part.kind == "call" for part in parts):
        written = _without_twins(written, {first_id(call.value, _CALL.id) for call in calls})
    return {**message, member: written} if member else written


def _without_twins(message: Message, ids: set[str]) -> Message:
    """Return a message without the twins of removed calls."""
    content, more = message.get("content"), message.get("additional_kwargs")
    if isinstance(content, list):
        message = {**message, "content": [block for block in content if not _is_twin(block, ids)] or ""}
    told = more.get("tool_calls") if isinstance(more, dict) else None
    if isinstance(more, dict) and isinstance(told, list):
        kept = [entry for entry in told if isinstance(entry, dict) and first_id(entry, _CALL.id) in ids]
        rest = {name: value for name, value in more.items() if name != "tool_calls"}
        message = {**message, "additional_kwargs": {**rest, "tool_calls": kept} if kept else rest}
    return message


def _is_twin(block: Any, ids: set[str]) -> bool:
    if not isinstance(block, dict) or str(block.get("type")) not in CALL_TYPES:
        return False
    return bool(id := first_id(block, _CALL.id)) and id not in ids


def _result(call: Part, _block: Message) -> Message:
    return tool_result("langchain", Answer(call.id, call.name, MISSING_RESULT, failed=True))


def _carrier(results: list[Any], near: Message) -> Message:
    """Return a result in the form of the message next to it."""
    flat: Message = results[0]
    _, _, member = _inner(near)
    if not member or flat.get("type") != "tool" or _inner(flat)[2]:
        return flat
    if member == "data":
        return {"type": "tool", "data": flat}
    head = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"]}
    return {**head, "kwargs": flat}


def _is_own(message: Message) -> bool:
    kind, inner, _ = _inner(message)
    return kind in _TYPES and "role" not in inner and "content" in inner


LANGCHAIN: Final = Shape(
    name="langchain",
    read=_read,
    write=_write,
    result=_result,
    carrier=_carrier,
    is_own=_is_own,
)
