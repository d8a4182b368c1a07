"""Render abstract turns as agents send them to a user interface: AG-UI.

Written from the documentation of AG-UI; knows nothing of wholecall.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, members, sse, whole

__all__ = [
    "ag_ui",
    "ag_ui_assistant",
    "ag_ui_call",
    "ag_ui_entry",
    "ag_ui_finished",
    "ag_ui_payloads",
    "ag_ui_result",
    "ag_ui_sse",
    "ag_ui_started",
    "ag_ui_text",
    "ag_ui_thought",
    "render_ag_ui",
]

THREAD = "thread-7c1f"


def ag_ui(kind: str, **fields: Any) -> JSON:
    """Return one event."""
    return members(type=kind, **fields)


def ag_ui_sse(payloads: Iterable[JSON]) -> bytes:
    """Return events as a stream."""
    return b"".join(sse(payload) for payload in payloads)


def ag_ui_started(run: str, **more: Any) -> JSON:
    """Return the first event of a run."""
    return ag_ui("RUN_STARTED", threadId=THREAD, runId=run, **more)


def ag_ui_finished(run: str, outcome: Any = ABSENT, tokens: int | None = None) -> JSON:
    """Return the last event of a run."""
    usage: Any = ABSENT
    if tokens is not None:
        usage = [
            {
                "provider": "lighthouse",
                "model": "beam-2",
                "inputTokens": 64,
                "outputTokens": tokens,
                "totalTokens": 64 + tokens,
            }
        ]
    return ag_ui("RUN_FINISHED", threadId=THREAD, runId=run, outcome=outcome, usage=usage)


def ag_ui_text(id: str, pieces: Iterable[str], role: Any = "assistant") -> list[JSON]:
    """Return the events of one text message."""
    start = ag_ui("TEXT_MESSAGE_START", messageId=id, role=role)
    said = [ag_ui("TEXT_MESSAGE_CONTENT", messageId=id, delta=piece) for piece in pieces]
    return [start, *said, ag_ui("TEXT_MESSAGE_END", messageId=id)]


def ag_ui_thought(id: str, pieces: Iterable[str]) -> list[JSON]:
    """Return the events of one span of reasoning."""
    said = [ag_ui("REASONING_MESSAGE_CONTENT", messageId=id, delta=piece) for piece in pieces]
    return [
        ag_ui("REASONING_START", messageId=id),
        ag_ui("REASONING_MESSAGE_START", messageId=id, role="reasoning"),
        *said,
        ag_ui("REASONING_MESSAGE_END", messageId=id),
        ag_ui("REASONING_END", messageId=id),
    ]


def ag_ui_call(call: Call, pieces: Pieces = whole, parent: Any = ABSENT) -> list[JSON]:
    """Return the events of one call; an empty text has none of its own."""
    start = ag_ui("TOOL_CALL_START", toolCallId=call.id, toolCallName=call.name, parentMessageId=parent)
    texts = [ag_ui("TOOL_CALL_ARGS", toolCallId=call.id, delta=piece) for piece in pieces(call.arguments)]
    return [start, *texts, ag_ui("TOOL_CALL_END", toolCallId=call.id)]


def ag_ui_result(id: str, content: str) -> JSON:
    """Return the result of a call."""
    return ag_ui("TOOL_CALL_RESULT", messageId=f"result-{id}", toolCallId=id, content=content, role="tool")


def ag_ui_entry(call: Call) -> JSON:
    """Return a call as the messages of a snapshot hold it."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def ag_ui_assistant(id: str, *calls: Call, content: Any = ABSENT) -> JSON:
    """Return the agent's message in a snapshot."""
    entries = [ag_ui_entry(call) for call in calls] or ABSENT
    return members(id=id, role="assistant", content=content, toolCalls=entries)


def ag_ui_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a run."""
    payloads = [ag_ui_started(turn.id, protocolVersion="1.0")]
    if turn.reasoning:
        payloads += ag_ui_thought(f"{turn.id}-r", pieces(turn.reasoning))
    if turn.text:
        payloads += ag_ui_text(f"{turn.id}-m", pieces(turn.text))
    for call in turn.calls:
        payloads += ag_ui_call(call, pieces, f"{turn.id}-m")
    pending = [call.id for call in turn.calls]
    outcome: JSON = {"type": "success"} | ({"pendingToolCallIds": pending} if pending else {})
    return [*payloads, ag_ui_finished(turn.id, outcome, turn.tokens)]


def render_ag_ui(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as the stream of one run."""
    return ag_ui_sse(ag_ui_payloads(turn, pieces))
