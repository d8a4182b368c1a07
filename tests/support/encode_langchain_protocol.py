"""Render abstract turns as LangChain's content-block protocol sends them.

Written from the protocol's schema and LangChain's reference; knows nothing of wholecall.
"""

# ruff: noqa: A002 - ids are called so on the wire
from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, compact, members, sse, whole

_WHEN = 1_770_000_000_000


def envelope(
    data: Any,
    *,
    namespace: Sequence[str] = (),
    node: Any = "model",
    method: str = "messages",
    seq: Any = ABSENT,
) -> JSON:
    """Return an event as a server sends it."""
    params = {"namespace": list(namespace), "timestamp": _WHEN} | members(node=node) | {"data": data}
    return {"type": "event"} | members(seq=seq) | {"method": method, "params": params}


def message_start(id: Any = ABSENT, *, role: str = "ai", model: str | None = None, **more: Any) -> JSON:
    """Return the start of a message."""
    about = {} if model is None else {"metadata": {"provider": "anthropic", "model": model}}
    return {"event": "message-start", "role": role} | members(id=id) | about | more


def message_finish(reason: str | None = None, tokens: int = 9, **more: Any) -> JSON:
    """Return the end of a message; servers put the provider's reason into its metadata."""
    usage = {"input_tokens": 71, "output_tokens": tokens, "total_tokens": 71 + tokens}
    told = {} if reason is None else {"metadata": {"finish_reason": reason, "model_provider": "openai"}}
    return {"event": "message-finish", "usage": usage} | told | more


def error(message: str, code: Any = ABSENT) -> JSON:
    """Return the end of a message whose model call failed."""
    return {"event": "error", "message": message} | members(code=code)


def block_start(index: int, content: JSON) -> JSON:
    """Return the start of a block."""
    return {"event": "content-block-start", "index": index, "content": content}


def block_delta(index: int, delta: JSON) -> JSON:
    """Return a delta of a block."""
    return {"event": "content-block-delta", "index": index, "delta": delta}


def block_finish(index: int, content: JSON) -> JSON:
    """Return the finish of a block."""
    return {"event": "content-block-finish", "index": index, "content": content}


def text_block(index: int, pieces: Iterable[str], kind: str = "text", **more: Any) -> list[JSON]:
    """Return the life of a block of text or reasoning, its finish last."""
    texts = list(pieces)
    deltas = [block_delta(index, {"type": f"{kind}-delta", kind: text}) for text in texts]
    finish = block_finish(index, {"type": kind, kind: "".join(texts)} | more)
    return [block_start(index, {"type": kind, kind: ""}), *deltas, finish]


def call_chunk(id: Any, name: Any, args: Any = "", type: str = "tool_call_chunk") -> JSON:
    """Return a call that is not finished."""
    return {"type": type, "id": id, "name": name, "args": args}


def snapshot(index: int, id: Any, name: Any, args: str, type: str = "tool_call_chunk") -> JSON:
    """Return a delta with all of a call so far."""
    return block_delta(index, {"type": "block-delta", "fields": call_chunk(id, name, args, type)})


def piece(index: int, args: str) -> JSON:
    """Return a delta with the next piece of a call's text."""
    return block_delta(index, {"type": "tool-call-delta", "args": args})


def finished_call(call: Call, type: str = "tool_call") -> JSON:
    """Return a call as its finish has it: read, or not."""
    if type == "invalid_tool_call":
        told: JSON = {"args": call.arguments, "error": "Failed to parse tool call arguments as JSON"}
    else:
        told = {"args": json.loads(call.arguments or "{}")}
    return {"type": type, "id": call.id, "name": call.name} | told


def call_blocks(
    index: int, call: Call, pieces: Pieces = whole, *, sliced: bool = False, type: str = "tool_call"
) -> list[JSON]:
    """Return the life of a call, its finish last; with `sliced` each delta holds only new text."""
    chunk = "server_tool_call_chunk" if type == "server_tool_call" else "tool_call_chunk"
    deltas, text = [], ""
    for new in pieces(call.arguments):
        text += new
        told = piece(index, new) if sliced else snapshot(index, call.id, call.name, text, chunk)
        deltas.append(told)
    start = block_start(index, call_chunk(call.id, call.name, "", chunk))
    return [start, *deltas, block_finish(index, finished_call(call, type))]


def in_order(*blocks: list[JSON]) -> list[JSON]:
    """Return blocks one after another, and their finishes all at the end, as bridges of old models have it."""
    return [event for block in blocks for event in block[:-1]] + [block[-1] for block in blocks]


def message_data(turn: Turn, pieces: Pieces = whole, *, sliced: bool = False) -> list[JSON]:
    """Return the events of a message."""
    blocks: list[list[JSON]] = []
    if turn.reasoning:
        blocks.append(text_block(0, pieces(turn.reasoning), "reasoning"))
    if turn.text:
        blocks.append(text_block(len(blocks), pieces(turn.text)))
    for call in turn.calls:
        blocks.append(call_blocks(len(blocks), call, pieces, sliced=sliced))
    reason = turn.stopped or ("tool_calls" if turn.calls else "stop")
    start = message_start(f"lc_run--{turn.id}", model=turn.model)
    return [start, *in_order(*blocks), message_finish(reason, turn.tokens)]


def stream(payloads: Iterable[JSON]) -> bytes:
    """Return events as a stream: each has a number, and its method as its name."""
    numbered = [
        {"type": "event", "event_id": f"evt_{seq}", "seq": seq}
        | {name: value for name, value in payload.items() if name != "type"}
        for seq, payload in enumerate(payloads)
    ]
    return b"".join(
        f"id: {payload['event_id']}\nevent: {payload['method']}\ndata: {compact(payload)}\n\n".encode()
        for payload in numbered
    )


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as an agent server streams it: a run with one message."""
    begun = envelope({"event": "running", "graph_name": "agent"}, node=ABSENT, method="lifecycle")
    ended = envelope({"event": "completed", "graph_name": "agent"}, node=ABSENT, method="lifecycle")
    messages = [envelope(data) for data in message_data(turn, pieces)]
    return stream([begun, *messages, ended])


def render_bare(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a model's own events, without envelopes, with the pieces of arguments only."""
    return b"".join(sse(data) for data in message_data(turn, pieces, sliced=True))
