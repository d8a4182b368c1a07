"""Converse of Bedrock: blocks whose only member names their type; roles alternate, results come next.

    {role: "assistant", content: [{reasoningContent: {reasoningText: {text, signature}}}
                                  {reasoningContent: {redactedContent}}
                                  {text}
                                  {toolUse: {toolUseId, name, input: OBJECT}}
                                  {toolUse: {…, type: "server_tool_use"}}, {toolResult}
                                  {citationsContent: {content: [{text}], citations}}, and others]}
    {role: "user", content: [{toolResult: {toolUseId, content, status?}} {text}]}

Two consecutive messages of one role are refused, therefore they are joined. Thinking without a signature is refused and
therefore left out; so is blank text. `redactedContent` is the base64 text of the wire; boto3 requires it decoded.
InvokeModel of Amazon's Nova takes the same messages.

Source: the request of `Converse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wholecall.calls.output.turns import OtherBlock, ReasoningBlock
from wholecall.history.content import Call, Piece
from wholecall.history.parts import Line, Message, Part, Places, call_at, first_id
from wholecall.history.shapes.base import Shape, expect_dict, held_by_user, is_made, missing
from wholecall.history.shapes.blocks import read_text
from wholecall.history.values import copied

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
        return call_at(block, "content", _USE)
    if isinstance(block.get("toolResult"), dict):
        return _result(block, block["toolResult"])
    if "reasoningContent" in block:
        return Part("thinking" if by_model else "other", block, "content")
    return read_text(block, block["text"], "content") if "text" in block else Part("other", block, "content")


def _result(block: Message, result: Message) -> Part:
    """Return a result, without its blank texts."""
    content = result.get("content")
    part = Part(
        "result", block, "content", places=_RESULT, id=first_id(block, _RESULT.id), real=not is_made(content)
    )
    if isinstance(content, list) and any(map(_is_blank_text, content)):
        left = [inner for inner in content if not _is_blank_text(inner)]
        part.value, part.edited = {**block, "toolResult": {**result, "content": left}}, True
    return part


def _is_blank_text(block: object) -> bool:
    text = block.get("text") if isinstance(block, dict) else None
    return isinstance(text, str) and not text.strip()


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
    result=missing("bedrock-converse"),
    carrier=held_by_user,
    is_own=_is_own,
    is_like=_is_like,
    holder="content",
    gathers=True,
    merges=True,
    alternates=True,
    joins=_joins,
)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the message of Converse."""
    blocks: list[Message] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            blocks += [{"reasoningContent": thought} for thought in _thought(piece)]
        elif isinstance(piece, Call):
            use = {"toolUseId": piece.id, "name": piece.name, "input": piece.arguments}
            blocks.append({"toolUse": use | ({"type": "server_tool_use"} if piece.kind == "server" else {})})
        elif isinstance(piece, OtherBlock):
            blocks.append(_block(piece))
        elif piece.strip():
            blocks.append({"text": piece})
    return [{"role": "assistant", "content": blocks}]


def _block(block: OtherBlock) -> Message:
    value: Message = copied(block.value)
    cited = value.get("citationsContent")
    if isinstance(cited, dict) and "content" not in cited:  # its text arrived in pieces
        value["citationsContent"] = {"content": [{"text": block.text}], **cited}
    return value


def _thought(block: ReasoningBlock) -> list[Message]:
    if block.data is not None:
        return [{"redactedContent": block.data}]
    if block.signature is None:
        return []
    return [{"reasoningText": {"text": block.text, "signature": block.signature}}]
