"""A real HTTP server on the loopback interface that streams prepared answers, a chunk for each piece.

An answer may come slowly (each piece waits for `Answer.gate`), stop in the middle or never end. What clients do is
counted: requests, connections that are open, pieces that were taken.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple

__all__ = ["Answer", "Loopback", "Request", "serve"]

PATIENCE = 20.0  # seconds after which a wait has failed


class Answer(NamedTuple):
    """One response.

    Attributes:
        pieces: its body; each piece is one chunk of the transfer and one write to the socket.
        ending: `"clean"` ends the body, `"cut"` closes the connection instead, `"reset"` does so with a reset,
            `"hang"` says nothing more until the client goes away.
        gate: released once for each piece that may be sent; None sends all at once.
    """

    pieces: Sequence[bytes]
    content_type: str = "text/event-stream"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    ending: Literal["clean", "cut", "reset", "hang"] = "clean"
    gate: threading.Semaphore | None = None


class Request(NamedTuple):
    """What a client sent; names of headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Loopback:
    """The server: where it is and what it has seen.

    Attributes:
        url: `http://127.0.0.1:PORT`, without a slash at the end.
        requests: all requests so far.
        n_sent: pieces that were written to a socket so far.
    """

    def __init__(self, url: str, answers: Sequence[Answer]) -> None:
        self.url = url
        self.requests: list[Request] = []
        self.n_sent = 0
        self._answers = answers
        self._open = 0
        self._changed = threading.Condition()

    @property
    def n_open(self) -> int:
        """Connections that are open now."""
        return self._open

    def wait_until_closed(self) -> bool:
        """Wait until no connection is open; False if one stays."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, PATIENCE)

    def wait_until_sent(self, n_pieces: int) -> bool:
        """Wait until so many pieces were sent in all; False if they never are."""
        with self._changed:
            return self._changed.wait_for(lambda: self.n_sent >= n_pieces, PATIENCE)

    def answer(self, request: Request) -> Answer:
        """Return what the next request gets: the answers in order, then the last one again and again."""
        with self._changed:
            self.requests.append(request)
            return self._answers[min(len(self.requests), len(self._answers)) - 1]

    def count(self, *, opened: int = 0, sent: int = 0) -> None:
        """Take note of connections and pieces."""
        with self._changed:
            self._open += opened
            self.n_sent += sent
            self._changed.notify_all()


@contextmanager
def serve(*answers: Answer) -> Iterator[Loopback]:
    """Serve the answers, one a request, until the block is left."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    loopback = Loopback(f"http://127.0.0.1:{server.server_address[1]}", answers)
    server.loopback = loopback  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._loopback.count(opened=1)

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # the client went away between two requests
            self.close_connection = True

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:  # the client went away
            self.close_connection = True
        self._loopback.count(opened=-1)

    @property
    def _loopback(self) -> Loopback:
        loopback: Loopback = self.server.loopback  # type: ignore[attr-defined]
        return loopback

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer."""
        self.do_POST()

    def do_POST(self) -> None:
        """Answer."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self._loopback.answer(Request(self.command, self.path, headers, body))
        try:
            self._send(answer)
        except OSError:  # the client went away
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        self.send_header("transfer-encoding", "chunked")
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        for piece in answer.pieces:
            if answer.gate is not None and not answer.gate.acquire(timeout=PATIENCE):
                break
            if piece:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self._loopback.count(sent=1)
        self._end(answer)

    def _end(self, answer: Answer) -> None:
        if answer.ending == "clean":
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        if answer.ending == "hang":
            self.connection.settimeout(PATIENCE)
            while self.connection.recv(4096):
                pass
        elif answer.ending == "reset":
            # With no time to linger a close sends RST.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
