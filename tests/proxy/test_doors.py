"""Access to the proxy and its limits: heads, targets, framing, names, idle and slow connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from tests.support.houses import Conversation, House, head_of, request
from tests.support.proxying import CHAT, DONE, config, frame
from wholecall.proxy.config import ClientsConfig, UpstreamConfig
from wholecall.proxy.guard import MOST_HEAD
from wholecall.proxy.values import Secret

SOON = 0.2
HELLO = frame({"role": "assistant", "content": "canary-text"})
STREAM = HELLO + frame({}, "stop") + DONE
SMALL = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nok"


@pytest.fixture(scope="module", params=["httptools", "h11"])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    """Give a running proxy; when it has stopped its log must hold no secret, and no traceback."""
    yield from _running(House(request.param))


@pytest.fixture(scope="module", params=["httptools", "h11"])
def hasty(request: pytest.FixtureRequest) -> Iterator[House]:
    """Give a proxy that waits for no client."""
    yield from _running(House(request.param, {"write_timeout": SOON}, head_seconds=SOON, keep_alive=SOON))


def _running(house: House) -> Iterator[House]:
    try:
        yield house
    finally:
        said = house.close()
    assert [] == [line for line in said.splitlines() if "canary" in line or "Traceback" in line]


async def small(conversation: Conversation) -> None:
    """Answer with a few bytes."""
    await conversation.say(SMALL)


# Heads.


@pytest.mark.parametrize(
    "head",
    [
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-a: " + b"a" * MOST_HEAD + b"\r\n\r\n",
        b"GET /" + b"a" * MOST_HEAD + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\n" + b"a: b\r\n" * (MOST_HEAD // 6 + 1) + b"\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * MOST_HEAD * 20,
    ],
)
def test_a_head_that_is_too_large(house: House, head: bytes) -> None:
    """It is refused when it is too large, not when it ends."""
    answer = house.play(lambda: house.ask(head), small)

    assert answer.startswith(b"HTTP/1.1 431 ")
    assert [] == house.entries


@pytest.mark.parametrize("house", ["httptools"], indirect=True)  # h11 reads nothing after a request
def test_a_head_behind_a_request_that_is_being_answered(house: House) -> None:
    """It has the same bounds; no status can be sent in the middle of the answer: the connection is closed."""

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        await conversation.chunk(HELLO)
        await conversation.until_closed()

    async def go() -> bytes:
        reader, writer = await house.connect()
        writer.write(request().replace(b"connection: close\r\n", b""))
        await reader.readuntil(b"canary-text")
        try:
            for _ in range(200):
                writer.write(b"GET /" + b"a" * MOST_HEAD if not _ else b"a" * MOST_HEAD)
                await writer.drain()
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.transport.abort()

    rest = house.play(go, serve)

    assert b"431" not in rest
    assert ["client_left"] == [entry.outcome for entry in house.entries]


def test_a_head_and_a_large_body_in_one_piece(house: House) -> None:
    """Only the head is counted, wherever it ends."""
    body = b'{"a": "' + b"x" * 200_000 + b'"}'
    answer = house.play(lambda: house.ask(request("/v1/files", body)), small)

    assert (200, b"ok") == head_of(answer)
    assert body == house.conversations[0].body


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: localhost\r\n"])
def test_a_head_that_does_not_come(hasty: House, said: bytes) -> None:
    """The connection is closed, whether the client sent nothing or a part."""
    assert b"" == hasty.play(lambda: hasty.ask(said), small)


def test_a_second_head_that_does_not_come(hasty: House) -> None:
    """A connection that was used has no more time for its next head."""

    async def go() -> bytes:
        reader, writer = await hasty.connect()
        try:
            writer.write(b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n")
            await reader.readuntil(b"\r\n\r\nok")
            writer.write(b"GET /v1")
            return await reader.read()
        finally:
            writer.close()

    assert b"" == hasty.play(go, small)


def test_idle_connections_are_closed(hasty: House) -> None:
    """After a while; meanwhile others are answered."""

    async def go() -> list[bytes]:
        idle = []
        for _ in range(20):
            reader, writer = await hasty.connect()
            writer.write(b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n")
            await reader.readuntil(b"\r\n\r\nok")
            idle.append((reader, writer))
        answers = [head_of(await hasty.ask(request("/v1/models", b"", method="GET")))[1]]
        for reader, writer in idle:
            answers.append(await reader.read())
            writer.close()
        return answers

    assert [b"ok", *[b""] * 20] == hasty.play(go, small)


# Framing.


@pytest.mark.parametrize(
    "lines",
    [
        [b"content-length: 2", b"transfer-encoding: chunked"],
        [b"content-length: 2", b"content-length: 3"],
        [b"content-length: +2"],
        [b"content-length: 2", b"x-a: one\r\n two"],
        [b"x-a : 1", b"content-length: 2"],
        [b"transfer-encoding: gzip, chunked, identity"],
    ],
)
def test_framing_that_can_be_read_in_two_ways(house: House, lines: list[bytes]) -> None:
    """It is refused: a server after a proxy may read it the other way. A folded header may be passed on unfolded."""
    head = b"\r\n".join(
        [b"POST /v1/chat/completions HTTP/1.1", b"host: localhost", b"connection: close", *lines]
    )
    answer = house.play(lambda: house.ask(head + b"\r\n\r\n{}"), small)
    heads = b"".join(conversation.head for conversation in house.conversations)

    assert answer.startswith(b"HTTP/1.1 400 ") or (
        b"one two" in heads and answer.startswith(b"HTTP/1.1 200 ")
    )


@pytest.mark.parametrize("chunk", [b"zz\r\n", b"-1\r\n", b"2\r\n{}x"])
def test_a_chunk_that_is_none(house: House, chunk: bytes) -> None:
    """The request goes nowhere."""
    head = request(CHAT, b"", b"transfer-encoding: chunked")
    answer = house.play(lambda: house.ask(head + chunk), small)

    assert answer[:13] in (b"HTTP/1.1 400 ", b"")
    assert [] == house.conversations


# Targets.


@pytest.mark.parametrize("target", ["http://canary.example/v1/models", "https://canary.example"])
def test_a_whole_url_is_no_path(house: House, target: str) -> None:
    """This is not a forward proxy: no part of a request chooses a host."""
    head = f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()
    status, _ = head_of(house.play(lambda: house.ask(head), small))

    assert status in (400, 404)
    assert [] == house.conversations


def test_there_are_no_tunnels(house: House) -> None:
    """`CONNECT` is refused."""
    head = b"CONNECT canary.example:443 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    status, _ = head_of(house.play(lambda: house.ask(head), small))

    assert (400, []) == (status, house.conversations)


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/@evil.example", "/@evil.example"),
        ("/:80@evil.example/", "/:80@evil.example/"),
        ("/v1/models/a%2Fb;v=1?c=/../d%2e", "/v1/models/a%2Fb;v=1?c=/../d%2e"),
        ("//evil.example///v1", "/evil.example/v1"),
    ],
)
def test_a_path_goes_on_as_it_came(house: House, target: str, sent: str) -> None:
    """After the upstream's own address, in any form; only doubled slashes become one."""
    head = f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()
    status, _ = head_of(house.play(lambda: house.ask(head), small))
    first = house.conversations[0].head.partition(b"\r\n")[0]

    assert (200, f"GET {sent} HTTP/1.1".encode()) == (status, first)


@pytest.mark.parametrize(
    "target",
    [
        *("/a/../b", "/a/./b", "/..", "/a/..;v=1/b", "/%2e%2e/b", "/a/.%2E/b", "/a/%252e%252e/b", "/a%2f..%2fb"),
        *("/a%5cb", "/a%255cb", "/a%0d%0ab", "/a%00b"),
    ],
)  # fmt: skip
def test_a_path_that_may_lead_elsewhere_goes_nowhere(house: House, target: str) -> None:
    """Prefixes and keys are chosen by a path, and a server after the proxy may resolve it to another path."""
    head = f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()
    status, _ = head_of(house.play(lambda: house.ask(head), small))

    assert (400, []) == (status, house.conversations)


def test_trailers_stay_here(house: House) -> None:
    """A trailer after a body in chunks is not a header: it reaches no upstream, and has no effect."""
    head = request(CHAT, b"", b"transfer-encoding: chunked")
    trailers = b"x-late: canary-late\r\nauthorization: Bearer canary-late\r\nhost: evil\r\norigin: https://evil.example\r\n"
    answer = house.play(lambda: house.ask(head + b"2\r\n{}\r\n0\r\n" + trailers + b"\r\n"), small)
    heads = b"".join(conversation.head for conversation in house.conversations)

    assert (200, False) == (head_of(answer)[0], b"late" in heads.lower() or b"evil" in heads)


@pytest.mark.parametrize(
    ("head", "statuses"),
    [
        (b"GET /v1/models HTTP/1.1\r\n", {400}),
        (b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip\r\n", {400, 501}),
        (b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip, chunked\r\n", {400, 501}),
    ],
    ids=["no host", "another coding", "two codings"],
)  # fmt: skip
def test_a_head_that_says_too_little_or_too_much(house: House, head: bytes, statuses: set[int]) -> None:
    """HTTP/1.1 has a `Host`, and a body comes in chunks and in no other coding."""
    answer = house.play(lambda: house.ask(head + b"connection: close\r\n\r\n"), small)

    assert head_of(answer)[0] in statuses
    assert [] == house.conversations


def test_a_websocket_without_an_upgrade(house: House) -> None:
    """A request that only names one is told what is missing."""
    head = b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nupgrade: websocket\r\n\r\n"

    answer = house.play(lambda: house.ask(head), small)

    assert answer.startswith(b"HTTP/1.1 426 ")
    assert [] == house.conversations


@pytest.mark.parametrize("house", ["httptools"], indirect=True)  # h11 reads nothing after a request
def test_an_upgrade_behind_a_request_that_is_being_answered(house: House) -> None:
    """The connection is closed: it cannot change its protocol in the middle of an answer."""

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        await conversation.chunk(HELLO)
        await conversation.until_closed()

    upgrade = (
        b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )

    async def go() -> bytes:
        reader, writer = await house.connect()
        writer.write(request().replace(b"connection: close\r\n", b""))
        await reader.readuntil(b"canary-text")
        writer.write(upgrade)
        try:
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    assert b"101" not in house.play(go, serve)
    assert ["client_left"] == [entry.outcome for entry in house.entries]


def test_http_2_is_not_offered(house: House) -> None:
    """A client that asks for it is answered as if it had not."""
    upgrade = b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: x"
    head = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n" + upgrade + b"\r\n\r\n"

    async def go() -> bytes:
        reader, writer = await house.connect()
        writer.write(head)
        answer = await reader.readuntil(b"ok")
        writer.close()
        return answer

    answer = house.play(go, small)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"upgrade" not in house.conversations[0].head.lower()


def test_a_client_of_http_1_0(house: House) -> None:
    """It is answered, needs no `Host`, and the connection is closed."""

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        await conversation.chunk(STREAM)
        await conversation.end()

    head = b"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}"
    answer = house.play(lambda: house.ask(head), serve)

    assert 200 == head_of(answer)[0]
    assert STREAM in answer


# Names.


@pytest.mark.parametrize("host", [b"canary.example", b"localhost.canary.example", b"localhost:1@x", b""])
@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
def test_a_name_that_is_not_ours(house: House, host: bytes, path: str) -> None:
    """A web page can have its own name point here."""
    asked = request(path).replace(b"host: localhost", b"host: " + host)
    status, body = head_of(house.play(lambda: house.ask(asked), small))

    assert (403, []) == (status, house.conversations)
    assert ("error" if path == "/v1/messages" else None) == json.loads(body).get("type")


@pytest.mark.parametrize("host", [b"localhost", b"LOCALHOST:8117", b"127.0.0.1:1", b"[::1]:8117"])
def test_our_names(house: House, host: bytes) -> None:
    """With a port, or without."""
    asked = request().replace(b"host: localhost", b"host: " + host)

    assert 200 == head_of(house.play(lambda: house.ask(asked), small))[0]


@pytest.mark.parametrize(
    ("origin", "status"), [(b"https://canary.example", 403), (b"null", 403), (b"https://ours.example", 200)]
)
def test_web_pages(house: House, origin: bytes, status: int) -> None:
    """Only the named origins may ask, and none is permitted to read."""
    given = house.config(clients=ClientsConfig(origins=("https://ours.example",)))
    answer = house.play(lambda: house.ask(request(CHAT, b"{}", b"origin: " + origin)), small, given)

    assert status == head_of(answer)[0]
    assert b"access-control" not in answer.lower()


@pytest.mark.parametrize(
    ("site", "status"), [(b"cross-site", 403), (b"same-site", 403), (b"same-origin", 200), (b"none", 200)]
)
def test_a_get_of_a_web_page(house: House, site: bytes, status: int) -> None:
    """Browsers name no origin with it, but mark it as coming from another site."""
    asked = request("/v1/models", b"", b"sec-fetch-site: " + site, method="GET")

    assert status == head_of(house.play(lambda: house.ask(asked), small))[0]


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"authorization: Bearer canary-token-one", 200),
        (b"x-api-key: canary-token-two", 200),
        (b"authorization: Bearer canary-token", 401),
        (b"x-wholecall-token: canary-token-two", 200),
    ],
)
def test_tokens_and_keys(house: House, header: bytes, status: int) -> None:
    """A client needs one of the tokens; the upstream sees the key alone."""
    tokens = (Secret("env:A", "canary-token-one"), Secret("env:B", "canary-token-two"))
    up = UpstreamConfig(url=house.url, name="up", key=Secret("env:K", "canary-upstream-key"))
    given = config(upstreams=(up,), clients=ClientsConfig(tokens=tokens))
    asked = b"\r\n".join(
        [b"POST /v1/chat/completions HTTP/1.1", b"host: localhost", b"connection: close", header]
    )
    answer = house.play(lambda: house.ask(asked + b"\r\ncontent-length: 2\r\n\r\n{}"), small, given)
    heads = b"".join(conversation.head for conversation in house.conversations)

    assert status == head_of(answer)[0]
    assert b"canary-token" not in heads
    assert (status == 200) == (b"\r\nauthorization: Bearer canary-upstream-key\r\n" in heads)


def test_what_is_about_the_client_stays_here(house: House) -> None:
    """No header of its network is passed on, and none that concerns one connection."""
    stays = [
        b"cookie: canary",
        b"x-forwarded-for: 10.0.0.1",
        b"forwarded: for=10.0.0.1",
        b"via: 1.1 x",
        b"x-real-ip: 10.0.0.1",
        b"te: trailers",
        b"x-wholecall-live: 1",
        b"expect: 100-continue",
    ]
    goes = [b"anthropic-beta: a,b", b"x-stainless-os: Linux", b"openai-organization: o", b"user-agent: me/1"]
    answer = house.play(lambda: house.ask(request("/v1/files", b"{}", *stays, *goes)), small)
    head = house.conversations[0].head.lower()

    assert answer.endswith(b"\r\n\r\nok")
    assert [] == [line for line in stays if b"\r\n" + line.partition(b":")[0] + b":" in head]
    assert goes == [line for line in goes if b"\r\n" + line.lower() + b"\r\n" in head]


# Clients that do not read.


def test_a_client_that_reads_nothing_is_dropped(hasty: House) -> None:
    """Memory stays bounded, the upstream is slowed, and then both connections are closed."""
    closed = asyncio.Event()

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        try:
            while True:
                await conversation.chunk(HELLO * 100)
        finally:
            closed.set()

    async def go() -> None:
        reader, writer = await hasty.connect()
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(request())
        await closed.wait()
        await hasty.process.app.until_idle()
        writer.transport.abort()

    hasty.play(go, serve)

    assert ["client_left"] == [entry.outcome for entry in hasty.entries]
    assert hasty.entries[0].bytes_out < 32 * 1024 * 1024


def test_a_request_body_has_bounds(house: House) -> None:
    """A body that is too large is refused, by its declared or its received size."""
    given = house.config(max_request_bytes=10)
    chunks = request(CHAT, b"", b"transfer-encoding: chunked") + b"b\r\n" + b"x" * 11 + b"\r\n"

    async def go() -> list[int]:
        asked = [request(CHAT, b"x" * 11), chunks, request("/v1/files", b"x" * 11)]
        return [head_of(await house.ask(one))[0] for one in asked]

    assert [413, 413, 200] == house.play(go, small, given)


def test_a_body_that_is_not_read_streams(house: House) -> None:
    """The upstream gets the first piece before the client has sent the last one."""
    came = asyncio.Event()

    async def serve(conversation: Conversation) -> None:
        await small(conversation)

    async def go() -> bytes:
        reader, writer = await house.connect()
        writer.write(request("/v1/files", b"", b"transfer-encoding: chunked"))
        for piece in (b"1\r\na\r\n", b"1\r\nb\r\n", b"0\r\n\r\n"):
            writer.write(piece)
            await writer.drain()
        came.set()
        answer = await reader.read()
        writer.close()
        return answer

    answer = house.play(go, serve)

    assert (200, b"ok") == head_of(answer)
    assert b"ab" == house.conversations[0].body
