"""One exchange: a request is admitted, its answer relayed, until it is over or the client has left.

Theory of operation. A request is checked before any part of it is passed on. A web page can make a browser ask a local
proxy under the page's own host name, which points to this machine; therefore the host name has to be known, and the
page has to be allowed. Tokens are compared in constant time.

Then two tasks run: one relays the answer, one waits for the client to leave; the first to end cancels the other. An
exception of the relay before the first byte went out becomes an error in the form of the requested API. After that the
exception leaves the application, and the server closes the connection.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from hmac import compare_digest
from typing import Final

from wholecall import Limits
from wholecall.proxy.config import ClientsConfig, Config
from wholecall.proxy.deadlines import Clock
from wholecall.proxy.entry import Entry, Watcher
from wholecall.proxy.errors import CutOff, Refusal, error_body, error_headers, outcome_of, refusal_of
from wholecall.proxy.headers import credentials_of, value_of
from wholecall.proxy.memory import BodyMemory, Held
from wholecall.proxy.relay import Relay
from wholecall.proxy.request import ClientLeft, Incoming, Request, entry_of
from wholecall.proxy.wire import Headers, Receive, Scope, Send, Upstream
from wholecall.repairing.answers import ID

_private = True

_BODY_TIMEOUT: Final = 60.0  # seconds without progress
_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/\s]+))(?::\d{1,5})?\Z", re.ASCII)
_CLOSE: Final = ((b"connection", b"close"),)
_SAME: Final = frozenset({b"none", b"same-origin"})  # typed by the user, or from one of our own pages
_UPGRADE: Final = ((b"upgrade", b"HTTP/1.1"), (b"connection", b"upgrade"))


class Exchange:
    """One request and its answer.

    Args:
        scope: the request, as ASGI has it, like the next two.
        receive: returns the pieces of its body.
        send: takes the pieces of the answer.
        watcher: is notified of the exchange.
        memory: the memory for all bodies.
        clock: tells the time; None for the event loop.
        limits: the limits of a stream.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        watcher: Watcher,
        memory: BodyMemory,
        clock: Clock | None,
        limits: Limits,
    ) -> None:
        self._scope = scope
        self._send = send
        self._watcher = watcher
        self._memory = memory
        self._clock = clock
        self._limits = limits
        self._held = Held(memory)
        self._incoming = Incoming(receive, _BODY_TIMEOUT, self._held)
        self._entry = entry_of(scope)
        self._relay: Relay | None = None

    def __repr__(self) -> str:
        return f"<Exchange {self._entry!r}>"

    async def run(self, begin: Callable[[], tuple[Config, Upstream, str | None]]) -> None:
        """Answer the request.

        Args:
            begin: returns the configuration, its upstream, and the code of an error if no requests are taken now.

        Raises:
            CutOff: the answer began, and must not end well.
        """
        entry, began = self._entry, time.perf_counter()
        self._watcher.begin(entry)
        try:
            await self._answer(*begin())
        except Refusal as refusal:
            await _refuse(refusal, entry, self._send)
        except ClientLeft:
            entry.outcome = "client_left"
        except asyncio.CancelledError:
            entry.outcome = entry.outcome or "cut"  # by the server, which stops
            raise
        except CutOff:
            raise
        except Exception:
            entry.outcome = "failed"
            raise
        finally:
            entry.seconds = time.perf_counter() - began
            entry.outcome = entry.outcome or (outcome_of(entry) if entry.status or entry.error else "failed")
            self._watcher.over(entry)

    def cut(self, code: str) -> None:
        """End the answer with an error of this code, if it is being relayed."""
        if self._relay is not None:
            self._relay.cut(code)

    async def _answer(self, config: Config, upstream: Upstream, busy: str | None) -> None:
        self._memory.most = config.max_held_bytes
        try:
            relay = await self._asked(config, upstream, busy)
            self._relay = relay
            await _supervise(relay, self._incoming)
        finally:
            self._relay = None
            self._held.give_all()

    async def _asked(self, config: Config, upstream: Upstream, busy: str | None) -> Relay:
        """Admit and read the request, and return the relay of its answer."""
        entry, scope = self._entry, self._scope
        try:
            token = admit(scope, config.clients)
            if busy is not None:
                raise refusal_of(busy, "")
            request = await Request.read(
                scope, self._incoming, config, entry, token=token, limits=self._limits
            )
        except Refusal:
            entry.outcome = "refused"
            raise
        return Relay(
            request.question,
            entry,
            self._send,
            upstream=upstream,
            watcher=self._watcher,
            config=config,
            clock=self._clock or asyncio.get_running_loop(),
            options=request.options,
            translation=request.translation,
            held=self._held,
        )


# The relay, and the client that may leave.


async def _supervise(relay: Relay, incoming: Incoming) -> None:
    """Relay until the answer is over, or the client has left.

    Raises:
        ClientLeft: the client has left.
        Refusal, CutOff: as `Relay.run`.
    """
    work = asyncio.ensure_future(relay.run())
    watch = asyncio.ensure_future(incoming.until_left())
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        has_left = not work.done()
        for task in (work, watch):
            task.cancel()
        await asyncio.wait({work, watch})
    if has_left or work.cancelled():
        raise ClientLeft("the client left")
    error = work.exception()
    if error is None:
        return
    if incoming.refusal is not None and not relay.has_begun:
        raise incoming.refusal
    raise ClientLeft("the client left") if isinstance(error, OSError) else error


async def _refuse(refusal: Refusal, entry: Entry, send: Send) -> None:
    entry.error, entry.status = entry.error or refusal.code, refusal.status
    body = error_body(entry.path, refusal)
    headers = [*error_headers(body, refusal), (ID.encode(), entry.id.encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body if entry.method != "HEAD" else b""})


# Admission.


def admit(scope: Scope, clients: ClientsConfig) -> bytes | None:
    """Admit a request, and return the token that it brought; None if no token is required.

    Raises:
        Refusal: the request is not admitted.
    """
    headers: Headers = list(scope["headers"])
    if scope["method"] == "CONNECT":
        raise Refusal(400, "no_tunnel", "this is no proxy for CONNECT")
    if _is_websocket(headers):
        raise Refusal(426, "no_websocket", "there are no WebSockets here; use HTTP", _UPGRADE)
    names = {name for name, _ in headers}
    if b"content-length" in names and b"transfer-encoding" in names:
        raise Refusal(400, "bad_framing", "a body has a length or chunks, not both", _CLOSE)
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    if codings not in ([], [b"chunked"]):
        raise Refusal(501, "bad_coding", "a body comes in chunks, and in no other transfer coding", _CLOSE)
    if scope["http_version"] == "1.1" and b"host" not in names:
        raise Refusal(400, "bad_host", "a request of HTTP/1.1 has a Host", _CLOSE)
    _check_host(headers, clients)
    _check_origin(headers, clients)
    return _token(headers, clients) if clients.tokens else None


def _is_websocket(headers: Headers) -> bool:
    return value_of(headers, b"upgrade").strip().lower() == "websocket"


def _check_host(headers: Headers, clients: ClientsConfig) -> None:
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1:
        raise Refusal(400, "bad_host", "a request has one Host")
    if hosts and _without_port(hosts[0].decode("latin-1").strip().lower()) not in clients.hosts:
        raise Refusal(403, "host_refused", "the proxy does not answer to this Host; add it to clients.hosts")


def _without_port(host: str) -> str:
    """Return a host name without its port, and an address without its brackets; an empty string if it is neither."""
    match = _HOST.match(host)
    return "" if match is None else match[1] or match[2]


def _check_origin(headers: Headers, clients: ClientsConfig) -> None:
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    if any(origin not in clients.origins for origin in origins):
        raise Refusal(
            403, "origin_refused", "web pages of this Origin may not ask; add it to clients.origins"
        )
    # Browsers send no Origin with a GET that a page of another site causes, but they state where it comes from.
    if not origins and not _SAME.issuperset(_sites(headers)):
        raise Refusal(403, "origin_refused", "web pages of other sites may not ask")


def _sites(headers: Headers) -> set[bytes]:
    return {value.strip().lower() for name, value in headers if name == b"sec-fetch-site"}


def _token(headers: Headers, clients: ClientsConfig) -> bytes:
    known = [token.value.encode() for token in clients.tokens]
    found: bytes | None = None
    for brought in credentials_of(headers):
        for token in known:  # compare all of them, even after a match
            if compare_digest(brought, token):
                found = brought
    if found is None:
        raise Refusal(
            401, "bad_token", "a token of this proxy is needed", ((b"www-authenticate", b"Bearer"),)
        )
    return found
