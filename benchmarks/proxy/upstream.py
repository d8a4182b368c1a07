"""The upstream of the benchmark: a server of raw asyncio protocols that answers by script, as fast as it is read or paced."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Final, cast

from benchmarks.proxy.scripts import END, PACED, SCRIPTS, Script, paced_event

_BURST: Final = 16  # events that one stream sends before the next has its turn
_GOLDEN: Final = 0.6180339887
_MODEL: Final = re.compile(rb'"model"\s*:\s*"(?:openai/)?(\w+)"')
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_STREAM_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
_BODY_HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"


class Pace:
    """The pace of streams, and their starting times.

    Attributes:
        interval: seconds between two events of a stream.
        go: set once streams continue after their first event: until then they are only opened.
    """

    def __init__(self) -> None:
        self.interval = 0.25
        self.go = asyncio.Event()
        self._n = 0

    def next_offset(self) -> float:
        """Return when the next stream begins, as a part of the interval: they are spread evenly."""
        self._n += 1
        return self._n * _GOLDEN % 1


class Upstream(asyncio.Protocol):
    """One connection."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._data = b""
        self._transport: asyncio.Transport
        self._events: Sequence[bytes] = ()
        self._at = 0
        self._is_paused = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Stop."""
        self._events = ()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        """Wait until the other side reads."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """Continue."""
        self._is_paused = False
        self._more()

    def data_received(self, data: bytes) -> None:
        """Answer a request once it is whole."""
        self._data += data
        head, end, body = self._data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        size = 0 if length is None else int(length[1])
        if not end or len(body) < size:
            return
        self._data = body[size:]
        model = _MODEL.search(body)
        name = "json" if model is None else model[1].decode()
        if name == PACED:
            self._transport.write(_STREAM_HEAD + paced_event(None))
            self._task = asyncio.get_running_loop().create_task(self._paced())
        else:
            self._answer(SCRIPTS[name])

    def _answer(self, script: Script) -> None:
        if not script.events:
            head = _BODY_HEAD % (script.content_type.encode(), len(script.body))
            self._transport.write(head + script.body)
            return
        self._transport.write(_STREAM_HEAD)
        self._events, self._at = (*script.events, END), 0
        self._more()

    def _more(self) -> None:
        for event in self._events[self._at : self._at + _BURST]:
            self._at += 1
            self._transport.write(event)
            if self._is_paused:
                return
        if self._at < len(self._events):
            asyncio.get_running_loop().call_soon(self._more)

    async def _paced(self) -> None:
        pace = self._pace
        offset = pace.next_offset()
        await pace.go.wait()
        await asyncio.sleep(offset * pace.interval)
        while not self._transport.is_closing():
            self._transport.write(paced_event(time.monotonic_ns()))
            await asyncio.sleep(pace.interval)
