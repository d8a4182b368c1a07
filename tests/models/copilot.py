"""Copilot's session: pieces of a call under its id, the message that lists all of them, and requests to the client."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, kinds, pieces, told_in
from tests.models.written import line_of, present

HABITS = {
    "id": {
        "own": (0, "the agent"),
        "same": (1, "quirk 64: models whose ids are the tool's, or the answer's, for all calls"),
    },
    "form": {
        "pieces": (0, "the agent"),
        "message": (0, "the agent, over models that do not stream a call"),
    },
    # The name of pieces after the first.
    "name": {"each": (0, "the agent"), "first": (0, "the agent, of models that name a call once")},
    "text": {
        "pieces": (0, "the agent"),
        "head": (0, "the agent: an empty first piece"),
        "placeholder": (1, "quirk 25: models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: models whose pieces restate"),
        "repeated": (1, "quirk 23: models that end with the whole text once more"),
    },
    # turns: the pieces of calls in turn.
    "order": {"row": (0, "the agent"), "turns": (0, "the agent, of parallel calls")},
    "asked": {
        "started": (0, "the agent: when the execution starts"),
        "before": (0, "the agent: before the execution starts"),
        "alone": (0, "the agent, of extracts without the executions"),
    },
    "speech": {"none": (0, "the agent"), "first": (0, "the agent")},
}


def _sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a session can have these habits at once."""
    if habit.form == "message" and (habit.text, habit.name, habit.order) != ("pieces", "each", "row"):
        return False
    return habit.order == "row" or (n_calls > 1 and habit.id == "own")


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """The pieces of one call."""
    name, text = call
    later = name if habit.name == "each" else None
    parts = pieces(text, where, habit.text)
    return [("piece", _label(number, habit), name if n == 0 else later, part) for n, part in enumerate(parts)]


def _label(number: int, habit: Any) -> Label:
    return Label("call", number if habit.id == "own" else ())


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    told = told_in(habit.order, rows) if habit.form == "pieces" else []
    listed = tuple((_label(n, habit), *call) for n, call in enumerate(calls))
    speech: list[Event] = [("text",)] if habit.speech == "first" else []
    starts: list[Event] = [("start", *call) for call in listed]
    asks: list[Event] = [("asked", *call) for call in listed]
    orders = {"started": [*starts, *asks], "before": [*asks, *starts], "alone": asks}
    return [*speech, *told, ("message", listed), *orders[habit.asked], ("over",)]


def _event(kind: str, **data: Any) -> bytes:
    return line_of({"type": kind, "data": data, "id": "e", "timestamp": "2026-07-12T12:59:00.000Z"})


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "text":
        return _event("assistant.message_delta", messageId="m", deltaContent="hm")
    if kind == "piece":
        call = present(toolCallId=of[0], toolName=of[1], inputDelta=of[2])
        return _event("assistant.tool_call_delta", **call, toolType="function")
    if kind == "message":
        listed = [
            {"toolCallId": id, "name": name, "arguments": json.loads(text), "type": "function"}
            for id, name, text in of[0]
        ]
        return _event("assistant.message", messageId="m", content="", toolRequests=listed)
    if kind == "over":
        return _event("assistant.turn_end", turnId="0")
    call = {"toolCallId": of[0], "toolName": of[1], "arguments": json.loads(of[2])}
    if kind == "start":
        return _event("tool.execution_start", **call)
    return _event("external_tool.requested", requestId="r", sessionId="s", **call)


MODEL = Model(
    "copilot",
    HABITS,
    _send,
    _encode,
    {
        "error": _event("session.error", errorType="quota", message="lost"),
        "abort": _event("abort", reason="user"),
        "silence": b"",
    },
    _sensible,
    _event("assistant.turn_start", turnId="0", model="m"),
    kinds=kinds(("{}", '{"x":1}', '{"x":{}}')),
)
