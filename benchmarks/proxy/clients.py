"""The load of the benchmark: clients of raw asyncio protocols, which look at as little as they can."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Final, cast

from benchmarks.proxy.scripts import END, dechunked, moments_in

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_OK: Final = re.compile(rb"HTTP/1\.[01] 200 ")
_LAST: Final = b"\r\n" + END


class WrongAnswer(Exception):
    """An answer is not the expected answer."""


class Client(asyncio.Protocol):
    """A connection on which requests are sent one after the other.

    Attributes:
        n_bytes: the number of received bytes.
        is_kept: whether the input is kept for inspection.
        kept: the last answer, if it is.
    """

    def __init__(self, *, is_kept: bool = False) -> None:
        self.n_bytes = 0
        self.is_kept = is_kept
        self.kept = b""
        self._transport: asyncio.Transport
        self._done: asyncio.Future[None] | None = None
        self._head = b""
        self._left: int | None = (
            None  # bytes of the body that are still to come; None where it comes in chunks
        )
        self._tail = b""
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        if not self.lost.done():
            self.lost.set_result(None)
        if self._done is not None and not self._done.done():
            self._done.set_exception(exc or WrongAnswer("the connection was closed"))

    async def ask(self, request: bytes) -> None:
        """Send a request, and return when its answer is over.

        Raises:
            WrongAnswer: the status is not 200, or the connection was closed.
            OSError: the connection broke off.
        """
        self._head, self._left, self._tail, self.kept = b"", None, b"", b""
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        await self._done

    def close(self) -> None:
        """Close the connection."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Look whether this is the end."""
        self.n_bytes += len(data)
        if self._done is None or self._done.done():
            return
        if self.is_kept:
            self.kept += data
        if not self._tail and not self._begin(data):
            return
        if self._left is not None:
            self._left -= len(data)
            is_over = self._left <= 0
        else:
            self._tail = (self._tail + data[-len(_LAST) :])[-len(_LAST) :]
            is_over = self._tail == _LAST
        if is_over:
            self._done.set_result(None)

    def _begin(self, data: bytes) -> bool:
        """Read the head; return whether it is whole."""
        self._head += data
        head, end, body = self._head.partition(b"\r\n\r\n")
        if not end:
            return False
        if not _OK.match(head):
            self._transport.abort()
            if self._done is not None:
                self._done.set_exception(WrongAnswer(head.partition(b"\r\n")[0].decode("latin-1")))
            return False
        length = _LENGTH.search(head)
        self._left = None if length is None else int(length[1]) - len(body) + len(data)
        self._tail = b"\n"
        return True


class Listener(asyncio.Protocol):
    """A paced stream, which counts the input and measures the delay of each event.

    Args:
        request: the request, which is sent as soon as there is a connection.
        delays: the list to which the delays are added, in nanoseconds.
    """

    def __init__(self, request: bytes, delays: list[int]) -> None:
        self._request = request
        self._delays = delays
        self._transport: asyncio.Transport
        loop = asyncio.get_running_loop()
        self.is_open: asyncio.Future[None] = loop.create_future()
        self.lost: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Say so."""
        self.lost.set_result(None)
        if not self.is_open.done():
            self.is_open.set_exception(exc or WrongAnswer("the connection was closed"))

    def data_received(self, data: bytes) -> None:
        """Take the delays of the events in a read."""
        now = time.monotonic_ns()
        self._delays += [now - moment for moment in moments_in(data)]
        if not self.is_open.done() and b"data:" in data:
            self.is_open.set_result(None)

    def close(self) -> None:
        """Close the connection."""
        self._transport.abort()


def body_of(answer: bytes) -> bytes:
    """Return the body of a whole answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return body if _LENGTH.search(head) else dechunked(body)
