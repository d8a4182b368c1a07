"""The steps of a Gemini interaction: which of them are calls, who executes them, and the deltas of the others.

Before there were steps, an interaction had contents, which are reported here as well.
"""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.deltas import HYDRATION, CallWhole, Delta, Index
from wholecall.dialects import report
from wholecall.dialects.decode import NO_TEXT, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.types import Kind

__all__ = ["Event", "Interaction", "Step", "extra_of", "kind_of", "name_of", "piece", "restated", "said"]

_CALL = "function_call"
_QUIET = frozenset({"image", "audio", "video", "document", "text_annotation", "text_annotation_delta"})


class Step(msgspec.Struct, gc=False):
    """A step as it starts, whole, or a piece of one."""

    type: Any = None
    id: Any = None
    name: Any = None
    arguments: msgspec.Raw = NO_TEXT
    signature: Any = None
    server_name: Any = None
    text: Any = None
    content: Any = None
    summary: Any = None
    call_id: Any = None


class Interaction(msgspec.Struct, gc=False):
    """An interaction as it begins, as it ends, or whole; `outputs` was the name of its contents."""

    id: Any = None
    model: Any = None
    status: Any = None
    steps: list[Step] | None = None
    outputs: list[Step] | None = None
    usage: Any = None


class Event(Interaction, gc=False):
    """An event, or a whole body."""

    event_type: Any = None
    type: Any = None
    index: Any = None
    step: Step | None = None
    content: Step | None = None
    delta: Step | None = None
    interaction: Interaction | None = None
    error: Any = None


def kind_of(step: Step) -> Kind | None:
    """Return who executes the call that a step or a delta is about, None if it is not about a call."""
    if step.type == _CALL:
        return "function"
    return "server" if isinstance(step.type, str) and step.type.endswith("_call") else None


def name_of(step: Step) -> str | None:
    """Return the name of a call: the provider's own tools have that of their type."""
    return name_label(step.name) or (step.type.removesuffix("_call") if step.type != _CALL else None)


def extra_of(step: Step) -> dict[str, Any] | None:
    """Return the values that must be sent back with the call."""
    return report.extra(signature=step.signature, server_name=step.server_name)


def restated(position: int, step: Step) -> Delta:
    """Return the deltas of the finished interaction about a call."""
    id_, text, kind = id_label(step.id), wire_text(step.arguments), kind_of(step) or "function"
    return CallWhole(0, position, None, id_, name_of(step), text, HYDRATION, kind, extra=extra_of(step))


def said(index: Index | None, step: Step) -> list[Delta]:
    """Return the deltas of a step that is not a call: a thought, visible text, or none if it does not concern calls."""
    text = _text(step.content)
    if step.type == "thought":
        return report.thought(_text(step.summary) or text, index, signature=step.signature)
    if step.type in ("model_output", "text"):
        return report.text(text or step.text)
    if _is_quiet(step):
        return report.answered(step.call_id)  # the result of a call
    return [] if step.type == "user_input" else report.unknown()


def piece(index: Index | None, delta: Step) -> list[Delta]:
    """Return the deltas of a piece of a step, without arguments."""
    if delta.type == "text":
        return report.text(delta.text)
    if delta.type in ("thought_summary", "thought_signature"):
        return report.thought(_text(delta.content) or delta.text, index, signature=delta.signature)
    return [] if _is_quiet(delta) else report.unknown()


def _is_quiet(step: Step) -> bool:
    """Return whether a step or a piece is of a kind without calls: media, or the result of a tool."""
    type_ = text_label(step.type) or ""
    return type_ in _QUIET or type_.endswith("_result")


def _text(content: Any) -> str | None:
    """Return the text of a content: a string, a part or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    texts = [text_label(part.get("text") if isinstance(part, dict) else part) for part in parts]
    return "".join(text for text in texts if text) or None
