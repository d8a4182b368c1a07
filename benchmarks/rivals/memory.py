"""HTTP clients without a network: every request is answered with the same stream, from memory.

All time is then the library's that reads the stream, or ours.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

Wrap = Callable[[Any], Any]


def bare(inner: Any) -> Any:
    """Put nothing round a transport."""
    return inner


class OutOfTime(BaseException):
    """Raised amidst a stream: it is not an `Exception`, so that no library takes it for a network error."""


class Within:
    """Pieces of a stream, for a reader that has so many seconds of processor time from the first one on.

    Attributes:
        n_given: the number of pieces that the last reader got.
    """

    def __init__(self, seconds: float, pieces: Iterable[Any]) -> None:
        self.n_given = 0
        self._seconds = seconds
        self._pieces = pieces

    def __iter__(self) -> Iterator[Any]:
        self.n_given = 0
        end = time.process_time() + self._seconds
        for piece in self._pieces:
            self.n_given += 1
            yield piece
            if time.process_time() > end:
                raise OutOfTime


def transport(reads: Iterable[bytes], library: str = "httpx") -> Any:
    """Return a transport of httpx or httpx2 that answers every request with the same stream, in the same reads."""
    http = importlib.import_module(library)

    async def reread() -> AsyncIterator[bytes]:
        for read in reads:
            yield read

    def stream(self: object) -> Iterator[bytes]:  # noqa: ARG001
        yield from reads

    bases = (http.SyncByteStream, http.AsyncByteStream)
    body = type("Body", bases, {"__iter__": stream, "__aiter__": lambda _: reread()})
    headers = {"content-type": "text/event-stream"}
    return http.MockTransport(lambda _: http.Response(200, headers=headers, stream=body()))


def http_library(sdk: str | None = None) -> str:
    """Return which HTTP library an SDK takes clients of: httpx2, or httpx before openai 3 and anthropic 2.

    Without an SDK it is the newer one that is installed.
    """
    if sdk is None:
        return "httpx2" if importlib.util.find_spec("httpx2") else "httpx"
    default: type = importlib.import_module(sdk).DefaultHttpxClient
    return default.__mro__[1].__module__.partition(".")[0]


def http_client(reads: Iterable[bytes], library: str, *, kind: str = "", wrap: Wrap = bare) -> Any:
    """Return an HTTP client over a stream in memory.

    Args:
        reads: the stream, in the pieces that a socket would give.
        library: httpx or httpx2.
        kind: `"Async"` or empty.
        wrap: wraps the transport.
    """
    return getattr(importlib.import_module(library), f"{kind}Client")(
        transport=wrap(transport(reads, library))
    )


def sdk_client(name: str, reads: Iterable[bytes], *, kind: str = "", wrap: Wrap = bare) -> Any:
    """Return a client of an SDK, `openai.OpenAI` or `anthropic.Anthropic`, over a stream in memory."""
    module, _, made = name.partition(".")
    http = http_client(reads, http_library(module), kind=kind, wrap=wrap)
    base = "http://127.0.0.1/v1"
    make = getattr(importlib.import_module(module), f"{kind}{made}")
    return make(api_key="unused", base_url=base, max_retries=0, http_client=http)
