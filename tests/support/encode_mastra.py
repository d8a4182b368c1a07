"""Render abstract turns as Mastra's server streams the chunks of an agent's run.

Written from the types of `ChunkType`; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, done, sse


def chunk(run: str, type: str, **payload: Any) -> JSON:  # noqa: A002 - chunks are called so on the wire
    """Return one chunk of an agent's run."""
    return {"type": type, "runId": run, "from": "AGENT", "payload": payload}


def called(run: str, call: Call, pieces: Pieces) -> list[JSON]:
    """Return the chunks of one call, in pieces and whole."""
    known = {"toolCallId": call.id, "toolName": call.name}
    texts = pieces(call.arguments)
    return [
        chunk(run, "tool-call-input-streaming-start", **known),
        *(chunk(run, "tool-call-delta", argsTextDelta=text, toolCallId=call.id) for text in texts),
        chunk(run, "tool-call-input-streaming-end", toolCallId=call.id),
        chunk(run, "tool-call", **known, args=json.loads(call.arguments)),
    ]


def finish(run: str, reason: str, tokens: int, kind: str = "finish") -> JSON:
    """Return the chunk that ends a run, or a step."""
    usage = {"inputTokens": 64, "outputTokens": tokens, "totalTokens": 64 + tokens}
    return chunk(run, kind, stepResult={"reason": reason}, output={"usage": usage})


def render(turn: Turn, pieces: Pieces) -> bytes:
    """Return a run of one step, whose calls are the client's."""
    run = turn.id
    said = [chunk(run, "start", id="tides", messageId="m1"), chunk(run, "step-start", messageId="m1")]
    for kind, text in (("reasoning", turn.reasoning), ("text", turn.text)):
        parts = [chunk(run, f"{kind}-delta", id=kind, text=piece) for piece in pieces(text)]
        said += (
            [chunk(run, f"{kind}-start", id=kind), *parts, chunk(run, f"{kind}-end", id=kind)]
            if parts
            else []
        )
    for call in turn.calls:
        said += called(run, call, pieces)
    reason = turn.stopped or ("tool-calls" if turn.calls else "stop")
    said += [finish(run, reason, turn.tokens, "step-finish"), finish(run, reason, turn.tokens)]
    return b"".join(map(sse, said)) + done()
