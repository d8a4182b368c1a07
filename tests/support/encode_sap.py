"""Render abstract turns as the orchestration service of SAP AI Core sends them.

Written from its documentation and from SAP's SDK; knows nothing of wholecall.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.support.encode import JSON, Pieces, Turn, chat_chunk, chat_payloads, done, sse, whole

REQUEST = "0b7c9a1e-53d2-4c4f-9c0e-7f1d2a6b8e44"


def result(chunk: JSON) -> JSON:
    """Return the chain's output for a chunk of its model."""
    return {"request_id": REQUEST, "intermediate_results": {"llm": chunk}, "final_result": chunk}


def first() -> JSON:
    """Return the result that reports the templated request; its chunk is blank."""
    told = {"templating": [{"role": "user", "content": "Which tide?"}]}
    blank = chat_chunk({"role": "", "content": ""}, finish="", id="", model="", created=0)
    return {"request_id": REQUEST, "intermediate_results": told, "final_result": blank}


def stream(payloads: Iterable[JSON]) -> bytes:
    """Return results as a stream."""
    return b"".join(sse(payload) for payload in payloads) + done()


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of results."""
    return stream([first(), *map(result, chat_payloads(turn, pieces))])
