"""AG-UI: messages like those of chat, with `toolCalls` and `toolCallId`, and an id of each message.

    {id, role: "reasoning", content, encryptedValue?}
    {id, role: "assistant", content?, toolCalls: [
        {id, type: "function", function: {name, arguments: TEXT}, encryptedValue?, metadata?}]}
    {id, role: "tool", toolCallId, content, error?}

Messages of the roles `reasoning` and `activity` are for observers: they do not separate a call from its result.

Source: the schema of AG-UI 1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wholecall.calls.output.results import Answer, tool_result
from wholecall.calls.output.turns import ReasoningBlock
from wholecall.history.content import Call, Piece
from wholecall.history.parts import Line, Message, Part
from wholecall.history.shapes.base import MISSING_RESULT, Shape
from wholecall.history.shapes.blocks import read_message

_BESIDE: Final = ("reasoning", "activity")


def _read(message: Message) -> Line:
    return Line("other", []) if message.get("role") in _BESIDE else read_message(message)


def _result(call: Part, _block: Message) -> Message:
    made = tool_result("ag-ui", Answer(call.id, call.name, MISSING_RESULT, failed=True))
    return {"id": f"{call.id}/result", **made}


def _is_own(message: Message) -> bool:
    role = message.get("role")
    if role == "tool":
        return "toolCallId" in message
    return role in _BESIDE or (role == "assistant" and "toolCalls" in message)


AG_UI: Final = Shape(name="ag-ui", read=_read, result=_result, is_own=_is_own)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the message of AG-UI after those of its reasoning; its id comes from the turn."""
    blocks = [piece for piece in pieces if isinstance(piece, ReasoningBlock)]
    message: Message = {"role": "assistant"}
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    if text.strip():
        message["content"] = text
    if calls := [_call(piece) for piece in pieces if isinstance(piece, Call)]:
        message["toolCalls"] = calls
    return [*(_thought(block) for block in blocks if block.id is not None), message]


def _thought(block: ReasoningBlock) -> Message:
    sealed = {} if block.data is None else {"encryptedValue": block.data}
    return {"id": block.id, "role": "reasoning", "content": block.text} | sealed


def _call(call: Call) -> Message:
    kept = {key: call.extra[key] for key in ("encryptedValue", "metadata") if key in call.extra}
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function} | kept
