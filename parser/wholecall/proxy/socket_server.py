"""Uvicorn's protocol for WebSockets with bounds, and with ends that keep their meaning.

Theory of operation. The protocol gets a connection with the head of the handshake. A head that it cannot read (too many
headers, or too long a line) is answered at once: nothing else would end the connection. A server that stops leaves
open WebSockets to the application, which gives them their time. A client that does not answer pings is dropped, unless
its input is not read, because the upstream takes none: then its answer may wait there, too. A client that pings and
reads nothing gets one pong, for its last ping. The pieces of a message are kept as one, because many small ones take
more memory than they have bytes. A connection that broke is told from one that was closed without a code.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from wholecall.proxy.closing import BROKEN
from wholecall.proxy.guard import WriteGuard

_private = True

CLOSE_SECONDS: Final = 5.0  # for the client's part of a close
_BAD: Final = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class _GuardedSocket(WriteGuard, WebSocketsSansIOProtocol):
    """The guarded protocol."""

    _is_faulty = False  # the client broke a rule, and was told so
    _pong = b""  # for a client that reads nothing

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.close_timeout = CLOSE_SECONDS
        self._pieces = bytearray()  # of a message, after the first

    async def run_asgi(self) -> None:
        """Run the application; a handshake that it refused, or whose client left, is no error of it."""
        app = self.app

        async def answering(scope: Any, receive: Any, send: Any) -> None:
            await app(scope, receive, send)
            if not self.handshake_complete:
                raise ClientDisconnected

        self.app = answering
        await super().run_asgi()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the first are the head of the handshake, and those after a fault are dropped."""
        if self._is_faulty:
            return
        try:
            super().data_received(data)
            is_read = bool(self.handshake_initiated)
        except UnicodeError:  # a target that is not ASCII
            is_read = False
        if not is_read:
            self.transport.write(_BAD)
            self.transport.close()

    def handle_ping(self) -> None:
        """Answer a ping, once the client reads."""
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pong)
        else:
            self._pong = pong

    def resume_writing(self) -> None:
        """Note that the client reads."""
        super().resume_writing()
        pong, self._pong = self._pong, b""
        if pong and not self.close_sent:
            self.transport.write(pong)

    def handle_cont(self, event: Any) -> None:
        """Take a further piece of a message."""
        self._pieces += event.data
        if event.fin:
            self.frames.append(bytes(self._pieces))
            self._pieces = bytearray()
            self.send_receive_event_to_app()

    def handle_parser_exception(self) -> None:
        """Tell a client that it broke a rule; unread input would make the system discard what it is told."""
        closed = self.conn.close_sent
        assert closed is not None
        self.queue.put_nowait({"type": "websocket.disconnect", "code": closed.code, "reason": closed.reason})
        self._is_faulty = self.close_sent = True
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.resume_reading()
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """End; a client that sent no close frame has not closed the WebSocket."""
        if self.handshake_complete and not self.close_sent and self.conn.close_rcvd is None:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": BROKEN})
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Leave a WebSocket that is open to the application, which is told to stop, too."""
        if self.close_sent:
            super().shutdown()

    def keepalive_timeout(self) -> None:
        """Drop a client that does not answer a ping, unless its answer may wait to be read."""
        if self.read_paused and self.ping_timeout is not None:
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
        else:
            super().keepalive_timeout()


def guarded_socket(*, write_seconds: float | None) -> type[asyncio.Protocol]:
    """Return a protocol for uvicorn.

    Args:
        write_seconds: how long a client may read nothing; None for no bound.
    """
    made: dict[str, Any] = {"write_seconds": write_seconds}
    return cast("type[asyncio.Protocol]", type("Guarded", (_GuardedSocket,), made))
