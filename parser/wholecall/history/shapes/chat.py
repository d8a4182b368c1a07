"""Chat completions: `tool_calls` with JSON text, answered by messages of the role `tool` that directly follow.

Source: the request of `POST /v1/chat/completions`. The older `function_call` has no id and is answered by a
message of the role `function`, paired by name.
"""

from __future__ import annotations

from typing import Any

from wholecall.history.markers import MISSING_RESULT
from wholecall.history.parts import Message, Part
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.blocks import block_types, read_message
from wholecall.history.shapes.ollama import is_of_ollama
from wholecall.output.results import Answer, tool_result

__all__ = ["CHAT"]

_USUAL_BLOCKS = frozenset({"image_url", "input_audio", "file", "refusal"})


def _result(call: Part, _block: Message) -> Message:
    if call.anonymous:
        return {"role": "function", "name": call.name, "content": MISSING_RESULT}
    return tool_result("chat-completions", Answer(call.id, call.name, MISSING_RESULT, failed=True))


def _carrier(results: list[Any], _near: Message) -> Message:
    message: Message = results[0]
    return message


def _is_own(message: Message) -> bool:
    if is_of_ollama(message):
        return False
    if message.get("role") in ("tool", "function", "developer"):
        return True
    called = "tool_calls" in message or isinstance(message.get("function_call"), dict)
    return called and message.get("role") == "assistant"


def _is_like(message: Message) -> bool:
    return "finish_reason" in message or bool(block_types(message) & _USUAL_BLOCKS)


CHAT = Shape(
    name="chat-completions",
    read=read_message,
    result=_result,
    carrier=_carrier,
    is_own=_is_own,
    is_like=_is_like,
)
