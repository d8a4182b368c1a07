"""Chat completions: `tool_calls` with JSON text, answered by messages of the role `tool` that directly follow.

    {role: "assistant", content, reasoning_content?, reasoning_details?, tool_calls: [
        {id, type: "function", function: {name, arguments: TEXT}}
        {id, type: "custom", custom: {name, input}}]}
    {role: "tool", tool_call_id, content}
    {role: "assistant", tool_plan?, content?, tool_calls}          of Cohere's chat, version 2

The older `function_call` has no id and is answered by a message of the role `function`, paired by name. Reasoning is
sent only with calls: providers that require it do so in the middle of a turn, and some refuse it elsewhere. A list of
calls is never empty, and `content` is null only next to calls.

Sources: the request of `POST /v1/chat/completions`; the API references of DeepSeek, OpenRouter and Cohere.
"""

from __future__ import annotations

from collections.abc import Sequence

from wholecall.calls.output.results import Answer, tool_result
from wholecall.calls.output.turns import OtherBlock, ReasoningBlock
from wholecall.history.content import Call, Piece, text_of
from wholecall.history.parts import Message, Part
from wholecall.history.shapes.base import MISSING_RESULT, Shape
from wholecall.history.shapes.blocks import block_types, read_message
from wholecall.history.shapes.ollama import is_of_ollama
from wholecall.history.values import copied

_USUAL_BLOCKS = frozenset({"image_url", "input_audio", "file", "refusal"})


def _result(call: Part, _block: Message) -> Message:
    if call.anonymous:
        return {"role": "function", "name": call.name, "content": MISSING_RESULT}
    return tool_result("chat-completions", Answer(call.id, call.name, MISSING_RESULT, failed=True))


def _is_own(message: Message) -> bool:
    if is_of_ollama(message):
        return False
    if message.get("role") in ("tool", "function", "developer"):
        return True
    called = "tool_calls" in message or isinstance(message.get("function_call"), dict)
    return called and message.get("role") == "assistant"


def _is_like(message: Message) -> bool:
    return "finish_reason" in message or bool(block_types(message) & _USUAL_BLOCKS)


CHAT = Shape(
    name="chat-completions",
    read=read_message,
    result=_result,
    is_own=_is_own,
    is_like=_is_like,
)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the message of chat completions."""
    message: Message = {"role": "assistant", "content": text_of(pieces)}
    calls = [_call(piece) for piece in pieces if isinstance(piece, Call)]
    if calls:
        message |= _thoughts([piece for piece in pieces if isinstance(piece, ReasoningBlock)])
    if details := [copied(piece.value) for piece in pieces if isinstance(piece, OtherBlock)]:
        message["reasoning_details"] = details  # unchanged: with all their members, including unsealed ones
    return [message | ({"tool_calls": calls} if calls else {})]


def _call(call: Call) -> Message:
    head = {**call.extra, "id": call.id}
    head.pop("item_id", None)  # of a Responses event inside the stream
    if call.kind == "custom":
        return {**head, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {**head, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _thoughts(blocks: Sequence[ReasoningBlock]) -> Message:
    """Return the reasoning as text, and signed or encrypted reasoning as details."""
    text = "".join(block.text for block in blocks)
    details: list[Message] = []
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
    thoughts: Message = {"reasoning_content": text} if text else {}
    return thoughts | ({"reasoning_details": details} if details else {})


def _detail(kind: str, block: ReasoningBlock, **fields: str) -> Message:
    return {"type": kind, **fields} | ({} if block.id is None else {"id": block.id})


def encode_cohere(pieces: Sequence[Piece]) -> list[Message]:
    """Return the message of Cohere's chat, version 2."""
    message: Message = {"role": "assistant"}
    calls = [_call(piece) for piece in pieces if isinstance(piece, Call)]
    blocks = [piece for piece in pieces if isinstance(piece, ReasoningBlock) and calls]
    plan = "".join(block.text for block in blocks if block.name == "tool_plan")
    thoughts = [block.text for block in blocks if block.name != "tool_plan" and block.text]
    text = text_of(pieces)
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
