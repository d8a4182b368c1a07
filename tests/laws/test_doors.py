"""Laws of the doors: the request decides how the answer is read, whatever type the answer declares."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import httpx
import pytest

from tests.support import share
from tests.support.agent_streams import PATHS
from tests.support.conforming import claude
from tests.support.proxying import Client, Reply, Scripted, run
from tests.support.together import together
from wholecall.asgi import AnswerEnded, RepairMiddleware
from wholecall.transport import Counters, RepairTransport

TYPES = [
    *("text/event-stream", "text/event-stream, text/event-stream", "Text/Event-Stream; charset=utf-8", ""),
    *("application/json", "application/x-ndjson", "application/octet-stream", "text/plain", "text/html", "x"),
]
STATUSES = [200, 201, 202, 206, 299]
CODINGS = ["", "identity", "utf-8", "aws-chunked", "binary", "none"]
PREFIXES = [
    *(
        b"",
        b": hi\n\n",
        b"\xef\xbb\xbf",
        b"event: x\n\n",
        b"hello\n\n",
        b"<html></html>\n\n",
        b'{"a": 1}\n',
        b"[1]\n\n",
    ),
    *(
        b"data: null\n\n",
        b"data: [1]\n\n",
        b'data: {"x": 1}\n\n',
        b'data: {"message": {"content": "Hi"}, "done": false}\n\n',
        b"data: hi\n\n",
    ),
    b'data: {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}\n\n',
    b'data: {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}\n\n',
    b'data: {"type": "response.created", "sequence_number": 0, "response": {"id": "r"}}\n\n',
    b'data: {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n',
]


def _events(*payloads: dict[str, Any]) -> list[bytes]:
    named = [b"event: " + each["type"].encode() + b"\n" if "type" in each else b"" for each in payloads]
    return [
        name + b"data: " + json.dumps(each).encode() + b"\n\n"
        for name, each in zip(named, payloads, strict=True)
    ]


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def stream(dialect: str, arguments: str) -> bytes:
    """Return a stream with one call."""
    function = {"name": "f", "arguments": arguments}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f"}
    done = {**item, "arguments": arguments, "status": "completed"}
    at = {"output_index": 0, "item_id": "fc_1"}
    message = claude([], None)
    block = {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}
    response = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": []}
    numbered = [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", **at, "delta": arguments},
        {"type": "response.function_call_arguments.done", **at, "arguments": arguments},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [done]}},
    ]
    found = {
        "chat-completions": [
            *_events(_chunk({"role": "assistant", "content": None, "tool_calls": [call]})),
            *_events(_chunk({}, "tool_calls")),
            b"data: [DONE]\n\n",
        ],
        "anthropic": _events(
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": arguments},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ),
        "responses": _events(*({**each, "sequence_number": n} for n, each in enumerate(numbered))),
    }
    return b"".join(found[dialect])


class Came(NamedTuple):
    """A client's answer, and the report about it."""

    body: bytes
    is_unread: bool
    is_error: bool


def _headers(kind: str, coding: str) -> list[tuple[bytes, bytes]]:
    told = [(b"content-type", kind), (b"content-encoding", coding)]
    return [(name, value.encode()) for name, value in told if value]


def through_proxy(path: str, status: int, kind: str, coding: str, body: bytes) -> Came:
    """Return the proxy's output."""
    client = Client(path, b'{"stream": true}')
    _, entry = run(client, Scripted(Reply([body], status, _headers(kind, coding))))
    return Came(client.body, entry.outcome == "unread", entry.error is not None)


def through_middleware(path: str, status: int, kind: str, coding: str, body: bytes) -> Came:
    """Return the ASGI middleware's output."""
    sent: list[Any] = []
    counters = Counters()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": _headers(kind, coding)})
        await send({"type": "http.response.body", "body": body})

    async def send(message: Any) -> None:
        sent.append(message)

    async def go() -> None:
        scope = {"type": "http", "method": "POST", "path": path, "headers": []}
        await RepairMiddleware(app, counters=counters)(scope, asyncio.Event().wait, send)  # type: ignore[arg-type]

    with suppress(AnswerEnded):
        asyncio.run(go())
    got = b"".join(message.get("body", b"") for message in sent)
    return Came(got, counters.n_unread > 0, counters.n_failed > 0)


def through_transport(path: str, status: int, kind: str, coding: str, body: bytes) -> Came:
    """Return the httpx transport's output."""

    class Chunks(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield body

    counters = Counters()
    headers = _headers(kind, coding)
    inner = httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, stream=Chunks()))
    pieces: list[bytes] = []
    with (
        httpx.Client(transport=RepairTransport(inner, counters=counters)) as client,
        suppress(httpx.HTTPError),
        client.stream("POST", f"http://up{path}", json={"stream": True}) as response,
    ):
        pieces.extend(response.iter_bytes())
    return Came(b"".join(pieces), counters.n_unread > 0, counters.n_failed > 0)


Door = Callable[[str, int, str, str, bytes], Came]
DOORS: list[Door] = [through_proxy, through_middleware, through_transport]


@share.in_parts(37)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("door", DOORS)
def test_a_broken_stream_is_no_success_under_any_label(door: Door, dialect: str, part: share.Part) -> None:
    """A cut call is an error, for any type, status or coding of the answer."""
    broken = stream(dialect, '{"a": ')
    labels = part.of(product(STATUSES, TYPES, CODINGS), dialect)
    passed = [label for label in labels if not door(PATHS[dialect], *label, broken).is_error]
    unseen = [label for label in passed if not door(PATHS[dialect], *label, broken).is_unread]

    # Anthropic's cut calls end the turn with `max_tokens`: mended, which is neither.
    mended = labels if dialect == "anthropic" else []
    assert mended == passed == unseen
    assert [] == [
        label for label in passed if b'"partial_json": "{' in door(PATHS[dialect], *label, broken).body
    ]


@together("dialect", PATHS, one_in=6)
@together("door", DOORS)
def test_a_foreign_beginning_hides_no_stream(door: Door, dialect: str) -> None:
    """After any prefix, a cut call is not emitted; other APIs' frames, JSON and text included."""
    broken = stream(dialect, '{"a": ')
    labels = [(200, kind, "") for kind in ("text/event-stream", "application/x-ndjson", "")]
    found = [
        (prefix, label)
        for prefix, label in product(PREFIXES, labels)
        if not (came := door(PATHS[dialect], *label, prefix + broken)).is_error
        and not came.is_unread
        and broken in came.body
    ]

    assert [] == found


@share.in_parts(19)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("door", DOORS)
def test_a_healthy_stream_passes_under_any_label(door: Door, dialect: str, part: share.Part) -> None:
    """Byte for byte, without a report."""
    healthy = stream(dialect, '{"a": 1}')
    labels = part.of(product(STATUSES, TYPES, CODINGS), dialect)

    assert [Came(healthy, False, False)] * len(labels) == [
        door(PATHS[dialect], *label, healthy) for label in labels
    ]


@together("door", DOORS)
@together(
    "body",
    [
        *(
            b"<html></html>",
            b"hello",
            b"\x89PNG\r\n\n\n\x00",
            b'data: {"message": {"content": "Hi"}, "done": false}\n\n',
            b"[1]",
            b'{"x": 1}',
        ),
        b'data: {"x": 1}\n\ndata: {"y": 1}\n\n',
    ],
)
def test_what_nobody_can_read_passes_and_is_called_unread(door: Door, body: bytes) -> None:
    """It passes unchanged, and no log claims a judgement; where events were promised, no events may be an error."""
    found = [door(PATHS["chat-completions"], 200, kind, "", body) for kind in TYPES]

    assert [body] * len(TYPES) == [came.body for came in found]
    assert [True] * len(TYPES) == [came.is_unread != came.is_error for came in found]
