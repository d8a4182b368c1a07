"""Gemini Live: message in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from tests.support.turns import parse
from wholecall.calls.output.call_events import ToolCall, ToolCallCancelled, ToolCallDropped
from wholecall.calls.output.events import TurnFinished

COMPLETE = {"serverContent": {"turnComplete": True}}


def called(*calls: dict[str, Any]) -> dict[str, Any]:
    """Build a message with calls."""
    return {"toolCall": {"functionCalls": list(calls)}}


# Calls.


# Turns.


# Messages.


# The emitted calls.


def test_a_session_comes_out() -> None:
    """A call is emitted with its message, before the turn is over, and may be taken back in the next one."""
    call = json.dumps(called({"id": "a", "name": "f", "args": {}}))
    lines = [call, json.dumps(COMPLETE), json.dumps({"toolCallCancellation": {"ids": ["a"]}})]
    (early,) = [e for e in parse([f"{call}\n".encode()], "auto") if isinstance(e, ToolCall)]
    events = parse(["\n".join(lines).encode()], "auto")

    assert early in events
    assert [ToolCallCancelled(0, 0, "a")] == [e for e in events if isinstance(e, ToolCallCancelled)]
    assert TurnFinished(0, 0, "tool_calls", "turnComplete", 1) == events[-1]
    assert [] == [e for e in events if isinstance(e, ToolCallDropped)]
