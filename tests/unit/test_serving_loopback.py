from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from wholecall.serving import Answer, Loopback

PIECES = [b"data: 1\n", b"\nda", b"ta: 2\n\n"]


@pytest.fixture
def server() -> Iterator[Loopback]:
    """Give a server that nothing is prepared for."""
    with Loopback() as server:
        yield server


@contextmanager
def ask(server: Loopback, method: str = "POST", path: str = "/v1/x?key=1", **more: Any) -> Iterator[Any]:
    """Give the response to a request, on its own connection."""
    client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    try:
        client.request(method, path, **more)
        with client.getresponse() as response:
            yield response
    finally:
        client.close()


def body(server: Loopback, method: str = "POST", **more: Any) -> bytes:
    """Return the body of the response to a request."""
    with ask(server, method, **more) as response:
        return response.read()


def chunks(response: http.client.HTTPResponse) -> list[bytes]:
    """Return the chunks of a response, as they were sent."""
    return list(iter(response.read1, b""))


def test_chunks_arrive_as_they_were_sent(server: Loopback) -> None:
    """Each piece is one chunk of the transfer, with the status, type and headers of the answer."""
    server.prepare([Answer([PIECES[0], b"", *PIECES[1:]], "a/b", 418, (("x-id", "7"),))])
    with ask(server) as response:
        found = (
            response.status,
            response.headers["content-type"],
            response.headers["x-id"],
            chunks(response),
        )

    assert (418, "a/b", "7", PIECES) == found
    assert len(PIECES) == server.n_sent


def test_requests_are_kept(server: Loopback) -> None:
    """A client's request can be inspected, also a body in chunks."""
    server.serve(b"data: 1\n\n", repeat=True)
    body(server, body=b'{"a": 1}')
    body(
        server,
        "PUT",
        body=iter([b'{"a"', b": 2}"]),
        headers={"Transfer-Encoding": "chunked"},
        encode_chunked=True,
    )
    body(server, "GET", headers={"X-One": "1"})

    assert [("POST", b'{"a": 1}'), ("PUT", b'{"a": 2}'), ("GET", b"")] == [
        (request.method, request.body) for request in server.requests
    ]
    assert "/v1/x?key=1" == server.requests[0].path
    assert "1" == server.requests[2].headers["x-one"]


def test_a_head_has_no_body(server: Loopback) -> None:
    """A HEAD request gets the head of its answer, and the connection continues with the next request."""
    server.serve(b"data: 1\n\n", repeat=True)
    client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    found = []
    for method in ("HEAD", "GET"):
        client.request(method, "/")
        with client.getresponse() as response:
            found.append((response.status, response.read()))
    client.close()

    assert [(200, b""), (200, b"data: 1\n\n")] == found


def test_what_is_asked_beyond_is_an_error(server: Loopback) -> None:
    """A request that nothing is prepared for is answered at once, with status 500."""
    with ask(server) as response:
        assert 500 == response.status
        assert b"no answer is left for POST /v1/x" in response.read()
    assert server.requests == server.unanswered


@pytest.mark.parametrize("ending", ["cut", "reset"])
def test_a_connection_can_break(server: Loopback, ending: str) -> None:
    """A body that is cut ends in an error of the client, after the pieces that were sent."""
    gate = threading.Semaphore(0)
    server.prepare([Answer([b"data: 1\n\n"], ending=ending, gate=gate)])
    with ask(server) as response:
        gate.release()
        assert b"data: 1\n\n" == response.read1()
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            response.read()


def test_a_recording_can_be_cut(server: Loopback) -> None:
    """`cut` sends so many chunks and closes the connection."""
    server.serve(b"data: 1\n\ndata: 2\n\n", cut=1)
    with pytest.raises(http.client.IncompleteRead) as caught:
        body(server)

    assert b"data: 1\n\n" == caught.value.partial


def test_leaving_ends_what_hangs() -> None:
    """A connection that says nothing, or waits for its gate or its time, ends when the server is left."""
    stack = ExitStack()
    with Loopback() as server:
        server.prepare([Answer([b"data: 1\n\n"], ending="hang")])
        server.prepare([Answer([b"data: 1\n\n", b"never"], times=[0.0, 1e6])])
        hanging, waiting = stack.enter_context(ask(server)), stack.enter_context(ask(server))
        assert server.wait_until_sent(2)

    assert server.wait_until_closed()
    for response in (hanging, waiting):
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            response.read()
    stack.close()


def test_a_connection_that_is_kept_ends_with_the_server() -> None:
    """A client that keeps its connection open keeps no thread of the server."""
    with Loopback() as server:
        server.serve(b"data: 1\n\n")
        client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
        client.request("GET", "/")
        assert b"data: 1\n\n" == client.getresponse().read()
        assert 1 == server.n_open

    assert server.wait_until_closed()
    assert b"" == client.sock.recv(1)
    client.close()


def test_times_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that is due later waits, and all that is asked of the clock is the wait."""
    waits: list[bool] = []
    monkeypatch.setattr(Loopback, "pause", lambda _, seconds: waits.append(0 < seconds <= 50) or True)
    with Loopback() as server:
        server.prepare([Answer(PIECES, times=[0.0, 25.0, 50.0])])
        found = body(server)

    assert (b"".join(PIECES), [True, True]) == (found, waits)


def test_only_the_loopback_interface_is_used(server: Loopback) -> None:
    """The server listens on 127.0.0.1, on its own port."""
    with Loopback() as other:
        addresses = [one._server.socket.getsockname() for one in (server, other)]

    assert ["127.0.0.1", "127.0.0.1"] == [host for host, _ in addresses]
    assert addresses[0] != addresses[1]
    assert f"http://127.0.0.1:{addresses[0][1]}" == server.url


def test_no_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting asks no name server for the address's name."""
    asked: list[str] = []
    monkeypatch.setattr(socket, "getfqdn", asked.append)
    with Loopback():
        assert [] == asked


def test_a_client_may_go_away(server: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    """A client that leaves in the middle of an answer ends its connection, and nothing is printed."""
    gate = threading.Semaphore(0)
    server.prepare([Answer([b"x" * 1000] * 1000, gate=gate)])
    with ask(server) as response:
        assert 200 == response.status
    for _ in range(1000):
        gate.release()

    assert server.wait_until_closed()
    assert ("", "") == capsys.readouterr()
