"""Render abstract turns as agents send them to a user interface: AG-UI, and ACP.

Written from the documentation of both protocols; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, json_lines, members, sse, whole

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


# ACP

SESSION = "sess_4f0a91"


def acp_update(update: str, session: str = SESSION, /, **fields: Any) -> JSON:
    """Return one update of a session."""
    params = {"sessionId": session, "update": members(sessionUpdate=update, **fields)}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def acp_said(text: str, kind: str = "agent_message_chunk", session: str = SESSION) -> JSON:
    """Return a piece of text, or of a thought."""
    return acp_update(kind, session, content={"type": "text", "text": text})


def acp_call(id: str, title: str, *, session: str = SESSION, **fields: Any) -> JSON:
    """Return the announcement of a call."""
    return acp_update("tool_call", session, toolCallId=id, title=title, **fields)


def acp_answer(id: int, reason: str = "end_turn", tokens: int | None = None) -> JSON:
    """Return the answer to a prompt, which ends its turn."""
    usage: Any = ABSENT
    if tokens is not None:
        usage = {"totalTokens": 64 + tokens, "inputTokens": 64, "outputTokens": tokens}
    return {"jsonrpc": "2.0", "id": id, "result": members(stopReason=reason, usage=usage)}


def acp_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the messages of a prompt's turn; the tool's name is the title."""
    session = turn.id
    payloads = [acp_said(piece, "agent_thought_chunk", session) for piece in pieces(turn.reasoning)]
    payloads += [acp_said(piece, session=session) for piece in pieces(turn.text)]
    for call in turn.calls:
        given = json.loads(call.arguments)
        payloads.append(acp_call(call.id, call.name, session=session, kind="other", status="pending"))
        states: list[JSON] = [
            {"status": "in_progress", "rawInput": given},
            {"status": "completed", "rawOutput": {"ok": True}},
        ]
        payloads += [acp_update("tool_call_update", session, toolCallId=call.id, **state) for state in states]
    reason = "max_tokens" if turn.stopped else "end_turn"
    return [*payloads, acp_answer(3, reason, turn.tokens)]


def render_acp(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as an agent writes it to its standard output."""
    return json_lines(acp_payloads(turn, pieces))
