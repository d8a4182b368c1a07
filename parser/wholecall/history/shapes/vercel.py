"""UI messages of the Vercel AI SDK: a call and its result are one part, whose state is its progress.

    {id, role: "assistant", parts: [
        {type: "text", text} {type: "reasoning", text}
        {type: "tool-NAME", toolCallId, state, input: OBJECT, output? | errorText?}
        {type: "dynamic-tool", toolName, toolCallId, state, input, output? | errorText?}]}

A call whose input was still streaming (`input-streaming`) was never complete; a call whose input is complete
(`input-available`) waits for its output, and may be executed: therefore a dropped call goes back as a failed part. Any
other state is an answer, or waits for a person.

Source: the AI SDK's `UIMessage` type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.results import Answer
from wholecall.history.content import Call, Piece
from wholecall.history.parts import Line, Message, Part, Places, call_at
from wholecall.history.shapes.base import MISSING_RESULT, Shape, expect_dict, is_made
from wholecall.history.shapes.blocks import read_text

_ROLES: Final = ("user", "assistant", "system")
_CALL: Final = Places((("toolCallId",),), (("toolName",),), (("input",),))
_OWN: Final = frozenset({"file", "step-start", "source-url", "source-document"})


def _read(message: Message) -> Line:
    parts = message.get("parts")
    if message.get("role") not in _ROLES or not isinstance(parts, (list, tuple)):
        return Line("other", [])
    is_model = message["role"] == "assistant"
    read = [_part(expect_dict(part, "a part"), is_model) for part in parts]
    return Line("model" if is_model else "user", read)


def _part(part: Message, is_model: bool) -> Part:
    kind = part.get("type")
    if kind == "text":
        return read_text(part, part.get("text"), "parts")
    if is_model and _is_call(part):
        return _call(part)
    if kind == "step-start":
        return Part("blank", part, "parts")
    return Part("thinking" if kind == "reasoning" and is_model else "other", part, "parts")


def _is_call(part: Message) -> bool:
    kind = str(part.get("type"))
    return "toolCallId" in part and (kind == "dynamic-tool" or kind.startswith("tool-"))


def _call(part: Message) -> Part:
    kind, state = str(part["type"]), part.get("state")
    name = str(part.get("toolName", "")) if kind == "dynamic-tool" else kind.removeprefix("tool-")
    call = call_at(part, "parts", _CALL, name=name, form="kept")
    if state == "input-streaming":
        call.scratch = (("state",),)
    elif state != "input-available":
        call.result = Part("result", None, name=name, anonymous=True, real=not is_made(part.get("errorText")))
    return call


def _result(_call: Part, block: Message) -> Message:
    return {**block, "state": "output-error", "errorText": MISSING_RESULT}


def _carrier(results: list[Any], _near: Message) -> Message:
    return {"role": "assistant", "parts": results}


def _is_own(message: Message) -> bool:
    parts = message.get("parts")
    listed: list[Any] = parts if isinstance(parts, list) and message.get("role") in _ROLES else []
    return any(isinstance(part, dict) and _is_own_part(part) for part in listed)


def _is_own_part(part: Message) -> bool:
    kind = part.get("type")
    if kind in ("text", "reasoning"):
        return "text" in part
    return isinstance(kind, str) and (kind in _OWN or _is_call(part))


VERCEL: Final = Shape(
    name="vercel-ui",
    read=_read,
    result=_result,
    carrier=_carrier,
    is_own=_is_own,
    holder="parts",
    within=True,
)


# --- the turn that goes back ---------------------------------------------------------------------------


def encode(pieces: Sequence[Piece]) -> list[Message]:
    """Return the UI message; its id comes from the turn."""
    parts: list[Message] = []
    for piece in pieces:
        if isinstance(piece, Call):
            parts.append(_sent(piece))
        elif isinstance(piece, str):
            parts.append({"type": "text", "text": piece})
        else:
            parts.append({"type": "reasoning", "text": piece.text})
    return [{"role": "assistant", "parts": [part for part in parts if _shows(part)]}]


def _shows(part: Message) -> bool:
    return "text" not in part or bool(part["text"].strip())


def _sent(call: Call) -> Message:
    """Return the part of a call; a dropped call fits no tool type, therefore its part is dynamic."""
    event, extra = call.event, call.extra
    dropped = isinstance(event, ToolCallDropped)
    dynamic = dropped or extra.get("dynamic") is True
    part: Message = (
        {"type": "dynamic-tool", "toolName": call.name} if dynamic else {"type": f"tool-{call.name}"}
    )
    part |= {"toolCallId": call.id, "state": "input-available", "input": call.arguments}
    if isinstance(event, ToolCallDropped):
        part |= {"state": "output-error", "errorText": event.describe()}
    kept = {name: extra[name] for name in ("title", "toolMetadata") if name in extra}
    metadata = extra.get("callProviderMetadata", extra.get("providerMetadata"))
    return part | kept | ({} if metadata is None else {"callProviderMetadata": metadata})


def with_outputs(messages: Sequence[Message], answers: Sequence[Answer]) -> list[Message]:
    """Return UI messages whose parts contain their tools' results: results are not separate messages there."""
    given = {answer.id: answer for answer in answers}
    return [
        {
            **message,
            "parts": [_with_output(part, given.get(part.get("toolCallId"))) for part in message["parts"]],
        }
        for message in messages
    ]


def _with_output(part: Message, answer: Answer | None) -> Message:
    if answer is None:
        return part
    if answer.failed:
        return {**part, "state": "output-error", "errorText": answer.text}
    return {**part, "state": "output-available", "output": answer.output}
