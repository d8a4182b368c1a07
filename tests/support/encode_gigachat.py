"""Render abstract turns as GigaChat's second chat sends them: `POST /v2/chat/completions`.

Written from its documentation and the recordings of its SDK; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, members, sse, whole

STATE = "019e8373-dc9a-7883-af60-ebb20b79e1e1"


def call_part(name: Any, arguments: Any = ABSENT, id: Any = ABSENT) -> JSON:
    """Return the part that holds a call."""
    return {"function_call": members(id=id, name=name, arguments=arguments)}


def text(said: str) -> JSON:
    """Return the part that holds a text."""
    return {"text": said}


def _event(name: str, model: str, **fields: Any) -> tuple[str, JSON]:
    return f"response.message.{name}", {"model": model, "created_at": 1_780_321_864} | members(**fields)


def delta(*parts: JSON, role: str = "assistant", model: str = "model-1") -> tuple[str, JSON]:
    """Return an event with one message, under its name."""
    return _event("delta", model, messages=[{"role": role, "content": list(parts)}])


def done(
    reason: str = "stop", *parts: JSON, tokens: int = 9, model: str = "model-1", state: Any = ABSENT
) -> tuple[str, JSON]:
    """Return the last event; with parts it has a message, too."""
    messages = [members(role="assistant", tool_state_id=state, content=list(parts))] if parts else ABSENT
    usage = {"input_tokens": 88, "output_tokens": tokens, "total_tokens": 88 + tokens}
    return _event("done", model, messages=messages, finish_reason=reason, usage=usage)


def stream(events: Iterable[tuple[str, JSON]]) -> bytes:
    """Return events as a stream."""
    return b"".join(sse(payload, name) for name, payload in events)


def _part(call: Call) -> JSON:
    return call_part(call.name, json.loads(call.arguments), call.id)


def _rendered(turn: Turn, pieces: Pieces, *, at_the_end: bool) -> bytes:
    thoughts = [delta(text(piece), role="reasoning", model=turn.model) for piece in pieces(turn.reasoning)]
    said = [delta(text(piece), model=turn.model) for piece in pieces(turn.text)]
    calls = [_part(call) for call in turn.calls]
    before = [] if at_the_end else [delta(call, model=turn.model) for call in calls]
    reason = turn.stopped or ("function_call" if calls else "stop")
    last = done(
        reason,
        *(calls if at_the_end else ()),
        tokens=turn.tokens,
        model=turn.model,
        state=STATE if calls else ABSENT,
    )
    return stream([*thoughts, *said, *before, last])


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream whose last event holds the calls."""
    return _rendered(turn, pieces, at_the_end=True)


def render_as_they_come(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream with an event for each call."""
    return _rendered(turn, pieces, at_the_end=False)
