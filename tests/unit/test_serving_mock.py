from __future__ import annotations

import asyncio
import sys
import threading
import time
import types
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from wholecall.serving import Answer, MockTransport

PIECES = [b"data: 1\n", b"\nda", b"ta: 2\n\n"]
RUNS = {"asyncio": asyncio.run, "trio": lambda coroutine: trio.run(lambda: coroutine)}


class Url:
    """The response that httpx gives for a URL."""

    raw_path = b"/v1/x?key=1"


@pytest.fixture(params=["httpx", "httpx2"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give a module that looks like httpx where it counts."""
    module: Any = types.ModuleType(request.param)
    errors = {name: type(name, (Exception,), {"__init__": _init}) for name in ("ReadError", "ReadTimeout")}
    classes = {
        "SyncByteStream": type("SyncByteStream", (), {}),
        "AsyncByteStream": type("AsyncByteStream", (), {}),
        "RemoteProtocolError": type("RemoteProtocolError", (Exception,), {"__init__": _init}),
        "Response": lambda status, headers, stream: types.SimpleNamespace(
            status=status, headers=dict(headers), stream=stream
        ),
        "Request": type("Request", (_Request,), {"__module__": request.param}),
    }
    vars(module).update(errors, **classes)
    monkeypatch.setitem(sys.modules, request.param, module)
    return module


def _init(self: Exception, message: str, *, request: object) -> None:
    Exception.__init__(self, message)
    self.request = request  # type: ignore[attr-defined]


class _Request:
    method = "POST"
    url = Url()
    headers = {"Content-Type": "application/json"}  # noqa: RUF012

    def read(self) -> bytes:
        return b'{"a": 1}'

    async def aread(self) -> bytes:
        return self.read()


def test_a_response_is_of_the_library_that_asks(library: Any) -> None:
    """The body is a stream of the library, the pieces are those of the answer, the request is kept."""
    with MockTransport() as transport:
        transport.prepare([Answer(PIECES, "a/b", 418, (("x-id", "7"),))])
        response = transport.handle_request(library.Request())

    assert isinstance(response.stream, library.SyncByteStream)
    assert isinstance(response.stream, library.AsyncByteStream)
    assert (418, {"content-type": "a/b", "x-id": "7"}) == (response.status, response.headers)
    assert PIECES == list(response.stream)
    assert [("POST", "/v1/x?key=1", {"content-type": "application/json"}, b'{"a": 1}')] == [
        (one.method, one.path, one.headers, one.body) for one in transport.requests
    ]


@pytest.mark.parametrize("loop", RUNS)
def test_an_asynchronous_client_gets_the_same(library: Any, loop: str) -> None:
    """Under any event loop the pieces come as they do to a synchronous client."""

    async def ask() -> list[bytes]:
        async with MockTransport() as transport:
            transport.prepare([Answer(PIECES)])
            response = await transport.handle_async_request(library.Request())
            found = [piece async for piece in response.stream]
            await response.stream.aclose()
            return found

    assert PIECES == RUNS[loop](ask())


@pytest.mark.parametrize(
    ("ending", "error"),
    [("cut", "RemoteProtocolError"), ("reset", "ReadError"), ("hang", "ReadTimeout")],
)
def test_endings_raise_what_the_library_raises(library: Any, ending: str, error: str) -> None:
    """A connection that breaks is the library's own error, after the pieces that came."""
    transport = MockTransport()
    transport.prepare([Answer(PIECES, ending=ending)])
    request = library.Request()
    stream = transport.handle_request(request).stream
    pieces = iter(stream)

    assert PIECES == [next(pieces) for _ in PIECES]
    with pytest.raises(getattr(library, error)) as caught:
        next(pieces)
    assert request is caught.value.request


def test_what_is_asked_beyond_is_an_error(library: Any) -> None:
    """A request that nothing is prepared for gets status 500."""
    transport = MockTransport()
    response = transport.handle_request(library.Request())

    assert 500 == response.status
    assert transport.requests == transport.unanswered


def test_times_are_waited_for(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that is due later sleeps, in the way of the client's event loop."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(-seconds)

    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setitem(sys.modules, "anyio", types.SimpleNamespace(sleep=sleep))
    transport = MockTransport()
    transport.prepare([Answer(PIECES, times=[0.0, 250.0, 0.0])], repeat=2)

    async def ask() -> list[bytes]:
        response = await transport.handle_async_request(library.Request())
        return [piece async for piece in response.stream]

    assert PIECES == list(transport.handle_request(library.Request()).stream) == asyncio.run(ask())
    assert [250, -250] == [round(seconds, -1) for seconds in slept]


def test_a_gate_needs_a_server(library: Any) -> None:
    """An answer that waits for another party is refused: it would block an event loop."""
    transport = MockTransport()
    transport.prepare([Answer(PIECES, gate=threading.Semaphore(0))])

    with pytest.raises(TypeError, match="real server"):
        transport.handle_request(library.Request())


def test_a_foreign_request_is_refused() -> None:
    """A request of another library is refused with its type's name."""
    with pytest.raises(TypeError, match="_Request is not a request of httpx or httpx2"):
        MockTransport().handle_request(_Request())
