"""Anthropic Messages: calls are blocks, and all results of a turn come first in the next user message.

    {role: "assistant", content: [{type: "thinking", thinking, signature}
                                  {type: "redacted_thinking", data}
                                  {type: "text", text, citations?}
                                  {type: "tool_use", id, name, input: OBJECT}
                                  {type: "server_tool_use", id, name, input: OBJECT}
                                  {type: "web_search_tool_result", tool_use_id, …}, and others]}
    {role: "user", content: [{type: "tool_result", tool_use_id, content, is_error?} {type: "text", text}]}

Consecutive messages of the same role are one turn. Thinking without a signature is refused and therefore left out; so
is blank text.

Source: the request of `POST /v1/messages`.
"""

from __future__ import annotations

from collections.abc import Sequence

from wholecall.calls.output.turns import OtherBlock, ReasoningBlock
from wholecall.history.content import Call, Piece
from wholecall.history.parts import Message
from wholecall.history.shapes.base import Shape, held_by_user, missing
from wholecall.history.shapes.blocks import block_types, read_message
from wholecall.history.values import copied

_OWN_BLOCKS = frozenset({"tool_use", "tool_result", "redacted_thinking", "server_tool_use", "mcp_tool_use"})
_USUAL_BLOCKS = frozenset({"thinking", "document", "search_result"})


def _is_own(message: Message) -> bool:
    return bool(block_types(message) & _OWN_BLOCKS)


def _is_like(message: Message) -> bool:
    return "stop_reason" in message or bool(block_types(message) & _USUAL_BLOCKS)


ANTHROPIC = Shape(
    name="anthropic",
    read=read_message,
    result=missing("anthropic"),
    carrier=held_by_user,
    is_own=_is_own,
    is_like=_is_like,
    holder="content",
    gathers=True,
    merges=True,
)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the message of Anthropic."""
    blocks: list[Message] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            blocks += encode_thought(piece)
        elif isinstance(piece, OtherBlock):
            blocks += _block(piece)
        elif isinstance(piece, Call):
            blocks.append(_tool_use(piece))
        elif piece.strip():
            blocks.append({"type": "text", "text": piece})
    return [{"role": "assistant", "content": blocks}]


def encode_thought(block: ReasoningBlock) -> list[Message]:
    """Return the block of signed or encrypted reasoning, none for any other, which is refused."""
    if block.data is not None:
        return [{"type": "redacted_thinking", "data": block.data}]
    if block.signature is None:
        return []
    return [{"type": "thinking", "thinking": block.text, "signature": block.signature}]


def _block(block: OtherBlock) -> list[Message]:
    value: Message = copied(block.value)
    if block.type != "text":
        return [value]
    return [{"type": "text", "text": block.text, **value}] if block.text.strip() else []


def _tool_use(call: Call) -> Message:
    kind = "tool_use"
    if call.kind == "server":
        kind = "mcp_tool_use" if "server_name" in call.extra else "server_tool_use"
    use = {**call.extra, "type": kind, "id": call.id, "name": call.name, "input": call.arguments}
    return use | ({} if call.namespace is None else {"toolset_name": call.namespace})
