"""A span for each request to the proxy and each WebSocket, with the SDK's exporter in memory."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.support.proxying import Client
from wholecall.proxy.tracing import traced

TRACE = "0af7651916cd43dd8448eb211c80319c"
SECRET = "a secret"


async def answering(_: Any, __: Any, send: Any) -> None:
    """Answer 200, with an event of the current span before it."""
    trace.get_current_span().add_event("gen_ai.tool_call.dropped")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def failing(_: Any, __: Any, ___: Any) -> None:
    """Fail, with a text that must not leave."""
    raise ValueError(SECRET)


def spans(app: Any, client: Client) -> list[ReadableSpan]:
    """Return the spans of a request."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with suppress(ValueError):
        asyncio.run(traced(app, provider)(client.scope, client.receive, client.send))
    return list(exporter.get_finished_spans())


def test_events_are_of_a_span_below_the_clients() -> None:
    """It tells the method, the path and the status; it is in the trace that the client's headers name."""
    headers = [(b"traceparent", f"00-{TRACE}-b7ad6b7169203331-01".encode())]
    client = Client(headers=headers, query=b"key=" + SECRET.encode())
    (span,) = spans(answering, client)

    assert ("POST", trace.SpanKind.SERVER, int(TRACE, 16)) == (span.name, span.kind, span.context.trace_id)
    assert ["gen_ai.tool_call.dropped"] == [event.name for event in span.events]
    assert {
        "http.request.method": "POST",
        "url.path": "/v1/chat/completions",
        "http.response.status_code": 200,
    } == dict(span.attributes or {})
    assert 200 == client.status


@pytest.mark.parametrize("app", [answering, failing])
def test_no_secret_leaves(app: Any) -> None:
    """Neither the query, which may hold a key, nor what an exception says is told."""
    (span,) = spans(app, Client(query=b"key=" + SECRET.encode()))

    assert SECRET not in span.to_json()


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ({"type": "websocket.accept"}, 101),
        ({"type": "websocket.http.response.start", "status": 403, "headers": []}, 403),
    ],
)
def test_a_websocket_has_a_span(message: dict[str, Any], status: int) -> None:
    """It tells how the handshake was answered, and holds the events of the whole session."""

    async def session(_: Any, __: Any, send: Any) -> None:
        await send(message)
        trace.get_current_span().add_event("gen_ai.tool_call.dropped")

    async def unread(_: Any) -> None:
        return

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    scope = {"type": "websocket", "path": "/v1/realtime", "headers": []}
    asyncio.run(traced(session, provider)(scope, None, unread))
    (span,) = exporter.get_finished_spans()

    assert ("GET", 1) == (span.name, len(span.events))
    assert {
        "http.request.method": "GET",
        "url.path": "/v1/realtime",
        "http.response.status_code": status,
    } == dict(span.attributes or {})


def test_other_scopes_have_no_span() -> None:
    """Only requests of HTTP and WebSockets have one."""
    client = Client()
    client.scope["type"] = "lifespan"

    assert [] == spans(answering, client)
