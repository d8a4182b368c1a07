"""Copilot's session events: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from tests.support.turns import parse, violations
from wholecall.calls.output.call_events import ServerToolCall, ToolCall, ToolCallDropped
from wholecall.calls.output.events import StreamFault, TurnFinished
from wholecall.deltas import (
    DONE,
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallWhole,
    Delta,
)
from wholecall.dialects.agents.copilot import CopilotTranslator
from wholecall.framing.frame import Frame

A, B = '{"a": 1}', '{"b": 2}'
REQUEST = {"requestId": "r", "sessionId": "s"}


def translate(*events: dict[str, Any] | str, ends: bool = False) -> list[Delta]:
    """Translate the events of one session; with its end, where that is asked for."""
    translator = CopilotTranslator()
    deltas: list[Delta] = []
    for told in events:
        data = told if isinstance(told, str) else json.dumps(told)
        deltas += translator.translate(Frame("", data))
    return deltas + translator.close() if ends else deltas


def event(kind: object, agent: object = None, /, **data: Any) -> dict[str, Any]:
    """Build an event."""
    return {"type": kind, "data": data, "id": "e", "parentId": None} | ({"agentId": agent} if agent else {})


def piece(text: object, id: object = "c", **more: Any) -> dict[str, Any]:
    """Build a piece of a call; the first ones name the tool, as the wire's do."""
    return event("assistant.tool_call_delta", **({"toolCallId": id, "toolName": "f"} | more), inputDelta=text)


def call(id: object = "c", arguments: object = None, **more: Any) -> dict[str, Any]:
    """Build a call as a message gives it."""
    return {"toolCallId": id, "name": "f", "arguments": arguments or {"a": 1}, **more}


def message(*calls: dict[str, Any], agent: object = None, **more: Any) -> dict[str, Any]:
    """Build a message."""
    return event("assistant.message", agent, **({"messageId": "m", "content": ""} | more), toolRequests=calls)


def started(id: object = "c", arguments: object = None, agent: object = None) -> dict[str, Any]:
    """Build the beginning of an execution."""
    about = {"toolCallId": id, "toolName": "f", "arguments": arguments or {"a": 1}}
    return event("tool.execution_start", agent, **about)


def completed(id: object = "c") -> dict[str, Any]:
    """Build the end of an execution."""
    return event("tool.execution_complete", toolCallId=id, success=True, result={"content": "x"})


def requested(id: object = "c", arguments: object = None, agent: object = None) -> dict[str, Any]:
    """Build the request that the client execute a call."""
    about = {"toolCallId": id, "toolName": "f", "arguments": arguments or {"a": 1}}
    return event("external_tool.requested", agent, **REQUEST, **about)


def asked(id: object = "c") -> dict[str, Any]:
    """Build the request for a permission."""
    return event("permission.requested", requestId="p", permissionRequest={"kind": "shell", "toolCallId": id})


def answered(kind: str, **more: Any) -> dict[str, Any]:
    """Build the answer to it."""
    return event("permission.completed", requestId="p", result={"kind": kind}, **more)


def begins(number: int = 0, agent: object = None, **more: Any) -> dict[str, Any]:
    """Build the beginning of a turn."""
    return event("assistant.turn_start", agent, turnId=str(number), **more)


def ends(number: int = 0, agent: object = None) -> dict[str, Any]:
    """Build the end of a turn."""
    return event("assistant.turn_end", agent, turnId=str(number))


def whole(text: str = A, slot: int = 0, rank: int = DONE, **more: Any) -> CallWhole:
    """Return all of a call."""
    return CallWhole(0, slot, None, more.pop("id", "c"), more.pop("name", "f"), text, rank, **more)


def refused(slot: int, reason: Any, detail: str) -> CallRefused:
    """Return the end of a call that no one may execute."""
    return CallRefused(0, slot, None, reason, detail)


# Output of the model.


# Who executes.


def test_free_text_of_the_agents_own() -> None:
    """Its input is reported in an object; where nothing gives all of it, the call is dropped."""
    custom = call(arguments="x", type="custom")
    given = whole('{"input":"x"}', rank=ITEM_DONE + 1, id=None, name=None, kind="server")
    lost = refused(0, "incomplete_input", "nothing tells all of the input")

    assert [given, CallClosed(0, 0, None)] == translate(message(custom), completed())[2:]
    assert [lost] == translate(piece("x", toolType="custom"), completed())[3:]
    untold = started() | {"data": {"toolCallId": "c", "toolName": "f"}}
    assert given == translate(message(custom), untold, completed())[3]
    empty = whole('{"input":""}', rank=ITEM_DONE + 1, id=None, name=None, kind="server")
    assert empty == translate(message({"toolCallId": "c", "name": "f", "type": "custom"}), completed())[2]


# Turns.


# Text and reasoning.


# Everything else.


# The emitted calls.


def lines(*events: dict[str, Any]) -> bytes:
    """Write events as lines."""
    return b"".join(json.dumps(told).encode() + b"\n" for told in events)


def test_a_bare_extract() -> None:
    """Pieces and the message alone give the call, as the agent's own: the client was not asked."""
    data = lines(piece('{"a":'), piece(" 1}", toolName=None), message(call()))
    (found,) = [told for told in parse([data], "auto") if isinstance(told, (ToolCall, ServerToolCall))]

    assert ServerToolCall(0, 0, 0, "c", "f", {"a": 1}, A) == found


def test_no_prefix_gives_a_call_before_its_request() -> None:
    """Law 7: nothing is to be executed that the client was not asked for, wherever the stream ends."""
    events = [begins(), piece(A), message(call()), asked(), answered("approved"), started()]
    for n in range(len(events) + 1):
        found = parse([lines(*events[:n])], "copilot")
        assert [] == violations(found)
        assert not any(isinstance(told, ToolCall) for told in found)
    found = parse([lines(*events, requested(), completed(), ends())], "copilot")
    assert ["c"] == [told.id for told in found if isinstance(told, ToolCall)]


def test_no_call_comes_out_twice() -> None:
    """Whatever order the events about one call come in, it ends once."""
    about = [piece(A), message(call()), started(), requested(), completed()]
    for first in range(len(about)):
        turned = about[first:] + about[:first]
        found = parse([lines(begins(), *turned, ends(), event("session.idle"))], "copilot")
        ended = [told for told in found if isinstance(told, (ToolCall, ServerToolCall, ToolCallDropped))]
        assert 1 == len(ended), first
        assert [] == violations(found)


def test_a_hole_is_healed() -> None:
    """An unreadable line is a fault; the message gives its possible content."""
    data = lines(begins(), piece('{"a"')) + b'{"type":"assistant.tool_call_delta","data":{"***\n'
    found = parse([data + lines(message(call()), requested(), ends())], "copilot")

    assert [{"a": 1}] == [told.arguments for told in found if isinstance(told, ToolCall)]
    assert [False] == [told.fatal for told in found if isinstance(told, StreamFault)]


def test_turns_end_for_their_reasons() -> None:
    """A session of three prompts: an error, an abort, and an answer."""
    found = parse(
        [
            lines(
                begins(),
                event("session.error", errorType="quota", message="no"),
                begins(),
                event("abort", reason="user"),
                begins(),
                requested(),
                ends(),
            )
        ],
        "copilot",
    )

    assert ["error", "aborted", "tool_calls"] == [
        told.reason for told in found if isinstance(told, TurnFinished)
    ]
