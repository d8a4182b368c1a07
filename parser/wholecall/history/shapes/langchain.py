"""Messages of LangChain as dicts, in the three usual stored forms.

    {type: "ai", content: TEXT | [{type: "thinking", thinking, signature} {type: "text", text}],
     additional_kwargs?: {reasoning_content}, response_metadata?,
     tool_calls: [{type: "tool_call", id, name, args: OBJECT}],
     invalid_tool_calls: [{type: "invalid_tool_call", id, name, args: TEXT, error}]}
    {type: "tool", tool_call_id, content, status}
    {type: "ai", data: {...}}                                      as of `messages_to_dict`
    {lc: 1, type: "constructor", id: [..., "AIMessage"], kwargs}   as of `dumpd`

Each message is answered by itself, as in chat. Integrations also send invalid calls, which therefore need a result too;
their text is the model's, and is not changed. A call may have a duplicate, a block in the content or an entry in
`additional_kwargs`, which integrations send if the call is removed: a duplicate is removed with its call. Calls in
`tool_calls` are executed; therefore dropped calls go into `invalid_tool_calls`, where LangChain keeps its own.

Source: LangChain reference, `AIMessage` and `ToolMessage`; `langchain_core.messages` and `langchain_core.load`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.turns import ReasoningBlock
from wholecall.history.content import Call, Piece
from wholecall.history.parts import Line, Message, Part, Places, call_at, first_id, rebuild
from wholecall.history.shapes.anthropic import encode_thought
from wholecall.history.shapes.base import Shape, expect_dict, missing
from wholecall.history.shapes.blocks import CALL_TYPES, read_content, read_message, read_result, read_stop
from wholecall.history.values import dumped

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
    content = [_deduplicated(part, ids) for part in read_content(inner, "model")]
    about = inner.get("response_metadata")
    return Line("model", [*content, *calls], read_stop(about) if isinstance(about, dict) else None)


def _calls(message: Message, field: str) -> Iterable[Part]:
    entries = message.get(field)
    for entry in entries if isinstance(entries, (list, tuple)) else ():
        block = expect_dict(entry, "a tool call")
        yield call_at(block, field, _CALL, form="object" if field == "tool_calls" else "kept")


def _deduplicated(part: Part, ids: set[str]) -> Part:
    """Return a part of the content; a block that repeats a call of the message is its duplicate."""
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
        written = _without_duplicates(written, {first_id(call.value, _CALL.id) for call in calls})
    return {**message, member: written} if member else written


def _without_duplicates(message: Message, ids: set[str]) -> Message:
    """Return a message without the duplicates of removed calls."""
    content, more = message.get("content"), message.get("additional_kwargs")
    if isinstance(content, list):
        message = {**message, "content": [block for block in content if not _is_duplicate(block, ids)] or ""}
    entries = more.get("tool_calls") if isinstance(more, dict) else None
    if isinstance(more, dict) and isinstance(entries, list):
        kept = [entry for entry in entries if isinstance(entry, dict) and first_id(entry, _CALL.id) in ids]
        rest = {name: value for name, value in more.items() if name != "tool_calls"}
        message = {**message, "additional_kwargs": {**rest, "tool_calls": kept} if kept else rest}
    return message


def _is_duplicate(block: Any, ids: set[str]) -> bool:
    if not isinstance(block, dict) or str(block.get("type")) not in CALL_TYPES:
        return False
    return bool(id := first_id(block, _CALL.id)) and id not in ids


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
    result=missing("langchain"),
    carrier=_carrier,
    is_own=_is_own,
)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the members of an `AIMessage`."""
    message: Message = {"type": "ai", "content": _content(pieces)}
    blocks = [piece for piece in pieces if isinstance(piece, ReasoningBlock)]
    if unsigned := "".join(block.text for block in blocks if not encode_thought(block)):
        message["additional_kwargs"] = {"reasoning_content": unsigned}
    calls = [piece for piece in pieces if isinstance(piece, Call)]
    if whole := [_sent(call) for call in calls if not isinstance(call.event, ToolCallDropped)]:
        message["tool_calls"] = whole
    invalid = [_dropped(call, call.event) for call in calls if isinstance(call.event, ToolCallDropped)]
    return [message | ({"invalid_tool_calls": invalid} if invalid else {})]


def _content(pieces: Sequence[Piece]) -> str | list[Message]:
    """Return the text, in blocks only if there is thinking that must keep its place."""
    blocks: list[Message] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            blocks += encode_thought(piece)
        elif isinstance(piece, str) and piece.strip():
            blocks.append({"type": "text", "text": piece})
    plain = all(block["type"] == "text" for block in blocks)
    return "".join(block["text"] for block in blocks) if plain else blocks


def _sent(call: Call) -> Message:
    return {"type": "tool_call", "id": call.id, "name": call.name, "args": call.arguments}


def _dropped(call: Call, event: ToolCallDropped) -> Message:
    args = call.arguments if isinstance(call.arguments, str) else dumped(call.arguments)
    head = {"type": "invalid_tool_call", "id": call.id, "name": call.name}
    return {**head, "args": args, "error": event.describe()}
