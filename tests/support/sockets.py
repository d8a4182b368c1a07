"""A real WebSocket server on the loopback interface that sends the lines of a recording, one a message."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.surfaces import sdk


@contextmanager
def serve_lines(data: bytes) -> Iterator[str]:
    """Serve the lines to any client that connects, close the connection, and yield the server's address."""

    def send(connection: Any) -> None:
        for line in data.decode().splitlines():
            connection.send(line)

    with sdk("websockets.sync.server").serve(send, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()
