"""The proxy without sockets: a manual clock, an upstream that follows a script, and a client in memory."""

from __future__ import annotations

import asyncio
import heapq
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Union

from wholecall.proxy.app import ProxyApp
from wholecall.proxy.config import Config, UpstreamConfig
from wholecall.proxy.entry import Entry
from wholecall.proxy.wire import Handshake, Headers, Question, Socket, UpstreamFailed

CHAT = "/v1/chat/completions"
STREAM: Headers = [(b"content-type", b"text/event-stream")]
# A step of a script: bytes to give, a failure to raise, or an awaitable to wait for first.
Step = Union[bytes, UpstreamFailed, Callable[[], Awaitable[object]]]


def config(**changes: Any) -> Config:
    """Return a configuration with one upstream, without pings and timeouts unless given."""
    never = dict.fromkeys(
        ("ping", "connect_timeout", "first_byte_timeout", "idle_timeout", "write_timeout"), None
    )
    upstreams = (UpstreamConfig(url="http://127.0.0.1:9", name="up"),)
    return Config(**{"upstreams": upstreams, **never, **changes})


def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """Return a chunk of a chat stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def call(arguments: str, *, name: str | None = "f", id: str | None = "call_1", index: int = 0) -> bytes:
    """Return a chunk with a piece of a call."""
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    first = {} if id is None else {"id": id, "type": "function"}
    return frame({"tool_calls": [{"index": index, **first, "function": function}]})


DONE = b"data: [DONE]\n\n"


class _Timer:
    def __init__(self, when: float, callback: Callable[[], object]) -> None:
        self.when = when
        self.callback: Callable[[], object] | None = callback

    def __lt__(self, other: _Timer) -> bool:
        return self.when < other.when

    def cancel(self) -> None:
        self.callback = None


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._timers: list[_Timer] = []

    def time(self) -> float:
        """Return the time."""
        return self.now

    def call_later(self, delay: float, callback: Callable[[], object]) -> _Timer:
        """Call the function when the clock reaches the time."""
        timer = _Timer(self.now + delay, callback)
        heapq.heappush(self._timers, timer)
        return timer

    @property
    def n_waiting(self) -> int:
        """The number of waiting calls."""
        return sum(timer.callback is not None for timer in self._timers)

    async def forward(self, seconds: float) -> None:
        """Advance, make the calls that become due, and let all tasks react."""
        until = self.now + seconds
        await settle()
        while self._timers and self._timers[0].when <= until:
            timer = heapq.heappop(self._timers)
            self.now = max(self.now, timer.when)
            if timer.callback is not None:
                timer.callback()
                await settle()
        self.now = until
        await settle()


async def settle() -> None:
    """Let every task continue until it waits for an outside event."""
    for _ in range(20):
        await asyncio.sleep(0)


class Reply:
    """An answer that follows a script.

    Args:
        steps: the steps of its body, one a read; a function is awaited, and the next step follows at once.
        status: the HTTP status.
        headers: the headers; an event stream's by default.

    Attributes:
        n_reads: the number of reads.
        is_closed: whether it was closed before its end.
        is_over: whether it was read to its end.
    """

    def __init__(self, steps: Iterable[Step] = (), status: int = 200, headers: Headers = STREAM) -> None:
        self.status = status
        self.headers = headers
        self.n_reads = 0
        self.is_closed = False
        self.is_over = False
        self._steps: Iterator[Step] = iter(steps)
        self._broken = asyncio.Event()

    async def read(self) -> bytes:
        """Return the bytes of the script's next step."""
        self.n_reads += 1
        await asyncio.sleep(0)  # a read may always be cancelled
        for step in self._steps:
            if self.is_closed:
                break
            if isinstance(step, bytes):
                return step
            if isinstance(step, UpstreamFailed):
                raise step
            await self._unless_closed(step)
        if self.is_closed:
            raise UpstreamFailed("upstream_lost")
        self.is_over = True
        return b""

    async def _unless_closed(self, step: Callable[[], Awaitable[object]]) -> None:
        waits = [asyncio.ensure_future(step()), asyncio.ensure_future(self._broken.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.wait(waits)

    def close(self) -> None:
        """Break off, as a connection that is closed."""
        if not self.is_over:
            self.is_closed = True
            self._broken.set()


class Scripted:
    """An upstream that gives the replies in order.

    Attributes:
        questions: the requests that it received.
        was_cancelled: whether it was cancelled before it answered.
        is_closed: whether it was closed.
    """

    def __init__(self, *replies: Reply | UpstreamFailed | Callable[[], Awaitable[Reply]]) -> None:
        self.questions: list[Question] = []
        self.bodies: list[bytes] = []
        self.was_cancelled = False
        self.is_closed = False
        self._replies = iter(replies)

    async def ask(self, question: Question) -> Reply:
        """Return the next reply, once the body was read."""
        self.questions.append(question)
        reply = next(self._replies)
        try:
            await self._take(question.body)
            found = await reply() if callable(reply) else reply
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        if isinstance(found, UpstreamFailed):
            raise found
        return found

    async def _take(self, body: Any) -> None:
        await asyncio.sleep(0)
        if body is None or isinstance(body, bytes):
            self.bodies.append(body or b"")
        else:
            self.bodies.append(b"".join([piece async for piece in body]))

    async def connect(self, handshake: Handshake) -> Socket:
        """Open no WebSocket."""
        raise NotImplementedError(handshake)

    async def close(self) -> None:
        """Take note of it."""
        self.is_closed = True


class Seen:
    """A watcher that keeps its reports."""

    def __init__(self) -> None:
        self.begun: list[Entry] = []
        self.entries: list[Entry] = []
        self.chunks: list[bytes] = []

    def begin(self, entry: Entry) -> None:
        """Keep it."""
        self.begun.append(entry)

    def chunk(self, entry: Entry, data: bytes) -> None:  # noqa: ARG002 - as the protocol has it
        """Keep it."""
        self.chunks.append(data)

    def over(self, entry: Entry) -> None:
        """Keep it."""
        self.entries.append(entry)


class Client:
    """A request in memory, and its response.

    Attributes:
        sent: the messages of the response.
        leave: set when the client has gone.
        sending: called with each message before it is taken; for slow clients.
    """

    def __init__(
        self,
        path: str = CHAT,
        body: bytes | list[bytes] = b"{}",
        *,
        method: str = "POST",
        headers: Headers | None = None,
        query: bytes = b"",
    ) -> None:
        pieces = [body] if isinstance(body, bytes) else body
        own: Headers = [(b"host", b"localhost")]
        if method == "POST":
            own.append((b"content-length", str(sum(map(len, pieces))).encode()))
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query,
            "headers": [*own, *(headers or [])],
        }
        self.sent: list[dict[str, Any]] = []
        self.leave = asyncio.Event()
        self.sending: Callable[[dict[str, Any]], Awaitable[object]] | None = None
        self._pieces = list(pieces)

    async def receive(self) -> dict[str, Any]:
        """Give the pieces of the body, then the disconnect once the client has left."""
        await asyncio.sleep(0)
        if self._pieces:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces)}
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        """Take a message."""
        await asyncio.sleep(0)
        if self.sending is not None:
            await self.sending(message)
        self.sent.append(message)

    @property
    def status(self) -> int:
        """The status of the response."""
        status: int = self.sent[0]["status"]
        return status

    @property
    def headers(self) -> Headers:
        """The headers of the response."""
        headers: Headers = self.sent[0]["headers"]
        return headers

    @property
    def pieces(self) -> list[bytes]:
        """The pieces of the response body."""
        return [message["body"] for message in self.sent[1:]]

    @property
    def body(self) -> bytes:
        """The response body."""
        return b"".join(self.pieces)

    @property
    def is_whole(self) -> bool:
        """Whether the body was complete."""
        return bool(self.sent) and not self.sent[-1].get("more_body", True)


class Stage:
    """A request on its way through the proxy.

    Attributes:
        app: the proxy.
        clock: the proxy's clock.
        task: the server's task, in which the application runs.
        raised: its exception, once it is over.
    """

    def __init__(self, client: Client, upstream: Scripted, given: Config, options: dict[str, Any]) -> None:
        self.clock = Clock()
        self.seen = Seen()
        made = {"upstream": lambda _: upstream, "watcher": self.seen, "clock": self.clock}
        self.app = ProxyApp(given, **{**made, **options})
        self.task = asyncio.ensure_future(self.app(client.scope, client.receive, client.send))
        self.raised: BaseException | None = None

    @property
    def entry(self) -> Entry:
        """The outcome."""
        (entry,) = self.seen.entries
        return entry


@asynccontextmanager
async def staged(
    client: Client, upstream: Scripted, given: Config | None = None, **options: Any
) -> AsyncIterator[Stage]:
    """Begin a request; at the end of the block, wait for its end, after which nothing may be left."""
    before = asyncio.all_tasks()
    stage = Stage(client, upstream, given or config(), options)
    await settle()
    yield stage
    (stage.raised,) = await asyncio.gather(stage.task, return_exceptions=True)
    await stage.app.close()
    assert 0 == stage.clock.n_waiting
    assert before == asyncio.all_tasks()
    assert 0 == stage.app.n_open


def run(
    client: Client, upstream: Scripted, given: Config | None = None, **options: Any
) -> tuple[BaseException | None, Entry]:
    """Send one request through the proxy; return its exception and its outcome."""

    async def go() -> Stage:
        async with staged(client, upstream, given, **options) as stage:
            pass
        return stage

    stage = asyncio.run(go())
    return stage.raised, stage.entry


def events_of(stream: bytes) -> list[bytes]:
    """Return the events of a stream, each with its blank line."""
    return [event + b"\n\n" for event in stream.split(b"\n\n") if event]
