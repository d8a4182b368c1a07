"""A frame in a few words: its contents without those that every frame of its stream has.

Theory of operation. The summary lists the leaves of the frame's JSON, each with its key, in order. It leaves out leaves
without information (null, empty, the first index) and the envelope that a provider repeats in each frame. A frame that
is not JSON is shown unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wholecall.dialects.decode import plain
from wholecall.timeline import Step

__all__ = ["summary"]

# Members at the top that repeat from frame to frame, or that their call shows.
_ENVELOPE = frozenset(
    {
        *("id", "object", "created", "created_at", "createTime", "model", "modelVersion", "responseId"),
        *("system_fingerprint", "service_tier", "provider", "obfuscation", "sequence_number"),
        *("event_id", "item_id", "call_id", "response_id", "output_index", "content_index"),
    }
)
_UNNAMED = ("", "message")  # frame names without meaning
# Types that are evident from the neighbouring members.
_EVIDENT_TYPES = (
    "function",
    "text_delta",
    "thinking_delta",
    "signature_delta",
    "input_json_delta",
    "tool_use",
)
_NOTHING: tuple[Any, ...] = (None, "", {}, [])
_MAX_DEPTH = 40


def summary(step: Step, room: int) -> tuple[str, str]:
    """Return the name of the step's frame (its event, or its type) and its contents.

    Args:
        step: a step of a timeline.
        room: the number of characters that matter; the result may be longer.
    """
    if step.event is None:
        return (
            "",
            "(end of the stream)" if step.end and not step.data else f"(no frame) {step.data[: room + 1]}",
        )
    value = plain(step.data)
    name = _name(step.event, value)
    parts: list[str] = []
    size = 0
    for part in _leaves(value, name):
        parts.append(part)
        size += len(part) + 1
        if size > room:
            break
    is_json = isinstance(value, (dict, list))
    return name, " ".join(parts) if is_json else step.data[: room + 1]


def _name(event: str, value: Any) -> str:
    if event not in _UNNAMED:
        return event
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _leaves(top: Any, name: str) -> Iterator[str]:
    members = top.items() if isinstance(top, dict) else [("", top)]
    for key, value in members:
        is_evident = key in _ENVELOPE or (key == "type" and value == name)
        if isinstance(value, (dict, list)) or not is_evident:
            yield from _named(key, value, _MAX_DEPTH)


def _named(key: str, value: Any, depth: int) -> Iterator[str]:
    if value in _NOTHING or (key == "index" and value == 0) or (key == "type" and value in _EVIDENT_TYPES):
        return
    if isinstance(value, (dict, list)) and depth:
        members = value.items() if isinstance(value, dict) else [(key, one) for one in value]
        for name, member in members:
            yield from _named(name, member, depth - 1)
        return
    text = json.dumps(value, ensure_ascii=False)
    yield f"{key}={text}" if key else text
