from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from wholecall.proxy.guard import guarded

REQUEST = b"POST /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\nhi"


class Wire(asyncio.Transport):
    """A connection that keeps the written bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_closed = False

    def write(self, data: Any) -> None:
        """Keep it."""
        self.written += data

    def is_closing(self) -> bool:
        """Return whether it was closed."""
        return self.is_closed

    def close(self) -> None:
        """Close it."""
        self.is_closed = True

    def pause_reading(self) -> None:
        """Do nothing."""

    def resume_reading(self) -> None:
        """Do nothing."""

    def get_write_buffer_size(self) -> int:
        """Return nothing."""
        return 0


async def app(_scope: Any, receive: Any, send: Any) -> None:
    """Answer as soon as some of the request's body is there."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def told(*pieces: bytes) -> tuple[bytes, Any]:
    """Return the bytes written for pieces, each handled before the next comes; and the protocol."""
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, ws="none")
    config.load()
    make: Any = guarded(write_seconds=None, parser="httptools")
    wire, protocol = Wire(), make(config=config, server_state=ServerState(), app_state={})
    protocol.connection_made(wire)
    for piece in pieces:
        protocol.data_received(piece)
        for _ in range(10):
            await asyncio.sleep(0)
    protocol.connection_lost(None)
    return wire.written, protocol


def test_nothing_is_kept_of_what_was_answered() -> None:
    """An idle connection keeps nothing of its last request: there may be ten thousand of them."""
    written, protocol = asyncio.run(told(REQUEST))

    assert 1 == written.count(b"HTTP/1.1 200 ")
    assert (None, None, []) == (protocol.cycle, protocol.scope, protocol.headers)


def test_requests_in_a_row_wherever_they_are_cut() -> None:
    """Requests that do not wait for answers are all answered, wherever the bytes are cut."""
    data = REQUEST * 3

    async def run() -> list[int]:
        cut = [await told(data[:at], data[at:]) for at in range(len(data) + 1)]
        return [written.count(b"HTTP/1.1 200 ") for written, _ in cut]

    assert [3] * (len(data) + 1) == asyncio.run(run())


def test_an_answer_before_the_end_of_the_request() -> None:
    """The rest of a body whose answer is over is taken, and the next request is answered."""
    long = b"POST /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\nhi"
    written, _ = asyncio.run(told(long, b"h", b"o", REQUEST))

    assert 2 == written.count(b"HTTP/1.1 200 ")
