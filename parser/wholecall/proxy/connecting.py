"""WebSockets of upstreams, by aiohttp.

Theory of operation. A handshake is sent on a new connection, and asks for no compression: messages are bounded by what
is on the wire, and small ones gain little by it. A redirect is not followed. An upstream that opens no WebSocket has
said why in its answer, which is read within bounds before aiohttp drops it. Pings are answered while messages are
read, so that an upstream learns of a client that reads nothing. What a peer sends and nobody reads stays within some
pieces: then its connection is not read further.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final, Optional, Union

import aiohttp
from yarl import URL

from wholecall.proxy.closing import BROKEN, NO_CODE, TOO_LARGE
from wholecall.proxy.wire import Closed, Handshake, Headers, UpstreamFailed, UpstreamRefused

_private = True

_MOST_BODY: Final = 64 * 1024  # bytes of an answer that opens no WebSocket
_SWITCHING: Final = 101
_CLOSE_SECONDS: Final = 1.0  # for the peer's part of a close, and what it says before
_TIMEOUT: Final = aiohttp.ClientWSTimeout(None, _CLOSE_SECONDS)  # pyright: ignore[reportCallIssue]
_FLUSH_SECONDS: Final = 10.0  # for what the peer has not taken yet
_FAILURES: Final = (aiohttp.ClientError, OSError, RuntimeError)
_OPENED: ContextVar[list[aiohttp.ClientResponse]] = ContextVar("_OPENED")


class SocketClient:
    """Opens WebSockets of one upstream.

    Args:
        context: verifies certificates.
        connect_timeout: seconds to reach it; None for no bound.
        most_head: bytes of a line of the answer's head.
        proxy: the proxy to use, and the headers that name its user; None for none.
        is_plain: whether it is reached without TLS.
        skipped: headers that aiohttp would add.
    """

    def __init__(
        self,
        context: ssl.SSLContext | bool,
        *,
        connect_timeout: float | None,
        most_head: int,
        proxy: tuple[Optional[str], dict[str, str]],
        is_plain: bool,
        skipped: tuple[str, ...],
    ) -> None:
        self._proxy, self._proxy_headers = proxy
        self._is_plain = is_plain
        tracing = aiohttp.TraceConfig()
        tracing.on_request_redirect.append(_look_at)
        tracing.on_request_end.append(_look_at)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=context, force_close=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=skipped,
            timeout=aiohttp.ClientTimeout(total=None, connect=connect_timeout),
            max_line_size=most_head,
            max_field_size=most_head,
            trace_configs=[tracing],
        )

    async def connect(self, handshake: Handshake) -> UpstreamSocket:
        """Open a WebSocket.

        Raises:
            UpstreamRefused: the upstream answered, and opened none.
            aiohttp.ClientError, OSError, asyncio.TimeoutError: there is no answer, or one that opens none.
        """
        headers = [(name.decode(), value.decode("latin-1")) for name, value in handshake.headers]
        if self._proxy is not None and self._is_plain:
            headers += self._proxy_headers.items()
        opened: list[aiohttp.ClientResponse] = []
        _OPENED.set(opened)
        socket = await self._session.ws_connect(
            URL(handshake.url, encoded=True),
            protocols=handshake.protocols,
            timeout=_TIMEOUT,
            autoclose=False,
            autoping=False,
            headers=headers,
            proxy=self._proxy,
            proxy_headers=None if self._proxy is None or self._is_plain else self._proxy_headers,
            max_msg_size=handshake.most,
        )
        return UpstreamSocket(socket, opened[0])

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


class UpstreamSocket:
    """A WebSocket from aiohttp.

    Attributes:
        headers: those of the answer to the handshake, as received.
        protocol: the subprotocol that the upstream chose.
    """

    def __init__(self, socket: Any, response: aiohttp.ClientResponse) -> None:
        self.headers: Headers = list(response.raw_headers)
        self.protocol: Optional[str] = socket.protocol
        self._socket = socket
        self._end: Closed | None = None
        self._is_closed = False
        connection = response.connection
        self._transport = None if connection is None else connection.transport

    def __repr__(self) -> str:
        return f"<UpstreamSocket {'closed' if self._is_closed else 'open'}>"

    async def receive(self) -> Union[str, bytes, Closed, None]:
        """Return the next message; None for a ping or a pong."""
        if self._end is not None:
            return self._end
        message = await self._socket.receive()
        kind, data = message.type, message.data
        if kind in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            return data  # type: ignore[no-any-return]
        if kind is aiohttp.WSMsgType.PONG:
            return None
        if kind is aiohttp.WSMsgType.PING:
            with suppress(*_FAILURES):
                await self._socket.pong(data)
            return None
        self._end = _end_of(message)
        return self._end

    async def send(self, message: Union[str, bytes]) -> None:
        """Send a message, and return once there is room for another one."""
        try:
            if isinstance(message, str):
                await self._socket.send_str(message)
            else:
                await self._socket.send_bytes(message)
        except _FAILURES:
            raise UpstreamFailed("upstream_lost") from None

    async def ping(self) -> None:
        """Send a ping."""
        with suppress(*_FAILURES):
            await self._socket.ping()

    async def close(self, code: int, reason: str = "") -> None:
        """Close it, and wait a little for the peer's part of that; data that the peer never takes is dropped."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            with suppress(asyncio.TimeoutError, *_FAILURES):
                closing = self._socket.close(code=code, message=reason.encode())
                await asyncio.wait_for(closing, _CLOSE_SECONDS)
        finally:
            if self._transport is not None:
                self._transport.close()  # aiohttp leaves it open if its own close is interrupted
                if self._transport.get_write_buffer_size():
                    asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self._transport.abort)


def _end_of(message: Any) -> Closed:
    """Return the end that a message of aiohttp stands for."""
    if message.type is aiohttp.WSMsgType.CLOSE:
        return Closed(message.data or NO_CODE, message.extra or "")
    if message.type is aiohttp.WSMsgType.ERROR and getattr(message.data, "code", None) == TOO_LARGE:
        return Closed(TOO_LARGE, "message_too_large", "message_too_large")
    return Closed(BROKEN)


async def _look_at(_session: object, _context: object, params: Any) -> None:
    """Take the answer to a handshake, and end those that open no WebSocket.

    Raises:
        UpstreamRefused: it opens none.
    """
    response: aiohttp.ClientResponse = params.response
    if response.status == _SWITCHING:
        _OPENED.get().append(response)
        return
    body = b""
    with suppress(*_FAILURES):
        while len(body) < _MOST_BODY and (piece := await response.content.read(_MOST_BODY - len(body))):
            body += piece
    response.close()
    raise UpstreamRefused(response.status, list(response.raw_headers), body)
