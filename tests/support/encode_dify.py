"""Render abstract turns as the stream of an agent of Dify.

Written from Dify's documentation; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, sse, whole


def event(turn: Turn, kind: str, **more: Any) -> JSON:
    """Return one event of an answer."""
    ids = {"conversation_id": "79d01e67-conversation", "message_id": turn.id, "task_id": "397553c1-task"}
    return {"event": kind, **ids, "created_at": turn.created, **more}


def _step(turn: Turn, call: Call, number: int, observation: str) -> JSON:
    """Return the state of a step with one call."""
    told = {"id": call.id, "position": number + 1, "thought": "", "tool_labels": {}, "message_files": []}
    tool_input = f"{{{json.dumps(call.name)}: {call.arguments}}}"
    return event(
        turn, "agent_thought", **told, tool=call.name, tool_input=tool_input, observation=observation
    )


def events(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn."""
    told = [event(turn, "agent_message", id=turn.id, answer=piece) for piece in pieces(turn.text)]
    for number, call in enumerate(turn.calls):
        result = json.dumps({call.name: "done"})
        told += [_step(turn, call, number, ""), _step(turn, call, number, result)]
    usage = {"prompt_tokens": 41, "completion_tokens": turn.tokens, "total_tokens": 41 + turn.tokens}
    return [*told, event(turn, "message_end", id=turn.id, metadata={"usage": usage})]


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as Dify streams it."""
    return b"".join(map(sse, events(turn, pieces)))
