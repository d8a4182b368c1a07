"""Render abstract turns as assistant-ui's encoders write them, in the assistant-transport protocol.

Written from the types of `AssistantStreamChunk` and its encoder; knows nothing of wholecall.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.encode import JSON, Pieces, Turn, done, sse


def chunk(type: str, *path: int, **members: Any) -> JSON:  # noqa: A002 - chunks are called so on the wire
    """Return one chunk, which is about the part of a number, or about the message."""
    return {"type": type, **members, "path": [*path]}


def part(number: int, pieces: Iterable[str], *last: JSON, **about: Any) -> list[JSON]:
    """Return the chunks of one part."""
    texts = [chunk("text-delta", number, textDelta=piece) for piece in pieces]
    return [chunk("part-start", part=about), *texts, *last, chunk("part-finish", number)]


def render(turn: Turn, pieces: Pieces) -> bytes:
    """Return a message of one step, whose calls are the client's."""
    said = [chunk("step-start", messageId=turn.id)]
    spoken = [(kind, text) for kind, text in (("reasoning", turn.reasoning), ("text", turn.text)) if text]
    for number, (kind, text) in enumerate(spoken):
        said += part(number, pieces(text), type=kind)
    for number, call in enumerate(turn.calls, len(spoken)):
        finish = chunk("tool-call-args-text-finish", number)
        about = {"type": "tool-call", "toolCallId": call.id, "toolName": call.name}
        said += part(number, pieces(call.arguments), finish, **about)
    reason = turn.stopped or ("tool-calls" if turn.calls else "stop")
    end = {"finishReason": reason, "usage": {"inputTokens": 64, "outputTokens": turn.tokens}}
    said += [chunk("step-finish", **end, isContinued=False), chunk("message-finish", **end)]
    return b"".join(map(sse, said)) + done()
