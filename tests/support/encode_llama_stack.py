"""Render abstract turns as llama-stack's own inference API sends them.

Written from llama-stack's API and the types of its client; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, members, sse, whole

_REASONS = {None: "end_of_turn", "length": "out_of_tokens"}


def stop_reason(turn: Turn) -> str:
    """Return why a turn ended, in llama-stack's words."""
    return _REASONS[turn.stopped]


def event(kind: str, delta: Any = None, *, reason: str | None = None, metrics: Any = None) -> JSON:
    """Return one event; null members are written out."""
    shown = {"type": "text", "text": ""} if delta is None else delta
    inner = {"event_type": kind, "delta": shown, "logprobs": None, "stop_reason": reason}
    return {"metrics": metrics, "event": inner}


def text(piece: str) -> JSON:
    """Return a piece of text."""
    return event("progress", {"type": "text", "text": piece})


def tool_call(call: Call, *, spelled: bool = True) -> JSON:
    """Return a call as the server read it, with the text that it read if it is `spelled`."""
    told = {"call_id": call.id, "tool_name": call.name, "arguments": json.loads(call.arguments or "{}")}
    return told | members(arguments_json=call.arguments if spelled else ABSENT)


def call_delta(status: str, told: Any, *, kind: str = "progress", reason: str | None = None) -> JSON:
    """Return the server's statement of a call: the model's text, or the call."""
    delta = {"type": "tool_call", "tool_call": told, "parse_status": status}
    return event(kind, delta, reason=reason)


def written(raw: str, pieces: Pieces = whole) -> list[JSON]:
    """Return the model's text, piece by piece, as the server forwards it."""
    begun = call_delta("started", "")
    return [begun, *(call_delta("in_progress", piece) for piece in pieces(raw))]


def metrics(tokens: int) -> list[JSON]:
    """Return the counts of an answer."""
    named = (("prompt_tokens", 93), ("completion_tokens", tokens), ("total_tokens", 93 + tokens))
    return [{"metric": name, "value": value, "unit": None} for name, value in named]


def payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn; the model writes its calls as a Python list."""
    events = [event("start"), *(text(piece) for piece in pieces(turn.text))]
    reason = stop_reason(turn)
    if turn.calls:
        raw = ", ".join(f"{call.name}({call.arguments})" for call in turn.calls)
        events += written(f"[{raw}]", pieces)
        events += [call_delta("succeeded", tool_call(call), reason=reason) for call in turn.calls]
    return [*events, event("complete", reason=reason, metrics=metrics(turn.tokens))]


def stream(events: Iterable[JSON]) -> bytes:
    """Return events as a stream, which has no end marker."""
    return b"".join(map(sse, events))


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream."""
    return stream(payloads(turn, pieces))
