"""Render abstract turns as Snowflake Cortex sends them: its own completions.

Written from Snowflake's documentation; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, sse


def chunk(turn: Turn, *blocks: JSON, **more: Any) -> JSON:
    """Return one chunk, whose counts are to come."""
    delta = {"content_list": [*blocks]} if blocks else {}
    return {"id": turn.id, "model": turn.model, "choices": [{"delta": delta | more}], "usage": {}}


def counts(turn: Turn) -> JSON:
    """Return the counts of a turn."""
    return {"prompt_tokens": 64, "completion_tokens": turn.tokens, "total_tokens": 64 + turn.tokens}


def render(turn: Turn, pieces: Pieces) -> bytes:
    """Return the chunks of a completion by one of Claude's models."""
    said = [chunk(turn, {"type": "thinking", "thinking": piece}) for piece in pieces(turn.reasoning)]
    said += [chunk(turn, {"type": "text", "text": p}, content=p) for p in pieces(turn.text)]
    for call in turn.calls:
        said.append(chunk(turn, {"tool_use_id": call.id, "name": call.name}))
        said += [chunk(turn, {"input": piece}) for piece in pieces(call.arguments)]
    if turn.stopped:
        said.append(chunk(turn))
        said[-1]["choices"][0]["finish_reason"] = turn.stopped
    return b"".join(map(sse, [*said, chunk(turn) | {"usage": counts(turn)}]))


def whole_call(call: Call) -> JSON:
    """Return the block of a whole call."""
    told = {"tool_use_id": call.id, "name": call.name, "input": json.loads(call.arguments)}
    return {"type": "tool_use", "tool_use": told}
