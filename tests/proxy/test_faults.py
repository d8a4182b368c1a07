"""Faults between a client and an upstream, with real sockets, under either of uvicorn's parsers.

All text that must not be logged contains the word canary: the client's keys, its query, its prompt, the model's text.
After all tests no log has it.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import socket
import weakref
from collections.abc import Iterator

import pytest

from tests.support.houses import Conversation, House, head_of, request
from tests.support.naive import error_of
from tests.support.proxying import CHAT, DONE, call, frame, settle
from wholecall.proxy.upstream import Clients
from wholecall.proxy.wire import Answer, Question, UpstreamFailed

HELLO = frame({"role": "assistant", "content": "canary-text"})
HALF = call('{"canary-argument"')
WHOLE = [HELLO, call("{}"), frame({}, "tool_calls"), DONE]
MESSAGES = "/v1/messages"


@pytest.fixture(scope="module", params=["httptools", "h11"])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    """Give a running proxy; when it has stopped its log must hold no secret, and no traceback."""
    house = House(request.param)
    try:
        yield house
    finally:
        said = house.close()
    assert "canary" not in said
    assert "Traceback" not in said
    assert "uvicorn" not in said


async def whole(conversation: Conversation) -> None:
    """Answer with a stream that has a call."""
    await conversation.begin()
    for event in WHOLE:
        await conversation.chunk(event)
    await conversation.end()


def unchunked(body: bytes) -> bytes:
    """Return a body in chunks as one; it may end short."""
    found, rest = b"", body
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        found, rest = found + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return found


def is_whole(body: bytes) -> bool:
    """Return whether a body in chunks came to its end."""
    return body.endswith(b"0\r\n\r\n")


def test_a_healthy_answer(house: House) -> None:
    """It comes through as it was sent, with an end, and without the name of a server."""
    answer = house.play(lambda: house.ask(request()), whole)
    status, body = head_of(answer)

    assert (200, b"".join(WHOLE), True) == (status, unchunked(body), is_whole(body))
    assert b"\r\nserver:" not in answer.lower()
    assert ["ok"] == [entry.outcome for entry in house.entries]


# The client leaves.


@pytest.mark.parametrize("sent", [None, [], [HELLO], [HELLO, HALF]])
def test_a_client_that_leaves(house: House, sent: list[bytes] | None) -> None:
    """The upstream's connection is closed, before it has answered, before an event, in text, in a call."""
    closed = asyncio.Event()

    async def serve(conversation: Conversation) -> None:
        if sent is not None:
            await conversation.begin()
        for event in sent or ():
            await conversation.chunk(event)
        await conversation.until_closed()
        closed.set()

    async def go() -> None:
        reader, writer = await house.connect()
        writer.write(request())
        if sent:
            await reader.readuntil(b"canary-text")
        else:  # the head waits for the first event, which decides whether the answer is read
            await house.until(lambda: bool(house.conversations))
            await settle()
        writer.transport.abort()
        await closed.wait()

    house.play(go, serve)

    assert [("client_left", None)] == [(entry.outcome, entry.error) for entry in house.entries]


def test_a_client_that_leaves_in_its_request(house: House) -> None:
    """No upstream is asked."""

    async def go() -> None:
        _, writer = await house.connect()
        writer.write(request(CHAT, b"{}", b"x-more: 1").replace(b"length: 2", b"length: 9"))
        await writer.drain()
        await house.until(lambda: house.process.app.n_open > 0)
        writer.transport.abort()

    house.play(go, whole)

    assert (["client_left"], []) == ([entry.outcome for entry in house.entries], house.conversations)


# The upstream fails in the middle.


async def resets(conversation: Conversation) -> None:
    """Break the connection."""
    conversation.reset()


async def ends_short(conversation: Conversation) -> None:
    """Close the connection without the last chunk."""
    conversation.writer.close()


async def bad_chunk(conversation: Conversation) -> None:
    """Send an invalid size."""
    await conversation.say(b"zz\r\nhello\r\n")


async def stalls(conversation: Conversation) -> None:
    """Send no more bytes."""
    await conversation.until_closed()


async def ends(conversation: Conversation) -> None:
    """End the body, but not the turn."""
    await conversation.end()


ENDS = {
    resets: "upstream_lost",
    ends_short: "upstream_lost",
    bad_chunk: "upstream_lost",
    stalls: "upstream_stalled",
    ends: "upstream_incomplete",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("sent", [[HELLO], [HELLO, HALF]])
def test_an_answer_that_breaks_off(house: House, end: object, sent: list[bytes]) -> None:
    """The client gets the bytes so far, no call, an error with the reason, and a cut connection."""
    shown = asyncio.Event()

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        for event in sent:
            await conversation.chunk(event)
        await shown.wait()
        await end(conversation)  # type: ignore[operator]
        conversation.writer.close()

    async def go() -> bytes:
        reader, writer = await house.connect()
        writer.write(request())
        early = await reader.readuntil(b"canary-text")
        shown.set()
        answer = early + await reader.read()
        writer.close()
        return answer

    status, body = head_of(house.play(go, serve, house.config(idle_timeout=0.05)))
    said = error_of(unchunked(body))

    assert (200, HELLO, False) == (status, unchunked(body)[: len(HELLO)], is_whole(body))
    assert b"tool_calls" not in body
    assert said is not None
    assert ENDS[end] == said[0]  # type: ignore[index]
    assert [ENDS[end]] == [entry.outcome for entry in house.entries]  # type: ignore[index]


def test_an_answer_that_is_closed_while_it_is_read_is_let_go(house: House) -> None:
    """A client that waits for more is told that it is lost, and the answer is released."""

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        await conversation.until_closed()

    async def go() -> weakref.ref[Answer]:
        clients = Clients(house.config())
        up = house.config().upstreams[0]
        answer = await clients.ask(Question(upstream=up, method="GET", url=house.url, headers=[], body=None))
        reading = asyncio.ensure_future(answer.read())
        await settle()
        answer.close()
        with pytest.raises(UpstreamFailed, match="in the middle"):
            await reading
        await clients.close()
        return weakref.ref(answer)

    let_go = house.play(go, serve)
    gc.collect()

    assert let_go() is None


@pytest.mark.parametrize(
    ("head", "outcome"),
    [
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n",
            "upstream_lost",
        ),
        (b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", "upstream_incomplete"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
            "upstream_incomplete",
        ),
    ],
)
def test_a_body_without_chunks_that_ends_short(house: House, head: bytes, outcome: str) -> None:
    """One with a length is lost; one that ends with its connection is incomplete if its turn is."""

    async def serve(conversation: Conversation) -> None:
        await conversation.say(head + HELLO + HALF)
        conversation.writer.close()

    _, body = head_of(house.play(lambda: house.ask(request()), serve))

    assert ([outcome], False) == ([entry.outcome for entry in house.entries], is_whole(body))


def test_a_whole_answer_of_http_1_0(house: House) -> None:
    """It ends with its connection, and is whole because its turn is."""

    async def serve(conversation: Conversation) -> None:
        await conversation.say(
            b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + b"".join(WHOLE)
        )
        conversation.writer.close()

    _, body = head_of(house.play(lambda: house.ask(request()), serve))

    assert (b"".join(WHOLE), True) == (unchunked(body), is_whole(body))


def test_trailers_are_dropped(house: House) -> None:
    """Bytes after the last chunk are not part of the body."""

    async def serve(conversation: Conversation) -> None:
        await conversation.begin(b"trailer: x-late")
        await conversation.chunk(b"".join(WHOLE))
        await conversation.say(b"0\r\nx-late: canary-late\r\n\r\n")

    answer = house.play(lambda: house.ask(request()), serve)

    assert (b"".join(WHOLE), False) == (unchunked(head_of(answer)[1]), b"x-late" in answer)


@pytest.mark.parametrize("members", [True, False])
def test_a_compressed_answer(house: House, members: bool) -> None:
    """It is decoded although it was asked for as it is, one member for each event or one for all."""

    async def serve(conversation: Conversation) -> None:
        await conversation.begin(b"content-encoding: gzip")
        for part in map(gzip.compress, WHOLE) if members else [gzip.compress(b"".join(WHOLE))]:
            await conversation.chunk(part)
        await conversation.end()

    answer = house.play(lambda: house.ask(request(CHAT, b"{}", b"accept-encoding: gzip, br")), serve)

    assert (b"".join(WHOLE), False) == (unchunked(head_of(answer)[1]), b"content-encoding" in answer)
    assert b"\r\naccept-encoding: identity\r\n" in house.conversations[0].head


# The upstream does not answer.


def closed_port() -> int:
    """Return a port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def says_nothing(conversation: Conversation) -> None:
    """Wait."""
    await conversation.until_closed()


async def closes(conversation: Conversation) -> None:
    """Close the connection."""
    conversation.writer.close()


async def no_http(conversation: Conversation) -> None:
    """Send other bytes."""
    await conversation.say(b"220 canary.example ESMTP\r\n")
    await conversation.until_closed()


async def large_head(conversation: Conversation) -> None:
    """Send a head of a hundred kilobytes."""
    await conversation.say(
        b"HTTP/1.1 200 OK\r\nx-large: " + b"x" * 100_000 + b"\r\ncontent-length: 0\r\n\r\n"
    )
    await conversation.until_closed()


async def many_headers(conversation: Conversation) -> None:
    """Send many small headers."""
    lines = b"".join(b"x-%d: %b\r\n" % (at, b"x" * 1000) for at in range(100))
    await conversation.say(b"HTTP/1.1 200 OK\r\n" + lines + b"content-length: 0\r\n\r\n")
    await conversation.until_closed()


async def odd_status(conversation: Conversation) -> None:
    """Send a status that HTTP does not know."""
    await conversation.say(b"HTTP/1.1 999 Canary\r\ncontent-length: 0\r\n\r\n")
    await conversation.until_closed()


@pytest.mark.parametrize(
    ("serve", "status", "code"),
    [
        (says_nothing, 504, "upstream_timeout"),
        (closes, 502, "upstream_lost"),
        (resets, 502, "upstream_lost"),
        (no_http, 502, "upstream_invalid"),
        (large_head, 502, "upstream_invalid"),
        (many_headers, 502, "upstream_invalid"),
        (odd_status, 502, "upstream_invalid"),
    ],
)
def test_an_upstream_that_gives_no_answer(house: House, serve: object, status: int, code: str) -> None:
    """The client gets a status, and an error in its form that names the upstream, not its address."""
    given = house.config(first_byte_timeout=0.05)
    found, body = head_of(house.play(lambda: house.ask(request()), serve, given))  # type: ignore[arg-type]
    error = json.loads(body)["error"]

    assert (status, code, "server_error") == (found, error["code"], error["type"])
    assert "up " in f"{error['message']} "
    assert "127.0.0.1" not in error["message"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{closed}",
        "http://no-such-host.invalid",
        "https://127.0.0.1:{port}",
        "http://[::1]:1",
    ],
)
def test_an_upstream_that_cannot_be_reached(house: House, url: str) -> None:
    """Nothing listens, the name is invalid, it speaks no TLS: all are reported alike, in the form of the path."""
    given = house.config(url=url.format(port=house.url.rpartition(":")[2], closed=closed_port()))
    status, body = head_of(house.play(lambda: house.ask(request(MESSAGES)), closes, given))
    said = {"type": "error", "error": {"type": "api_error", "message": "up cannot be reached"}}

    assert (502, said) == (status, json.loads(body))
    assert ["upstream_lost"] == [entry.outcome for entry in house.entries]


@pytest.mark.parametrize("closing", [closes, resets])
def test_a_connection_that_died_while_it_was_idle(house: House, closing: object) -> None:
    """The request is sent once more, on a new one: its client never learns of it."""

    async def serve(conversation: Conversation) -> None:
        if house.conversations.count(conversation) > 1:
            await closing(conversation)  # type: ignore[operator]
        else:
            await whole(conversation)

    async def go() -> list[bytes]:
        return [await house.ask(request()), await house.ask(request())]

    answers = house.play(go, serve)

    assert [b"".join(WHOLE)] * 2 == [unchunked(head_of(answer)[1]) for answer in answers]
    assert 3 == len(house.conversations)
    assert len({conversation.body for conversation in house.conversations}) == 1


def test_a_new_connection_that_dies_is_not_asked_again(house: House) -> None:
    """The upstream may have begun to work on the request."""
    status, _ = head_of(house.play(lambda: house.ask(request()), closes))

    assert (502, 1) == (status, len(house.conversations))


def test_an_answer_that_began_is_not_asked_for_again(house: House) -> None:
    """A part of a head is an answer, also on a connection that was used before."""

    async def serve(conversation: Conversation) -> None:
        if house.conversations.count(conversation) > 1:
            await conversation.say(b"HTTP/1.1 200 OK\r\nconte")
            conversation.writer.close()
        else:
            await whole(conversation)

    async def go() -> bytes:
        await house.ask(request())
        return await house.ask(request())

    status, _ = head_of(house.play(go, serve))

    assert (502, 2) == (status, len(house.conversations))


def test_an_answer_that_was_left_is_not_waited_for(house: House) -> None:
    """Its connection is not used again: its remaining bytes belong to no request."""

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        await conversation.chunk(HELLO)
        await conversation.until_closed()

    async def leave() -> None:
        reader, writer = await house.connect()
        writer.write(request())
        await reader.readuntil(b"canary-text")
        writer.transport.abort()
        await house.process.app.until_idle()

    async def go() -> bytes:
        await leave()
        house.serve = whole
        return await house.ask(request())

    _, body = head_of(house.play(go, serve))

    assert (b"".join(WHOLE), 2) == (unchunked(body), len(set(map(id, house.conversations))))


# Errors of the upstream.


@pytest.mark.parametrize(
    "status", [b"400 Bad Request", b"429 Too Many Requests", b"529 Overloaded", b"302 Found"]
)
def test_other_statuses_pass(house: House, status: bytes) -> None:
    """With their body and their headers; they are not followed."""

    async def serve(conversation: Conversation) -> None:
        lines = [b"retry-after: 3", b"location: http://127.0.0.1:1/", b"set-cookie: a=1", b"set-cookie: b=2"]
        await conversation.say(
            b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"content-length: 5", b"", b"hello"])
        )

    answer = house.play(lambda: house.ask(request()), serve)
    found, body = head_of(answer)

    assert (int(status[:3]), b"hello", 2) == (found, body, answer.count(b"set-cookie:"))
    assert b"retry-after: 3\r\n" in answer
    assert b"location: http://127.0.0.1:1/\r\n" in answer


def test_headers_of_the_upstream_come_once(house: House) -> None:
    """The server adds no other headers."""
    lines = [b"date: Tue, 24 Nov 2026 00:00:00 GMT", b"server: theirs"]

    async def serve(conversation: Conversation) -> None:
        await conversation.say(
            b"\r\n".join(
                [b"HTTP/1.1 200 OK", *lines, b"content-type: text/html", b"content-length: 5", b"", b"hello"]
            )
        )

    answer = house.play(lambda: house.ask(request("/v1/files")), serve)

    assert [1, 1, 1] == [
        answer.lower().count(b"\r\n" + name) for name in (b"date:", b"server:", b"content-length:")
    ]
    assert lines == [line for line in lines if line in answer]


def test_an_answer_without_a_body(house: House) -> None:
    """`HEAD` has none, for any declared length."""

    async def serve(conversation: Conversation) -> None:
        await conversation.say(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n")

    answer = house.play(lambda: house.ask(request("/", b"", method="HEAD")), serve)

    assert (200, b"") == head_of(answer)
    assert b"content-length: 5\r\n" in answer


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_statuses_without_a_body(house: House, status: bytes) -> None:
    """They end with their head."""

    async def serve(conversation: Conversation) -> None:
        await conversation.say(b"HTTP/1.1 " + status + b"\r\netag: x\r\ncontent-length: 5\r\n\r\n")

    found, body = head_of(house.play(lambda: house.ask(request("/v1/models", b"", method="GET")), serve))

    assert (int(status[:3]), b"") == (found, body)
    assert ["ok"] == [entry.outcome for entry in house.entries]
