"""Render abstract turns as agents without a terminal print them, one event per line.

Written from the documentation and the published types of each agent; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Pieces, Turn, json_lines

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
