"""Gemini Interactions: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from wholecall.deltas import (
    DONE,
    HYDRATION,
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    TurnEnded,
    TurnOpened,
)
from wholecall.dialects.google.gemini_interactions import GeminiInteractionsTranslator
from wholecall.framing.frame import Frame

CREATED = {
    "event_type": "interaction.created",
    "interaction": {"id": "v1", "model": "m", "status": "in_progress"},
}


def translate(*events: dict[str, Any] | str | Frame) -> list[Delta]:
    """Translate the events of one stream, to its end."""
    translator = GeminiInteractionsTranslator()
    deltas: list[Delta] = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event) if isinstance(event, dict) else ""
        deltas += translator.translate(event if isinstance(event, Frame) else Frame("message", data))
    return deltas + translator.close()


def start(index: Any, **step: Any) -> dict[str, Any]:
    """Build the start of a step."""
    return {"event_type": "step.start", "index": index, "step": step}


def piece(index: Any, **delta: Any) -> dict[str, Any]:
    """Build a piece of a step."""
    return {"event_type": "step.delta", "index": index, "delta": delta}


def stop(index: Any) -> dict[str, Any]:
    """Build the end of a step."""
    return {"event_type": "step.stop", "index": index}


def completed(status: Any = "requires_action", **more: Any) -> dict[str, Any]:
    """Build the last event."""
    return {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": status, **more}}


def seen(index: int, id_: str | None = "a", name: str | None = "f", **more: Any) -> CallSeen:
    """Return the beginning of a call."""
    return CallSeen(0, index, None, id_, name, begins=True, **more)


def begun(index: int, arguments: str, id_: str = "a", name: str = "f", **more: Any) -> CallWhole:
    """Return the beginning of a call that has its arguments."""
    return CallWhole(0, index, None, id_, name, arguments, OBJECT, begins=True, **more)


def closed(index: int | None) -> CallClosed:
    """Return the end of a step, which is not the last word."""
    return CallClosed(0, index, None, final=False)


# Calls.


def test_the_providers_own_tools() -> None:
    """Any other step of a call is the server's; its pieces are objects; without a name it has that of its type.

    A piece without a name says nothing of it: its step has given the name.
    """
    given = {"code": "1"}
    code = start(0, type="code_execution_call", id="c")
    whole = piece(0, type="code_execution_call", arguments=given, signature="s")
    mcp = start(1, type="mcp_server_tool_call", id="m", name="t", server_name="h", arguments={"x": 1})

    assert [
        seen(0, "c", "code_execution", kind="server"),
        CallSeen(0, 0, None, None, None, "server", extra={"signature": "s"}),
        CallWhole(0, 0, None, None, None, '{"code": "1"}', DONE, "server"),
        closed(0),
        begun(1, '{"x": 1}', "m", "t", kind="server", extra={"server_name": "h"}),
        CallWhole(0, 1, None, None, None, '{"y": 2}', DONE, "server"),
    ] == translate(code, whole, stop(0), mcp, piece(1, type="mcp_server_tool_call", arguments={"y": 2}))


# Contents, before there were steps.


def whole(index: int, arguments: str = '{"x": 1}') -> CallWhole:
    """Return the arguments of a call."""
    return CallWhole(0, index, None, None, None, arguments, DONE)


# Text and thoughts.


# Interactions.


def test_a_last_event_that_comes_twice() -> None:
    """It restates the calls once more, and begins nothing (quirk 91)."""
    step = {"type": "function_call", "id": "a", "name": "f", "arguments": {"x": 1}}
    last = completed(steps=[step])
    again = CallWhole(0, 0, None, "a", "f", '{"x": 1}', HYDRATION)
    ended = [Finish(0, "tool_calls", "requires_action"), TurnEnded("v1")]

    assert [again, *ended] == translate(CREATED, last, last)[-3:]
    assert 1 == translate(last, last).count(TurnOpened("v1", "v1", None, restart=True))


# Frames.
