"""Answers of Chat Completions, as a good server sends them."""

from __future__ import annotations

from random import Random
from typing import Any

from wholecall.grading.probe.reading.model import member
from wholecall.grading.probe.selftest.script import Script, Scripted

Payload = dict[str, Any]
_REASONS = {"calls": "tool_calls", "stop": "stop", "length": "length"}


def frames(script: Script, random: Random) -> list[Payload]:
    """Return the chunks of a stream."""
    found = [_chunk(script, {"role": "assistant", "content": "" if random.random() < 0.7 else None})]
    found += [_chunk(script, {"content": text}) for text in script.texts]
    for index, call in enumerate(script.calls):
        found += _fragments(script, index, call, random)
    found.append(_chunk(script, {}, _REASONS[script.ended]))
    if member(script.request, "stream_options").get("include_usage") is True:
        found = [{**chunk, "usage": None} for chunk in found] if random.random() < 0.5 else found
        found.append({**_head(script, "chat.completion.chunk"), "choices": [], "usage": usage(script)})
    return found


def _fragments(script: Script, index: int, call: Scripted, random: Random) -> list[Payload]:
    pieces = call.pieces
    first, rest = (pieces[0], pieces[1:]) if pieces and random.random() < 0.3 else ("", pieces)
    head = {
        "index": index,
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": first},
    }
    tails = [{"index": index, "function": {"arguments": piece}} for piece in rest]
    return [_chunk(script, {"tool_calls": [each]}) for each in (head, *tails)]


def _head(script: Script, kind: str) -> Payload:
    return {"id": script.id, "object": kind, "created": script.created, "model": script.model}


def _chunk(script: Script, delta: Payload, reason: str | None = None) -> Payload:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return {**_head(script, "chat.completion.chunk"), "choices": [choice]}


def usage(script: Script) -> Payload:
    """Return the token counts."""
    given, made = script.tokens
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def body(script: Script) -> Payload:
    """Return a whole completion."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text}}
        for call in script.calls
    ]
    message: Payload = {"role": "assistant", "content": "".join(script.texts) or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _REASONS[script.ended]}
    return {**_head(script, "chat.completion"), "choices": [choice], "usage": usage(script)}


def error(message: str) -> Payload:
    """Return the body of a refusal."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
