"""Render abstract turns as the lines that Claude Code writes, with the events of its model and without.

Written from the documentation of Claude Code and of the Claude Agent SDK; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support import encode
from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, json_lines, members, whole

SESSION = "0c9f5a52-7d1e-4c1b-9a53-3f2f6d1b7e10"


def line(kind: str, *, parent: Any = None, **fields: Any) -> JSON:
    """Return one line of a session; sub-agents' name the call that began them."""
    about = {"parent_tool_use_id": parent, "session_id": SESSION}
    return members(type=kind, **fields) | about


def lines(payloads: Iterable[JSON]) -> bytes:
    """Return lines as the agent prints them, each with its id."""
    numbered = (payload | {"uuid": f"b5f1c2d0-0000-4000-8000-{n:012x}"} for n, payload in enumerate(payloads))
    return json_lines(numbered)


def init(model: str = "model-1", *tools: str) -> JSON:
    """Return the first line of a session."""
    about = {"cwd": "/srv/tides", "tools": list(tools), "mcp_servers": [], "permissionMode": "default"}
    return {"type": "system", "subtype": "init", "session_id": SESSION, "model": model} | about


def event(payload: JSON, parent: Any = None) -> JSON:
    """Return an event of the model's stream."""
    return line("stream_event", parent=parent, event=payload)


def use(call: Call) -> JSON:
    """Return a call's whole block."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments or "{}")}


def assistant(id: str, *blocks: JSON, parent: Any = None, model: str = "model-1", tokens: int = 9) -> JSON:
    """Return whole blocks of a message, usually one."""
    message = {"model": model, "id": id, "type": "message", "role": "assistant", "content": list(blocks)}
    ends = {"stop_reason": None, "stop_sequence": None, "usage": encode.anthropic_usage(tokens)}
    return line("assistant", parent=parent, message=message | ends)


def user(call: str, text: str = "done", parent: Any = None, **more: Any) -> JSON:
    """Return the result of a call."""
    block = {"tool_use_id": call, "type": "tool_result", "content": text} | more
    return line("user", parent=parent, message={"role": "user", "content": [block]})


def request(id: str, **asks: Any) -> JSON:
    """Return the agent's request to its client."""
    return {"type": "control_request", "request_id": id, "request": asks}


def asked(id: str, call: Call) -> JSON:
    """Return the request for a permission."""
    about = {"tool_name": call.name, "input": json.loads(call.arguments), "tool_use_id": call.id}
    return request(id, subtype="can_use_tool", **about)


def tools_call(id: str, server: str, name: str, given: Any = ABSENT, number: int = 4) -> JSON:
    """Return the call of a tool that the client serves."""
    params = members(name=name, arguments=given)
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return request(id, subtype="mcp_message", server_name=server, message=message)


def result(text: str = "", subtype: str = "success", reason: Any = "end_turn", **more: Any) -> JSON:
    """Return the line that ends a prompt."""
    told = {"subtype": subtype, "is_error": subtype != "success", "num_turns": 1, "duration_ms": 2114}
    usage = encode.anthropic_usage(9)
    return line("result", **told | more, result=text, stop_reason=reason, usage=usage)


def streamed(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return a message as its events, and each block as a line before the event that ends it."""
    found: list[JSON] = []
    blocks = iter(_blocks(turn))
    for payload in encode.anthropic_payloads(turn, pieces):
        if payload["type"] == "content_block_stop":
            found.append(assistant(f"msg_{turn.id}", next(blocks), model=turn.model))
        found.append(event(payload))
    return found


def _blocks(turn: Turn) -> list[JSON]:
    thought = {"type": "thinking", "thinking": turn.reasoning, "signature": "c2lnbmF0dXJl"}
    said = {"type": "text", "text": turn.text}
    return [*([thought] if turn.reasoning else []), *([said] if turn.text else []), *map(use, turn.calls)]


def told(turn: Turn) -> list[JSON]:
    """Return a message as one line for each block."""
    return [
        assistant(f"msg_{turn.id}", block, model=turn.model, tokens=turn.tokens) for block in _blocks(turn)
    ]


def _session(turn: Turn, message: list[JSON]) -> bytes:
    answered = [user(call.id) for call in turn.calls]
    reason = "max_tokens" if turn.stopped else "end_turn"
    return lines([init(turn.model), *message, *answered, result(turn.text, reason=reason)])


def render(turn: Turn, _pieces: Pieces = whole) -> bytes:
    """Return a turn as a session of whole lines."""
    return _session(turn, told(turn))


def render_streamed(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a session with the events of the model."""
    return _session(turn, streamed(turn, pieces))
