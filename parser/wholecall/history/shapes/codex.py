"""Sessions of Codex: lines whose `payload` is a Responses item, among lines that only log events.

Lines of the type `response_item` are seen by the model; `session_meta`, `turn_context`, `event_msg` and others are not
part of the conversation. Source: the rollout files that Codex writes.
"""

from __future__ import annotations

from typing import Any

from wholecall.history.parts import Line, Message, Part, rebuild
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.responses import RESPONSES, read_item, text_output

_OWN_TYPES = frozenset({"response_item", "session_meta", "event_msg", "turn_context", "compacted"})


def _read(line: Message) -> Line:
    payload = line.get("payload")
    if line.get("type") != "response_item" or not isinstance(payload, dict):
        return Line("other", [])
    return read_item(payload)


def _write(line: Message, parts: list[Part], left: list[Part]) -> Message:
    return {**line, "payload": rebuild(line["payload"], parts, left)}


def _result(call: Part, block: Message) -> Message:
    """Return an output; Codex answers its local shell in the same form as a function."""
    if block.get("type") == "local_shell_call":
        return {**text_output(call, block), "type": "function_call_output"}
    return RESPONSES.result(call, block)


def _carrier(results: list[Any], near: Message) -> Message:
    line: Message = {"timestamp": near["timestamp"]} if "timestamp" in near else {}
    return {**line, "type": "response_item", "payload": results[0]}


def _is_own(line: Message) -> bool:
    return str(line.get("type")) in _OWN_TYPES and isinstance(line.get("payload"), dict)


CODEX = Shape(
    name="codex",
    read=_read,
    write=_write,
    result=_result,
    carrier=_carrier,
    is_own=_is_own,
    merges=True,
    by_order=True,
)
