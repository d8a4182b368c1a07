"""The ASGI application of the admin listener: liveness, readiness, metrics and recent odd exchanges.

Theory of operation. The listener asks each process (itself or its workers) for its status and adds the numbers up.
Therefore it can run in any process. `/health` asks no other process: a process that answers is alive. Data about
exchanges is shown only under a host name that this machine is known by. Otherwise a web page could point its own name
to this machine and read all of it.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, NamedTuple, Optional

import msgspec

from wholecall.discreet import to_line
from wholecall.proxy.log import Line
from wholecall.proxy.metrics import CONTENT_TYPE, Snapshot, merged, to_text
from wholecall.proxy.watch import MOST_RECENT, Watch
from wholecall.proxy.wire import Receive, Scope, Send

_private = True

_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"
_BUSY: Final = "5"  # seconds after which to ask again


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The status of one process: plain data, for pipes.

    Attributes:
        unready: why the process takes no requests now: `draining`, `full`; None if it takes them.
        numbers: its counts.
        recent: its last odd exchanges.
    """

    unready: Optional[str] = None
    numbers: Snapshot = {}
    recent: list[Line] = []

    def __repr__(self) -> str:
        return f"<Status {self.unready or 'ready'}>"

    @classmethod
    def of(cls, watch: Watch, unready: str | None) -> Status:
        """Return the current status of this process."""
        return cls(unready=unready, numbers=watch.snapshot(), recent=list(watch.recent))


# Returns the status of each process; raises OSError or TimeoutError if none is available.
Ask = Callable[[], Awaitable[Sequence[Status]]]


class _Answer(NamedTuple):
    status: int
    body: bytes
    content_type: str = _TEXT
    headers: tuple[tuple[bytes, bytes], ...] = ()


class _Recent(msgspec.Struct):
    recent: list[Line]


class Admin:
    """Answers `GET` and `HEAD` to `/health`, `/ready`, `/metrics` and `/recent`.

    Args:
        ask: returns the status of each process.
        hosts: names under which `/metrics` and `/recent` may be requested, in addition to numbers and `localhost`.
    """

    def __init__(self, ask: Ask, *, hosts: Iterable[str] = ()) -> None:
        self._ask = ask
        self._hosts = frozenset({"localhost", *(host.lower() for host in hosts)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: the ASGI entry point."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            await _give(scope, send, await self._answer(scope))
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(self, scope: Scope) -> _Answer:
        if scope["method"] not in {"GET", "HEAD"}:
            return _Answer(405, b"only GET and HEAD\n", headers=((b"allow", b"GET, HEAD"),))
        path = scope["path"]
        if path == "/health":
            return _Answer(200, b"alive\n")
        form = _FORMS.get(path)
        if form is None:
            return _Answer(404, b"there are /health, /ready, /metrics and /recent\n")
        if path != "/ready" and not self._is_known(scope):
            return _Answer(403, b"ask by number, or add the name to clients.hosts\n")
        try:
            return form(await self._ask())
        except (OSError, asyncio.TimeoutError):  # on Python 3.10 the second is not a subclass of the first
            return _Answer(503, b"no process answers\n", headers=((b"retry-after", _BUSY.encode()),))

    def _is_known(self, scope: Scope) -> bool:
        """Return whether a request addresses this machine by number, which web pages cannot claim, or known name."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1:
            return not hosts  # HTTP/1.0 requests may lack it, browsers always send it
        name = _without_port(hosts[0].decode("latin-1").strip().lower())
        return name in self._hosts or _is_number(name)


def _ready(found: Sequence[Status]) -> _Answer:
    if any(status.unready is None for status in found):
        return _Answer(200, b"ready\n")
    why = sorted({status.unready for status in found if status.unready is not None}) or ["no process answers"]
    return _Answer(503, f"{', '.join(why)}\n".encode(), headers=((b"retry-after", _BUSY.encode()),))


def _metrics(found: Sequence[Status]) -> _Answer:
    text = to_text(merged(status.numbers for status in found))
    return _Answer(200, text.encode(), CONTENT_TYPE)


def _recent(found: Sequence[Status]) -> _Answer:
    lines = sorted((line for status in found for line in status.recent), key=lambda line: line.ts)
    newest = lines[-MOST_RECENT:][::-1]
    return _Answer(200, to_line(_Recent(newest)) + b"\n", _JSON)


_FORMS: Final[dict[str, Callable[[Sequence[Status]], _Answer]]] = {
    "/ready": _ready,
    "/metrics": _metrics,
    "/recent": _recent,
}


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _give(scope: Scope, send: Send, answer: _Answer) -> None:
    headers = [
        (b"content-type", answer.content_type.encode()),
        (b"content-length", str(len(answer.body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *answer.headers,
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})


async def _live(receive: Receive, send: Send) -> None:
    """Take part in the server's lifespan protocol; there is nothing to do."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
