"""Measurements: processor time per chunk, request and stream, delays, rates, and memory per connection.

Theory of operation. A measurement is taken of one contender at a time, and all contenders take turns, so that a ratio
compares figures measured side by side. Before anything is measured each contender has to bring every answer as it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple, TypeVar

from benchmarks.proxy.clients import Client, Listener, WrongAnswer, body_of
from benchmarks.proxy.scripts import PACED, SCRIPTS, request_for
from benchmarks.proxy.systems import System
from benchmarks.proxy.upstream import Pace, Upstream

_QUIET: Final = 0.1  # seconds in which a contender takes note that its clients have left
_SETTLE: Final = 1.0  # seconds between the opening of paced streams and the measurement

Protocol = TypeVar("Protocol", bound=asyncio.Protocol)


class Measured(NamedTuple):
    """The result of a measurement; 0 means not measured.

    Attributes:
        cpu: processor seconds per unit: a chunk, or a request.
        rate: units per second.
        delay: seconds that half of the chunks took at most on their way.
        memory: bytes per unit.
    """

    cpu: float = 0.0
    rate: float = 0.0
    delay: float = 0.0
    memory: float = 0.0

    def __str__(self) -> str:
        told = (
            f"{self.cpu * 1e6:.1f} µs" if self.cpu else "",
            f"{self.rate:.0f}/s" if self.rate else "",
            f"{self.delay * 1e3:.2f} ms on the way" if self.delay else "",
            f"{self.memory / 1024:.1f} KiB" if self.memory else "",
        )
        return ", ".join(filter(None, told))


@contextlib.asynccontextmanager
async def serving(pace: Pace) -> AsyncIterator[int]:
    """Run the upstream; yields its port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Upstream(pace), "127.0.0.1", 0, backlog=2048)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _connected(system: System, make: Callable[[], Protocol], n: int) -> list[Protocol]:
    loop = asyncio.get_running_loop()
    found: list[Protocol] = []
    for _ in range(n):  # one after the other: the cost of many simultaneous connects is another question
        _, protocol = await loop.create_connection(make, "127.0.0.1", system.port)
        found.append(protocol)
    return found


async def check(system: System, *, is_exact: bool) -> None:
    """Let a contender bring every answer.

    Args:
        system: the contender.
        is_exact: whether bodies have to be those of the upstream, byte for byte; else they only have to come.

    Raises:
        WrongAnswer: they are not.
    """
    for model, script in SCRIPTS.items():
        (client,) = await _connected(system, lambda: Client(is_kept=True), 1)
        await asyncio.wait_for(client.ask(request_for(model, system.host)), 60)
        client.close()
        await client.lost
        if is_exact and body_of(client.kept) != script.body:
            raise WrongAnswer(f"{system.name} changes the answer {model}")


async def _asked(client: Client, request: bytes, times: int) -> None:
    for _ in range(times):
        await client.ask(request)


async def requests(system: System, model: str, *, clients: int, times: int) -> Measured:
    """Ask for an answer again and again on some connections; the unit is a request."""
    request = request_for(model, system.host)
    found = await _connected(system, Client, clients)
    await asyncio.gather(*(_asked(client, request, 1) for client in found))
    cpu, began = system.cpu(), time.perf_counter()
    await asyncio.gather(*(_asked(client, request, times) for client in found))
    took, n = time.perf_counter() - began, clients * times
    taken = system.cpu() - cpu
    await _closed(found)
    return Measured(taken / n, n / took)


async def busy(system: System, model: str, *, clients: int, times: int) -> Measured:
    """Ask for streams as fast as they come; the unit is a chunk of the upstream's."""
    found = await requests(system, model, clients=clients, times=times)
    n = SCRIPTS[model].n_chunks
    return Measured(found.cpu / n, found.rate * n)


async def paced(system: System, pace: Pace, *, streams: int, interval: float, seconds: float) -> Measured:
    """Keep streams open on each of which an event comes now and then; the unit is a chunk."""
    pace.interval = interval
    pace.go.clear()
    request, delays = request_for(PACED, system.host), list[int]()
    found = await _connected(system, lambda: Listener(request, delays), streams)
    await asyncio.gather(*(listener.is_open for listener in found))
    pace.go.set()
    await asyncio.sleep(interval + _SETTLE)
    delays.clear()
    cpu, began = system.cpu(), time.perf_counter()
    await asyncio.sleep(seconds)
    taken, took = system.cpu() - cpu, time.perf_counter() - began
    seen = list(delays)
    await _closed(found)
    return Measured(taken / len(seen), len(seen) / took, statistics.median(seen) / 1e9)


async def opened(system: System, pace: Pace, *, streams: int, times: int) -> Measured:
    """Open streams until each has brought its first event, and leave; the unit is a stream."""
    request, taken, began = request_for(PACED, system.host), 0.0, time.perf_counter()
    pace.go.clear()
    for _ in range(times):
        cpu = system.cpu()
        found = await _connected(system, lambda: Listener(request, []), streams)
        await asyncio.gather(*(listener.is_open for listener in found))
        taken += system.cpu() - cpu
        await _closed(found)
        await asyncio.sleep(_QUIET)
    n = streams * times
    return Measured(taken / n, n / (time.perf_counter() - began))


async def idle(system: System, *, few: int, many: int) -> float:
    """Return the bytes that one more connection costs on which a request was answered, and the next one waits for."""
    request = request_for("json", system.host)
    sizes: list[int] = []
    found: list[Client] = []
    for n in (few, many - few):
        more = await _connected(system, Client, n)
        found += more
        for client in more:
            await client.ask(request)
        sizes.append(system.memory())
    lost = sum(client.lost.done() for client in found)
    await _closed(found)
    if lost:
        raise WrongAnswer(f"{system.name} closed {lost} connections meanwhile")
    return (sizes[1] - sizes[0]) / (many - few)


async def _closed(found: list[Client] | list[Listener]) -> None:
    for one in found:
        one.close()
    await asyncio.gather(*(one.lost for one in found))
