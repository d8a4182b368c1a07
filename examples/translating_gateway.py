"""A gateway that serves Anthropic's Messages from a server of Chat Completions.

    UPSTREAM=http://127.0.0.1:8000 uvicorn --app-dir examples translating_gateway:app --port 8001
    ANTHROPIC_BASE_URL=http://127.0.0.1:8001 claude

Each request is said in the server's words, and its answer in the client's: text as it comes, calls whole or not at all.
A request that cannot be said is refused by its member's name; members without an equal are named in a header. The proxy
does the same with keys, timeouts and a log: `wholecall proxy --serve anthropic --upstream chat=URL`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from wholecall.translation import AnswerTranslator, Untranslatable, translate_error, translate_request

CLIENT, SERVER = "anthropic", "chat-completions"
_JSON = "application/json"


async def translated(answer: httpx2.Response, translator: AnswerTranslator) -> AsyncGenerator[bytes]:
    """Yield an answer in the client's words; a lost connection ends it with an error."""
    try:
        async for data in answer.aiter_bytes():
            yield translator.feed(data)
    except httpx2.TransportError:
        yield translator.fail("upstream_lost", "the connection to the server was lost")
    finally:
        await answer.aclose()
    yield translator.close()


async def messages(request: Request) -> Response:
    """Ask the server, and answer in the client's words."""
    try:
        asked = translate_request(await request.body(), CLIENT, SERVER)
    except Untranslatable as error:
        return Response(translate_error(str(error).encode(), 400, CLIENT), 400, media_type=_JSON)
    http: httpx2.AsyncClient = request.app.state.http
    headers = {"content-type": _JSON, "authorization": f"Bearer {request.headers.get('x-api-key', '')}"}
    sent = http.build_request("POST", "/v1/chat/completions", content=asked.body, headers=headers)
    answer = await http.send(sent, stream=True)
    if answer.is_error:
        body = translate_error(await answer.aread(), answer.status_code, CLIENT)
        return Response(body, answer.status_code, media_type=_JSON)
    translator = AnswerTranslator(SERVER, CLIENT, stream=asked.is_stream, model=asked.model)
    note = {"x-left-out": ", ".join(asked.left_out)} if asked.left_out else {}
    kind = "text/event-stream" if asked.is_stream else _JSON
    return StreamingResponse(translated(answer, translator), headers=note, media_type=kind)


def gateway(upstream: str) -> Starlette:
    """Return the application that asks a server."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        http = httpx2.AsyncClient(base_url=upstream, timeout=300)
        async with http:
            app.state.http = http
            yield

    return Starlette(routes=[Route("/v1/messages", messages, methods=["POST"])], lifespan=lifespan)


app = gateway(os.environ.get("UPSTREAM", "http://127.0.0.1:8000"))
