"""A real HTTP server on the loopback interface that sends prepared answers, a chunk for each piece.

Theory of operation. The server listens only on 127.0.0.1, on a port that the system chooses. Each connection has a
thread; each piece is one chunk of HTTP and one write, not held back by the socket. Leaving the server shuts its
connections, so that no thread waits for a client that keeps a connection open. The server counts open connections and
sent pieces.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any

from wholecall.recordings.finding import StrPath
from wholecall.recordings.serving.answers import Answer, IncomingRequest
from wholecall.recordings.serving.recorded import RecordedAnswers

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

PATIENCE = 20.0  # seconds after which a wait for a client or for a gate fails

_ADDRESS = "127.0.0.1"
_POLL = 0.02  # seconds that leaving the server may take
_BACKLOG = 512
_NO_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


class Loopback(RecordedAnswers):
    """A server that answers requests in the order of their arrival; a context manager.

    ::

        with Loopback() as server:
            server.serve("cassettes/tide.sse")
            client = OpenAI(base_url=server.url + "/v1", api_key="x")

    Args:
        folder: the folder that relative paths of recordings start from; None is the working directory.
        seed: draws other chunk boundaries for each recording, equal ones for equal seeds; None keeps the recorded ones.
        port: the port to listen on; 0 lets the system choose a free one.

    Attributes:
        url: `http://127.0.0.1:PORT`, without a slash at the end; empty before the server is entered.
        requests: all requests that arrived.
        unanswered: the requests for which no answer was left.
        recordings: the served recordings, in order.
    """

    def __init__(self, folder: StrPath | None = None, seed: str | None = None, *, port: int = 0) -> None:
        super().__init__(folder, seed)
        self.url = ""
        self._port = port
        self._traffic = _Traffic()
        self._leaving = threading.Event()

    def __enter__(self) -> Self:
        self._server = _Server(self, self._traffic, self._port)
        self.url = f"http://{_ADDRESS}:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": _POLL}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)
        self._traffic.shut()
        self.save()

    @property
    def n_open(self) -> int:
        """Connections that are open now."""
        return len(self._traffic.connections)

    @property
    def n_sent(self) -> int:
        """Pieces that were written to a socket so far."""
        return self._traffic.n_sent

    def wait_until_closed(self) -> bool:
        """Wait until no connection is open; False if one stays open for 20 seconds."""
        return self._traffic.wait_until(lambda: not self._traffic.connections)

    def wait_until_sent(self, n_pieces: int) -> bool:
        """Wait until this many pieces were sent in total; False if they are not within 20 seconds."""
        return self._traffic.wait_until(lambda: self.n_sent >= n_pieces)

    def pause(self, seconds: float) -> bool:
        """Wait before a piece is sent; return whether the server continues."""
        return not self._leaving.wait(seconds)


class _Traffic:
    """The traffic of the connections; counted by their threads."""

    def __init__(self) -> None:
        self.connections: set[socket.socket] = set()
        self.n_sent = 0
        self._changed = threading.Condition()

    def wait_until(self, holds: Callable[[], bool]) -> bool:
        with self._changed:
            return self._changed.wait_for(holds, PATIENCE)

    def opened(self, connection: socket.socket) -> None:
        with self._changed:
            self.connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        with self._changed:
            self.connections.discard(connection)
            self._changed.notify_all()

    def sent(self) -> None:
        with self._changed:
            self.n_sent += 1
            self._changed.notify_all()

    def shut(self) -> None:
        with self._changed:
            for connection in self.connections:
                _shut(connection)


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the client was faster
        connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = _BACKLOG

    def __init__(self, loopback: Loopback, traffic: _Traffic, port: int) -> None:
        self.loopback = loopback
        self.traffic = traffic
        super().__init__((_ADDRESS, port), _Connection)

    def server_bind(self) -> None:
        """Bind without asking a name server for the name of the address."""
        TCPServer.server_bind(self)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _at(self) -> _Server:
        assert isinstance(self.server, _Server)
        return self.server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._at.traffic.opened(self.connection)

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # the client went away
            self.close_connection = True

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:  # the client went away
            self.close_connection = True
        self._at.traffic.closed(self.connection)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""

    def do_POST(self) -> None:
        """Answer a request of any method."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = IncomingRequest(self.command, self.path, headers, self._body(headers))
        self._send(self._at.loopback.answer(request))

    do_GET = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = do_POST  # noqa: N815 - names of http.server

    def _body(self, headers: dict[str, str]) -> bytes:
        if "chunked" not in headers.get("transfer-encoding", "").lower():
            return self.rfile.read(int(headers.get("content-length", 0)))
        pieces: list[bytes] = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            continue  # trailers
        return b"".join(pieces)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self.command != "HEAD":
            self._end(answer.ending if self._send_pieces(answer) else "cut", answer.patience)

    def _send_pieces(self, answer: Answer) -> bool:
        """Send the pieces; False if that was interrupted."""
        loopback = self._at.loopback
        for seconds, piece in answer.paced():
            if seconds and not loopback.pause(seconds):
                return False
            if answer.gate is not None and not answer.gate.acquire(timeout=PATIENCE):
                return False
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self._at.traffic.sent()
        return True

    def _end(self, ending: str, patience: float) -> None:
        if ending == "clean":
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        if ending == "hang":
            self.connection.settimeout(patience)
            while self.connection.recv(4096):
                continue
        elif ending == "reset":
            # With a linger time of zero a close sends RST.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self.connection.close()
