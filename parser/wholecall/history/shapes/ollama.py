"""Ollama: chat whose arguments are objects, and whose results name a tool instead of a call.

    {role: "assistant", content, thinking?, tool_calls: [{id?, function: {name, arguments: OBJECT}}]}
    {role: "tool", tool_name, content}

Calls of one name are answered in their order. Reasoning is sent only with calls.

Source: the request of `POST /api/chat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wholecall.calls.output.turns import ReasoningBlock
from wholecall.history.content import Call, Piece, text_of
from wholecall.history.parts import Line, Message
from wholecall.history.shapes.base import Shape, missing
from wholecall.history.shapes.blocks import read_message


def _read(message: Message) -> Line:
    line = read_message(message)
    for part in line.parts:
        if part.kind == "call" and part.form == "string":
            part.form = "object"
        if part.kind in ("call", "result"):
            part.anonymous = True
    return line


def is_of_ollama(message: Message) -> bool:
    """Return whether a message is Ollama's: chat names the call of a result, and has text for arguments."""
    if message.get("role") == "tool":
        return "tool_name" in message and not ("tool_call_id" in message or "toolCallId" in message)
    entries = message.get("tool_calls")
    return isinstance(entries, list) and bool(entries) and all(map(_is_own_call, entries))


def _is_own_call(entry: Any) -> bool:
    """Return whether a call has an object as arguments, and not all other members of a chat call."""
    function = entry.get("function") if isinstance(entry, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), dict):
        return False
    return not ("id" in entry and "type" in entry)


OLLAMA: Final = Shape(name="ollama", read=_read, result=missing("ollama"), is_own=is_of_ollama)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the message of Ollama's own chat."""
    message: Message = {"role": "assistant", "content": text_of(pieces) or ""}
    calls = [piece for piece in pieces if isinstance(piece, Call)]
    thoughts = "".join(piece.text for piece in pieces if isinstance(piece, ReasoningBlock))
    if calls and thoughts:
        message["thinking"] = thoughts
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in calls
        ]
    return [message]
