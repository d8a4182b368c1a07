"""Several processes that answer on one address, and their parent.

Theory of operation. Each worker listens separately, and the kernel distributes connections among them. The parent
answers on the admin listener: it asks each worker for its status over a pipe and adds up. It passes signals on,
restarts a worker that died, and ends when all have ended. A worker whose parent is gone stops as if it had been told
to.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final

import msgspec

from wholecall.proxy.admin import Status
from wholecall.proxy.config import Config
from wholecall.proxy.log import Teller, quieten
from wholecall.proxy.process import CannotListenError, Process, admin_listener, bound, close_all, run, signals

_private = True

Load = Callable[[], Config]

_PATIENCE: Final = 2.0  # seconds for a worker's status
_PAUSE: Final = 1.0  # seconds before a worker is started again
_STATUS: Final = b"status"
_READY: Final = b"ready"


def supervise(config: Config, load: Load | None, teller: Teller) -> int:
    """Run as many workers as the configuration says, until a signal stops them.

    Raises:
        CannotListenError: the address is taken, or cannot be shared.
    """
    if config.listen.path is not None or not hasattr(os, "fork"):
        raise CannotListenError(f"{config.listen}: here only one process can listen: use workers = 1")
    probe = bound(config.listen)  # exclusive: another listener on the address must not go unnoticed
    config = msgspec.structs.replace(
        config, listen=msgspec.structs.replace(config.listen, port=probe[0].getsockname()[1])
    )
    close_all(probe)
    admin = [] if config.admin is None else bound(config.admin)
    parent = _Parent(config, load, teller)
    run(parent.run(admin))
    close_all(admin)
    return 0


class _Worker:
    """A worker, as its parent sees it."""

    def __init__(self, config: Config, load: Load | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(config, load, theirs), name="wholecall-proxy")
        self.process.start()
        theirs.close()
        self._asking = asyncio.Lock()

    async def ended(self) -> None:
        """Return when the worker has ended."""
        await asyncio.get_running_loop().run_in_executor(None, self.process.join)
        self._pipe.close()

    async def ready(self) -> None:
        """Return when it listens, or has ended."""
        await asyncio.get_running_loop().run_in_executor(None, self._hear, None)

    async def status(self) -> Status | None:
        """Return its status, None if it gives none."""
        async with self._asking:
            data = await asyncio.get_running_loop().run_in_executor(None, self._told)
        return None if data is None else msgspec.msgpack.decode(data, type=Status)

    def send(self, number: int) -> None:
        """Send it a signal."""
        if self.process.pid is not None and self.process.is_alive():
            os.kill(self.process.pid, number)

    def _told(self) -> bytes | None:
        try:
            self._pipe.send_bytes(_STATUS)
        except (OSError, ValueError):
            return None
        return self._hear(_PATIENCE)

    def _hear(self, seconds: float | None) -> bytes | None:
        try:
            return self._pipe.recv_bytes() if self._pipe.poll(seconds) else None
        except (OSError, EOFError):
            return None


class _Parent:
    """Watches over the workers."""

    def __init__(self, config: Config, load: Load | None, teller: Teller) -> None:
        self._config = config
        self._load = load
        self._teller = teller
        self._workers: set[_Worker] = set()
        self._is_stopping = False
        self._n_ready = 0

    async def run(self, admin: Sequence[Any]) -> None:
        """Keep the workers running until they are told to stop."""
        with signals(stop=self._stop, reload=partial(self._pass_on, getattr(signal, "SIGHUP", 0))):
            async with admin_listener(self._config, admin, self._statuses):
                await asyncio.gather(*(self._keep() for _ in range(self._config.workers)))

    async def _keep(self) -> None:
        """Keep one worker running."""
        while not self._is_stopping:
            worker = _Worker(self._config, self._load)
            self._workers.add(worker)
            await worker.ready()
            self._tell()
            await worker.ended()
            self._workers.discard(worker)
            if not self._is_stopping:
                self._teller.say("a worker ended", f"exit code {worker.process.exitcode}; another one begins")
                await asyncio.sleep(_PAUSE)

    def _tell(self) -> None:
        """Report where the proxy listens, once all workers do."""
        self._n_ready += 1
        if self._n_ready == self._config.workers and not self._is_stopping:
            scheme = "http" if self._config.tls_cert is None else "https"
            self._teller.say("listening", f"{scheme}://{self._config.listen}")

    def _stop(self) -> None:
        self._is_stopping = True
        self._pass_on(signal.SIGTERM)

    def _pass_on(self, number: int) -> None:
        for worker in self._workers:
            worker.send(number)

    async def _statuses(self) -> list[Status]:
        found = await asyncio.gather(*(worker.status() for worker in tuple(self._workers)))
        statuses = [status for status in found if status is not None]
        if not statuses:
            raise asyncio.TimeoutError
        return statuses


def _work(config: Config, load: Load | None, pipe: Connection) -> None:
    """Run as a worker."""
    quieten(Teller(config.log, sys.stderr))
    sockets = bound(config.listen, is_shared=True)
    process = Process(config, load)
    run(_answer(process, sockets, pipe))
    close_all(sockets)


async def _answer(process: Process, sockets: Sequence[Any], pipe: Connection) -> None:
    loop = asyncio.get_running_loop()
    stop_once = partial(_stop_once, process)

    def hear() -> None:
        try:
            pipe.recv_bytes()
            pipe.send_bytes(msgspec.msgpack.encode(process.status()))
        except (OSError, EOFError):  # the parent is gone
            loop.remove_reader(pipe.fileno())
            stop_once()

    with signals(stop=process.stop, reload=process.reload):
        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # a terminal also sends it to the parent, which passes it on
        loop.add_reader(pipe.fileno(), hear)
        pipe.send_bytes(_READY)
        try:
            await process.run(sockets)
        finally:
            loop.remove_reader(pipe.fileno())


def _stop_once(process: Process) -> None:
    if process.app.unready != "draining":
        process.stop()
