"""Render abstract turns as agents without a terminal print them, one event per line.

Written from the documentation and the published types of each agent; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, json_lines, sse
from tests.support.encode_bedrock import converse_events

# Gemini CLI, whose thoughts are not printed.


def gemini(type: str, **members: Any) -> JSON:  # noqa: A002 - events are called so on the wire
    """Return an event of Gemini CLI."""
    return {"type": type, "timestamp": "2026-11-01T06:10:00.412Z", **members}


def render_gemini(turn: Turn, pieces: Pieces) -> bytes:
    """Return a run of Gemini CLI, which executes its calls."""
    said = [gemini("init", session_id=turn.id, model=turn.model)]
    said.append(gemini("message", role="user", content="Which tide?"))
    said += [gemini("message", role="assistant", content=p, delta=True) for p in pieces(turn.text)]
    for call in turn.calls:
        about = {"tool_name": call.name, "tool_id": call.id, "parameters": json.loads(call.arguments)}
        said.append(gemini("tool_use", **about))
    said += [gemini("tool_result", tool_id=call.id, status="success", output="3.2") for call in turn.calls]
    stats = {"total_tokens": 64 + turn.tokens, "input_tokens": 64, "output_tokens": turn.tokens}
    failed = {"type": "FatalTurnLimitedError", "message": "Reached max session turns."}
    end = {"status": "error", "error": failed} if turn.stopped else {"status": "success"}
    return json_lines([*said, gemini("result", **end, stats=stats)])


# Cursor's agent, which prints whole texts.


def cursor(type: str, **members: Any) -> JSON:  # noqa: A002 - events are called so on the wire
    """Return an event of Cursor's agent."""
    return {"type": type, **members, "session_id": "c6b62c6f-7ead-4fd6-9922-e952131177ff"}


def _spoken(role: str, text: str) -> JSON:
    return cursor(role, message={"role": role, "content": [{"type": "text", "text": text}]})


def render_cursor(turn: Turn, pieces: Pieces) -> bytes:
    """Return a run of Cursor's agent, which calls the tools of an MCP server."""
    start = cursor("system", subtype="init", cwd="/srv", model=turn.model, permissionMode="default")
    said = [start, _spoken("user", "Which tide?")]
    said += [cursor("thinking", subtype="delta", text=piece) for piece in pieces(turn.reasoning)]
    said += [_spoken("assistant", turn.text)] if turn.text else []
    for call in turn.calls:
        asked = {"name": f"tides-{call.name}", "args": json.loads(call.arguments), "toolName": call.name}
        for subtype, more in (("started", {}), ("completed", {"result": {"success": {"isError": False}}})):
            tool = {"mcpToolCall": {"args": asked, **more}}
            said.append(cursor("tool_call", subtype=subtype, call_id=call.id, tool_call=tool))
    failed = turn.stopped is not None
    about = {"subtype": "error" if failed else "success", "duration_ms": 5234, "is_error": failed}
    usage = {"inputTokens": 64, "outputTokens": turn.tokens, "cacheReadTokens": 0, "cacheWriteTokens": 0}
    return json_lines([*said, cursor("result", **about, result=turn.text, usage=usage)])


# opencode: the events of its server, and the lines of one run.


def _part(turn: Turn, type: str, **members: Any) -> JSON:  # noqa: A002 - parts are called so on the wire
    return {"id": f"prt_{type}", "sessionID": "ses_5c1a", "messageID": turn.id, "type": type} | members


def _tool(turn: Turn, call: Call, status: str, input: Any) -> JSON:
    state = {"status": status, "input": input}
    return _part(turn, "tool", id=f"prt_{call.id}", callID=call.id, tool=call.name, state=state)


def _step_finish(turn: Turn) -> JSON:
    reason = turn.stopped or ("tool-calls" if turn.calls else "stop")
    counts = {"input": 64, "output": turn.tokens, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    return _part(turn, "step-finish", reason=reason, cost=0, tokens=counts)


def render_opencode(turn: Turn, pieces: Pieces) -> bytes:
    """Return the events of opencode's server for one prompt, whose calls it executes."""

    def updated(part: JSON, **more: Any) -> JSON:
        return {"type": "message.part.updated", "properties": {"part": part, **more}}

    info = {"id": turn.id, "sessionID": "ses_5c1a", "role": "assistant", "modelID": turn.model}
    said: list[JSON] = [{"type": "server.connected", "properties": {}}]
    said += [{"type": "message.updated", "properties": {"info": info}}, updated(_part(turn, "step-start"))]
    for kind, text in (("reasoning", turn.reasoning), ("text", turn.text)):
        so_far = ""
        for piece in pieces(text):
            so_far += piece
            said.append(updated(_part(turn, kind, text=so_far), delta=piece))
        said += [updated(_part(turn, kind, text=text, time={"start": 1, "end": 2}))] if text else []
    for call in turn.calls:
        read = json.loads(call.arguments)
        states = (("pending", {}), ("running", read), ("completed", read))
        said += [updated(_tool(turn, call, status, given)) for status, given in states]
    said += [updated(_step_finish(turn)), {"type": "session.idle", "properties": {"sessionID": "ses_5c1a"}}]
    return b"".join(map(sse, said))


def render_opencode_newer(turn: Turn, pieces: Pieces) -> bytes:
    """Return the newer events of opencode's server, with their members in `data`."""
    said: list[JSON] = []

    def tell(kind: str, **members: Any) -> None:
        about = {"sessionID": "ses_5c1a", "assistantMessageID": turn.id}
        event = {"id": f"evt_{len(said)}", "created": 1_780_321_864_000, "type": f"session.{kind}"}
        said.append(event | {"data": about | members})

    tell("step.started", agent="build", model={"id": turn.model, "providerID": "anthropic"})
    for kind, text in (("reasoning", turn.reasoning), ("text", turn.text)):
        for piece in pieces(text):
            tell(f"{kind}.delta", ordinal=0, delta=piece)
        if text:
            tell(f"{kind}.ended", ordinal=0, text=text)
    for call in turn.calls:
        tell("tool.input.started", callID=call.id, name=call.name)
        for piece in pieces(call.arguments):
            tell("tool.input.delta", callID=call.id, delta=piece)
        tell("tool.called", callID=call.id, input=json.loads(call.arguments), executed=False)
        tell("tool.success", callID=call.id, structured={}, content=[], executed=False)
    finish = _step_finish(turn)
    tell("step.ended", finish=finish["reason"], cost=0, tokens=finish["tokens"])
    return b"".join(map(sse, said))


def render_opencode_run(turn: Turn, pieces: Pieces) -> bytes:  # noqa: ARG001 - nothing comes in pieces
    """Return the lines of one run of opencode, whose parts are whole."""
    parts = [("step_start", _part(turn, "step-start"))]
    for kind, text in (("reasoning", turn.reasoning), ("text", turn.text)):
        parts += [(kind, _part(turn, kind, text=text))] if text else []
    parts += [("tool_use", _tool(turn, call, "completed", json.loads(call.arguments))) for call in turn.calls]
    parts.append(("step_finish", _step_finish(turn)))
    about = {"timestamp": 1_780_321_864_000, "sessionID": "ses_5c1a"}
    return json_lines({"type": kind, **about, "part": part} for kind, part in parts)


# Strands, through AgentCore Runtime: the events of its model, and its own.


def render_strands_events(turn: Turn, pieces: Pieces) -> bytes:
    """Return the events of a model that a service lets through."""
    return b"".join(sse({"event": {name: payload}}) for name, payload in converse_events(turn, pieces))


def render_strands(turn: Turn, pieces: Pieces) -> bytes:
    """Return the events of an agent, which executes its calls."""
    start = b"".join(sse({name: True}) for name in ("init_event_loop", "start", "start_event_loop"))
    said: list[JSON] = [{"text": turn.text}] if turn.text else []
    said += [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": json.loads(call.arguments)}}
        for call in turn.calls
    ]
    whole = sse({"message": {"role": "assistant", "content": said}})
    return start + render_strands_events(turn, pieces) + whole
