"""WebSockets through the proxy, with sockets: messages, ends on both sides, limits, access and what is noted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from tests.support.houses import House
from tests.support.socket_houses import Caller, Line, SocketHouse, until
from wholecall.proxy.config import ClientsConfig
from wholecall.proxy.values import Secret

TOKEN = "canary-token-9f2b7c41d80e6a35"
KEYED = {"key": Secret("env:K", "canary-upstream-key"), "key_header": "x-goog-api-key"}
GUARDED = ClientsConfig(tokens=(Secret("env:T", TOKEN),), hosts=("localhost",), origins=("https://app.test",))
LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"


@pytest.fixture(scope="module", params=["httptools", "h11"])
def sockets(request: pytest.FixtureRequest) -> Iterator[SocketHouse]:
    """Give a running proxy; when it has stopped its log must hold no secret, and no traceback."""
    house = House(request.param)
    try:
        yield SocketHouse(house)
    finally:
        said = house.close()
    assert [] == [line for line in said.splitlines() if "canary" in line or "Traceback" in line]


async def echo(line: Line) -> None:
    """Send back each message."""
    while not isinstance(said := await line.hear(), int):
        await (line.socket.send_str(said) if isinstance(said, str) else line.socket.send_bytes(said))


async def listen(line: Line) -> None:
    """Take all messages."""
    while not isinstance(await line.hear(), int):
        pass


# Messages.


def test_messages_pass_in_both_directions(sockets: SocketHouse) -> None:
    """Text stays text, and bytes stay bytes, in their order; a path of no known API is counted as unread."""

    async def go() -> list[Any]:
        async with sockets.open("/v1/other") as caller:
            await caller.say("one")
            await caller.socket.send_bytes(b"\0two")
            return [await caller.hear(), await caller.hear()]

    assert ["one", b"\0two"] == sockets.play(go, echo)
    (entry,) = sockets.house.entries
    assert (101, "unread", "dialect", 2, 2, 2, 1000) == (
        entry.status, entry.outcome, entry.unrepaired,
        entry.messages_in, entry.messages_out, entry.messages_asked, entry.close,
    )  # fmt: skip


def test_the_head_of_the_answer(sockets: SocketHouse) -> None:
    """The client gets the upstream's headers and the subprotocol that it chose, and the id of the exchange."""
    sockets.protocols = ("realtime",)

    async def go() -> tuple[Any, ...]:
        async with sockets.open("/v1/realtime?model=m", protocols=("other", "realtime")) as caller:
            response = caller.socket._response
            return (
                caller.socket.protocol,
                response.headers["x-request-id"],
                response.headers["x-wholecall-id"],
            )

    protocol, upstreams, ours = sockets.play(go, listen)
    (entry,) = sockets.house.entries
    assert ("realtime", "upstream-1", entry.id, "m") == (protocol, upstreams, ours, entry.model)


def test_a_model_in_the_first_message_is_noted(sockets: SocketHouse) -> None:
    """A handshake of Responses names none."""

    async def go() -> None:
        async with sockets.open() as caller:
            await caller.say('{"type": "response.create", "model": "gpt-x", "input": "canary-prompt"}')
            await until(lambda: bool(sockets.house.process.watch._open))

    sockets.play(go, listen)
    assert ["gpt-x"] == [entry.model for entry in sockets.house.entries]


def test_a_slow_client_slows_the_upstream(sockets: SocketHouse) -> None:
    """What nobody reads waits at its sender, and all of it arrives in the end."""
    sent = 0
    text = "x" * 65536

    async def pour(line: Line) -> None:
        nonlocal sent
        for _ in range(600):
            await line.socket.send_str(text)
            sent += 1

    async def go() -> tuple[int, int]:
        async with sockets.open("/v1/other") as caller:
            caller.socket._conn.transport.pause_reading()
            before = -1
            while before != sent or not sent:
                before = sent
                for _ in range(300):
                    await asyncio.sleep(0)
            stopped, n = sent, 0
            caller.socket._conn.transport.resume_reading()
            while not isinstance(await caller.hear(), int):
                n += 1
            return stopped, n

    stopped, n = sockets.play(go, pour)
    assert (True, 600) == (stopped < 600, n)


def test_a_slow_upstream_slows_the_client(sockets: SocketHouse) -> None:
    """The same in the other direction."""
    heard = 0
    go_on = asyncio.Event()
    text = "x" * 65536

    async def lazy(line: Line) -> None:
        nonlocal heard
        await go_on.wait()
        while not isinstance(await line.hear(), int):
            heard += 1

    async def go() -> int:
        sent = 0

        async def pour(caller: Caller) -> None:
            nonlocal sent
            for _ in range(600):
                await caller.say(text)
                sent += 1

        async with sockets.open("/v1/other") as caller:
            pouring = asyncio.ensure_future(pour(caller))
            before = -1
            while before != sent or not sent:
                before = sent
                for _ in range(300):
                    await asyncio.sleep(0)
            stopped = sent
            go_on.set()
            await pouring
        return stopped

    stopped = sockets.play(go, lazy)
    assert (True, 600) == (stopped < 600, heard)


# Ends.


@pytest.mark.parametrize(
    ("code", "outcome", "expected"),
    [(1000, "ok", 1000), (1001, "ok", 1001), (3000, "client_left", 3000), (1011, "client_left", 1011)],
)
def test_the_upstream_learns_how_the_client_ended(
    sockets: SocketHouse, code: int, outcome: str, expected: int
) -> None:
    """It gets the code and the reason of the client."""
    ends: list[Any] = []

    async def hear(line: Line) -> None:
        message = await line.socket.receive()
        ends.append((message.data, message.extra))

    async def go() -> None:
        async with sockets.open() as caller:
            await caller.socket.close(code=code, message=b"enough")
        await until(lambda: bool(ends))

    sockets.play(go, hear)
    (entry,) = sockets.house.entries
    assert ([(expected, "enough")], outcome, code) == (ends, entry.outcome, entry.close)


def test_a_client_that_vanishes(sockets: SocketHouse) -> None:
    """The upstream is told that it has gone away."""
    ends: list[Any] = []

    async def hear(line: Line) -> None:
        ends.append(await line.hear())

    async def go() -> None:
        async with sockets.open() as caller:
            caller.socket._conn.transport.abort()
            await until(lambda: bool(ends))

    sockets.play(go, hear)
    (entry,) = sockets.house.entries
    assert ([1001], "client_left", 1006) == (ends, entry.outcome, entry.close)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (1000, "ok"),
        (1001, "ok"),
        (1008, "upstream_status"),
        (1013, "upstream_status"),
        (4321, "upstream_status"),
    ],
)
def test_the_client_learns_how_the_upstream_ended(sockets: SocketHouse, code: int, outcome: str) -> None:
    """It gets the code and the reason of the upstream, after its last message."""

    async def end(line: Line) -> None:
        await line.socket.send_str("{}")
        await line.socket.close(code=code, message="por qué".encode())

    async def go() -> list[Any]:
        async with sockets.open() as caller:
            first, last = await caller.hear(), await caller.socket.receive()
            return [first, last.data, last.extra]

    assert ["{}", code, "por qué"] == sockets.play(go, end)
    (entry,) = sockets.house.entries
    assert (outcome, code) == (entry.outcome, entry.close)


def test_an_upstream_that_breaks(sockets: SocketHouse) -> None:
    """The client is not told of an ordinary end."""

    async def broken(line: Line) -> None:
        await line.socket.send_str("{}")
        line.reset()

    async def go() -> list[Any]:
        async with sockets.open() as caller:
            first, last = await caller.hear(), await caller.socket.receive()
            return [first, last.data, last.extra]

    assert ["{}", 1011, "upstream_lost"] == sockets.play(go, broken)
    (entry,) = sockets.house.entries
    assert ("upstream_lost", 1006) == (entry.outcome, entry.close)


def test_an_upstream_that_falls_silent(sockets: SocketHouse) -> None:
    """Without an answer to pings it counts as lost."""

    async def dead(_: Line) -> None:
        await asyncio.Event().wait()

    async def go() -> list[Any]:
        async with sockets.open() as caller:
            last = await caller.socket.receive()
            return [last.data, last.extra]

    assert [1011, "upstream_stalled"] == sockets.play(go, dead, idle_timeout=0.2)
    assert ["upstream_stalled"] == [entry.outcome for entry in sockets.house.entries]


def test_an_upstream_that_is_silent_and_alive(sockets: SocketHouse) -> None:
    """Answers to pings keep a session open in which nobody speaks."""

    async def alive(line: Line) -> None:
        await line.hear()

    async def go() -> str:
        async with sockets.open() as caller:
            try:
                return str(await asyncio.wait_for(caller.hear(), 0.6))
            except asyncio.TimeoutError:
                return "open"

    assert "open" == sockets.play(go, alive, idle_timeout=0.3, ping=0.05)


# Limits.


def test_a_message_of_the_client_that_is_too_large(sockets: SocketHouse) -> None:
    """It gets 1009, and the upstream nothing of it."""
    ends: list[Any] = []

    async def hear(line: Line) -> None:
        ends.append(await line.hear())

    async def go() -> Any:
        async with sockets.open() as caller:
            await caller.say("x" * (17 * 1024 * 1024))
            return await caller.hear()

    assert 1009 == sockets.play(go, hear)
    (entry,) = sockets.house.entries
    assert ([1009], "message_too_large", "cut") == (ends, entry.error, entry.outcome)


def test_a_message_of_the_upstream_that_is_too_large(sockets: SocketHouse) -> None:
    """Both sides get 1009."""
    ends: list[Any] = []

    async def huge(line: Line) -> None:
        await line.socket.send_str("x" * 5000)
        ends.append(await line.hear())

    async def go() -> Any:
        async with sockets.open() as caller:
            return await caller.hear()

    assert 1009 == sockets.play(go, huge, max_message_bytes=4096)
    (entry,) = sockets.house.entries
    assert ([1009], "message_too_large", "cut") == (ends, entry.error, entry.outcome)


def test_no_more_sessions_than_streams(sockets: SocketHouse) -> None:
    """A WebSocket is one of them."""

    async def go() -> tuple[int, Any]:
        async with sockets.open():
            return await sockets.status()

    status, headers = sockets.play(go, listen, max_streams=1)
    assert (503, "1") == (status, headers["retry-after"])


def test_a_stop_ends_sessions_when_their_time_is_over(sockets: SocketHouse) -> None:
    """The client is told to come again, the upstream that its client has gone."""
    ends: list[Any] = []

    async def hear(line: Line) -> None:
        ends.append(await line.hear())

    async def go() -> list[Any]:
        async with sockets.open() as caller:
            await until(lambda: bool(sockets.lines))
            sockets.house.process.app.cut()
            last = await caller.socket.receive()
            await until(lambda: bool(ends))
            return [last.data, last.extra]

    assert [1012, "draining"] == sockets.play(go, hear)
    assert ([1001], ["cut"]) == (ends, [entry.outcome for entry in sockets.house.entries])


# Access.


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.test"}, 403),
        ({"origin": "https://evil.test"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({}, 401),
        ({"authorization": "Bearer canary-wrong"}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 101),
        ({"x-api-key": TOKEN}, 101),
        ({"x-goog-api-key": TOKEN}, 101),
        ({"x-wholecall-token": TOKEN}, 101),
        ({"x-api-key": TOKEN, "origin": "https://app.test"}, 101),
    ],
)
def test_who_is_admitted(sockets: SocketHouse, headers: dict[str, str], status: int) -> None:
    """A host that is known, a page that is allowed, and a token in any of its headers."""

    async def go() -> int:
        return (await sockets.status(headers=headers))[0]

    assert status == sockets.play(go, listen, clients=GUARDED)
    refused = [] if status == 101 else ["refused"]
    assert refused == [entry.outcome for entry in sockets.house.entries if entry.outcome != "ok"]


@pytest.mark.parametrize(
    ("path", "given", "query", "protocols"),
    [
        (f"{LIVE}?key={TOKEN}&alt=a%20b", {}, "alt=a%20b", ""),
        (f"{LIVE}?alt=1&access_token={TOKEN}", {}, "alt=1", ""),
        (
            "/v1/realtime?model=m",
            {"protocols": ("realtime", f"openai-insecure-api-key.{TOKEN}", "openai-beta.realtime-v1")},
            "model=m",
            "realtime,openai-beta.realtime-v1",
        ),
    ],
)
def test_tokens_of_browsers_stay_here(
    sockets: SocketHouse, path: str, given: dict[str, Any], query: str, protocols: str
) -> None:
    """A browser cannot set headers of a handshake; nothing else of the query and the subprotocols changes."""

    async def go() -> int:
        return (await sockets.status(path, **given))[0]

    assert 101 == sockets.play(go, listen, clients=GUARDED)
    (seen,) = sockets.handshakes
    assert (query, protocols) == (
        seen.rel_url.raw_query_string,
        seen.headers.get("sec-websocket-protocol", ""),
    )


def test_the_upstreams_key_takes_the_place_of_all_others(sockets: SocketHouse) -> None:
    """The client's keys stay here, wherever they are."""

    async def go() -> int:
        given = {
            "headers": {"authorization": "Bearer canary-1", "x-api-key": "canary-2", "cookie": "canary-3"},
            "protocols": ("realtime", "openai-insecure-api-key.canary-4"),
        }
        return (await sockets.status(f"{LIVE}?key=canary-5&a=b", **given))[0]

    assert 101 == sockets.play(go, listen, upstream=KEYED)
    (seen,) = sockets.handshakes
    told = {name.lower(): value for name, value in seen.headers.items()}
    assert ("canary-upstream-key", "realtime", "a=b", []) == (
        told["x-goog-api-key"],
        told["sec-websocket-protocol"],
        seen.rel_url.raw_query_string,
        [value for name, value in told.items() if "canary" in value and name != "x-goog-api-key"],
    )


def test_without_a_key_the_clients_own_passes(sockets: SocketHouse) -> None:
    """It stays where the client put it."""

    async def go() -> int:
        return (await sockets.status(f"{LIVE}?key=canary-5", headers={"x-goog-api-key": "canary-6"}))[0]

    assert 101 == sockets.play(go, listen)
    (seen,) = sockets.handshakes
    assert ("key=canary-5", "canary-6") == (seen.rel_url.raw_query_string, seen.headers["x-goog-api-key"])


# Handshakes that open nothing.


@pytest.mark.parametrize("status", [302, 401, 404, 426, 429, 503])
def test_the_upstreams_refusal_passes(sockets: SocketHouse, status: int) -> None:
    """With its status, its headers and its body; a redirect is not followed."""
    headers = {"retry-after": "7", "location": "/elsewhere", "x-request-id": "r"}
    sockets.refusal = web.Response(status=status, text='{"error": "no"}', headers=headers)

    async def go() -> bytes:
        upgrade = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
        key = b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        return await sockets.house.ask(
            b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\n" + upgrade + key + b"\r\n"
        )

    head, _, body = sockets.play(go).partition(b"\r\n\r\n")
    assert (f"HTTP/1.1 {status} ".encode(), b'{"error": "no"}', True, 1) == (
        head[:13],
        body,
        b"retry-after: 7" in head and b"x-request-id: r" in head and b"x-wholecall-id" in head,
        len(sockets.handshakes),
    )
    outcome = "upstream_status" if status >= 400 else "ok"
    assert [(status, outcome)] == [(entry.status, entry.outcome) for entry in sockets.house.entries]


def test_a_refused_handshake_is_no_error_of_ours(
    sockets: SocketHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server reports none: a log that nobody reads would fill up and stop the proxy."""
    said: list[str] = []
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "error", lambda text, *_: said.append(text))
    sockets.refusal = web.Response(status=429, text="no")

    async def go() -> int:
        return (await sockets.status())[0]

    assert (429, []) == (sockets.play(go), said)


def test_an_upstream_that_answers_like_a_page(sockets: SocketHouse) -> None:
    """A success that is no WebSocket is none."""
    sockets.refusal = web.Response(text="canary-page")

    assert 502 == sockets.play(sockets.status)[0]
    assert ["upstream_invalid"] == [entry.error for entry in sockets.house.entries]


def test_an_upstream_that_is_not_there(sockets: SocketHouse) -> None:
    """The handshake is answered with 502."""
    status, _ = sockets.play(sockets.status, upstream={"url": "http://127.0.0.1:9"})

    assert (502, ["upstream_unreachable"]) == (status, [entry.error for entry in sockets.house.entries])


def test_an_upstream_of_another_api(sockets: SocketHouse) -> None:
    """Messages are not translated: clients that know the status use HTTP."""
    changes = {"serve": "responses", "upstream": {"wire": "chat-completions"}}

    assert 426 == sockets.play(sockets.status, **changes)[0]
    assert [] == sockets.handshakes


def test_an_upstream_that_does_not_answer_in_time(sockets: SocketHouse) -> None:
    """The handshake is answered with 504."""

    async def go() -> int:
        gone = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(65536):
                pass
            writer.close()
            gone.set()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        app = sockets.house.process.app
        app.reload(sockets.house.config(url, first_byte_timeout=0.1))
        try:
            return (await sockets.status())[0]
        finally:
            await gone.wait()
            server.close()

    assert 504 == sockets.play(go)


@pytest.mark.parametrize(
    ("line", "headers", "status"),
    [
        (b"GET /v1/responses HTTP/1.1", b"x-a: " + b"a" * 9000, b"400"),
        (b"GET /v1/responses HTTP/1.1", b"\r\n".join([b"a: b"] * 200), b"400"),
        (b"GET /v1/a/../b HTTP/1.1", b"a: b", b"400"),
        (b"GET http://evil.test/v1/responses HTTP/1.1", b"a: b", b"404"),
        (b"POST /v1/responses HTTP/1.1", b"a: b", b"40"),  # the library decides
    ],
)
def test_handshakes_that_are_none(sockets: SocketHouse, line: bytes, headers: bytes, status: bytes) -> None:
    """Each is answered, and nothing stays open."""
    upgrade = b"host: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
    key = b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

    async def go() -> bytes:
        return await sockets.house.ask(line + b"\r\n" + upgrade + key + headers + b"\r\n\r\n")

    assert sockets.play(go).startswith(b"HTTP/1.1 " + status)
    assert [] == sockets.handshakes
