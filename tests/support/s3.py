"""An S3 of this process: moto's, on loopback, which can be told to refuse requests, to hold them up, and to count them."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

_PATIENCE = 60.0  # seconds until a test that waits for nothing fails
_DENIED = b"<Error><Code>%s</Code><Message>said secretly</Message></Error>"


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    query: str


class Gate:
    """Holds requests up until it is opened."""

    def __init__(self) -> None:
        self._arrived, self._open = threading.Event(), threading.Event()

    def arrive(self) -> None:
        """Wait until a request is at the gate."""
        assert self._arrived.wait(_PATIENCE)

    def open(self) -> None:
        """Let all through."""
        self._open.set()

    def pass_through(self) -> None:
        """Be a request at the gate."""
        self._arrived.set()
        self._open.wait(_PATIENCE)


class Server:
    """A test's settings for the server.

    Attributes:
        counts: the counts of requests, by method.
        refused: returns a code (`AccessDenied`) for a request that is refused, None for others.
        gate: returns the gate that a request must pass, if any.
    """

    def __init__(self) -> None:
        self.port = 0
        self._app = DomainDispatcherApplication(create_backend_app)
        self.clear()

    def clear(self) -> None:
        """Refuse nothing, hold nothing up, count from 0."""
        self.counts: Counter[str] = Counter()
        self.refused: Callable[[Asked], str | None] = lambda _: None
        self.gate: Callable[[Asked], Gate | None] = lambda _: None

    def url(self, bucket: str) -> str:
        """Return the URL of a bucket, without options."""
        return f"s3://{bucket}"

    @property
    def options(self) -> str:
        """Return the query in the URL of a bucket here."""
        return f"endpoint_override={quote(f'http://127.0.0.1:{self.port}', safe='')}&region=us-east-1"

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        asked = Asked(environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", ""))
        self.counts[asked.method] += 1
        gate = self.gate(asked)
        if gate is not None:
            gate.pass_through()
        code = self.refused(asked)
        if code is None:
            return self._app(environ, start_response)  # type: ignore[no-any-return]
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response("403 Forbidden", [("Content-Type", "application/xml")])
        return [] if asked.method == "HEAD" else [_DENIED % code.encode()]


@contextmanager
def running() -> Iterator[Server]:
    """Run a server."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = Server()
    listening = make_server("127.0.0.1", 0, server, threaded=True)
    server.port = listening.server_port
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
