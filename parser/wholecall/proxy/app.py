"""The proxy as an ASGI application: which configuration an exchange has, how many are open, and how they are ended.

Theory of operation. A new configuration applies to exchanges that begin after it; open exchanges end under the old one,
whose connections to upstreams are closed then. An application that drains refuses new requests.

Every `wholecall` command imports this module, for the options of the proxy. Therefore asyncio, the HTTP client and the
repairers are imported once they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from wholecall import Limits
from wholecall.proxy.config import Config
from wholecall.proxy.deadlines import Clock
from wholecall.proxy.entry import NoWatcher, Watcher
from wholecall.proxy.memory import BodyMemory
from wholecall.proxy.wire import Receive, Scope, Send, Upstream

if TYPE_CHECKING:
    import asyncio

    from wholecall.proxy.exchange import Exchange

_private = True


class _Setup:
    """One configuration, its upstream, and the exchanges that are open under it."""

    def __init__(self, config: Config, upstream: Upstream) -> None:
        self.config = config
        self.upstream = upstream
        self.exchanges: set[Exchange] = set()
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
        import asyncio  # noqa: PLC0415 - see above

        self._config = config
        self._make = _clients if upstream is None else upstream
        self._watcher = NoWatcher() if watcher is None else watcher
        self._clock = clock
        self._limits = Limits.gateway() if limits is None else limits
        self._setup: _Setup | None = None
        self._setups: set[_Setup] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._is_draining = False
        self._memory = BodyMemory(config.max_held_bytes)
        self._n_open = 0
        self._idle = asyncio.Event()

    def __repr__(self) -> str:
        return f"<ProxyApp {self._n_open} open, {self.unready or 'ready'}>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: the ASGI entry point.

        Raises:
            CutOff: the answer began, and must not end well: the server closes the connection.
        """
        kinds = {"http": self._exchange, "lifespan": self._live, "websocket": self._exchange}
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
            for exchange in tuple(setup.exchanges):
                exchange.cut(code)

    async def until_idle(self) -> None:
        """Return when no exchange is open."""
        while self._n_open:
            self._idle.clear()
            await self._idle.wait()

    async def close(self) -> None:
        """Close the connections to upstreams."""
        import asyncio  # noqa: PLC0415 - see above

        self._setup = None
        while self._setups:
            await self._setups.pop().upstream.close()
        if self._closing:
            await asyncio.wait(self._closing)

    # One request, or one WebSocket.

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        from wholecall.proxy.exchange import Exchange  # noqa: PLC0415 - it needs the repairers
        from wholecall.proxy.sessions import Session  # noqa: PLC0415 - the same

        exchange = (Exchange if scope["type"] == "http" else Session)(
            scope,
            receive,
            send,
            watcher=self._watcher,
            memory=self._memory,
            clock=self._clock,
            limits=self._limits,
        )
        self._n_open += 1
        try:
            await exchange.run(partial(self._begin, exchange))
        finally:
            self._n_open -= 1
            self._idle.set()
            self._end(exchange)

    def _begin(self, exchange: Exchange) -> tuple[Config, Upstream, str | None]:
        """Return the terms of a new exchange: the last is the code of the error that refuses it."""
        if self._setup is None:
            self._setup = _Setup(self._config, self._make(self._config))
            self._setups.add(self._setup)
        setup = self._setup
        setup.exchanges.add(exchange)
        busy = "too_many_streams" if self._n_open > setup.config.max_streams else None
        return setup.config, setup.upstream, "draining" if self._is_draining else busy

    def _end(self, exchange: Exchange) -> None:
        for setup in tuple(self._setups):
            setup.exchanges.discard(exchange)
            self._close_if_over(setup)

    def _close_if_over(self, setup: _Setup) -> None:
        """Close the upstream of a replaced configuration, once no exchange is open under it."""
        if not setup.is_retired or setup.exchanges or setup not in self._setups:
            return
        import asyncio  # noqa: PLC0415 - see above

        self._setups.discard(setup)
        task = asyncio.ensure_future(setup.upstream.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _live(self, _scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})


def _clients(config: Config) -> Upstream:
    from wholecall.proxy.upstream import Clients  # noqa: PLC0415 - an extra

    return Clients(config)
