"""Gemini: contents of parts; ids are optional, and without them calls and results pair by name and order.

    {role: "model", parts: [{text, thought?, thoughtSignature?}
                            {functionCall: {id?, name, args: OBJECT}, thoughtSignature?}
                            {executableCode}, {codeExecutionResult}, and others]}
    {role: "user", parts: [{functionResponse: {id?, name, response: OBJECT}}]}

Both spellings are read (`functionCall`, `function_call`). A part with a thought signature is kept, regardless of its
text, and a signature is sent on its original part. Calls have an id only if the wire had one: Vertex refuses the member.

Source: the request of `generateContent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.calls.output.results import Answer, tool_result
from wholecall.calls.output.turns import OtherBlock, ReasoningBlock
from wholecall.history.content import Call, Piece
from wholecall.history.parts import ABSENT, Line, Message, Part, Places, at, call_at, first_id, first_text
from wholecall.history.shapes.base import MISSING_RESULT, Shape, expect_dict, is_made
from wholecall.history.shapes.blocks import read_stop, read_text
from wholecall.history.values import copied

_CALLS = ("functionCall", "function_call")
_RESULTS = ("functionResponse", "function_response")
_SIGNATURES = ("thoughtSignature", "thought_signature")
_STREAMING = ("partialArgs", "partial_args", "willContinue", "will_continue")
_PLACES = {key: Places(((key, "id"),), ((key, "name"),), ((key, "args"),)) for key in (*_CALLS, *_RESULTS)}


def _read(content: Message) -> Line:
    parts = content.get("parts")
    if not isinstance(parts, (list, tuple)):
        return Line("other", [])
    read = [_part(part, content.get("role") == "model") for part in parts]
    if content.get("role") == "model":
        return Line("model", read, read_stop(content))
    results = bool(read) and all(part.kind == "result" for part in read)
    return Line("result" if results else "user", read)


def _part(value: Any, model: bool) -> Part:
    if isinstance(value, str):
        return read_text(value, value, "parts")
    part = expect_dict(value, "a part")
    for key in _CALLS:
        if model and isinstance(part.get(key), dict):
            return _call(part, key)
    for key in _RESULTS:
        if isinstance(part.get(key), dict):
            return _result(part, key)
    if part.get("thought") is True:
        return Part("thinking", part, "parts")
    if isinstance(part.get("text"), str) and not any(part.get(name) for name in _SIGNATURES):
        return read_text(part, part["text"], "parts")
    return Part("other", part, "parts")


def _call(part: Message, key: str) -> Part:
    places = _PLACES[key]
    arguments = at(part, places.arguments)
    return call_at(
        part,
        "parts",
        places,
        arguments={} if arguments is ABSENT or arguments is None else arguments,  # no member: no arguments
        scratch=tuple((key, name) for name in _STREAMING if part[key].get(name)),
        anonymous=True,
    )


def _result(part: Message, key: str) -> Part:
    places = _PLACES[key]
    made = is_made(part[key].get("response"))
    found = Part("result", part, "parts", places=places, real=not made, anonymous=True)
    found.id, found.name = first_id(part, places.id), first_text(part, places.name)
    return found


def _missing(call: Part, _block: Message) -> Message:
    key = _RESULTS[_CALLS.index(call.places.arguments[0][0])]
    (response,) = tool_result(
        "gemini", Answer(call.id or None, call.name, MISSING_RESULT, failed=True)
    ).values()
    return {key: response}


def _carrier(results: list[Any], _near: Message) -> Message:
    return {"role": "user", "parts": results}


def _joins(line: Line, after: Line) -> bool:
    """Return whether two contents must be joined: the responses to a batch are counted against a single content."""
    return line.side == after.side == "model" and any(
        part.kind == "call" and part.here for part in line.parts
    )


def _is_own(message: Message) -> bool:
    """Return whether a message is a content; messages of other shapes have `parts`, too, but with a type for each."""
    parts = message.get("parts")
    return isinstance(parts, list) and "content" not in message and not any(map(_is_typed, parts))


def _is_typed(part: Any) -> bool:
    return isinstance(part, dict) and ("type" in part or "part_kind" in part)


GEMINI = Shape(
    name="gemini",
    read=_read,
    result=_missing,
    carrier=_carrier,
    is_own=_is_own,
    holder="parts",
    gathers=True,
    merges=True,
    joins=_joins,
)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the content of Gemini."""
    parts: list[Message] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            _add_thought(parts, piece)
        elif isinstance(piece, OtherBlock):
            parts.append(copied(piece.value))
        elif isinstance(piece, Call):
            labels = {} if piece.has_made_id else {"id": piece.id}
            call = {**labels, "name": piece.name, "args": piece.arguments}
            parts.append({**piece.extra, "functionCall": call})
        elif piece:
            parts.append({"text": piece})
    return [{"role": "model", "parts": [part for part in parts if _says_something(part)]}]


def _add_thought(parts: list[Message], block: ReasoningBlock) -> None:
    signed = {} if block.signature is None else {"thoughtSignature": block.signature}
    if block.name is None:
        parts.append({"text": block.text, "thought": True} | signed)
    elif parts and parts[-1].keys() == {"text"}:  # the signature of visible text
        parts[-1] |= signed
    else:
        parts.append({"text": ""} | signed)


def _says_something(part: Message) -> bool:
    return "text" not in part or bool(part["text"].strip()) or "thoughtSignature" in part
