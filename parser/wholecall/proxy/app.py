"""The proxy as an ASGI application: admission, the choice of the upstream, and the end of an exchange.

Theory of operation. A request is checked before any part of it is passed on. Then two tasks run: one relays the answer,
one waits for the client to leave; the first to end cancels the other. An exception of the relay before the first byte
went out becomes an error in the form of the requested API. After that the exception leaves the application, and the
server closes the connection.

A new configuration applies to exchanges that begin after it; open exchanges end under the old one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from wholecall import Limits
from wholecall.proxy.admission import admit
from wholecall.proxy.config import Config
from wholecall.proxy.ends import outcome_of, refusal_of
from wholecall.proxy.entry import Entry, NoWatcher, Watcher
from wholecall.proxy.errors import CutOff, Refusal, error_body, error_headers
from wholecall.proxy.incoming import ClientLeft, Incoming
from wholecall.proxy.pings import Clock
from wholecall.proxy.relay import Relay
from wholecall.proxy.request import Request, entry_of
from wholecall.proxy.room import Held, Room
from wholecall.proxy.wire import Receive, Scope, Send, Upstream
from wholecall.repairing.answers import ID

__all__ = ["ProxyApp"]
_private = True

_BODY_TIMEOUT: Final = 60.0  # seconds without progress


class _Setup:
    """One configuration, its upstream, and the exchanges that are open under it."""

    def __init__(self, config: Config, upstream: Upstream) -> None:
        self.config = config
        self.upstream = upstream
        self.relays: set[Relay] = set()
        self.is_retired = False


class ProxyApp:
    """An ASGI 3 application that passes requests to upstreams, and blocks broken tool calls in the answers.

    Args:
        config: the configuration.
        upstream: makes the upstream of a configuration; None makes HTTP clients, which need the extra `proxy`.
        watcher: is notified of each exchange; None for no watcher.
        clock: tells the time; None for the event loop.
        limits: the limits of a stream; None for `Limits.gateway()`.
    """

    def __init__(
        self,
        config: Config,
        *,
        upstream: Callable[[Config], Upstream] | None = None,
        watcher: Watcher | None = None,
        clock: Clock | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._config = config
        self._make = _clients if upstream is None else upstream
        self._watcher = NoWatcher() if watcher is None else watcher
        self._clock = clock
        self._limits = Limits.gateway() if limits is None else limits
        self._setup: _Setup | None = None
        self._setups: set[_Setup] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._is_draining = False
        self._room = Room(config.max_held_bytes)
        self._n_open = 0
        self._idle = asyncio.Event()

    def __repr__(self) -> str:
        return f"<ProxyApp {self._n_open} open, {self.unready or 'ready'}>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: the ASGI entry point.

        Raises:
            CutOff: the answer began, and must not end well: the server closes the connection.
        """
        kinds = {"http": self._http, "lifespan": self._live, "websocket": self._websocket}
        await kinds[scope["type"]](scope, receive, send)

    @property
    def n_open(self) -> int:
        """The number of open exchanges."""
        return self._n_open

    @property
    def unready(self) -> str | None:
        """The reason why new requests are refused: `draining`, `full`; None if they are not refused."""
        if self._is_draining:
            return "draining"
        return "full" if self._n_open >= self._config.max_streams else None

    def reload(self, config: Config) -> None:
        """Use another configuration for all exchanges that begin from now on."""
        self._config = config
        old, self._setup = self._setup, None
        if old is not None:
            old.is_retired = True
            self._close_if_over(old)

    def drain(self) -> None:
        """Refuse new requests; open exchanges continue."""
        self._is_draining = True

    def cut(self, code: str = "draining") -> None:
        """End the open exchanges with an error of this code."""
        for setup in self._setups:
            for relay in tuple(setup.relays):
                relay.cut(code)

    async def until_idle(self) -> None:
        """Return when no exchange is open."""
        while self._n_open:
            self._idle.clear()
            await self._idle.wait()

    async def close(self) -> None:
        """Close the connections to upstreams."""
        self._setup = None
        while self._setups:
            await self._setups.pop().upstream.close()
        if self._closing:
            await asyncio.wait(self._closing)

    # One request.

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        entry, began = entry_of(scope), time.perf_counter()
        self._n_open += 1
        self._watcher.begin(entry)
        try:
            await self._answer(scope, receive, send, entry)
        except Refusal as refusal:
            await _refuse(refusal, entry, send)
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
            self._n_open -= 1
            self._idle.set()
            entry.seconds = time.perf_counter() - began
            entry.outcome = entry.outcome or (outcome_of(entry) if entry.status or entry.error else "failed")
            self._watcher.over(entry)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, entry: Entry) -> None:
        setup = self._current()
        config = setup.config
        self._room.most = config.max_held_bytes
        held = Held(self._room)
        try:
            await self._exchange(scope, Incoming(receive, _BODY_TIMEOUT, held), send, entry, setup, held)
        finally:
            held.give_all()

    async def _exchange(
        self, scope: Scope, incoming: Incoming, send: Send, entry: Entry, setup: _Setup, held: Held
    ) -> None:
        config = setup.config
        try:
            token = admit(scope, config.clients)
            self._check_room(config)
            request = await Request.read(scope, incoming, config, entry, token=token, limits=self._limits)
        except Refusal:
            entry.outcome = "refused"
            raise
        relay = Relay(
            request.question,
            entry,
            send,
            upstream=setup.upstream,
            watcher=self._watcher,
            config=config,
            clock=self._clock or asyncio.get_running_loop(),
            options=request.options,
            held=held,
        )
        del request  # the body may be large, and the answer long
        setup.relays.add(relay)
        try:
            await _supervise(relay, incoming)
        finally:
            setup.relays.discard(relay)
            self._close_if_over(setup)

    def _check_room(self, config: Config) -> None:
        if self._is_draining:
            raise refusal_of("draining", "")
        if self._n_open > config.max_streams:
            raise Refusal(503, "too_many_streams", "too many requests are open", ((b"retry-after", b"1"),))

    # Configurations.

    def _current(self) -> _Setup:
        if self._setup is None:
            self._setup = _Setup(self._config, self._make(self._config))
            self._setups.add(self._setup)
        return self._setup

    def _close_if_over(self, setup: _Setup) -> None:
        """Close the upstream of a replaced configuration, once no exchange is open under it."""
        if not setup.is_retired or setup.relays or setup not in self._setups:
            return
        self._setups.discard(setup)
        task = asyncio.ensure_future(setup.upstream.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _live(self, _scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a WebSocket, with a status if the server can send one: clients that know it use HTTP at once."""
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.http.response.start", "status": 426, "headers": []})
        await send({"type": "websocket.http.response.body", "body": b""})


def _clients(config: Config) -> Upstream:
    from wholecall.proxy.upstream import Clients  # noqa: PLC0415 - an extra

    return Clients(config)


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
