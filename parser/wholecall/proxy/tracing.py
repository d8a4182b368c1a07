"""A span of OpenTelemetry for each request to the proxy and each WebSocket, of which the events of its calls are.

Theory of operation. Nothing instruments an application that a program runs by itself: the proxy begins the span, below
that of the client if its headers name one. Only OpenTelemetry's API is used. The query never leaves, because it may hold
a key, and neither does what an exception says.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from typing import Any

_private = True

_SWITCHING = 101
_STATUS_AT = {
    "http": ("http.response.start",),
    "websocket": ("websocket.accept", "websocket.http.response.start"),
}
Application = Callable[[Any, Any, Any], Awaitable[None]]


def traced(app: Application, provider: Any = None) -> Application:
    """Return an application that runs within a span for each request, and for each WebSocket.

    Args:
        app: an ASGI application.
        provider: whose tracer is used; OpenTelemetry's own one by default.

    Raises:
        ImportError: the extra `otel` is not installed.
    """
    propagate = importlib.import_module("opentelemetry.propagate")
    trace = importlib.import_module("opentelemetry.trace")
    tracer = trace.get_tracer("wholecall", tracer_provider=provider)

    async def within(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in _STATUS_AT:
            await app(scope, receive, send)
            return
        before = propagate.extract(
            {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        )
        method = scope.get("method", "GET")  # a handshake is one
        about = {"http.request.method": method, "url.path": scope["path"]}
        told = {"kind": trace.SpanKind.SERVER, "record_exception": False, "set_status_on_exception": False}
        with tracer.start_as_current_span(method, before, attributes=about, **told) as span:

            async def noted(message: Any) -> None:
                if message["type"] in _STATUS_AT[scope["type"]]:
                    span.set_attribute("http.response.status_code", message.get("status", _SWITCHING))
                await send(message)

            await app(scope, receive, noted)

    return within
