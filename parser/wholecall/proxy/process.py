"""Run the proxy in one process: its sockets, uvicorn with bounds, signals, the end of open answers, the admin listener.

Theory of operation. A process listens, and answers until it is told to stop. Then it takes no new requests, and gives
open answers some time. After that they are ended with an error, and their connections are closed. A second signal ends
that time at once. The admin listener continues to the end, so that readiness checks see that the proxy is not ready.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import socket
import stat
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final, Union

import uvicorn

from wholecall import WholecallError
from wholecall.proxy.admin import Admin, Ask, Status
from wholecall.proxy.app import ProxyApp
from wholecall.proxy.config import Config, ConfigError
from wholecall.proxy.guard import HEAD_SECONDS, guarded
from wholecall.proxy.log import Teller, quieten
from wholecall.proxy.socket_server import guarded_socket
from wholecall.proxy.tracing import traced
from wholecall.proxy.values import Address
from wholecall.proxy.watch import LoopLag, Watch

_private = True

KEEP_ALIVE: Final = (
    75  # seconds for which a client's connection is kept; client pools keep them for less, except Go's
)
_CUT_SECONDS: Final = 5  # for sending the remaining data once all answers were ended
_BACKLOG: Final = 2048
_OK, _CANNOT_LISTEN = 0, 3

Load = Callable[[], Config]
Supervise = Callable[[Config, Union[Load, None], Teller], int]


class _Server(uvicorn.Server):
    """uvicorn's server without signal handling."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield


class Process:
    """One process that answers.

    Args:
        config: the configuration.
        load: reads the configuration again; None if it cannot change.
        stream: the destination of the log.
        parser: the parser for uvicorn, `httptools` or `h11`; None for the first of them that is installed.
        head_seconds: how long the head of a request may take.
        keep_alive: how long an idle connection is kept.

    Attributes:
        app: the application.
        watch: the observer of its exchanges.
    """

    def __init__(
        self,
        config: Config,
        load: Load | None = None,
        *,
        stream: IO[str] | None = None,
        parser: str | None = None,
        head_seconds: float = HEAD_SECONDS,
        keep_alive: float = KEEP_ALIVE,
    ) -> None:
        self._config = config
        self._load = load
        self._teller = Teller(config.log, stream or sys.stderr)
        self.watch = Watch.of(config, stream or sys.stderr)
        self.app = ProxyApp(config, watcher=self.watch)
        protocol = guarded(write_seconds=config.write_timeout, head_seconds=head_seconds, parser=parser)
        app = traced(self.app) if config.telemetry else self.app
        settings = _settings(app, config, http=protocol, drain=config.drain, tls=True)
        settings.ws = guarded_socket(write_seconds=config.write_timeout)
        settings.timeout_keep_alive = keep_alive  # type: ignore[assignment]  # a timer takes it
        self._server = _Server(settings)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cutting: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return f"<Process {self.app!r}>"

    @property
    def is_ready(self) -> bool:
        """Return whether it listens."""
        return self._server.started

    def status(self) -> Status:
        """Return its status."""
        return Status.of(self.watch, self.app.unready)

    async def run(self, sockets: Sequence[socket.socket]) -> None:
        """Answer on these sockets until it is told to stop, and close them."""
        self._loop = asyncio.get_running_loop()
        lag = LoopLag(self._loop, self.watch.tally)
        lag.start()
        try:
            await self._server.serve(sockets=list(sockets))
            await self._end_tasks()
        finally:
            lag.stop()
            if self._cutting is not None:
                self._cutting.cancel()
            await self.app.close()
            self.watch.close(_CUT_SECONDS)

    def stop(self) -> None:
        """Take no new requests, and end when all answers are over or their time is; if called again, end at once."""
        if self._server.should_exit:
            self.app.cut()
            self._server.force_exit = True
            return
        self.app.drain()
        self._server.should_exit = True
        if self._loop is not None:
            self._cutting = self._loop.call_later(self._config.drain, self.app.cut)

    def reload(self) -> None:
        """Read the configuration again; an unusable one changes nothing."""
        if self._load is None:
            return
        try:
            config = self._load()
        except ConfigError as error:
            for fault in error.faults:
                self._teller.say("the configuration stays as it was", fault)
            return
        self.app.reload(config)
        self.watch.know(config.upstreams)
        self._teller.say("another configuration", f"{len(config.upstreams)} upstreams")

    async def _end_tasks(self) -> None:
        """End the server's remaining tasks; there are some only after a second signal."""
        tasks = self._server.server_state.tasks
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)
        for connection in tuple(self._server.server_state.connections):
            connection.transport.abort()
        for task in tuple(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CUT_SECONDS)


def serve(config: Config, load: Load | None = None, supervise: Supervise | None = None) -> int:
    """Run the proxy until a signal stops it; return the exit status: 0, or 3 if it cannot listen.

    SIGTERM and SIGINT stop it, a second signal at once; SIGHUP reloads the configuration.

    Args:
        config: the configuration.
        load: reads the configuration again; None if it cannot change.
        supervise: runs several processes; None if this process does the work.

    Raises:
        OSError: the folder for recordings cannot be written.
    """
    teller = Teller(config.log, sys.stderr)
    quieten(teller)
    try:
        if supervise is not None:
            return supervise(config, load, teller)
        sockets = bound(config.listen)
        try:
            admin = [] if config.admin is None else bound(config.admin)
        except CannotListenError:
            close_all(sockets)
            raise
    except CannotListenError as error:
        teller.say("cannot listen", str(error))
        return _CANNOT_LISTEN
    process = Process(config, load)
    run(_serve(process, config, sockets, admin, teller))
    close_all([*sockets, *admin])
    return _OK


async def _serve(
    process: Process,
    config: Config,
    sockets: Sequence[socket.socket],
    admin: Sequence[socket.socket],
    teller: Teller,
) -> None:
    async def ask() -> list[Status]:
        return [process.status()]

    teller.listening(sockets, is_tls=config.tls_cert is not None)
    with signals(stop=process.stop, reload=process.reload):
        async with admin_listener(config, admin, ask):
            await process.run(sockets)


@contextlib.asynccontextmanager
async def admin_listener(
    config: Config, sockets: Sequence[socket.socket], ask: Ask
) -> AsyncGenerator[None, None]:
    """Answer on the admin listener while the block runs."""
    if not sockets:
        yield
        return
    protocol = guarded(write_seconds=config.write_timeout)
    server = _Server(_settings(Admin(ask, hosts=config.clients.hosts), config, http=protocol, drain=0))
    task = asyncio.ensure_future(server.serve(sockets=list(sockets)))
    try:
        yield
    finally:
        server.should_exit = True
        await task


@contextlib.contextmanager
def signals(*, stop: Callable[[], None], reload: Callable[[], None]) -> Generator[None, None, None]:
    """Call the functions in the event loop when signals arrive, while the block runs."""
    loop = asyncio.get_running_loop()
    wanted = {signal.SIGTERM: stop, signal.SIGINT: stop}
    if hasattr(signal, "SIGHUP"):
        wanted[signal.SIGHUP] = reload

    def handle(number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(wanted[signal.Signals(number)])

    before = {number: signal.signal(number, handle) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, on uvloop if that is installed."""
    try:
        import uvloop  # noqa: PLC0415 - an extra, and not for all systems
    except ImportError:
        asyncio.run(main)
        return
    loop = uvloop.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(main)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


def _settings(app: Any, config: Config, *, http: Any, drain: float, tls: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=http,
        ws="none",
        ws_max_size=config.max_message_bytes,
        ws_ping_interval=config.ping,
        ws_ping_timeout=config.write_timeout,
        ws_per_message_deflate=False,  # a few bytes would be megabytes, and all of them at once
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,  # the upstream's passes
        proxy_headers=False,
        timeout_graceful_shutdown=math.ceil(drain) + _CUT_SECONDS,
        ssl_certfile=config.tls_cert if tls else None,
        ssl_keyfile=config.tls_key if tls else None,
    )


# Sockets.


class CannotListenError(WholecallError, OSError):
    """Nothing can listen at an address; the message says where and why."""


def bound(address: Address, *, is_shared: bool = False) -> list[socket.socket]:
    """Return sockets that listen at an address, one for each number that its name has.

    Args:
        address: the address.
        is_shared: whether other processes may listen there, too, and get their share of the connections.

    Raises:
        CannotListenError: it is taken, or is not an address of this machine.
    """
    sockets: list[socket.socket] = []
    try:
        if address.path is not None:
            sockets.append(_unix(Path(address.path)))
            return sockets
        port = address.port
        for family, sockaddr in _numbers(address):
            one = _inet(family, (sockaddr[0], port, *sockaddr[2:]), is_shared=is_shared)
            sockets.append(one)
            port = one.getsockname()[1]  # the same for all of them
    except OSError as error:
        close_all(sockets)
        raise CannotListenError(f"{address}: {error.strerror or error}") from None
    return sockets


def close_all(sockets: Iterable[socket.socket]) -> None:
    """Close sockets, and remove their files."""
    for one in sockets:
        path = (
            one.getsockname()
            if one.family == getattr(socket, "AF_UNIX", None) and one.fileno() >= 0
            else None
        )
        one.close()
        if path:
            with contextlib.suppress(OSError):
                Path(path).unlink()


def _numbers(address: Address) -> list[tuple[int, tuple[object, ...]]]:
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    unique = {(family, sockaddr): None for family, _, _, _, sockaddr in found}
    return [(int(family), tuple(sockaddr)) for family, sockaddr in unique]


def _inet(family: int, sockaddr: tuple[object, ...], *, is_shared: bool) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(sockaddr)
        one.listen(_BACKLOG)
        one.setblocking(False)
    except OSError:
        one.close()
        raise
    return one


def _unix(path: Path) -> socket.socket:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        one.bind(str(path))
        one.listen(_BACKLOG)
        one.setblocking(False)
    except OSError:
        one.close()
        raise
    return one


def _remove_stale(path: Path) -> None:
    """Remove the socket of a process that is gone."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            return  # another program's file: it stays, and `bind` reports it
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
