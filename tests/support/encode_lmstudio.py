"""Render abstract turns as LM Studio streams them from its own address (`/api/v1/chat`).

Written from its documentation; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Pieces, Turn, sse

_BY = {"type": "ephemeral_mcp", "server_label": "tides"}


def event(type: str, **members: Any) -> bytes:  # noqa: A002 - events are called so on the wire
    """Return one named event."""
    return sse({"type": type, **members}, type)


def result(turn: Turn) -> JSON:
    """Return a whole answer."""
    texts = (("reasoning", turn.reasoning), ("message", turn.text))
    output: list[JSON] = [{"type": kind, "content": text} for kind, text in texts if text]
    output += [
        {
            "type": "tool_call",
            "tool": call.name,
            "arguments": json.loads(call.arguments),
            "output": '[{"type":"text","text":"3.2 m"}]',
            "provider_info": _BY,
        }
        for call in turn.calls
    ]
    stats = {"input_tokens": 64, "total_output_tokens": turn.tokens, "tokens_per_second": 43.7}
    return {
        "model_instance_id": turn.model,
        "output": output,
        "stats": stats,
        "response_id": f"resp_{turn.id}",
    }


def render(turn: Turn, pieces: Pieces) -> bytes:
    """Return the events of one answer, whose calls LM Studio executes; an answer that is cut shows no sign of it."""
    said = [event("chat.start", model_instance_id=turn.model), event("prompt_processing.start")]
    said += [event("prompt_processing.progress", progress=0.5), event("prompt_processing.end")]
    for kind, text in (("reasoning", turn.reasoning), ("message", turn.text)):
        if text:
            deltas = [event(f"{kind}.delta", content=piece) for piece in pieces(text)]
            said += [event(f"{kind}.start"), *deltas, event(f"{kind}.end")]
    for call in turn.calls:
        given = {"tool": call.name, "arguments": json.loads(call.arguments)}
        said.append(event("tool_call.start", tool=call.name, provider_info=_BY))
        said.append(event("tool_call.arguments", **given, provider_info=_BY))
        output = '[{"type":"text","text":"3.2 m"}]'
        said.append(event("tool_call.success", **given, output=output, provider_info=_BY))
    return b"".join([*said, event("chat.end", result=result(turn))])
