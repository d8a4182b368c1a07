"""Converse of Bedrock: blocks whose only member names their type; roles alternate, results come next.

    {role: "assistant", content: [{reasoningContent} {text} {toolUse: {toolUseId, name, input: OBJECT}}]}
    {role: "user", content: [{toolResult: {toolUseId, content, status?}} {text}]}

Two consecutive messages of one role are refused, therefore they are joined. InvokeModel of Amazon's Nova takes the same
messages.

Source: the request of `Converse`.
"""

from __future__ import annotations

from typing import Any, Final

from wholecall.history.markers import MISSING_RESULT, is_made
from wholecall.history.parts import Line, Message, Part, Places, at, first_id, first_text
from wholecall.history.shapes.base import Shape, expect_dict
from wholecall.history.shapes.blocks import read_text
from wholecall.output.results import Answer, tool_result

__all__ = ["CONVERSE"]

_USE: Final = Places((("toolUse", "toolUseId"),), (("toolUse", "name"),), (("toolUse", "input"),))
_RESULT: Final = Places((("toolResult", "toolUseId"),))
_OWN: Final = ("toolUse", "toolResult", "reasoningContent")
_USUAL: Final = ("text", "image", "document", "video", "cachePoint", "guardContent")


def _read(message: Message) -> Line:
    content = message.get("content")
    by_model = message.get("role") == "assistant"
    if isinstance(content, str):  # only a block can hold text
        blank = not content.strip()
        parts = [Part("blank" if blank else "text", {"text": content}, "content", gone=blank, edited=True)]
    else:
        parts = [_part(block, by_model) for block in content] if isinstance(content, (list, tuple)) else []
    if by_model:
        return Line("model", parts)
    is_result = bool(parts) and all(part.kind == "result" for part in parts)
    return Line("result" if is_result else "user", parts)


def _part(value: Any, by_model: bool) -> Part:
    block = expect_dict(value, "a content block")
    if isinstance(block.get("toolUse"), dict) and by_model:
        id, name = first_id(block, _USE.id), first_text(block, _USE.name)
        arguments = at(block, _USE.arguments)
        return Part("call", block, "content", places=_USE, id=id, name=name, arguments=arguments)
    if isinstance(block.get("toolResult"), dict):
        real = not is_made(block["toolResult"].get("content"))
        return Part("result", block, "content", places=_RESULT, id=first_id(block, _RESULT.id), real=real)
    if "reasoningContent" in block:
        return Part("thinking" if by_model else "other", block, "content")
    return read_text(block, block["text"], "content") if "text" in block else Part("other", block, "content")


def _result(call: Part, _block: Message) -> Message:
    return tool_result("bedrock-converse", Answer(call.id, call.name, MISSING_RESULT, failed=True))


def _carrier(results: list[Any], _near: Message) -> Message:
    return {"role": "user", "content": results}


def _joins(line: Line, after: Line) -> bool:
    return (line.side == "model") == (after.side == "model")


def _blocks(message: Message) -> list[Message]:
    """Return the blocks that name no type, unlike those of other shapes."""
    content = message.get("content")
    blocks: list[Any] = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and "type" not in block]


def _is_own(message: Message) -> bool:
    return any(isinstance(block.get(key), dict) for block in _blocks(message) for key in _OWN)


def _is_like(message: Message) -> bool:
    return any(key in block for block in _blocks(message) for key in _USUAL)


CONVERSE: Final = Shape(
    name="bedrock-converse",
    read=_read,
    result=_result,
    carrier=_carrier,
    is_own=_is_own,
    is_like=_is_like,
    holder="content",
    gathers=True,
    merges=True,
    alternates=True,
    joins=_joins,
)
