"""UI messages of the Vercel AI SDK: a call and its result are one part, whose state is its progress.

    {id, role: "assistant", parts: [
        {type: "text", text} {type: "reasoning", text}
        {type: "tool-NAME", toolCallId, state, input: OBJECT, output? | errorText?}
        {type: "dynamic-tool", toolName, toolCallId, state, input, output? | errorText?}]}

A call whose input was still streaming (`input-streaming`) was never complete; a call whose input is complete
(`input-available`) waits for its output. Any other state is an answer, or waits for a person.

Source: the AI SDK's `UIMessage` type.
"""

from __future__ import annotations

from typing import Any, Final

from wholecall.history.markers import MISSING_RESULT, is_made
from wholecall.history.parts import Line, Message, Part, Places, at, first_id
from wholecall.history.shapes.base import Shape, expect_dict
from wholecall.history.shapes.blocks import read_text

__all__ = ["VERCEL"]

_ROLES: Final = ("user", "assistant", "system")
_IDS: Final = (("toolCallId",),)
_INPUT: Final = (("input",),)
_STREAMED: Final = Places(_IDS, (("toolName",),), _INPUT)
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
    call = Part("call", part, "parts", places=_STREAMED, id=first_id(part, _IDS), name=name, form="kept")
    call.arguments = at(part, _INPUT)
    if state == "input-streaming":
        call.scratch = (("state",),)
    elif state != "input-available":
        told = Part("result", None, name=name, anonymous=True, real=not is_made(part.get("errorText")))
        call.result = told
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
