"""Mistral's conversations: entries, with separate entries for calls and results.

    {type: "message.input", role: "user", content}          {type: "message.output", role: "assistant", content}
    {type: "function.call", tool_call_id, name, arguments}  {type: "function.result", tool_call_id, result}

Arguments are text, or an object if an SDK has read them; either goes back unchanged. Calls that the server executes
(`tool.execution`, `agent.handoff`) need no answer.

Source: the request of `POST /v1/conversations`.
"""

from __future__ import annotations

from typing import Any, Final

from wholecall.history.markers import MISSING_RESULT, is_made
from wholecall.history.parts import RUN, Line, Message, Part, Places, at, first_id, first_text
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.blocks import read_content
from wholecall.output.results import Answer, tool_result

__all__ = ["MISTRAL"]

_CALL: Final = Places((("tool_call_id",), ("id",)), (("name",),), (("arguments",),))
_RESULT: Final = Places((("tool_call_id",),))
_SERVED: Final = ("tool.execution", "agent.handoff")
_TYPES: Final = (*_SERVED, "message.input", "message.output", "function.call", "function.result")


def _read(entry: Message) -> Line:
    kind = entry.get("type")
    if kind == "function.call":
        return Line("model", [_call(entry)], answer=RUN)
    if kind == "function.result":
        real = not is_made(entry.get("result"))
        id = first_id(entry, _RESULT.id)
        return Line("result", [Part("result", entry, places=_RESULT, id=id, real=real)])
    if kind in _SERVED:
        return Line("model", [Part("other", entry)], answer=RUN)
    if kind == "message.output" or entry.get("role") == "assistant":
        return Line("model", read_content(entry, "model"), answer=RUN)
    if kind == "message.input" or entry.get("role") == "user":
        return Line("user", read_content(entry, "user"))
    return Line("other", [])


def _call(entry: Message) -> Part:
    arguments = at(entry, _CALL.arguments)
    form: Any = "object" if isinstance(arguments, dict) else "string"
    id, name = first_id(entry, _CALL.id), first_text(entry, _CALL.name)
    return Part("call", entry, places=_CALL, id=id, name=name, arguments=arguments, form=form)


def _result(call: Part, _block: Message) -> Message:
    return tool_result("mistral-conversations", Answer(call.id, call.name, MISSING_RESULT, failed=True))


def _carrier(results: list[Any], _near: Message) -> Message:
    entry: Message = results[0]
    return entry


def _is_own(entry: Message) -> bool:
    return entry.get("type") in _TYPES


MISTRAL: Final = Shape(
    name="mistral-conversations",
    read=_read,
    result=_result,
    carrier=_carrier,
    is_own=_is_own,
    merges=True,
)
