"""The proxy with sockets, in one event loop: a real server, an upstream that a test directs, and raw clients."""

from __future__ import annotations

import asyncio
import io
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from tests.support.proxying import config, settle
from wholecall.proxy.config import Config, UpstreamConfig
from wholecall.proxy.entry import Entry
from wholecall.proxy.log import Teller, quieten
from wholecall.proxy.process import Process, bound, close_all
from wholecall.proxy.values import Address

ValueT = TypeVar("ValueT")
PATIENCE = 3.0  # seconds after which a waiting test fails


class Conversation:
    """A connection that reaches the upstream.

    Attributes:
        head: the head of the request, as it came.
        body: the body of the request.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.head = b""
        self.body = b""

    async def hear(self) -> None:
        """Read a request; its body has a length, or chunks."""
        self.head = await self.reader.readexactly(1)
        if self.head == b"\x16":
            raise ConnectionError("this is TLS")
        self.head += await self.reader.readuntil(b"\r\n\r\n")
        lowered = self.head.lower()
        if b"content-length:" in lowered:
            size = int(lowered.partition(b"content-length:")[2].partition(b"\r\n")[0])
            self.body = await self.reader.readexactly(size)
        elif b"transfer-encoding: chunked" in lowered:
            while size := int(await self.reader.readline(), 16):
                self.body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()

    async def say(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def begin(self, *headers: bytes, status: bytes = b"200 OK") -> None:
        """Send the head of an event stream in chunks."""
        lines = [
            b"HTTP/1.1 " + status,
            b"content-type: text/event-stream",
            b"transfer-encoding: chunked",
            *headers,
        ]
        await self.say(b"\r\n".join(lines) + b"\r\n\r\n")

    async def chunk(self, data: bytes) -> None:
        """Send a chunk."""
        await self.say(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        """Send the last chunk."""
        await self.say(b"0\r\n\r\n")

    async def until_closed(self) -> None:
        """Return when the other side has closed the connection."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            return

    def reset(self) -> None:
        """Abort the connection."""
        one = self.writer.get_extra_info("socket")
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.writer.transport.abort()


Serve = Callable[[Conversation], Awaitable[object]]


class House:
    """An event loop with a proxy and an upstream.

    Args:
        parser: the parser that the proxy's server uses.
        changes: changes of the initial configuration.
        options: the options of `Process`.

    Attributes:
        loop: the loop.
        process: the proxy.
        said: its log.
        port: the port on which it listens.
        conversations: the conversations that have reached the upstream in this test.
        entries: the outcomes of its exchanges.
    """

    def __init__(self, parser: str, changes: dict[str, Any] | None = None, **options: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self.said = io.StringIO()
        self.conversations: list[Conversation] = []
        self.entries: list[Entry] = []
        self.serve: Serve | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._options: dict[str, Any] = {"parser": parser, **options}
        self._changes = changes or {}
        self._begin()

    def _begin(self) -> None:
        quieten(Teller("json", self.said))
        self._sockets = bound(Address("127.0.0.1"))
        self.port: int = self._sockets[0].getsockname()[1]
        self._upstream = self.loop.run_until_complete(asyncio.start_server(self._met, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._upstream.sockets[0].getsockname()[1]}"
        self.process = Process(self.config(**self._changes), stream=self.said, **self._options)
        over = self.process.watch.over

        def noted(entry: Entry) -> None:
            self.entries.append(entry)
            over(entry)

        self.process.watch.over = noted  # type: ignore[method-assign]
        self._task = self.loop.create_task(self.process.run(self._sockets))
        self.loop.run_until_complete(self.until(lambda: self.process.is_ready))

    @staticmethod
    async def until(is_so: Callable[[], bool]) -> None:
        """Return when a condition holds, by polling."""
        while not is_so():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0)

    def config(self, url: str | None = None, **changes: Any) -> Config:
        """Return a configuration that asks the upstream of this house."""
        up = UpstreamConfig(url=url or self.url, name="up")
        return config(**{"upstreams": (up,), "drain": 0.0, **changes})

    def play(
        self,
        test: Callable[[], Coroutine[Any, Any, ValueT]],
        serve: Serve | None = None,
        given: Config | None = None,
    ) -> ValueT:
        """Run a test in the loop, with its upstream's behaviour; afterwards nothing of it may be left."""
        self.conversations.clear()
        self.entries.clear()
        self.serve = serve
        return self.loop.run_until_complete(self._played(test, given or self.config()))

    async def _played(self, test: Callable[[], Coroutine[Any, Any, ValueT]], given: Config) -> ValueT:
        self.process.app.reload(given)
        try:
            return await asyncio.wait_for(test(), PATIENCE)
        finally:
            await self._calm()

    async def _calm(self) -> None:
        """Wait until everything is over, and close the upstream's connections."""
        try:
            await asyncio.wait_for(self.process.app.until_idle(), PATIENCE)
        except asyncio.TimeoutError:
            self.process.app.cut()
            raise
        finally:
            for task in tuple(self._serving):
                task.cancel()
            if self._serving:
                await asyncio.wait(self._serving)
            await settle()

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._converse(Conversation(reader, writer)))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        await asyncio.wait({task})

    async def _converse(self, conversation: Conversation) -> None:
        try:
            while self.serve is not None:
                await conversation.hear()
                self.conversations.append(conversation)
                await self.serve(conversation)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            conversation.writer.close()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a client's connection to the proxy."""
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, data: bytes) -> bytes:
        """Return the proxy's whole answer to these bytes, until it closes the connection."""
        reader, writer = await self.connect()
        try:
            writer.write(data)
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    def close(self) -> str:
        """Stop everything, and return the log."""
        self.process.stop()
        return self.finish()

    def finish(self) -> str:
        """Wait for the end of a proxy that was told to stop, and return the log."""
        self.loop.run_until_complete(self._task)
        self._upstream.close()
        self.loop.run_until_complete(self._upstream.wait_closed())
        close_all(self._sockets)
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        return self.said.getvalue()


def request(
    path: str = "/v1/chat/completions",
    body: bytes = b'{"model": "m", "messages": [{"role": "user", "content": "canary-prompt"}]}',
    *headers: bytes,
    method: str = "POST",
) -> bytes:
    """Return a request to close the connection after it; text that must not be logged has the word canary in it."""
    lines = [
        f"{method} {path}?key=canary-query HTTP/1.1".encode(),
        b"host: localhost",
        b"connection: close",
        b"authorization: Bearer canary-key",
        b"x-api-key: canary-other-key",
        *headers,
    ]
    if body:
        lines.append(b"content-length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def head_of(answer: bytes) -> tuple[int, bytes]:
    """Return the status of an answer, and its body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body
