"""Render abstract turns as Cohere sends them: chat version 2, and version 1.

Written from Cohere's API reference; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, json_lines, members, sse, typed_sse, whole

_V2_REASONS = {None: "COMPLETE", "length": "MAX_TOKENS"}


def usage(tokens: int) -> JSON:
    """Return the counts of a response."""
    return {
        "billed_units": {"input_tokens": 62, "output_tokens": tokens},
        "tokens": {"input_tokens": 968, "output_tokens": tokens + 55},
    }


# Version 2


def event(kind: str, message: Any = ABSENT, *, index: Any = ABSENT, **more: Any) -> JSON:
    """Return one event; `message` goes into its delta."""
    delta = ABSENT if message is ABSENT else {"message": message}
    return members(type=kind, index=index, delta=delta) | more


def message_start(id: str) -> JSON:
    """Return the first event."""
    empty: JSON = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    return {"id": id} | event("message-start", empty)


def message_end(reason: Any = "TOOL_CALL", tokens: int = 9, **more: Any) -> JSON:
    """Return the last event."""
    return {"type": "message-end", "delta": {"finish_reason": reason, "usage": usage(tokens)} | more}


def plan(text: str) -> JSON:
    """Return a piece of the plan."""
    return event("tool-plan-delta", {"tool_plan": text})


def call_start(index: Any, id: Any, name: Any, arguments: Any = "") -> JSON:
    """Return the start of a call."""
    function = {"name": name, "arguments": arguments}
    return event(
        "tool-call-start", {"tool_calls": {"id": id, "type": "function", "function": function}}, index=index
    )


def call_delta(index: Any, text: Any) -> JSON:
    """Return a piece of the arguments."""
    return event("tool-call-delta", {"tool_calls": {"function": {"arguments": text}}}, index=index)


def call_payloads(index: Any, call: Call, pieces: Pieces = whole, *, ended: bool = True) -> list[JSON]:
    """Return the events of one call; an empty text has no delta."""
    deltas = [call_delta(index, piece) for piece in pieces(call.arguments)]
    end = [event("tool-call-end", index=index)] if ended else []
    return [call_start(index, call.id, call.name), *deltas, *end]


def content_delta(index: int, text: str, member: str = "text") -> JSON:
    """Return a piece of the content."""
    return event("content-delta", {"content": {member: text}}, index=index)


def content(index: int, text: str, pieces: Pieces = whole, member: str = "text") -> list[JSON]:
    """Return the events of one content block."""
    start = event("content-start", {"content": {"type": member, member: ""}}, index=index)
    deltas = [content_delta(index, piece, member) for piece in pieces(text)]
    return [start, *deltas, event("content-end", index=index)]


def v2_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn; with calls its text is the plan."""
    payloads = [message_start(turn.id)]
    if turn.reasoning:
        payloads += content(0, turn.reasoning, pieces, "thinking")
    if turn.calls:
        payloads += [plan(piece) for piece in pieces(turn.text)]
    elif turn.text:
        payloads += content(0, turn.text, pieces)
    for index, call in enumerate(turn.calls):
        payloads += call_payloads(index, call, pieces)
    return [*payloads, message_end(_reason_v2(turn), turn.tokens)]


def _reason_v2(turn: Turn) -> str:
    return "TOOL_CALL" if turn.calls and turn.stopped is None else _V2_REASONS[turn.stopped]


def stream_v2(payloads: list[JSON], *, done: bool = True) -> bytes:
    """Return events as a stream."""
    return typed_sse(payloads) + (sse("[DONE]") if done else b"")


def render_v2(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of version 2."""
    return stream_v2(v2_payloads(turn, pieces))


# Version 1


def _line(kind: str, *, finished: bool = False, **more: Any) -> JSON:
    return {"is_finished": finished, "event_type": kind} | more


def stream_start(id: str) -> JSON:
    """Return the first line."""
    return _line("stream-start", generation_id=id)


def spoken(text: str) -> JSON:
    """Return a piece of text."""
    return _line("text-generation", text=text)


def chunk(index: Any = ABSENT, *, name: Any = ABSENT, text: Any = ABSENT, plan: Any = ABSENT) -> JSON:
    """Return a piece of a call, or of the plan."""
    delta = members(index=index, name=name, parameters=text)
    return _line("tool-calls-chunk", **members(text=plan, tool_call_delta=delta or ABSENT))


def objects(calls: list[Call]) -> list[JSON]:
    """Return the calls as they are repeated."""
    return [{"name": call.name, "parameters": json.loads(call.arguments)} for call in calls]


def generation(calls: list[Call], text: Any = ABSENT) -> JSON:
    """Return the line with all calls."""
    return _line("tool-calls-generation", **members(text=text), tool_calls=objects(calls))


def answer(id: str, text: str, calls: list[Call], tokens: int, reason: Any) -> JSON:
    """Return the whole response, as the last line and as bodies hold it."""
    meta = {"api_version": {"version": "1"}} | usage(tokens)
    about: JSON = {"response_id": f"{id}-response", "text": text, "generation_id": id, "chat_history": []}
    return about | members(finish_reason=reason, meta=meta, tool_calls=objects(calls) if calls else ABSENT)


def stream_end(
    id: str, text: str = "", calls: list[Call] | None = None, reason: str = "COMPLETE", tokens: int = 9
) -> JSON:
    """Return the last line."""
    response = answer(id, text, calls or [], tokens, reason)
    return _line("stream-end", finished=True, finish_reason=reason, response=response)


def v1_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the lines of a turn; with calls its text is the plan."""
    calls = list(turn.calls)
    payloads = [stream_start(turn.id)]
    payloads += [chunk(plan=piece) if calls else spoken(piece) for piece in pieces(turn.text)]
    for index, call in enumerate(calls):
        payloads.append(chunk(index, name=call.name))
        payloads += [chunk(index, text=piece) for piece in pieces(call.arguments)]
    if calls:
        payloads.append(generation(calls, turn.text))
    return [*payloads, stream_end(turn.id, turn.text, calls, _reason_v1(turn), turn.tokens)]


def _reason_v1(turn: Turn) -> str:
    return "MAX_TOKENS" if turn.stopped else "COMPLETE"


def render_v1(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of version 1."""
    return json_lines(v1_payloads(turn, pieces))
