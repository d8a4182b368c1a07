"""Mistral's conversations: entries, with separate entries for calls and results.

    {type: "message.input", role: "user", content}          {type: "message.output", role: "assistant", content}
    {type: "function.call", tool_call_id, name, arguments}  {type: "function.result", tool_call_id, result}

Arguments are text, or an object if an SDK has read them; either goes back unchanged. Calls that the server executes
(`tool.execution`, `agent.handoff`) need no answer.

Source: the request of `POST /v1/conversations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wholecall.history import parts
from wholecall.history.content import Call, Piece
from wholecall.history.shapes.base import Shape, is_made, missing
from wholecall.history.shapes.blocks import read_content

_CALL: Final = parts.Places((("tool_call_id",), ("id",)), (("name",),), (("arguments",),))
_RESULT: Final = parts.Places((("tool_call_id",),))
_SERVED: Final = ("tool.execution", "agent.handoff")
_TYPES: Final = (*_SERVED, "message.input", "message.output", "function.call", "function.result")


def _read(entry: parts.Message) -> parts.Line:
    kind = entry.get("type")
    if kind == "function.call":
        return parts.Line("model", [_call(entry)], answer=parts.RUN)
    if kind == "function.result":
        real = not is_made(entry.get("result"))
        id = parts.first_id(entry, _RESULT.id)
        return parts.Line("result", [parts.Part("result", entry, places=_RESULT, id=id, real=real)])
    if kind in _SERVED:
        return parts.Line("model", [parts.Part("other", entry)], answer=parts.RUN)
    if kind == "message.output" or entry.get("role") == "assistant":
        return parts.Line("model", read_content(entry, "model"), answer=parts.RUN)
    if kind == "message.input" or entry.get("role") == "user":
        return parts.Line("user", read_content(entry, "user"))
    return parts.Line("other", [])


def _call(entry: parts.Message) -> parts.Part:
    is_read = isinstance(parts.at(entry, _CALL.arguments), dict)
    return parts.call_at(entry, "", _CALL, form="object" if is_read else "string")


def _is_own(entry: parts.Message) -> bool:
    return entry.get("type") in _TYPES


MISTRAL: Final = Shape(
    name="mistral-conversations",
    read=_read,
    result=missing("mistral-conversations"),
    is_own=_is_own,
    merges=True,
)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[parts.Message]:
    """Return the entries of a Mistral conversation."""
    entries: list[parts.Message] = []
    for piece in pieces:
        if isinstance(piece, Call):
            call = {"tool_call_id": piece.id, "name": piece.name, "arguments": piece.arguments}
            entries.append({**piece.extra, "type": "function.call"} | call)
        elif isinstance(piece, str) and piece.strip():
            entries.append({"type": "message.output", "role": "assistant", "content": piece})
    return entries
