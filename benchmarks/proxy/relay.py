"""The floor of the benchmark: a relay of bytes from one TCP connection to another, `python -m benchmarks.proxy.relay`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import cast


class End(asyncio.Protocol):
    """One end of a connection; its input leaves at the other end."""

    def __init__(self, other: End | None = None, *, upstream: tuple[str, int] | None = None) -> None:
        self._other = other
        self._upstream = upstream
        self._waiting: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connect to the upstream, or send the input so far."""
        self._transport = cast("asyncio.Transport", transport)
        if self._upstream is not None:
            self._other = End(self)
            self._task = asyncio.get_running_loop().create_task(self._connect(self._other, *self._upstream))
        for data in self._waiting:
            self._transport.write(data)

    async def _connect(self, other: End, host: str, port: int) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: other, host, port)
        except OSError:
            self.close()

    @property
    def _far(self) -> End:
        assert self._other is not None
        return self._other

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Close the other end."""
        if self._other is not None:
            self._other.close()

    def pause_writing(self) -> None:
        """Read no more at the other end."""
        self._far.pause(is_paused=True)

    def resume_writing(self) -> None:
        """Read on at the other end."""
        self._far.pause(is_paused=False)

    def pause(self, *, is_paused: bool) -> None:
        """Read no more, or read on."""
        assert self._transport is not None
        with suppress(RuntimeError):  # it has been closed
            if is_paused:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def close(self) -> None:
        """Close this end."""
        if self._transport is not None:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Pass it on."""
        self._far.write(data)

    def write(self, data: bytes) -> None:
        """Send, as soon as there is a connection."""
        if self._transport is None:
            self._waiting.append(data)
        else:
            self._transport.write(data)


async def _serve(port: int, upstream: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: End(upstream=("127.0.0.1", upstream)), "127.0.0.1", port, backlog=2048
    )
    await server.serve_forever()


def main() -> None:
    """Relay, with the event loop that the proxy has."""
    try:
        import uvloop  # noqa: PLC0415 - an extra
    except ImportError:
        run = asyncio.run
    else:
        run = uvloop.run
    with suppress(KeyboardInterrupt):
        run(_serve(int(sys.argv[1]), int(sys.argv[2])))


if __name__ == "__main__":
    main()
