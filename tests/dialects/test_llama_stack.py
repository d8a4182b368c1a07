"""llama-stack's own inference API: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    Delta,
    Slot,
    TurnOpened,
)
from wholecall.dialects.others import llama_stack
from wholecall.dialects.others.llama_stack import LlamaStackTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened(None, restart=True)
EMPTY = {"type": "text", "text": ""}


def translate(*payloads: Any, event: str = "message") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = LlamaStackTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def event(kind: str = "progress", delta: Any = EMPTY, reason: Any = None) -> dict[str, Any]:
    """Return one event, with the nulls that a server writes out."""
    inner = {"event_type": kind, "delta": delta, "logprobs": None, "stop_reason": reason}
    return {"event": inner, "metrics": None}


def told(status: str, call: Any) -> dict[str, Any]:
    """Return an event's update of a call."""
    return event(delta={"type": "tool_call", "parse_status": status, "tool_call": call})


def call(arguments: Any, id: Any = "c", **more: Any) -> dict[str, Any]:
    """Return a call that was read."""
    return {"call_id": id, "tool_name": "f", "arguments": arguments, **more}


# Calls


def test_what_is_written_is_kept_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound nothing is added: the text is too large for a drop anyway."""
    monkeypatch.setattr(llama_stack, "_KEPT", 2)

    assert [OPENED, Slot(0, 1, None, "1234")] == translate(
        told("in_progress", "12"), told("in_progress", "34"), told("in_progress", "56")
    )


# Answers


# Frames
