"""Bounded subclasses of uvicorn's protocols: limits on the size and time of a head, and on a client that reads nothing.

Theory of operation. Between two requests a connection waits for a head. Its bytes are counted until the blank line that
ends it. A timer runs from its first byte; on a new connection it runs from the beginning. A client that reads nothing
of the waiting data for too long loses its connection; `close` alone would wait for the client forever.
"""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:

    class _Protocol(asyncio.Protocol):
        """The members of uvicorn's protocols that are used here."""

        loop: asyncio.AbstractEventLoop
        transport: asyncio.Transport
        cycle: Any
        timeout_keep_alive_task: asyncio.TimerHandle | None

        def pause_writing(self) -> None: ...
        def resume_writing(self) -> None: ...
        def handle_websocket_upgrade(self, *head: Any) -> None: ...
else:
    _Protocol = object

_private = True

MOST_HEAD: Final = 32 * 1024  # bytes
HEAD_SECONDS: Final = 10.0
_END: Final = re.compile(rb"\r?\n\r?\n")
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
)


class WriteGuard(_Protocol):
    """A bound on the time in which a client reads nothing; a mixin in front of one of uvicorn's protocols.

    Attributes:
        write_seconds: how long a client may read nothing; None for no bound.
    """

    write_seconds: float | None = None

    _write_timer: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and stop the timer."""
        self._stop_write_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note that a lot of data waits for the client."""
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        """Note that the client has read it."""
        self._stop_write_timer()
        super().resume_writing()

    def _watch_writing(self) -> None:
        if self.write_seconds is not None:
            size = self.transport.get_write_buffer_size()
            self._write_timer = self.loop.call_later(self.write_seconds, self._look_at_writing, size)

    def _look_at_writing(self, before: int) -> None:
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()
        else:
            self._watch_writing()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class _Guard(WriteGuard):
    """Bounds for a connection; a mixin in front of one of uvicorn's protocols.

    Attributes:
        head_seconds: how long a head may take.
    """

    head_seconds: float = HEAD_SECONDS

    _is_refused = False  # discard further input: a close would discard our unread answer
    _n_head = 0  # bytes of an unfinished head
    _tail = b""  # the last of them, in which its end may begin
    _head_timer: asyncio.TimerHandle | None = None
    _is_upgraded = False  # another protocol has the connection

    @abstractmethod
    def awaits_head(self) -> bool:
        """Return whether the next byte belongs to a head."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; a silent client has no more time than a slow one."""
        super().connection_made(transport)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and stop all timers."""
        self._stop_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless they make a head too large."""
        if self._is_refused or self.transport.is_closing():
            return
        if self.awaits_head() and self._is_too_large(data):
            self._refuse()
            return
        super().data_received(data)
        if self._is_upgraded:
            return
        if not self.awaits_head():
            self._n_head, self._tail = 0, b""
            self._stop_head_timer()
        elif self._head_timer is None and self.timeout_keep_alive_task is None:
            self._start_head_timer()

    def handle_websocket_upgrade(self, *head: Any) -> None:
        """Give the connection to another protocol, unless an answer is still on it."""
        self._stop_head_timer()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
            return
        self._is_upgraded = True
        super().handle_websocket_upgrade(*head)

    def _refuse(self) -> None:
        self._is_refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()  # after a request that is being answered: no answer is possible in between
            return
        self.transport.write(_TOO_LARGE)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._stop_head_timer()
        self._start_head_timer()

    def _is_too_large(self, data: bytes) -> bool:
        if len(data) + self._n_head <= MOST_HEAD:
            self._n_head, self._tail = self._n_head + len(data), (self._tail + data)[-3:]
            return False
        end = _END.search(self._tail + data)
        self._n_head += len(data) if end is None else end.end() - len(self._tail)
        return self._n_head > MOST_HEAD

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.head_seconds, self._head_is_late)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        self.transport.abort()


def guarded(
    *, write_seconds: float | None, head_seconds: float = HEAD_SECONDS, parser: str | None = None
) -> type[asyncio.Protocol]:
    """Return a protocol for uvicorn.

    Args:
        write_seconds: how long a client may read nothing; None for no bound.
        head_seconds: how long a head may take.
        parser: `httptools` or `h11`; None for the first of them that is installed.
    """
    name = parser or ("httptools" if find_spec("httptools") is not None else "h11")
    made = {"write_seconds": write_seconds, "head_seconds": head_seconds}
    guard: Any = type("Guarded", (_PROTOCOLS[name](),), made)
    return cast("type[asyncio.Protocol]", guard)


def _httptools() -> type[Any]:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: PLC0415 - an extra

    class GuardedHttpTools(_Guard, HttpToolsProtocol):
        """The guarded protocol that uses httptools."""

        _in_head = False  # whether a part of a head came
        _in_body = False

        def awaits_head(self) -> bool:
            """Return whether the next byte belongs to a head."""
            cycle: Any = self.cycle  # None before the first request
            return self._in_head or (not self._in_body and (cycle is None or cycle.response_complete))

        def on_message_begin(self) -> None:
            """Begin a request, possibly after another one that is not answered yet."""
            self._in_head = True
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            """End a head; the target stays as received, also if it is a whole URL."""
            self._in_head, self._in_body = False, True
            super().on_headers_complete()
            raw, _, query = self.url.partition(b"?")
            self.scope["raw_path"], self.scope["query_string"] = raw, query

        def on_header(self, name: bytes, value: bytes) -> None:
            """Take a header; a field after a body (a trailer) is ignored, whatever its name."""
            if not self._in_body:
                super().on_header(name, value)

        def on_message_complete(self) -> None:
            """End a request."""
            self._in_body = False
            super().on_message_complete()

        def on_response_complete(self) -> None:
            """End an answer; its data is dropped, not kept while the connection is idle."""
            super().on_response_complete()
            cycle: Any = self.cycle
            is_idle = not self._in_head and not self._in_body
            if is_idle and cycle is not None and cycle.response_complete:
                self.cycle = self.scope = None  # type: ignore[assignment]  # as before the first request
                self.headers = []

    return GuardedHttpTools


def _h11() -> type[Any]:
    import h11  # noqa: PLC0415 - it comes with uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415 - an extra

    class GuardedH11(_Guard, H11Protocol):  # pyright: ignore[reportIncompatibleMethodOverride]
        """The guarded protocol that uses h11."""

        def awaits_head(self) -> bool:
            """Return whether the next byte belongs to a head."""
            return self.conn.their_state is h11.IDLE

    return GuardedH11


_PROTOCOLS: Final = {"h11": _h11, "httptools": _httptools}
