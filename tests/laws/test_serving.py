"""Serving changes no byte."""

from __future__ import annotations

import http.client

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.corpora import cases, recorded
from wholecall.recordings import Recording
from wholecall.serving import Answer, Loopback, answer_of

BODIES = {entry["name"]: recorded(entry) for entry in cases()}
SEEDS = (None, "split-1", "split-2")


def pieces(body: bytes, seed: str | None) -> list[bytes]:
    """Return the pieces in which a recording is answered."""
    return list(answer_of(Recording(name="r", chunks=iter([(None, body)])), seed=seed).pieces)


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_the_recorded_bytes(seed: str | None) -> None:
    """Law 62: however an answer is cut, its pieces are the recording's bytes, none of them empty."""
    wrong = [
        name
        for name, body in BODIES.items()
        if body != b"".join(pieces(body, seed)) or b"" in pieces(body, seed)
    ]

    assert len(BODIES) > 300
    assert [] == wrong


@given(body=st.binary(max_size=400) | st.text('\r\n{}[]":data 0', max_size=200).map(str.encode))
def test_any_bytes_are_answered_whole(body: bytes) -> None:
    """Law 62: bytes that are not a stream are also served unchanged."""
    assert body == b"".join(pieces(body, None))
    assert b"" not in pieces(body, None)


def test_the_wire_carries_the_pieces() -> None:
    """Law 62: over the server each recording arrives as it was prepared, under each split."""
    prepared = [
        answer_of(Recording(name=name, chunks=iter([(None, body)])), seed=seed)
        for name, body in BODIES.items()
        for seed in SEEDS[:2]
        if len(body) < 10_000
    ]
    with Loopback() as server:
        server.prepare(prepared)
        client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
        wrong = [answer for answer in prepared if not arrived(client, answer)]
        client.close()

    assert len(prepared) > 300
    assert [] == wrong


def arrived(client: http.client.HTTPConnection, answer: Answer) -> bool:
    """Ask for the next answer, and return whether it is this one."""
    client.request("POST", "/", b"{}")
    response = client.getresponse()
    return response.headers["content-type"] == answer.content_type and response.read() == b"".join(
        answer.pieces
    )
