"""Render abstract turns as Letta's server streams the messages of its agents.

Written from its schemas; knows nothing of wholecall.
"""

from __future__ import annotations

from typing import Any

from tests.support.encode import JSON, Pieces, Turn, done, sse, whole


def message(type: str, **members: Any) -> JSON:  # noqa: A002 - messages are called so on the wire
    """Return one message, or a piece of one."""
    about = {"id": "message-4a1c", "date": "2026-11-01T06:10:00+00:00", "otid": "message-4a1c-00"}
    return {**about, "message_type": type, **members, "run_id": "run-7d2e", "step_id": "step-1b9f"}


def asked(kind: str, name: str | None, id_: str, arguments: str | None, *, listed: bool = False) -> JSON:
    """Return a message with a call, or with a piece of one."""
    known = {"name": name, "arguments": arguments, "tool_call_id": id_}
    call = {key: value for key, value in known.items() if value is not None}
    return message(kind, tool_call=call, tool_calls=[call] if listed else call)


def returned(id_: str, text: str) -> JSON:
    """Return the message of a call's result."""
    result = {"tool_return": text, "status": "success", "tool_call_id": id_}
    return message("tool_return_message", **result, tool_returns=[{"type": "tool", **result}])


def ended(turn: Turn, reason: str) -> list[JSON]:
    """Return the events that end a run."""
    counts = {"prompt_tokens": 64, "completion_tokens": turn.tokens, "total_tokens": 64 + turn.tokens}
    return [
        {"message_type": "stop_reason", "stop_reason": reason},
        {"message_type": "usage_statistics", **counts, "step_count": 1},
    ]


def render(turn: Turn, pieces: Pieces) -> bytes:
    """Return a run whose tokens are streamed, and whose calls the agent executes; one that is cut fails."""
    said = [message("reasoning_message", reasoning=piece) for piece in pieces(turn.reasoning)]
    said += [message("assistant_message", content=piece) for piece in pieces(turn.text)]
    for call in turn.calls:
        said.append(asked("tool_call_message", call.name, call.id, None))
        said += [asked("tool_call_message", call.name, call.id, piece) for piece in pieces(call.arguments)]
    if not turn.stopped:
        said += [returned(call.id, "3.2") for call in turn.calls]
    return b"".join(map(sse, [*said, *ended(turn, "error" if turn.stopped else "end_turn")])) + done()


def render_steps(turn: Turn, pieces: Pieces) -> bytes:  # noqa: ARG001 - messages are whole
    """Return a run that is streamed by steps."""
    said = [message("reasoning_message", reasoning=piece) for piece in whole(turn.reasoning)]
    said += [message("assistant_message", content=piece) for piece in whole(turn.text)]
    for call in turn.calls:
        said.append(asked("tool_call_message", call.name, call.id, call.arguments, listed=True))
    if not turn.stopped:
        said += [returned(call.id, "3.2") for call in turn.calls]
    return b"".join(map(sse, [*said, *ended(turn, "error" if turn.stopped else "end_turn")])) + done()
