"""Laws of empty input: masses of it are read like one piece, and other tasks have their turn meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import trio

from tests.support import corpora
from tests.support.beside import turns_beside
from wholecall import Event, ToolCallParser
from wholecall.asgi import RepairMiddleware
from wholecall.repairing import Repairer
from wholecall.transport import AsyncRepairTransport

# Blocks without content, or without readable content.
UNITS = [
    *(b"data:\n\n", b"data: {}\n\n", b"data\n\n", b"data:null\n\n", b"data: {}\r\n\r\n", b"data: []\n\n"),
    *(b"event: x\n\n", b"retry: 1\n\n", b"x: y\nz\n\n", b"id: 1\n\n", b"id\n\n", b": hi\n\n", b"\n", b"\r"),
    *(b"data: {}\n: hi\n\n", b"event: ping\ndata: {}\n\n", b"id: 7\ndata: {}\n\n", b"data: 1\n\n"),
]
MANY = 40
DIALECTS = ("chat-completions", "anthropic", "responses")


def streams() -> Iterator[tuple[str, list[bytes]]]:
    """Yield a small event stream of each dialect, in its events."""
    seen: set[str] = set()
    for path in corpora.streams():
        data = path.read_bytes()
        if path.suffix == ".sse" and path.parent.name not in seen and len(data) < 8000:
            seen.add(path.parent.name)
            yield path.parent.name, [block + b"\n\n" for block in data.split(b"\n\n") if block]


def told(pieces: list[bytes]) -> list[Event[Any]]:
    """Return a parser's events for the pieces of a stream."""
    parser = ToolCallParser()
    return [event for piece in pieces for event in parser.feed(piece)] + parser.close()


def given(pieces: list[bytes]) -> bytes:
    """Return a repairer's output for the pieces of a stream."""
    repairer = Repairer()
    return b"".join([*map(repairer.feed, pieces), repairer.close()])


@pytest.mark.sampled(23)
@pytest.mark.parametrize("unit", UNITS)
def test_masses_say_what_each_says(unit: bytes) -> None:
    """For any number of them in a read, at any place, the events are those of reads of one event each."""
    for name, events in streams():
        for place in {0, len(events) // 2, len(events)}:
            before, behind = events[:place], events[place:]
            mass = [unit] * MANY
            one_by_one = told([*before, *mass, *behind])

            assert one_by_one == told([b"".join([*before, *mass, *behind])]), (name, place)
            assert one_by_one == told([*before, b"".join(mass), *behind]), (name, place)


@pytest.mark.sampled(31)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("other", [b"", b": c\n\n", b"event: y\n\n", b"id: 2\n\n"])
def test_masses_leave_the_repairer_as_each_does(unit: bytes, other: bytes) -> None:
    """For any number of them in a read, mixed with anything, the same bytes are sent."""
    for name, events in streams():
        if name not in DIALECTS:
            continue
        for place in {0, len(events) // 2, len(events)}:
            before, behind = events[:place], events[place:]
            mass = [unit, other] * (MANY // 2)
            one_by_one = given([*before, *mass, *behind])

            assert one_by_one == given([b"".join([*before, *mass, *behind])]), (name, place)
            assert one_by_one == given([*before, b"".join(mass), *behind]), (name, place)
            assert one_by_one == given([*before, *(bytes([byte]) for byte in b"".join(mass)), *behind])


HEAD = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
    b'"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]}\n\n'
)
END = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
N_SLICES = 12
PATH = "/v1/chat/completions"
EVENTS = [(b"content-type", b"text/event-stream")]


async def through_transport(data: bytes) -> None:
    """Read an answer through the transport of httpx."""

    class Chunks(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield data

    inner = httpx.MockTransport(lambda _: httpx.Response(200, headers=EVENTS, stream=Chunks()))
    async with (
        httpx.AsyncClient(transport=AsyncRepairTransport(inner)) as client,
        client.stream("POST", f"http://up{PATH}", json={"stream": True}) as response,
    ):
        await response.aread()


async def through_middleware(data: bytes) -> None:
    """Send an answer through the middleware."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": EVENTS})
        await send({"type": "http.response.body", "body": data})

    async def receive() -> Any:
        raise AssertionError("nobody asks for the body")

    async def send(_message: Any) -> None:
        return

    scope = {"type": "http", "method": "POST", "path": PATH, "headers": []}
    await RepairMiddleware(app)(scope, receive, send)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each slice take longer than a turn."""
    ticks = iter(range(10**9))
    monkeypatch.setattr("wholecall.repairing.pace.perf_counter", lambda: next(ticks) / 100)


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("unit", [b"data: 1\n\n", b":\n\n", b"data: {}\n\n"])
@pytest.mark.parametrize("door", [through_transport, through_middleware])
def test_others_have_their_turn_under_asyncio(door: Any, unit: bytes) -> None:
    """For any size of a chunk, other tasks continue after each few thousand bytes of it."""
    assert turns_beside(lambda: door(HEAD + unit * (N_SLICES * 4096 // len(unit)) + END)) >= N_SLICES


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("door", [through_transport, through_middleware])
def test_others_have_their_turn_under_trio(door: Any) -> None:
    """The same, under trio."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async def both() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(others)
            await door(HEAD + b"data: 1\n\n" * (N_SLICES * 4096 // 9) + END)
            nursery.cancel_scope.cancel()

    trio.run(both)
    assert turns >= N_SLICES
