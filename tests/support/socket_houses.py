"""A running proxy and an upstream with WebSockets, in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import aiohttp
from aiohttp import web

from tests.support.houses import House
from wholecall.proxy.config import Config, UpstreamConfig

ValueT = TypeVar("ValueT")
Talk = Callable[["Line"], Awaitable[object]]


class Line:
    """A WebSocket that reaches the upstream.

    Attributes:
        request: its handshake.
        socket: the upstream's end.
    """

    def __init__(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        self.request = request
        self.socket = socket

    async def hear(self) -> Any:
        """Return the next message of the proxy, or its close code."""
        message = await self.socket.receive()
        return heard(message, self.socket.close_code)

    def reset(self) -> None:
        """Abort the connection."""
        assert self.request.transport is not None
        self.request.transport.abort()


def heard(message: aiohttp.WSMessage, code: int | None) -> Any:
    """Return the text or the bytes of a message, or the close code."""
    is_data = message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)
    return message.data if is_data else code


class SocketHouse:
    """A house with an upstream that has WebSockets.

    Attributes:
        house: the proxy.
        lines: the WebSockets that have reached the upstream.
        handshakes: the requests that have reached it.
    """

    def __init__(self, house: House) -> None:
        self.house = house
        self.lines: list[Line] = []
        self.handshakes: list[web.Request] = []
        self.refusal: web.Response | None = None
        self.protocols: tuple[str, ...] = ()
        self._talk: Talk | None = None

    def play(
        self,
        test: Callable[[], Coroutine[Any, Any, ValueT]],
        talk: Talk | None = None,
        **changes: Any,
    ) -> ValueT:
        """Run a test beside the upstream, which talks so."""
        self.lines, self.handshakes, self._talk = [], [], talk
        one = changes.pop("upstream", {})

        async def go() -> ValueT:
            async with self._serving() as url:
                self.house.process.app.reload(self._config(url, one, changes))
                return await test()

        return self.house.play(go)

    def _config(self, url: str, one: dict[str, Any], changes: dict[str, Any]) -> Config:
        return self.house.config(
            **{"upstreams": (UpstreamConfig(**{"url": url, "name": "up", **one}),), **changes}
        )

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._met)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await self.house.process.app.until_idle()
            await runner.cleanup()

    async def _met(self, request: web.Request) -> web.StreamResponse:
        self.handshakes.append(request)
        if self.refusal is not None:
            refusal, self.refusal = self.refusal, None
            return refusal
        socket = web.WebSocketResponse(
            protocols=self.protocols, autoping=True, max_msg_size=0, compress=False
        )
        socket.headers["x-request-id"] = "upstream-1"
        await socket.prepare(request)
        line = Line(request, socket)
        self.lines.append(line)
        if self._talk is not None:
            await self._talk(line)
        if not socket.closed:
            await socket.close()
        return socket

    @asynccontextmanager
    async def open(self, path: str = "/v1/responses", **given: Any) -> AsyncIterator[Caller]:
        """Open a WebSocket through the proxy."""
        given.setdefault("headers", {})
        async with aiohttp.ClientSession() as session:
            url = f"http://localhost:{self.house.port}{path}"
            async with session.ws_connect(url, max_msg_size=0, autoping=False, **given) as socket:
                yield Caller(socket)

    async def status(self, path: str = "/v1/responses", **given: Any) -> tuple[int, Any]:
        """Return the status and the headers with which a handshake is refused."""
        try:
            async with self.open(path, **given):
                return 101, None
        except aiohttp.WSServerHandshakeError as error:
            return error.status, error.headers


class Caller:
    """A client's WebSocket to the proxy."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket

    async def hear(self) -> Any:
        """Return the next message, or the close code; pings are answered."""
        while True:
            message = await self.socket.receive()
            if message.type is aiohttp.WSMsgType.PING:
                await self.socket.pong(message.data)
                continue
            return heard(message, self.socket.close_code)

    async def say(self, text: str) -> None:
        """Send a text."""
        await self.socket.send_str(text)


async def until(is_so: Callable[[], bool]) -> None:
    """Return when a condition holds, by polling."""
    while not is_so():  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0)
