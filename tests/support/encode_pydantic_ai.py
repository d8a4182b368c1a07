"""Render abstract turns as servers send the events of Pydantic AI's runs, each dumped as JSON.

Written from the types of `AgentStreamEvent`; knows nothing of wholecall.
"""

from __future__ import annotations

from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, sse


def _part(call: Call, args: str) -> JSON:
    return {"tool_name": call.name, "args": args, "tool_call_id": call.id, "part_kind": "tool-call"}


def _event(kind: str, **members: Any) -> JSON:
    return {**members, "event_kind": kind}


def said(turn: Turn, pieces: Pieces) -> list[JSON]:
    """Return the events of one response of the model, with its parts in pieces and whole."""
    events: list[JSON] = []
    parts = [(kind, text) for kind, text in (("thinking", turn.reasoning), ("text", turn.text)) if text]
    for index, (kind, text) in enumerate(parts):
        first, *others = pieces(text)
        events.append(_event("part_start", index=index, part={"content": first, "part_kind": kind}))
        for piece in others:
            delta = {"content_delta": piece, "part_delta_kind": kind}
            events.append(_event("part_delta", index=index, delta=delta))
        follows = "tool-call" if turn.calls else None
        whole = {"content": text, "part_kind": kind}
        events.append(_event("part_end", index=index, part=whole, next_part_kind=follows))
    for index, call in enumerate(turn.calls, len(parts)):
        first, *others = pieces(call.arguments) or [""]
        events.append(_event("part_start", index=index, part=_part(call, first)))
        for piece in others:
            delta = {"args_delta": piece, "tool_call_id": call.id, "part_delta_kind": "tool_call"}
            events.append(_event("part_delta", index=index, delta=delta))
        events.append(_event("part_end", index=index, part=_part(call, call.arguments), next_part_kind=None))
    return events


def _result(turn: Turn, output: Any) -> JSON:
    usage = {"input_tokens": 64, "output_tokens": turn.tokens, "requests": 1}
    return _event("agent_run_result", result={"usage": usage, "output": output})


def render(turn: Turn, pieces: Pieces) -> bytes:
    """Return a run that executes its calls; one that ran out of tokens fails, and has no result."""
    events = said(turn, pieces)
    if turn.stopped:
        return b"".join(map(sse, [*events, {"error": "the response ended in the middle of a call"}]))
    for call in turn.calls:
        events.append(_event("function_tool_call", part=_part(call, call.arguments), args_valid=True))
    for call in turn.calls:
        given = {"tool_name": call.name, "content": "3.2", "tool_call_id": call.id}
        part = {**given, "outcome": "success", "part_kind": "tool-return"}
        events.append(_event("function_tool_result", part=part, content=None))
    return b"".join(map(sse, [*events, _result(turn, turn.text)]))


def render_deferring(turn: Turn, pieces: Pieces) -> bytes:
    """Return a run whose tools are external: it leaves its calls to the client."""
    events = said(turn, pieces)
    if turn.stopped:
        return b"".join(map(sse, [*events, {"error": "the response ended in the middle of a call"}]))
    calls = [_part(call, call.arguments) for call in turn.calls]
    events += [_event("function_tool_call", part=part, args_valid=True) for part in calls]
    requests = {"calls": calls, "approvals": [], "metadata": {}}
    events += [_event("deferred_tool_requests", requests=requests)] if calls else []
    return b"".join(map(sse, [*events, _result(turn, requests if calls else turn.text)]))
