"""Render abstract turns as the events of a GitHub Copilot session.

Written from the documentation of the Copilot SDK ("Streaming session events"); knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, json_lines, members, whole

_EPHEMERAL = (
    "_delta",
    "assistant.usage",
    "assistant.intent",
    "session.idle",
    "partial_result",
    "external_tool",
)


def event(kind: str, agent: Any = ABSENT, /, **data: Any) -> JSON:
    """Return one event, without its numbering."""
    passing = True if any(part in kind for part in _EPHEMERAL) else ABSENT
    return members(type=kind, data=members(**data), agentId=agent, ephemeral=passing)


def numbered(events: Iterable[JSON]) -> list[JSON]:
    """Return events with their ids and times, each after the last one that is kept."""
    found: list[JSON] = []
    parent = None
    for n, told in enumerate(events):
        id = f"5d0c7f1e-0000-4000-8000-{n:012x}"
        time = f"2026-07-12T12:59:{n // 1000:02}.{n % 1000:03}Z"
        found.append(told | {"id": id, "timestamp": time, "parentId": parent})
        parent = parent if told.get("ephemeral") else id
    return found


def lines(events: Iterable[JSON]) -> bytes:
    """Return events as the command line prints them."""
    return json_lines(numbered(events))


# The life of a session


def turn_start(number: int = 0, agent: Any = ABSENT, model: Any = ABSENT) -> JSON:
    """Return the beginning of a turn."""
    return event("assistant.turn_start", agent, turnId=str(number), model=model)


def turn_end(number: int = 0, agent: Any = ABSENT) -> JSON:
    """Return the end of a turn."""
    return event("assistant.turn_end", agent, turnId=str(number))


def idle(**more: Any) -> JSON:
    """Return the end of all that a prompt began."""
    return event("session.idle", **more)


def usage(tokens: int, reason: Any = ABSENT, agent: Any = ABSENT) -> JSON:
    """Return the counts of one answer of the model."""
    counts = {"inputTokens": 210, "outputTokens": tokens}
    return event("assistant.usage", agent, model="model-1", **counts, finishReason=reason)


# The model's output


def reasoned(id: str, pieces: Iterable[str], agent: Any = ABSENT) -> list[JSON]:
    """Return the pieces of a thought."""
    kind = "assistant.reasoning_delta"
    return [event(kind, agent, reasoningId=id, deltaContent=piece) for piece in pieces]


def spoken(id: str, pieces: Iterable[str], agent: Any = ABSENT) -> list[JSON]:
    """Return the pieces of a message's text."""
    return [event("assistant.message_delta", agent, messageId=id, deltaContent=piece) for piece in pieces]


def pieces_of(call: Call, pieces: Pieces = whole, agent: Any = ABSENT) -> list[JSON]:
    """Return the pieces of a call's input; each names the tool."""
    about = {
        "toolCallId": call.id,
        "toolName": call.name,
        "toolType": "custom" if call.custom else "function",
    }
    kind = "assistant.tool_call_delta"
    return [event(kind, agent, **about, inputDelta=piece) for piece in pieces(call.arguments)]


def request(call: Call, **more: Any) -> JSON:
    """Return a call as an entry of a message."""
    kind = "custom" if call.custom else "function"
    return {"toolCallId": call.id, "name": call.name, "arguments": _given(call), "type": kind} | more


def message(id: str, text: str, *calls: Call | JSON, agent: Any = ABSENT, **more: Any) -> JSON:
    """Return a message; calls may be given as entries."""
    told = [request(call) if isinstance(call, Call) else call for call in calls]
    return event("assistant.message", agent, messageId=id, content=text, toolRequests=told, **more)


def _given(call: Call) -> Any:
    return call.arguments if call.custom else json.loads(call.arguments or "{}")


# The outcome of a call


def started(call: Call, agent: Any = ABSENT, **more: Any) -> JSON:
    """Return the beginning of an execution, by whomever."""
    about = {"toolCallId": call.id, "toolName": call.name, "arguments": _given(call)}
    return event("tool.execution_start", agent, **about | more)


def requested(call: Call, request: str, agent: Any = ABSENT) -> JSON:
    """Return the request that the client execute a call."""
    about = {"toolCallId": call.id, "toolName": call.name, "arguments": _given(call)}
    return event("external_tool.requested", agent, requestId=request, sessionId="sess-7c1f", **about)


def completed(call: Call, result: str = "ok", agent: Any = ABSENT) -> JSON:
    """Return the end of an execution."""
    told = {"toolCallId": call.id, "success": True, "result": {"content": result}}
    return event("tool.execution_complete", agent, **told)


def turn(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn whose calls are all the client's."""
    events = [turn_start(0, model=turn.model), *reasoned("r-0", pieces(turn.reasoning))]
    events += spoken("m-0", pieces(turn.text))
    for call in turn.calls:
        events += pieces_of(call, pieces)
    thought = turn.reasoning or ABSENT
    events.append(message("m-0", turn.text, *turn.calls, reasoningText=thought))
    reason = turn.stopped or ("tool_calls" if turn.calls else "stop")
    events.append(usage(turn.tokens, reason))
    for n, call in enumerate(() if turn.stopped else turn.calls):
        events += [requested(call, f"req-{n}"), started(call), completed(call)]
    return [*events, turn_end(0), idle()]


def render(told: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as the lines of a session."""
    return lines(turn(told, pieces))
