"""HTTP clients for upstreams, by aiohttp, which only this module and `connecting` import.

Theory of operation. Each upstream has its own session, which decodes nothing, follows no redirects, keeps no cookies,
adds no headers and writes URLs unchanged. Idle connections are kept for less time than servers keep them. A server may
nevertheless close a connection before a byte of an answer arrives. Then the request is sent once more, on a new
connection. Closing an answer before its end also closes its connection: its remaining output must not be paid for.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final, Optional, Union
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import http_exceptions
from yarl import URL

from wholecall.proxy.config import Config, UpstreamConfig
from wholecall.proxy.connecting import SocketClient, UpstreamSocket
from wholecall.proxy.wire import Answer, Handshake, Headers, Question, UpstreamCode, UpstreamFailed

_private = True

_MOST_HEAD: Final = 64 * 1024  # bytes
_READ: Final = 64 * 1024  # approximate number of bytes that wait for the relay
_PIECE: Final = 64 * 1024  # a body is written in such pieces, so that not all of it waits in a buffer
_ADDED: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # by aiohttp by default
_STATUSES: Final = range(200, 600)
# The exceptions of aiohttp with their codes; the first match counts.
_FAULTS: Final[tuple[tuple[tuple[type[BaseException], ...], UpstreamCode], ...]] = (
    ((asyncio.TimeoutError,), "upstream_timeout"),
    (
        (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ClientSSLError),
        "upstream_unreachable",
    ),
    (
        (aiohttp.ClientResponseError, aiohttp.InvalidURL, http_exceptions.HttpProcessingError),
        "upstream_invalid",
    ),
)
_FAILURES: Final = (aiohttp.ClientError, OSError, asyncio.TimeoutError, http_exceptions.HttpProcessingError)
# A connection that was closed while it was idle, and not because of an error.
_STALE: Final = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError)


class Clients:
    """The upstreams of a configuration.

    Args:
        config: how they are reached.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._kept: dict[str, _Client] = {}
        self._fresh: dict[str, _Client] = {}  # without kept connections
        self._sockets: dict[str, SocketClient] = {}
        self._context: ssl.SSLContext | bool = (
            True if config.ca_bundle is None else _context(config.ca_bundle)
        )

    def __repr__(self) -> str:
        return f"<Clients {', '.join(self._kept)}>"

    async def ask(self, question: Question) -> Answer:
        """Send a request, and return its answer once the head has arrived.

        Raises:
            UpstreamFailed: there is no answer.
        """
        trail = _Trail()
        try:
            return await self._client(question, self._kept, is_kept=True).ask(question, trail)
        except _STALE as error:
            if not (trail.is_reused and _is_unanswered(error) and _is_whole(question)):
                raise UpstreamFailed(_code_of(error)) from None
        except _FAILURES as error:
            raise UpstreamFailed(_code_of(error)) from None
        try:
            return await self._client(question, self._fresh, is_kept=False).ask(question, trail)
        except _FAILURES as error:
            raise UpstreamFailed(_code_of(error)) from None

    async def connect(self, handshake: Handshake) -> UpstreamSocket:
        """Open a WebSocket.

        Raises:
            UpstreamRefused: the upstream answered, and opened none.
            UpstreamFailed: there is no answer.
        """
        upstream = handshake.upstream
        client = self._sockets.get(upstream.name)
        if client is None:
            client = self._sockets[upstream.name] = self._socket_client(upstream)
        try:
            return await client.connect(handshake)
        except _FAILURES as error:
            raise UpstreamFailed(_code_of(error)) from None

    async def close(self) -> None:
        """Close all connections."""
        for clients in (self._kept, self._fresh):
            while clients:
                await clients.popitem()[1].close()
        while self._sockets:
            await self._sockets.popitem()[1].close()

    def _socket_client(self, upstream: UpstreamConfig) -> SocketClient:
        config = self._config
        return SocketClient(
            self._context,
            connect_timeout=config.connect_timeout,
            most_head=_MOST_HEAD,
            proxy=_proxy(upstream.url) if config.env_proxy else (None, {}),
            is_plain=upstream.url.startswith("http:"),
            skipped=_ADDED,
        )

    def _client(self, question: Question, clients: dict[str, _Client], *, is_kept: bool) -> _Client:
        upstream = question.upstream
        client = clients.get(upstream.name)
        if client is None:
            client = clients[upstream.name] = _Client(self._config, upstream, self._context, is_kept=is_kept)
        return client


class _Trail:
    """Facts about the connection of a request."""

    def __init__(self) -> None:
        self.is_reused = False


class _Client:
    """The session of an upstream."""

    def __init__(
        self, config: Config, upstream: UpstreamConfig, context: ssl.SSLContext | bool, *, is_kept: bool
    ) -> None:
        kept: dict[str, Any] = (
            {"keepalive_timeout": upstream.keep_alive} if is_kept else {"force_close": True}
        )
        self._proxy, self._proxy_headers = _proxy(upstream.url) if config.env_proxy else (None, {})
        self._is_plain = upstream.url.startswith("http:")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=context, **kept),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_ADDED,
            timeout=aiohttp.ClientTimeout(total=None, connect=config.connect_timeout),
            read_bufsize=_READ,
            max_line_size=_MOST_HEAD,
            max_field_size=_MOST_HEAD,
            trace_configs=[_tracing()],
        )

    async def ask(self, question: Question, trail: _Trail) -> Answer:
        """Send a request; aiohttp's exceptions pass."""
        headers = [(name.decode(), _text(value)) for name, value in question.headers]
        data: Union[bytes, AsyncIterator[bytes], None] = question.body
        if isinstance(data, bytes) and len(data) > _PIECE:
            data = _pieces(data)
        if not isinstance(data, bytes) and data is not None and question.length is not None:
            headers.append(("content-length", str(question.length)))
        if self._proxy is not None and self._is_plain:
            headers += self._proxy_headers.items()
        response = await self._session.request(
            question.method,
            URL(question.url, encoded=True),
            headers=headers,
            data=data,
            allow_redirects=False,
            proxy=self._proxy,
            proxy_headers=None if self._proxy is None or self._is_plain else self._proxy_headers,
            trace_request_ctx=trail,
        )
        return _HttpAnswer.of(response)

    async def close(self) -> None:
        await self._session.close()


class _HttpAnswer:
    """An answer from aiohttp."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.status = response.status
        self.headers: Headers = list(response.raw_headers)
        self._response = response
        self._content = response.content
        connection = response.connection  # None if the body is over already
        self._protocol = None if connection is None else connection.protocol
        self._closed = None if self._protocol is None else self._protocol.closed
        if self._closed is not None:
            self._closed.add_done_callback(self._has_closed)

    @classmethod
    def of(cls, response: aiohttp.ClientResponse) -> _HttpAnswer:
        """Return the answer, unless its head must not be passed on.

        Raises:
            UpstreamFailed: the head must not be passed on.
        """
        answer = cls(response)
        size = sum(len(name) + len(value) for name, value in answer.headers)
        if response.status not in _STATUSES or size > _MOST_HEAD:
            answer.close()
            raise UpstreamFailed("upstream_invalid")
        return answer

    async def read(self) -> bytes:
        """Return the bytes received since; empty at the end."""
        try:
            data = await self._content.readany()
        except _FAILURES as error:
            # aiohttp raises the same object for each answer that was closed: it would keep all frames that it passed
            # through.
            error.__traceback__ = error.__context__ = None
            raise UpstreamFailed("upstream_lost") from None
        if not data:
            self._watch_no_more()
        return data

    def _has_closed(self, closed: asyncio.Future[None]) -> None:
        """Break off a body with invalid HTTP: aiohttp closes the connection then, and notifies no reader."""
        if not closed.cancelled():
            closed.exception()  # otherwise the loop logs an unretrieved exception
        error = None if self._protocol is None else self._protocol.exception()
        is_open = not self._content.is_eof() and self._content.exception() is None
        if is_open and isinstance(error, http_exceptions.HttpProcessingError):
            self._content.set_exception(aiohttp.ClientPayloadError("the body is no HTTP"))

    def _watch_no_more(self) -> None:
        """Forget a connection that other requests may use now."""
        closed, self._closed = self._closed, None
        if closed is not None and not closed.done():
            closed.remove_done_callback(self._has_closed)
            closed.remove_done_callback(_ask)
            closed.add_done_callback(_ask)

    def close(self) -> None:
        """Close the connection, without waiting for pending input or output."""
        connection = self._response.connection
        transport = None if connection is None else connection.transport
        if transport is not None:
            transport.abort()
        self._response.close()


def _ask(closed: asyncio.Future[None]) -> None:
    """Retrieve the error of an idle connection, because no other code does."""
    if not closed.cancelled():
        closed.exception()


def _tracing() -> aiohttp.TraceConfig:
    async def reused(_session: object, context: Any, _params: object) -> None:
        context.trace_request_ctx.is_reused = True

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(reused)
    return tracing


def _code_of(error: BaseException) -> UpstreamCode:
    for kinds, code in _FAULTS:
        if isinstance(error, kinds):
            return code
    return "upstream_lost"


def _is_unanswered(error: BaseException) -> bool:
    """Return whether a connection ended before a byte of an answer; otherwise aiohttp keeps a partial head."""
    return not isinstance(error, aiohttp.ServerDisconnectedError) or isinstance(error.message, str)


def _is_whole(question: Question) -> bool:
    """Return whether a body can be sent again."""
    return question.body is None or isinstance(question.body, bytes)


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), _PIECE):
        yield body[at : at + _PIECE]


def _text(value: bytes) -> str:
    """Return a header's value as the text that aiohttp writes as these bytes."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _context(bundle: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=bundle)


def _proxy(url: str) -> tuple[Optional[str], dict[str, str]]:
    """Return the proxy that the environment names for a URL, without its user, and the headers that name the user.

    aiohttp can do this itself, but it does so for each request and in another thread, and then also takes credentials
    from a `.netrc`.
    """
    parts = urlsplit(url)
    found = getproxies().get(parts.scheme)
    if not found or (parts.hostname and proxy_bypass(parts.hostname)):
        return None, {}
    proxy = URL(found if "://" in found else f"http://{found}")
    if proxy.user is None:
        return str(proxy), {}
    user = f"{unquote(proxy.user)}:{unquote(proxy.password or '')}".encode()
    return str(proxy.with_user(None)), {"Proxy-Authorization": f"Basic {base64.b64encode(user).decode()}"}
