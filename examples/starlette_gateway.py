"""A gateway for Chat Completions, Responses and Messages: it forwards requests, and returns strict streams.

    UPSTREAM=https://api.example uvicorn --app-dir examples starlette_gateway:app

Clients in any language point their base URL at it. Text passes as it comes; only whole calls pass. Withheld calls go to
a log, under the id that the client finds in `x-wholecall-id`. A turn without any whole call ends with an error frame,
and then as a broken connection: the exception that the server logs for it is intended.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

import wholecall.transport
from wholecall import ToolCallDropped
from wholecall.transport import Exchange

log = logging.getLogger("gateway")

# Headers of the connection, not of the message; and headers that describe the upstream bytes only, which are decoded
# and repaired here.
_HOP = frozenset({"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})
_NOT_ASKED = _HOP | {"host", "content-length", "accept-encoding"}
_NOT_ANSWERED = _HOP | {"content-length", "content-encoding"}


def withheld(call: ToolCallDropped, exchange: Exchange) -> None:
    """Log a call that was not handed on: its name and the reason, never its text."""
    log.warning("%s: withheld a call of %s: %s", exchange.id, call.name, call.reason)


async def forward(request: Request) -> StreamingResponse:
    """Send a request upstream, and stream the repaired answer back; a client that leaves closes both."""
    http = request.app.state.http
    headers = [(name, value) for name, value in request.headers.items() if name not in _NOT_ASKED]
    asked = http.build_request(
        request.method,
        request.app.state.upstream + request.url.path,
        content=await request.body(),
        headers=headers,
    )
    response = await http.send(asked, stream=True)
    kept = {name: value for name, value in response.headers.items() if name not in _NOT_ANSWERED}
    close = BackgroundTask(response.aclose)
    return StreamingResponse(response.aiter_bytes(), response.status_code, kept, background=close)


def gateway(upstream: str) -> Starlette:
    """Return the application that forwards to a server."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with wholecall.transport.async_client(on_dropped=withheld, timeout=300) as http:
            app.state.http, app.state.upstream = http, upstream
            yield

    paths = ("/v1/chat/completions", "/v1/responses", "/v1/messages")
    return Starlette(routes=[Route(path, forward, methods=["POST"]) for path in paths], lifespan=lifespan)


app = gateway(os.environ.get("UPSTREAM", "http://127.0.0.1:8000"))
