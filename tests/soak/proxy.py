"""A long run of the proxy under load: `python -m tests.soak.proxy --minutes 10 --streams 200 --seed 1`.

A separate process runs between an upstream whose answers break in every way and clients that leave, or read slowly, at
any moment. Every call that a client gets must have been sent; an undamaged answer must contain all of its calls. After
the run the process must have no open connection, stream or file, and its memory in use must not have grown since the
clients of the first fifth of the run left. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from benchmarks.rivals.anthropic_streams import ANTHROPIC
from benchmarks.rivals.responses_streams import RESPONSES
from benchmarks.rivals.streams import CHAT, Stream
from tests.soak.measured import Held
from tests.support.houses import Conversation
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall

STREAMS: tuple[Stream, ...] = (*CHAT, *ANTHROPIC, *RESPONSES)
PATHS = {
    "chat-completions": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
}
# The allowed growth of the process between a fifth of the run and its end: far less than one object per exchange.
_GROWTH = Held(blocks=4000, mib=1.0)
_PATIENCE = 30.0  # seconds until an operation must end
_N_SAMPLES = 10
_LISTENING = re.compile(r"listening: http://127\.0\.0\.1:(\d+)")


class Planned(NamedTuple):
    """The plan of one exchange; the requested model's name carries it to the upstream."""

    number: int
    upstream: str
    client: str
    seed: int

    @property
    def stream(self) -> Stream:
        """The answer."""
        return STREAMS[self.number]

    @property
    def is_whole(self) -> bool:
        """Whether it is undamaged."""
        return self.upstream in HARMLESS and self.client in ("reads", "slow")


# The upstream's behaviours.

Served = Callable[[Conversation, Sequence[bytes], random.Random], Awaitable[None]]


async def _well(to: Conversation, pieces: Sequence[bytes], _: random.Random) -> None:
    await to.begin()
    for piece in pieces:
        await to.chunk(piece)
    await to.end()


async def _bytewise(to: Conversation, pieces: Sequence[bytes], chance: random.Random) -> None:
    data = b"".join(pieces)
    await to.begin()
    while data:
        size = chance.randint(1, 200)
        await to.chunk(data[:size])
        data = data[size:]
    await to.end()


async def _paced(to: Conversation, pieces: Sequence[bytes], chance: random.Random) -> None:
    await to.begin()
    for piece in pieces:
        await asyncio.sleep(chance.random() / len(pieces))
        await to.chunk(piece)
    await to.end()


async def _gzipped(to: Conversation, pieces: Sequence[bytes], _: random.Random) -> None:
    await to.begin(b"content-encoding: gzip")
    for piece in pieces:
        await to.chunk(gzip.compress(piece))  # a member each
    await to.end()


async def _reset(to: Conversation, pieces: Sequence[bytes], chance: random.Random) -> None:
    await to.begin()
    for piece in pieces[: chance.randrange(len(pieces))]:
        await to.chunk(piece)
    to.reset()


async def _short(to: Conversation, pieces: Sequence[bytes], chance: random.Random) -> None:
    await to.begin()
    for piece in pieces[: chance.randrange(len(pieces))]:
        await to.chunk(piece)
    await to.end()


async def _bad_chunk(to: Conversation, pieces: Sequence[bytes], chance: random.Random) -> None:
    await to.begin()
    for piece in pieces[: chance.randrange(len(pieces))]:
        await to.chunk(piece)
    await to.say(b"zz\r\nno chunk\r\n")
    to.writer.close()


async def _stalled(to: Conversation, pieces: Sequence[bytes], chance: random.Random) -> None:
    await to.begin()
    for piece in pieces[: chance.randrange(len(pieces))]:
        await to.chunk(piece)
    await to.until_closed()


async def _refused(to: Conversation, _: Sequence[bytes], __: random.Random) -> None:
    body = b'{"error": {"message": "slow down"}}'
    head = b"HTTP/1.1 429 Too Many\r\nretry-after: 1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    await to.say(head % len(body) + body)


async def _no_http(to: Conversation, _: Sequence[bytes], __: random.Random) -> None:
    await to.say(b"SSH-2.0-none\r\n")
    to.writer.close()


UPSTREAMS: dict[str, Served] = {
    "well": _well, "bytewise": _bytewise, "paced": _paced, "gzipped": _gzipped, "reset": _reset, "short": _short,
    "bad chunk": _bad_chunk, "stalled": _stalled, "refused": _refused, "no HTTP": _no_http,
}  # fmt: skip
HARMLESS = frozenset({"well", "bytewise", "paced", "gzipped"})
CLIENTS = ("reads", "reads", "reads", "slow", "leaves early", "leaves late")


async def _met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve a connection."""
    with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while True:
            to = Conversation(reader, writer)
            await to.hear()
            plan = Planned(*json.loads(json.loads(to.body)["model"]))
            await UPSTREAMS[plan.upstream](to, plan.stream.pieces, random.Random(plan.seed))
    writer.close()


# The clients' behaviours.


async def _converse(port: int, plan: Planned) -> bytes:
    """Return the part of the body that a client got before it left, or the connection ended."""
    chance = random.Random(plan.seed + 1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        body = json.dumps({"model": json.dumps(plan), "stream": True, "messages": []}).encode()
        path = PATHS[plan.stream.dialect]
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        if plan.client == "leaves early":
            await asyncio.sleep(chance.random() / 50)
            return b""
        return await _read(reader, plan, chance)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader, plan: Planned, chance: random.Random) -> bytes:
    got = b""
    while data := await reader.read(64 if plan.client == "slow" else 65536):
        got += data
        if plan.client == "leaves late" and chance.random() < 0.5:
            break
        if plan.client == "slow":
            await asyncio.sleep(chance.random() / 200)
    return got


def unchunked(answer: bytes) -> bytes:
    """Return the body of an answer in chunks, as far as it came."""
    _, _, rest = answer.partition(b"\r\n\r\n")
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        if not size:
            break
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body


def complaint(plan: Planned, answer: bytes) -> str | None:
    """Return the faults in a client's answer."""
    if not answer.startswith(b"HTTP/1.1 200"):
        return "no answer" if plan.is_whole else None
    parser: ToolCallParser[Any] = ToolCallParser(plan.stream.dialect, events="calls")
    events = [*parser.feed(unchunked(answer)), *parser.close()]
    got = Counter(
        (event.name, json.dumps(event.arguments)) for event in events if isinstance(event, ToolCall)
    )
    sent = Counter((one.name, json.dumps(one.arguments)) for one in plan.stream.expected)
    if got - sent:
        return "a call that nobody sent"
    return "a call was lost" if plan.is_whole and sent - got else None


# The run.


class Watched:
    """The proxy's process, as Linux sees it; on other systems its memory and files are not checked.

    Args:
        upstream: the URL that it asks.
        folder: where it may write its measurements.
        idle: seconds of an upstream's silence.
        settings: more of its settings, as variables of its environment.
    """

    def __init__(
        self, upstream: str, folder: Path, idle: int = 2, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._file = folder / "held"
        self._file.touch()
        words = (
            "proxy", "--upstream", upstream, "--listen", "127.0.0.1:0", "--no-env-proxy", "--log", "off",
            "--idle-timeout", str(idle), "--ping", "1",
        )  # fmt: skip
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "tests.soak.measured", str(self._file), *words],
            env={**os.environ, **settings},
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        found = (_LISTENING.search(line) for line in self.process.stderr or ())
        self.port = int(next(one[1] for one in found if one))
        # A process that nobody reads would wait once the pipe is full.
        self._said: deque[str] = deque(maxlen=100)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self._proc = Path(f"/proc/{self.process.pid}")

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            self._said.extend(lines)

    async def held(self) -> Held:
        """Return its use of resources."""
        before, said = self._file.read_text("ascii"), ""
        self.process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + _PATIENCE
        while not said.endswith("\n") and time.monotonic() < until:
            await asyncio.sleep(0.05)
            said = self._file.read_text("ascii").removeprefix(before)
        blocks, mib = said.split()
        return Held(int(blocks), float(mib))

    def memory(self) -> float:
        """Return its resident memory in MiB."""
        if not self._proc.exists():
            return 0.0
        pages = int((self._proc / "statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def n_open(self) -> int:
        """Return how many files and sockets it has open."""
        if not self._proc.exists():
            return 0
        return len(list((self._proc / "fd").iterdir()))

    def stop(self) -> int:
        """Stop it and return its exit code."""
        self.process.terminate()
        self.process.wait(timeout=_PATIENCE)
        self._reader.join(_PATIENCE)
        return self.process.returncode


class Soak:
    """One run.

    Attributes:
        wrong: the faults, and how often each occurred.
        idle: seconds of an upstream's silence that the process bears.
        settings: settings of the process, as variables of its environment.
        done: the number of exchanges, by the upstream's behaviour.
        memory: the process's memory in the course of the run.
        held: its use without clients: after a fifth of the run, and at the end.
    """

    idle: ClassVar[int] = 2
    settings: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, seed: int) -> None:
        self.wrong: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.memory: list[float] = []
        self.held: list[Held] = []
        self._chance = random.Random(seed)
        self._n = 0

    def plan(self) -> Planned:
        """Return the next exchange."""
        chance, self._n = self._chance, self._n + 1
        stalls = self._n % 40 == 0  # each waits for two seconds
        upstream = "stalled" if stalls else chance.choice([name for name in UPSTREAMS if name != "stalled"])
        return Planned(
            chance.randrange(len(STREAMS)), upstream, chance.choice(CLIENTS), chance.getrandbits(32)
        )

    @asynccontextmanager
    async def upstream(self) -> AsyncIterator[str]:
        """Serve while the block runs; give the URL."""
        server = await asyncio.start_server(_met, "127.0.0.1", 0, backlog=1024)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def client(self, port: int, until: float) -> None:
        """Ask again and again."""
        while time.monotonic() < until:
            plan = self.plan()
            try:
                got = await asyncio.wait_for(_converse(port, plan), _PATIENCE)
                wrong = complaint(plan, got)
            except asyncio.TimeoutError:
                wrong = "no end"
            self.done[plan.upstream] += 1
            if wrong is not None:
                self.wrong[f"{wrong}: {plan.stream.title}, {plan.upstream}, {plan.client}"] += 1

    async def run(self, seconds: float, n_clients: int) -> None:
        """Run it, and record everything that is left open."""
        async with self.upstream() as url:
            with tempfile.TemporaryDirectory() as folder:
                watched = Watched(url, Path(folder), self.idle, self.settings)
                try:
                    await self._rounds(watched, seconds, n_clients)
                finally:
                    if watched.stop() != 0:
                        self.wrong[f"the process ended with {watched.process.returncode}"] += 1
        first, last = self.held
        if last.blocks - first.blocks > _GROWTH.blocks or last.mib - first.mib > _GROWTH.mib:
            self.wrong[f"it held {first} early, {last} in the end"] += 1

    def told(self) -> list[str]:
        """Return further lines of the report."""
        return []

    async def _rounds(self, watched: Watched, seconds: float, n_clients: int) -> None:
        idle = await self._settled(watched, None)
        sampling = asyncio.ensure_future(self._sample(watched, seconds / _N_SAMPLES))
        for share in (0.2, 0.8):
            until = time.monotonic() + share * seconds
            await asyncio.gather(*(self.client(watched.port, until) for _ in range(n_clients)))
            left = await self._settled(watched, idle) - idle
            if left > 0:
                self.wrong[f"{left} sockets or files are left open"] += 1
            self.held.append(await watched.held())
        sampling.cancel()

    async def _sample(self, watched: Watched, pause: float) -> None:
        while True:
            await asyncio.sleep(pause)
            self.memory.append(watched.memory())

    @staticmethod
    async def _settled(watched: Watched, idle: int | None) -> int:
        """Return the number of open files once it no longer changes, or is no more than when it was idle."""
        until, before = time.monotonic() + _PATIENCE, -1
        while time.monotonic() < until:
            now = watched.n_open()
            if now == before and (idle is None or now <= idle):
                break
            before = now
            await asyncio.sleep(0.2)
        return watched.n_open()


def main(
    arguments: Sequence[str] | None = None, make: Callable[[int], Soak] = Soak, about: str | None = __doc__
) -> int:
    """Run the program."""
    options = argparse.ArgumentParser(
        prog=f"python -m {make.__module__}", description=(about or "").split("\n")[0]
    )
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--streams", type=int, default=200, help="open at one time")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args(arguments)
    soak = make(chosen.seed)
    asyncio.run(soak.run(60 * chosen.minutes, chosen.streams))
    lines = [
        f"{sum(soak.done.values()):,} exchanges: "
        + ", ".join(f"{name} {n:,}" for name, n in soak.done.most_common()),
        "occupied: " + ", ".join(f"{size:.1f}" for size in soak.memory) + " MiB",
        "in use: " + ", then ".join(map(str, soak.held)),
        *soak.told(),
        *(f"{n} x {what}" for what, n in soak.wrong.most_common()),
        "all is well" if not soak.wrong else f"{sum(soak.wrong.values()):,} wrong",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
