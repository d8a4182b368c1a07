"""Render abstract turns as Gemini sends them: `generateContent`, streamed. Knows nothing of wholecall.

Written from the reference of the Gemini API ("Generating content") and of Vertex AI ("Function calling",
streamed function call arguments).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, json_array, members, sse, whole


def usage(prompt: int, candidates: int, thoughts: int = 0) -> JSON:
    """Return `usageMetadata`."""
    counts = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": candidates,
        "totalTokenCount": prompt + candidates + thoughts,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    }
    return counts | ({"thoughtsTokenCount": thoughts} if thoughts else {})


def frame(
    *parts: JSON,
    reason: str | None = None,
    index: Any = 0,
    id: str = "turn-1",
    model: str = "gemini-2.5-flash",
    tokens: int = 12,
    **candidate: Any,
) -> JSON:
    """Return one response with one candidate; `candidate` adds members to it."""
    content: JSON = {"role": "model"} | ({"parts": list(parts)} if parts else {})
    found = members(content=content, finishReason=reason or ABSENT, index=index) | candidate
    return {
        "candidates": [found],
        "usageMetadata": usage(84, tokens),
        "modelVersion": model,
        "responseId": id,
    }


def call_part(call: Call, **part: Any) -> JSON:
    """Return a part with a whole call; its arguments must be valid JSON."""
    return {"functionCall": {"name": call.name, "args": json.loads(call.arguments), "id": call.id}} | part


def patch(path: str, value: Any, *, more: bool = False) -> JSON:
    """Return one value at a path."""
    kind = {str: "stringValue", bool: "boolValue", type(None): "nullValue"}.get(type(value), "numberValue")
    found = {"jsonPath": path, kind: "NULL_VALUE" if value is None else value}
    return found | ({"willContinue": True} if more else {})


def _leaves(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    """Yield each leaf with its path; an empty container is a leaf that no patch can write."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            quoted = key.replace("\\", "\\\\").replace("'", "\\'")
            plain = key.isascii() and key.isidentifier()
            yield from _leaves(inner, f"{path}.{key}" if plain else f"{path}['{quoted}']")
    elif isinstance(value, list) and value:
        for position, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{position}]")
    else:
        yield path, value


def _patches(path: str, value: Any, pieces: Pieces) -> list[JSON]:
    """Return the patches of a leaf: a string in pieces that will continue, then an empty one."""
    if not isinstance(value, str):
        return [patch(path, value)]
    return [*(patch(path, piece, more=True) for piece in pieces(value)), patch(path, "")]


def streamed_frames(call: Call, pieces: Pieces = whole, **about: Any) -> list[JSON]:
    """Return the frames of a call whose arguments are streamed; a whole one where patches cannot say it."""
    arguments = json.loads(call.arguments)
    leaves = list(_leaves(arguments)) if arguments else []
    if any(isinstance(value, (dict, list)) for _, value in leaves):
        return [frame(call_part(call), **about)]
    start = {"functionCall": {"name": call.name, "id": call.id, "willContinue": True}}
    patches = [found for path, value in leaves for found in _patches(path, value, pieces)]
    middle = [{"functionCall": {"partialArgs": [found], "willContinue": True}} for found in patches]
    return [frame(part, **about) for part in (start, *middle, {"functionCall": {}})]


def _reason(turn: Turn) -> str:
    return {"length": "MAX_TOKENS", None: "STOP"}.get(turn.stopped) or str(turn.stopped)


def payloads(turn: Turn, pieces: Pieces = whole, *, streamed: bool = False) -> list[JSON]:
    """Return the frames of a turn: thoughts, text, calls, an empty part with the reason."""
    about: JSON = {"id": turn.id, "model": turn.model}
    frames = [frame({"text": piece, "thought": True}, **about) for piece in pieces(turn.reasoning)]
    frames += [frame({"text": piece}, **about) for piece in pieces(turn.text)]
    for call in turn.calls:
        frames += streamed_frames(call, pieces, **about) if streamed else [frame(call_part(call), **about)]
    return [*frames, frame({"text": ""}, reason=_reason(turn), tokens=turn.tokens, **about)]


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as server-sent events (`alt=sse`), whose lines end in CRLF."""
    return b"".join(sse(payload, newline=b"\r\n") for payload in payloads(turn, pieces))


def render_array(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as one JSON array, an element per frame."""
    return json_array(payloads(turn, pieces))


def render_streamed(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn whose arguments are streamed as values at paths."""
    return b"".join(sse(payload, newline=b"\r\n") for payload in payloads(turn, pieces, streamed=True))
