"""Converse of Bedrock, as far as it is read: blocks whose only member says what they are.

Source: the request of `Converse`: {toolUse: {toolUseId, name, input}}, answered by {toolResult: {toolUseId, content}}
in the next message, which is the user's.
"""

from __future__ import annotations

from typing import Any, Final

from wholecall.history.parts import Line, Message, Part, Places, at, first_id, first_text
from wholecall.history.shapes.base import View, expect_dict
from wholecall.history.shapes.blocks import read_text

__all__ = ["CONVERSE"]

_USE: Final = Places((("toolUse", "toolUseId"),), (("toolUse", "name"),), (("toolUse", "input"),))
_RESULT: Final = Places((("toolResult", "toolUseId"),))
_KEYS: Final = ("toolUse", "toolResult", "reasoningContent")


def _read(message: Message) -> Line:
    content = message.get("content")
    by_model = message.get("role") == "assistant"
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
        return Part("result", block, "content", places=_RESULT, id=first_id(block, _RESULT.id))
    if "reasoningContent" in block:
        return Part("thinking", block, "content")
    return read_text(block, block["text"], "content") if "text" in block else Part("other", block, "content")


def _is_own(message: Message) -> bool:
    content = message.get("content")
    blocks: list[Any] = content if isinstance(content, list) else []
    return any(
        isinstance(block, dict)
        and "type" not in block
        and any(isinstance(block.get(key), dict) for key in _KEYS)
        for block in blocks
    )


CONVERSE: Final = View(name="bedrock-converse", read=_read, is_own=_is_own)
