"""WebSockets through the proxy, with sockets: messages, ends on both sides, limits, access and what is noted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.houses import House
from tests.support.socket_houses import Line, SocketHouse, until


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


def test_messages_pass_in_both_directions(sockets: SocketHouse) -> None:
    """Text stays text, and bytes stay bytes, in their order."""

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
