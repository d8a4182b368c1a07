"""AG-UI: messages like those of chat, with `toolCalls` and `toolCallId`, and an id of each message.

    {id, role: "assistant", content?, toolCalls: [{id, type: "function", function: {name, arguments: TEXT}}]}
    {id, role: "tool", toolCallId, content, error?}

Messages of the roles `reasoning` and `activity` are for observers: they do not separate a call from its
result.

Source: the schema of AG-UI 1.0.
"""

from __future__ import annotations

from typing import Any, Final

from wholecall.history.markers import MISSING_RESULT
from wholecall.history.parts import Line, Message, Part
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.blocks import read_message
from wholecall.output.results import Answer, tool_result

__all__ = ["AG_UI"]

_BESIDE: Final = ("reasoning", "activity")


def _read(message: Message) -> Line:
    return Line("other", []) if message.get("role") in _BESIDE else read_message(message)


def _result(call: Part, _block: Message) -> Message:
    made = tool_result("ag-ui", Answer(call.id, call.name, MISSING_RESULT, failed=True))
    return {"id": f"{call.id}/result", **made}


def _carrier(results: list[Any], _near: Message) -> Message:
    message: Message = results[0]
    return message


def _is_own(message: Message) -> bool:
    role = message.get("role")
    if role == "tool":
        return "toolCallId" in message
    return role in _BESIDE or (role == "assistant" and "toolCalls" in message)


AG_UI: Final = Shape(name="ag-ui", read=_read, result=_result, carrier=_carrier, is_own=_is_own)
