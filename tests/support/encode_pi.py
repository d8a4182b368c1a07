"""Render abstract turns as the events of pi, the coding agent.

Written from its documentation ("RPC Mode", "Events" and "Types"); knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, json_lines, whole

TIME = 1_777_924_238_000


def lines(payloads: Iterable[JSON]) -> bytes:
    """Return events as the agent prints them."""
    return json_lines(payloads)


def opening(prompt: str = "Which tide?") -> list[JSON]:
    """Return the frames before the first answer."""
    asked = {"role": "user", "content": [{"type": "text", "text": prompt}], "timestamp": TIME}
    events: list[JSON] = [{"type": "response", "command": "prompt", "success": True}, {"type": "agent_start"}]
    turn: JSON = {"type": "turn_start"}
    return [*events, turn, *({"type": f"message_{end}", "message": asked} for end in ("start", "end"))]


def reply(
    content: list[JSON], reason: str = "stop", model: str = "model-1", tokens: int = 9, **more: Any
) -> JSON:
    """Return a message of the model."""
    counts = {"input": 64, "output": tokens, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 64 + tokens}
    about = {"api": "beam-messages", "provider": "lighthouse", "model": model, "usage": counts}
    return (
        {"role": "assistant", "content": content} | about | {"stopReason": reason, "timestamp": TIME} | more
    )


def tool_call(call: Call) -> JSON:
    """Return a call's whole block."""
    return {
        "type": "toolCall",
        "id": call.id,
        "name": call.name,
        "arguments": json.loads(call.arguments or "{}"),
    }


def started(message: JSON) -> JSON:
    """Return the beginning of a message."""
    return {"type": "message_start", "message": message | {"content": []}}


def ended(message: JSON) -> list[JSON]:
    """Return the end of a message, and of its turn, which repeats it."""
    turn = {"type": "turn_end", "message": message, "toolResults": []}
    return [{"type": "message_end", "message": message}, turn]


def update(kind: str, index: int, so_far: list[JSON], **more: Any) -> JSON:
    """Return the new part of a message, with the whole message so far."""
    told = {"type": kind, "contentIndex": index} | more | {"partial": reply(so_far)}
    return {"type": "message_update", "assistantMessageEvent": told}


def updates(index: int, before: list[JSON], block: JSON, pieces: Iterable[str]) -> list[JSON]:
    """Return the whole life of a block; an agent that has pieces of a call reads them as far as it can."""
    kind = {"text": "text", "thinking": "thinking", "toolCall": "toolcall"}[block["type"]]
    empty = block | ({"arguments": {}} if kind == "toolcall" else {kind: ""})
    first, last = [*before, empty], [*before, block]
    events = [update(f"{kind}_start", index, first)]
    events += [update(f"{kind}_delta", index, first, delta=piece) for piece in pieces]
    end = {"toolCall": block} if kind == "toolcall" else {"content": block[kind]}
    return [*events, update(f"{kind}_end", index, last, **end)]


def executed(call: Call, text: str = "done") -> list[JSON]:
    """Return the execution of a call."""
    about = {"toolCallId": call.id, "toolName": call.name}
    start = {"type": "tool_execution_start"} | about | {"args": json.loads(call.arguments or "{}")}
    content = {"content": [{"type": "text", "text": text}]}
    return [start, {"type": "tool_execution_end"} | about | {"result": content, "isError": False}]


def result(call: Call, text: str = "done") -> list[JSON]:
    """Return the message of a call's result."""
    content = [{"type": "text", "text": text}]
    message = {"role": "toolResult", "toolCallId": call.id, "toolName": call.name, "content": content}
    return [{"type": f"message_{end}", "message": message | {"timestamp": TIME}} for end in ("start", "end")]


def session(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of one message and of the execution of its calls."""
    parts: list[tuple[JSON, str]] = []
    if turn.reasoning:
        parts.append(({"type": "thinking", "thinking": turn.reasoning}, turn.reasoning))
    if turn.text:
        parts.append(({"type": "text", "text": turn.text}, turn.text))
    parts += [(tool_call(call), call.arguments) for call in turn.calls]
    blocks = [block for block, _ in parts]
    reason = turn.stopped or ("toolUse" if turn.calls else "stop")
    message = reply(blocks, reason, turn.model, turn.tokens)
    events = [started(message)]
    for index, (block, text) in enumerate(parts):
        events += updates(index, blocks[:index], block, pieces(text))
    end, over = ended(message)
    done = [event for call in turn.calls for event in (*executed(call), *result(call))]
    return [*events, end, *done, over]


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as the lines of a prompt."""
    return lines([*opening(), *session(turn, pieces), {"type": "agent_end", "messages": []}])
