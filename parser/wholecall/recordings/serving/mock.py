"""The same answers without a socket: a transport for clients of httpx and httpx2, sync or async.

Theory of operation. Clients need only the methods of a transport, so one object serves them all. The request's class
shows which library sent it; neither is imported here. The body is yielded piece by piece as the client reads.
"""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wholecall.recordings.serving.answers import Answer, IncomingRequest
from wholecall.recordings.serving.recorded import RecordedAnswers, Take

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

# The libraries' exception for each ending of a connection: the name of the class, and its message.
_ERRORS = {
    "cut": (
        "RemoteProtocolError",
        "peer closed connection without sending complete message body (incomplete chunked read)",
    ),
    "reset": ("ReadError", "connection reset by peer"),
    "hang": ("ReadTimeout", "the read operation timed out"),
}


class MockTransport(RecordedAnswers):
    """A transport for `httpx.Client`, `httpx.AsyncClient` and those of httpx2; see `RecordedAnswers`.

    ::

        transport = MockTransport()
        transport.serve("cassettes/tide.sse")
        client = OpenAI(http_client=httpx.Client(transport=transport), api_key="x")

    Endings other than clean ones raise the library's own exceptions. A gate needs a real server.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def handle_request(self, request: Any) -> Any:
        """Return the response to a request of either library.

        Raises:
            TypeError: the request is of neither library, or the answer has a gate.
        """
        return self._respond(request, request.read())

    async def handle_async_request(self, request: Any) -> Any:
        """Return the response to a request of either library; raises as `handle_request`."""
        body = await request.aread()
        if self.takes is None:
            return self._respond(request, body)
        return await import_module("anyio").to_thread.run_sync(self._respond, request, body)

    def close(self) -> None:
        """Write the recorded answers; more requests can follow."""
        self.save()

    async def aclose(self) -> None:
        """Write the recorded answers; more requests can follow."""
        self.save()

    def _respond(self, request: Any, body: bytes) -> Any:
        library = _library_of(request)
        path = request.url.raw_path.decode("ascii")
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = self.answer(IncomingRequest(request.method, path, headers, body, str(request.url)))
        if answer.gate is not None:
            raise TypeError("an answer with a gate needs a real server")
        return library.Response(
            answer.status,
            headers=[("content-type", answer.content_type), *answer.headers],
            stream=_body_type(library)(answer, library, request),
        )


def _library_of(request: Any) -> Any:
    """Return the module, httpx or httpx2, that a request belongs to."""
    for kind in type(request).__mro__:
        module = sys.modules.get(kind.__module__.partition(".")[0])
        if hasattr(module, "SyncByteStream"):
            return module
    raise TypeError(f"{type(request).__name__} is not a request of httpx or httpx2")


@cache
def _body_type(library: Any) -> Any:
    return type("RecordedBody", (_Body, library.SyncByteStream, library.AsyncByteStream), {})


class _Body:
    def __init__(self, answer: Answer, library: Any, request: Any) -> None:
        self._answer = answer
        self._library = library
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        for seconds, piece in self._answer.paced():
            if seconds:
                time.sleep(seconds)
            yield piece
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        anyio = import_module("anyio")  # both libraries depend on it
        pieces = self._answer.paced()
        is_prepared = not isinstance(self._answer.pieces, Take)
        while True:
            step = next(pieces, None) if is_prepared else await anyio.to_thread.run_sync(next, pieces, None)
            if step is None:
                break
            seconds, piece = step
            if seconds:
                await anyio.sleep(seconds)
            yield piece
        self._end()

    def close(self) -> None:
        """Do nothing, because nothing is open."""

    async def aclose(self) -> None:
        """Do nothing, because nothing is open."""

    def _end(self) -> None:
        if self._answer.ending != "clean":
            name, message = _ERRORS[self._answer.ending]
            raise getattr(self._library, name)(message, request=self._request)
