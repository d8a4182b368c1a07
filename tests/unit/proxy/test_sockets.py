"""The parts of the proxy's WebSockets that need no socket: paths, close codes, bounds of the server's protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState
from websockets.frames import Frame, Opcode

from tests.unit.proxy.test_guard import Wire
from wholecall.proxy.closing import for_client, for_upstream, of_ours
from wholecall.proxy.socket_server import guarded_socket
from wholecall.proxy.upgrades import dialect_of
from wholecall.proxy.wire import Closed

HEAD = (
    b"GET /v1/x HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/responses", "responses"),
        ("/openai/v1/responses/", "responses"),
        ("/v1/realtime", "openai-realtime"),
        ("/openai/REALTIME;v=1", "openai-realtime"),
        ("/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent", "gemini-live"),
        ("/ws/x.v1alpha.GenerativeService.BidiGenerateContentConstrained", "gemini-live"),
        ("/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent", "gemini-live"),
        ("/v1/realtime/translations", None),
        ("/v1/chat/completions", None),
    ],
)
def test_the_end_of_a_path_shows_the_api(path: str, expected: str | None) -> None:
    """Capitals, escapes, parameters and a last slash do not matter."""
    assert expected == dialect_of(path)


@pytest.mark.parametrize(
    ("code", "client", "upstream"),
    [
        (1000, 1000, 1000),
        (1001, 1001, 1001),
        (1005, 1000, 1000),
        (1006, 1011, 1001),
        (1015, 1011, 1001),
        (1012, 1012, 1012),
        (4999, 4999, 4999),
        (5000, 1011, 1001),
        (999, 1011, 1001),
    ],
)
def test_each_side_is_told_of_the_others_end(code: int, client: int, upstream: int) -> None:
    """Codes that no frame may have become others."""
    end = Closed(code, "why")

    assert (Closed(client, "why"), Closed(upstream, "why")) == (for_client(end), for_upstream(end))


@pytest.mark.parametrize(
    ("error", "code"),
    [("draining", 1012), ("too_much_held", 1013), ("message_too_large", 1009), ("upstream_stalled", 1011)],
)
def test_ends_of_ours_say_what_to_do(error: str, code: int) -> None:
    """The reason is the code of the error."""
    assert Closed(code, error, error) == of_ours(error)


def test_a_long_reason_is_cut_between_characters() -> None:
    """A close frame has room for 123 bytes."""
    assert "é" * 61 == for_client(Closed(1000, "é" * 100)).reason


class Talk:
    """A session of the server's protocol without a socket.

    Attributes:
        wire: what the server wrote.
        got: the messages that the application got.
    """

    def __init__(self, **settings: Any) -> None:
        self.wire = Wire()
        self.got: list[dict[str, Any]] = []
        self.go_on, self.over = asyncio.Event(), asyncio.Event()
        settings = {"lifespan": "off", "log_config": None, "ws": "none", "interface": "asgi3", **settings}
        config = uvicorn.Config(self._app, **settings)
        config.load()
        make: Any = guarded_socket(write_seconds=None)
        self.protocol: Any = make(config=config, server_state=ServerState(), app_state={})

    async def _app(self, _scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await self.go_on.wait()
        while not self.got or self.got[-1]["type"] != "websocket.disconnect":
            self.got.append(await receive())
        self.over.set()

    async def open(self) -> None:
        """Open it."""
        self.protocol.connection_made(self.wire)
        self.protocol.data_received(HEAD)
        for _ in range(5):
            await asyncio.sleep(0)
        self.wire.written = b""

    async def hear(self, *frames: Frame) -> None:
        """Take frames of the client."""
        for frame in frames:
            self.protocol.data_received(frame.serialize(mask=True))
        await asyncio.sleep(0)

    async def end(self) -> list[dict[str, Any]]:
        """Lose the connection; return what the application got."""
        self.go_on.set()
        self.protocol.connection_lost(None)
        await self.over.wait()
        return self.got


def test_many_pieces_are_one_message() -> None:
    """However small they are, they are kept as one."""

    async def go() -> tuple[int, list[dict[str, Any]]]:
        talk = Talk()
        await talk.open()
        await talk.hear(Frame(Opcode.TEXT, b"a", fin=False))
        for _ in range(5000):
            await talk.hear(Frame(Opcode.CONT, b"b", fin=False), Frame(Opcode.CONT, b"", fin=False))
        n_kept = len(talk.protocol.frames)
        await talk.hear(Frame(Opcode.CONT, b"c"))
        await talk.hear(Frame(Opcode.BINARY, b"\0", fin=False), Frame(Opcode.CONT, b"\1"))
        return n_kept, await talk.end()

    text = "a" + "b" * 5000 + "c"
    expected = [
        {"type": "websocket.receive", "text": text},
        {"type": "websocket.receive", "bytes": b"\0\1"},
        {"type": "websocket.disconnect", "code": 1006},
    ]
    assert (1, expected) == asyncio.run(go())


def test_pings_of_a_client_that_reads_nothing() -> None:
    """They are answered once, when it reads again."""

    async def go() -> tuple[bytes, bytes]:
        talk = Talk()
        await talk.open()
        talk.protocol.pause_writing()
        for n in range(100):
            await talk.hear(Frame(Opcode.PING, b"%d" % n))
        before = talk.wire.written
        talk.protocol.resume_writing()
        after = talk.wire.written
        await talk.end()
        return before, after

    assert (b"", Frame(Opcode.PONG, b"99").serialize(mask=False)) == asyncio.run(go())


def test_a_client_that_breaks_a_rule_is_told_so() -> None:
    """What it sends after that is dropped."""

    async def go() -> tuple[bytes, bool, list[dict[str, Any]]]:
        talk = Talk(ws_max_size=10)
        await talk.open()
        await talk.hear(Frame(Opcode.TEXT, b"x" * 11), Frame(Opcode.TEXT, b"more"))
        written, is_closed = talk.wire.written, talk.wire.is_closed
        return written, is_closed, await talk.end()

    written, is_closed, got = asyncio.run(go())
    assert (True, False, ["websocket.disconnect"], 1009) == (
        written[2:4] == (1009).to_bytes(2, "big"),
        is_closed,
        [message["type"] for message in got],
        got[0]["code"],
    )


def test_a_pong_that_may_wait_to_be_read() -> None:
    """While the client's input is not read, it cannot answer in time; otherwise it is dropped."""

    async def go() -> list[bool]:
        talk, found = Talk(ws_ping_interval=60, ws_ping_timeout=60), []
        await talk.open()
        await talk.hear(Frame(Opcode.TEXT, b"unread"))
        talk.protocol.keepalive_timeout()
        found.append(talk.wire.is_closed)
        talk.protocol.read_paused = False
        talk.protocol.keepalive_timeout()
        found.append(talk.wire.is_closed)
        await talk.end()
        return found

    assert [False, True] == asyncio.run(go())


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace(b"/v1/x", b"/v1/\xc3\xa9"),
        HEAD.replace(b"host", b"x-a: " + b"a" * 9000 + b"\r\nhost"),
    ],
)
def test_a_head_that_the_protocol_cannot_read(head: bytes) -> None:
    """It is answered, and the connection closed."""

    async def go() -> tuple[bytes, bool]:
        talk = Talk()
        talk.protocol.connection_made(talk.wire)
        talk.protocol.data_received(head)
        talk.protocol.connection_lost(None)
        return talk.wire.written[9:12], talk.wire.is_closed

    assert (b"400", True) == asyncio.run(go())
