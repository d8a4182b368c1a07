"""Answers of a provider that are passed on and kept."""

from __future__ import annotations

import json
import socket
import urllib.request
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING

import httpx
import pytest

from wholecall.recordings import read
from wholecall.serving import Answer, IncomingRequest, Loopback, MockTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECES = [b"data: 1\n\n", b"data: \xc3", b"\xa9\n\n", b"data: [DONE]\n\n"]


@pytest.fixture
def provider() -> Iterator[Loopback]:
    """A server that plays the provider."""
    with Loopback() as server:
        yield server


def test_chunks_pass_as_they_come_and_are_kept(provider: Loopback, tmp_path: Path) -> None:
    """A client sees the first piece before the second is sent; pieces are kept as they came, in whatever encoding."""
    gate = Semaphore(1)
    provider.serve(Answer(PIECES, gate=gate))
    with Loopback(tmp_path) as server:
        server.record("new/tide.jsonl", provider.url)
        with urllib.request.urlopen(server.url + "/v1/x") as response:  # noqa: S310 - ours
            assert response.read1() == PIECES[0]
            for _ in PIECES[1:]:
                gate.release()
            assert response.read() == b"".join(PIECES[1:])

    (recording,) = read(str(tmp_path / "new" / "tide.jsonl"))
    assert b"".join(PIECES) == b"".join(data for _, data in recording.chunks)


def test_what_a_client_leaves_is_read_to_its_end(provider: Loopback, tmp_path: Path) -> None:
    """A recording is a whole answer, also if the client went away after its first piece."""
    provider.serve(Answer(PIECES))
    with MockTransport(tmp_path) as transport:
        transport.record("tide.jsonl")
        with httpx.Client(transport=transport) as client, client.stream("GET", provider.url) as response:
            next(response.iter_bytes())
        assert 1 == transport.save()

    (recording,) = read(str(tmp_path / "tide.jsonl"))
    assert b"".join(PIECES) == b"".join(data for _, data in recording.chunks)


def test_saving_again_writes_what_came_since(provider: Loopback, tmp_path: Path) -> None:
    """A file holds the answers in the order in which they were asked for; without any there is none."""
    provider.serve(b"data: 1\n\n", b"data: 2\n\n")
    path = tmp_path / "tide.jsonl"
    counts = []
    transport = MockTransport(tmp_path)
    transport.record(path)
    counts.append(transport.save())
    assert not path.exists()
    for _ in range(2):
        with httpx.Client(transport=transport) as client:
            client.get(provider.url)
        counts.append(transport.save())

    assert [0, 1, 2] == counts
    assert [[b"data: 1\n\n"], [b"data: 2\n\n"]] == [
        [data for _, data in one.chunks] for one in read(str(path))
    ]


def test_the_connections_own_headers_stay(provider: Loopback, tmp_path: Path) -> None:
    """The provider gets the client's headers and body, asks for no compression, and is called by its own name."""
    provider.serve(b"data: 1\n\n")
    with Loopback(tmp_path) as server:
        server.record("tide.jsonl", provider.url)
        headers = {"authorization": "Bearer x", "accept-encoding": "gzip", "content-type": "application/json"}
        asked = urllib.request.Request(server.url + "/v1/x?a=1", b"{}", headers)  # noqa: S310 - ours
        with urllib.request.urlopen(asked) as response:  # noqa: S310 - ours
            response.read()

    (request,) = provider.requests
    assert ("POST", "/v1/x?a=1", b"{}") == (request.method, request.path, request.body)
    wanted = ("authorization", "accept-encoding", "content-type", "host")
    assert ["Bearer x", "identity", "application/json", provider.url.removeprefix("http://")] == [
        request.headers[name] for name in wanted
    ]


@pytest.mark.parametrize("status", [301, 307, 404, 500])
def test_what_is_no_success_is_passed_on_and_not_kept(
    provider: Loopback, tmp_path: Path, status: int
) -> None:
    """The client gets the status and the body; no redirection is followed with the client's key."""
    provider.serve(Answer([b"no"], "text/plain", status, (("location", f"{provider.url}/elsewhere"),)))
    transport = MockTransport(tmp_path)
    transport.record("tide.jsonl", provider.url)
    with httpx.Client(transport=transport) as client:
        response = client.get("http://any/v1/x")

    assert (status, "no") == (response.status_code, response.text)
    assert (1, 0) == (len(provider.requests), transport.save())


def test_showing_an_answer_asks_nobody(provider: Loopback, tmp_path: Path) -> None:
    """The repr of an answer that is still coming counts the bytes so far."""
    provider.serve(Answer(PIECES, gate=Semaphore(0)))
    transport = MockTransport(tmp_path)
    transport.record("tide.jsonl", provider.url)
    answer = transport.answer(IncomingRequest("GET", "/", {}, b""))

    assert "Answer(200, 'text/event-stream', 0 pieces, 0 bytes)" == repr(answer)


def test_a_provider_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Who asks gets status 502 and the reason, and nothing is kept."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    transport = MockTransport(tmp_path)
    transport.record("tide.jsonl", url)
    answer = transport.answer(IncomingRequest("GET", "/v1/x?key=secret", {}, b""))

    assert (502, True) == (answer.status, b"cannot be reached" in b"".join(answer.pieces))
    assert (0, 1) == (transport.save(), len(transport.takes.trouble if transport.takes else []))
    assert "secret" not in repr(transport.takes and transport.takes.trouble)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (b'{"a": 1, "b": [2]}', b'{"b":[2],"a":1}', True),
        (b'{"a": 1}', b'{"a": 2}', False),
        (b"not JSON", b"not JSON", True),
        (b"not JSON", b"not  JSON", False),
        (b"[" * 100_000, b"[" * 100_000, True),
    ],
)
def test_equal_bodies_have_equal_hashes(one: bytes, other: bytes, equal: bool) -> None:
    """JSON is equal in any spelling; other text is compared by its bytes."""
    digests = [IncomingRequest("POST", "/", {}, body).digest for body in (one, other)]

    assert equal == (digests[0] == digests[1])
    assert json.dumps(digests[0]) not in repr(IncomingRequest("POST", "/", {}, one))
