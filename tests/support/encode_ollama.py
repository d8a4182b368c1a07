"""Render abstract turns as Ollama sends them: `/api/chat`.

Written from Ollama's API reference; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, json_lines, members, whole

CREATED = "2026-03-02T09:41:07.{:06d}Z"


def line(
    message: Any,
    *,
    done: Any = False,
    model: str = "model-1",
    nth: int = 0,
    **extra: Any,
) -> JSON:
    """Return one line; `nth` counts them, for their time."""
    created = CREATED.format(104_000 + 21_733 * nth)
    return {"model": model, "created_at": created, "message": message, "done": done} | extra


def last(message: Any, *, reason: Any = "stop", tokens: int = 9, **about: Any) -> JSON:
    """Return the last line, with its counts."""
    counts = {
        "total_duration": 7_577_982_042,
        "load_duration": 58_847_000,
        "prompt_eval_count": 212,
        "prompt_eval_duration": 707_514_083,
        "eval_count": tokens,
        "eval_duration": 14_000_000 * tokens,
    }
    return line(message, done=True, **about, **members(done_reason=reason), **counts)


def said(content: str = "", **more: Any) -> JSON:
    """Return an assistant's message."""
    return {"role": "assistant", "content": content} | more


def call_entry(name: Any, arguments: Any, *, id: Any = ABSENT, index: Any = ABSENT) -> JSON:
    """Return one entry of `tool_calls`; the index is inside the function."""
    return members(id=id, function=members(index=index, name=name, arguments=arguments))


def _entry(number: int, call: Call) -> JSON:
    return call_entry(call.name, json.loads(call.arguments), id=call.id, index=number)


def chat_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the lines of a chat: thinking, text, one line for each call, and the last one."""
    messages = [said(thinking=piece) for piece in pieces(turn.reasoning)]
    messages += [said(piece) for piece in pieces(turn.text)]
    messages += [said(tool_calls=[_entry(number, call)]) for number, call in enumerate(turn.calls)]
    lines = [line(message, model=turn.model, nth=nth) for nth, message in enumerate(messages)]
    reason = turn.stopped or "stop"
    return [*lines, last(said(), reason=reason, tokens=turn.tokens, model=turn.model, nth=len(lines))]


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of `/api/chat`."""
    return json_lines(chat_payloads(turn, pieces))
