"""OpenTelemetry's record of a conversation: messages of typed parts, as in `gen_ai.input.messages` and its sisters.

    {role: "assistant", finish_reason, parts: [
        {type: "text", content} {type: "reasoning", content}
        {type: "tool_call", id, name, arguments: ANY}
        {type: "server_tool_call", id, name, server_tool_call: {type, ...}}
        {type: "server_tool_call_response", id, server_tool_call_response}]}
    {role: "tool", parts: [{type: "tool_call_response", id, response}]}

Arguments are as the instrumentation recorded them: often an object, often the model's text; the text of a dropped call
remains a text. A record is never executed, answered or sent again; it contains the reasoning of every provider and the
calls that a provider executed. Gemini's contents and the messages of the Vercel AI SDK have `parts`, too, but of other
types.

Source: the JSON schemas of `gen_ai.input.messages` and `gen_ai.output.messages` in OpenTelemetry's semantic conventions
for generative AI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.calls.output.turns import Turn
from wholecall.history.content import Call, Piece
from wholecall.history.parts import Line, Message, Part, Places, at, call_at, first_id, first_text
from wholecall.history.shapes.base import View, expect_dict, is_made
from wholecall.history.shapes.blocks import read_stop, read_text

_IDS = (("id",),)
_CALL = Places(_IDS, (("name",),), (("arguments",),))
_SERVED = Places(_IDS, (("name",), ("server_tool_call", "type")), (("server_tool_call", "arguments"),))
_OWN_TYPES = frozenset({"tool_call", "tool_call_response", "server_tool_call", "server_tool_call_response"})
_WITH_CONTENT = frozenset({"text", "reasoning"})


def _parts(message: Message) -> list[Any]:
    parts = message.get("parts")
    return parts if isinstance(parts, list) else []


def _read(message: Message) -> Line:
    role = message.get("role")
    if not isinstance(role, str) or not isinstance(message.get("parts"), list):
        return Line("other", [])
    is_model = role == "assistant"
    parts = [_part(expect_dict(value, "a part"), is_model=is_model) for value in _parts(message)]
    if is_model:
        return Line("model", parts, read_stop(message))
    return Line("result" if parts and all(part.kind == "result" for part in parts) else "user", parts)


def _part(part: Message, *, is_model: bool) -> Part:
    kind = part.get("type")
    if kind == "text":
        return read_text(part, part.get("content"), "parts")
    if kind == "tool_call_response":
        real = not is_made(at(part, (("response",), ("result",))))
        return Part("result", part, "parts", places=_CALL, id=first_id(part, _IDS), real=real)
    if not is_model:
        return Part("other", part, "parts")
    if kind == "tool_call":
        is_text = isinstance(at(part, _CALL.arguments), str)
        return call_at(part, "parts", _CALL, form="string" if is_text else "object")
    if kind == "server_tool_call":
        id, name = first_id(part, _SERVED.id), first_text(part, _SERVED.name)
        return Part(
            "server_call",
            part,
            "parts",
            places=_SERVED,
            id=id,
            name=name,
            arguments=at(part, _SERVED.arguments),
        )
    if kind == "server_tool_call_response":
        return Part("server_result", part, "parts", id=first_id(part, _IDS))
    return Part("thinking" if kind == "reasoning" else "other", part, "parts")


def _is_own(message: Message) -> bool:
    return isinstance(message.get("role"), str) and any(map(_is_own_part, _parts(message)))


def _is_own_part(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and (kind in _OWN_TYPES or (kind in _WITH_CONTENT and "content" in part))


OTEL = View(name="otel", read=_read, is_own=_is_own)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the output message; its finish reason comes from the turn."""
    parts: list[Message] = []
    for piece in pieces:
        if isinstance(piece, Call):
            parts.append(_sent(piece))
        else:
            kind, text = ("text", piece) if isinstance(piece, str) else ("reasoning", piece.text)
            parts += [{"type": kind, "content": text}] if text.strip() else []
    return [{"role": "assistant", "parts": parts}]


def _sent(call: Call) -> Message:
    head = {"id": call.id, "name": call.name}
    if call.kind == "server":
        executed = {"type": call.name, "arguments": call.arguments}
        return {"type": "server_tool_call", **head, "server_tool_call": executed}
    return {"type": "tool_call", **head, "arguments": call.arguments}


def finish_reason(turn: Turn[Any]) -> Message:
    """Return why the turn ended, nothing while it continues: older schemas require it, newer schemas allow it."""
    if turn.reason is None:
        return {}
    return {"finish_reason": "tool_call" if turn.reason == "tool_calls" else turn.reason}
