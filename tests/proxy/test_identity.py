"""Healthy streams through the proxy, byte for byte at any cut; all others leave as from a repairer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

import pytest

from tests.support import corpora, share
from tests.support.houses import Conversation, House, head_of, request
from tests.support.proxying import CHAT, Client, Reply, Scripted, config
from wholecall.limits import Limits
from wholecall.proxy.app import ProxyApp
from wholecall.repairing import Repairer

PATHS = {
    "anthropic": "/v1/messages",
    "chat-completions": CHAT,
    "gemini": "/v1beta/models/m:streamGenerateContent",
    "responses": "/v1/responses",
}
LONG = 3000  # bytes; a longer one takes seconds
SHORT = 1  # streams of each dialect that are cut everywhere
STREAMS = {
    case["name"]: corpora.recorded(case)
    for case in corpora.cases()
    if case["dialect"] in PATHS and case["file"].endswith(".sse")
}


def path_of(name: str) -> str:
    """Return where a stream would come from."""
    return PATHS[name.partition("/")[0]]


@cache
def repaired(name: str) -> tuple[bytes, str | None]:
    """Return a repairer's output for a stream, and the error with which it ends."""
    repairer = Repairer(limits=Limits.gateway(), expected=name.partition("/")[0])
    out = repairer.feed(STREAMS[name]) + repairer.close()
    return out, repairer.report.error


def healthy() -> list[str]:
    """Return the streams that a repairer leaves as they are."""
    return [name for name, data in STREAMS.items() if repaired(name) == (data, None)]


def shortest() -> list[str]:
    """Return the shortest streams of each dialect."""
    by_size = sorted(healthy(), key=lambda name: len(STREAMS[name]))
    return [name for path in PATHS.values() for name in [n for n in by_size if path_of(n) == path][:SHORT]]


def cut(data: bytes, *places: int) -> list[bytes]:
    """Return the data in pieces."""
    ends = [0, *sorted(places), len(data)]
    return [data[start:end] for start, end in pairwise(ends) if start < end]


def through(name: str, cuts: Iterable[list[bytes]]) -> Iterator[tuple[bytes, bool]]:
    """Yield the proxy's output for each way in which a stream is cut, and whether it ended well."""

    async def go(pieces: list[bytes]) -> tuple[bytes, bool]:
        client = Client(path_of(name))
        app = ProxyApp(config(), upstream=lambda _: Scripted(Reply(pieces)))
        await asyncio.gather(app(client.scope, client.receive, client.send), return_exceptions=True)
        await app.close()
        return client.body, client.is_whole

    loop = asyncio.new_event_loop()
    try:
        for pieces in cuts:
            yield loop.run_until_complete(go(pieces))
    finally:
        loop.close()


def test_most_recordings_are_healthy() -> None:
    """Otherwise the tests below would show little."""
    assert len(healthy()) > 25


def _marked(name: str) -> object:
    return pytest.param(name, marks=pytest.mark.slow if len(STREAMS[name]) > LONG else ())


@share.in_parts(21)
@pytest.mark.parametrize("name", [_marked(name) for name in shortest()])
def test_a_short_stream_cut_anywhere(name: str, part: share.Part) -> None:
    """It leaves unchanged."""
    data = STREAMS[name]
    places = part.of(range(len(data)), name)
    found = through(name, (cut(data, at) for at in places))
    wrong = [at for at, came in zip(places, found, strict=True) if came != (data, True)]

    assert [] == wrong


@pytest.mark.sampled(13)
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_at_random(name: str) -> None:
    """It leaves as from a repairer, whole or in crumbs; an error ends well only where it has a separate end."""
    data, chance = STREAMS[name], random.Random(name)
    out, error = repaired(name)
    ways = [[data], *(cut(data, *(chance.randrange(len(data)) for _ in range(n))) for n in (3, 30, 300))]
    ends_well = error is None or name.startswith("responses/")
    wrong = [found for found in through(name, ways) if found != (out, ends_well)]

    assert [] == wrong


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """Give a running proxy."""
    house = House("httptools")
    try:
        yield house
    finally:
        house.close()


def test_healthy_streams_over_sockets(house: House) -> None:
    """Every stream leaves unchanged, with an end."""
    wrong = []
    for name in healthy():
        data = STREAMS[name]

        async def serve(conversation: Conversation, data: bytes = data) -> None:
            await conversation.begin()
            for piece in cut(data, len(data) // 3, len(data) // 2):
                await conversation.chunk(piece)
            await conversation.end()

        answer = house.play(lambda name=name: house.ask(request(path_of(name))), serve)  # type: ignore[misc]
        head, _, body = answer.partition(b"\r\n\r\n")
        found, rest = b"", body
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            found, rest = found + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
        if found != data or not body.endswith(b"0\r\n\r\n") or head_of(answer)[0] != 200:
            wrong.append((name, head))

    assert [] == wrong
