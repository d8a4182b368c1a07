"""Assistant messages with one text and a list of calls: chat completions, Cohere, Ollama.

    chat completions   {role, content, reasoning_content?, reasoning_details?, tool_calls: [
                          {id, type: "function", function: {name, arguments: TEXT}}
                          {id, type: "custom", custom: {name, input}}]}
    Cohere             {role, tool_plan?, content?, tool_calls: [{id, type, function: {name, arguments: TEXT}}]}
    Ollama             {role, content, thinking?, tool_calls: [{id, function: {name, arguments: OBJECT}}]}

Reasoning is sent only with calls: providers that require it do so in the middle of a turn, and some refuse it
elsewhere. A list of calls is never empty, and `content` is null only next to calls.

Sources: the API references of OpenAI, DeepSeek, OpenRouter, Cohere and Ollama.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.history.content import Call, Piece
from wholecall.history.values import copied
from wholecall.output.turns import OtherBlock, ReasoningBlock

__all__ = ["chat", "cohere", "ollama"]

JSON = dict[str, Any]


def chat(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the message of chat completions."""
    message: JSON = {"role": "assistant", "content": _text(pieces)}
    calls = [_chat_call(piece) for piece in pieces if isinstance(piece, Call)]
    if calls:
        message |= _chat_thoughts([piece for piece in pieces if isinstance(piece, ReasoningBlock)])
    if details := [copied(piece.value) for piece in pieces if isinstance(piece, OtherBlock)]:
        message["reasoning_details"] = details  # unchanged: with all their members, including unsealed ones
    return [message | ({"tool_calls": calls} if calls else {})]


def _text(pieces: Sequence[Piece]) -> str | None:
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    return text if text.strip() else None


def _chat_call(call: Call) -> JSON:
    head = {**call.extra, "id": call.id}
    head.pop("item_id", None)  # of a Responses event inside the stream
    if call.kind == "custom":
        return {**head, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {**head, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat_thoughts(blocks: Sequence[ReasoningBlock]) -> JSON:
    """Return the reasoning as text, and signed or encrypted reasoning as details."""
    text = "".join(block.text for block in blocks)
    details: list[JSON] = []
    spoken = ""
    for block in blocks:
        if block.data is not None:
            details.append(_detail("reasoning.encrypted", block, data=block.data))
        elif block.signature is not None:
            details.append(
                _detail("reasoning.text", block, text=block.text or spoken, signature=block.signature)
            )
            spoken = ""
        spoken = block.text or spoken
    thoughts: JSON = {"reasoning_content": text} if text else {}
    return thoughts | ({"reasoning_details": details} if details else {})


def _detail(kind: str, block: ReasoningBlock, **fields: str) -> JSON:
    return {"type": kind, **fields} | ({} if block.id is None else {"id": block.id})


def cohere(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the message of Cohere's chat, version 2."""
    message: JSON = {"role": "assistant"}
    calls = [_chat_call(piece) for piece in pieces if isinstance(piece, Call)]
    blocks = [piece for piece in pieces if isinstance(piece, ReasoningBlock) and calls]
    plan = "".join(block.text for block in blocks if block.name == "tool_plan")
    thoughts = [block.text for block in blocks if block.name != "tool_plan" and block.text]
    text = _text(pieces)
    if plan:
        message["tool_plan"] = plan
    if thoughts:
        spoken = [] if text is None else [{"type": "text", "text": text}]
        message["content"] = [*({"type": "thinking", "thinking": thought} for thought in thoughts), *spoken]
    elif text is not None:
        message["content"] = text
    if calls:
        message["tool_calls"] = calls
    return [message]


def ollama(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the message of Ollama's own chat."""
    message: JSON = {"role": "assistant", "content": _text(pieces) or ""}
    calls = [piece for piece in pieces if isinstance(piece, Call)]
    thoughts = "".join(piece.text for piece in pieces if isinstance(piece, ReasoningBlock))
    if calls and thoughts:
        message["thinking"] = thoughts
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in calls
        ]
    return [message]
