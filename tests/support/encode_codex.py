"""Render abstract turns as the Codex app server sends them, with the agent's own calls or with those of its client.

Written from the documentation of the app server; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, json_lines, members, whole

THREAD = "thr_5c1a"


def message(method: str, /, *, id: Any = ABSENT, thread: str = THREAD, **params: Any) -> JSON:
    """Return a notification, or a request if it has an id."""
    return members(method=method, id=id, params={"threadId": thread} | members(**params))


def lines(payloads: Iterable[JSON]) -> bytes:
    """Return messages as the server prints them."""
    return json_lines(payloads)


def opening(model: str = "model-1", thread: str = THREAD) -> list[JSON]:
    """Return the frames before the first turn: two answers, and the start of a thread."""
    about = {"id": thread, "preview": "", "status": {"type": "idle"}, "turns": []}
    return [
        {"id": 1, "result": {"userAgent": "tides/1.0"}},
        {"id": 2, "result": {"thread": about, "model": model, "modelProvider": "lighthouse"}},
        {"method": "thread/started", "params": {"thread": about}},
    ]


def turn_started(turn: str, thread: str = THREAD) -> JSON:
    """Return the beginning of a turn."""
    told = {"id": turn, "items": [], "status": "inProgress", "error": None}
    return message("turn/started", thread=thread, turn=told)


def turn_completed(turn: str, status: str = "completed", error: Any = None, thread: str = THREAD) -> JSON:
    """Return the end of a turn."""
    told = {"id": turn, "items": [], "status": status, "error": error}
    return message("turn/completed", thread=thread, turn=told)


def usage(turn: str, tokens: int, thread: str = THREAD) -> JSON:
    """Return the counts of the last answer of the model."""
    last = {"totalTokens": 64 + tokens, "inputTokens": 64, "outputTokens": tokens}
    counts = {"total": last, "last": last, "modelContextWindow": 258400}
    return message("thread/tokenUsage/updated", thread=thread, turnId=turn, tokenUsage=counts)


def item(event: str, turn: str, told: JSON, thread: str = THREAD) -> JSON:
    """Return the start or the end of an item."""
    return message(f"item/{event}", thread=thread, turnId=turn, item=told)


def work(turn: str, told: JSON, thread: str = THREAD, status: str = "completed", **done: Any) -> list[JSON]:
    """Return the whole life of an item that has a status."""
    started = item("started", turn, told | {"status": "inProgress"}, thread)
    return [started, item("completed", turn, told | {"status": status} | done, thread)]


def mcp(call: Call, server: str = "harbour") -> JSON:
    """Return an item of a tool of an MCP server."""
    about = {"type": "mcpToolCall", "id": call.id, "server": server, "tool": call.name}
    return about | {"arguments": json.loads(call.arguments or "{}"), "result": None, "error": None}


def approval(what: str, id: int, turn: str, item_id: str, thread: str = THREAD, **more: Any) -> JSON:
    """Return the request for an approval."""
    method = f"item/{what}/requestApproval"
    return message(method, id=id, thread=thread, turnId=turn, itemId=item_id, reason=None, **more)


def asked(id: int, turn: str, call: Call, **more: Any) -> JSON:
    """Return the request that the client execute one of its tools."""
    given = json.loads(call.arguments) if call.arguments else None
    about = {"turnId": turn, "callId": call.id, "tool": call.name, "arguments": given}
    return message("item/tool/call", id=id, **about | more)


def thought(turn: str, id: str, pieces: Sequence[str]) -> list[JSON]:
    """Return a thought: its start, its pieces and the whole."""
    told = {"type": "reasoning", "id": id, "summary": [], "content": []}
    delta = "item/reasoning/summaryTextDelta"
    said = [message(delta, turnId=turn, itemId=id, summaryIndex=0, delta=piece) for piece in pieces]
    end = told | {"summary": ["".join(pieces)]}
    return [item("started", turn, told), *said, item("completed", turn, end)]


def spoken(turn: str, id: str, pieces: Sequence[str]) -> list[JSON]:
    """Return a message: its start, its pieces and the whole."""
    told = {"type": "agentMessage", "id": id, "text": "", "phase": None}
    said = [message("item/agentMessage/delta", turnId=turn, itemId=id, delta=piece) for piece in pieces]
    return [item("started", turn, told), *said, item("completed", turn, told | {"text": "".join(pieces)})]


def _session(turn: Turn, pieces: Pieces, works: list[JSON]) -> bytes:
    said = [*opening(turn.model), turn_started(turn.id)]
    if turn.reasoning:
        said += thought(turn.id, "rs_1", pieces(turn.reasoning))
    if turn.text:
        said += spoken(turn.id, "msg_1", pieces(turn.text))
    failed = {"message": "The context is full.", "codexErrorInfo": "contextWindowExceeded"}
    end = turn_completed(turn.id, "failed", failed) if turn.stopped else turn_completed(turn.id)
    return lines([*said, *works, usage(turn.id, turn.tokens), end])


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn whose calls the agent executes, by its MCP servers."""
    return _session(turn, pieces, [told for call in turn.calls for told in work(turn.id, mcp(call))])


def render_asking(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn whose calls the client executes."""
    works: list[JSON] = []
    for n, call in enumerate(turn.calls):
        about = {"type": "dynamicToolCall", "id": call.id, "tool": call.name}
        told = about | {"arguments": json.loads(call.arguments or "{}"), "success": None}
        started, done = work(turn.id, told, success=True)
        works += [started, asked(60 + n, turn.id, call), done]
    return _session(turn, pieces, works)
