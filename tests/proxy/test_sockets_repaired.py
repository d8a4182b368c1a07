"""Repaired WebSockets of the proxy: calls, reports, recordings, metrics, and the end of a process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from benchmarks.rivals.responses_streams import RESPONSES
from tests.soak.sockets import messages_of
from tests.support.houses import House
from tests.support.socket_houses import Line, SocketHouse, until
from wholecall import ToolCallDropped, ToolCallParser
from wholecall.calls.output.call_events import ToolCall
from wholecall.proxy.config import RecordConfig, RepairConfig
from wholecall.recordings import read

STREAMS = {stream.title: number for number, stream in enumerate(RESPONSES)}
REALTIME = "/v1/realtime?model=m"
LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"


@pytest.fixture(params=["httptools", "h11"])
def parser(request: pytest.FixtureRequest) -> str:
    """Give the name of each parser."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def sockets() -> Iterator[SocketHouse]:
    """Give a running proxy."""
    house = House("httptools")
    try:
        yield SocketHouse(house)
    finally:
        house.close()


def telling(messages: Sequence[Any]) -> Any:
    """Return an upstream that sends messages when it is asked, and closes."""

    async def talk(line: Line) -> None:
        await line.hear()
        for message in messages:
            await (
                line.socket.send_str(message) if isinstance(message, str) else line.socket.send_bytes(message)
            )

    return talk


def heard(
    sockets: SocketHouse, messages: Sequence[Any], path: str = "/v1/responses", **changes: Any
) -> list[Any]:
    """Return what a client gets of messages, until the close code."""

    async def go() -> list[Any]:
        async with sockets.open(path) as caller:
            await caller.say('{"type": "response.create"}')
            got = [await caller.hear()]
            while not isinstance(got[-1], int):
                got.append(await caller.hear())
            return got

    return sockets.play(go, telling(messages), **changes)


def calls_in(messages: list[Any]) -> list[tuple[str, Any]]:
    """Return the calls that a client of Responses reads."""
    parser: ToolCallParser[Any] = ToolCallParser("responses", events="calls")
    texts = [message for message in messages if isinstance(message, str)]
    events = [event for text in texts for event in parser.feed(f"data: {text}\n\n".encode())]
    return [(one.name, one.arguments) for one in events if isinstance(one, ToolCall)]


# Repair.


@pytest.mark.parametrize("title", STREAMS)
def test_calls_come_whole_or_not_at_all(sockets: SocketHouse, title: str) -> None:
    """A client that reads the documented events gets the calls that may run."""
    number = STREAMS[title]
    got = heard(sockets, messages_of(number, 0))

    assert [tuple(one) for one in RESPONSES[number].expected] == calls_in(got)


def test_a_healthy_session_passes_as_it_is(sockets: SocketHouse) -> None:
    """Every message comes as it was sent."""
    messages = list(messages_of(STREAMS["two calls, as documented"], 0))

    assert [*messages, 1000] == heard(sockets, messages)
    (entry,) = sockets.house.entries
    assert ("ok", 2, "responses", "repaired", len(messages)) == (
        entry.outcome, entry.calls, entry.dialect, entry.handling, entry.messages_in
    )  # fmt: skip


def test_a_withheld_call_is_counted_and_told(sockets: SocketHouse) -> None:
    """The log, the metrics and telemetry know of it."""
    told: list[ToolCallDropped] = []

    class Told:
        def on_dropped(self, drop: ToolCallDropped) -> None:
            told.append(drop)

        def on_repaired(self, report: Any) -> None:
            pass

    watch = sockets.house.process.watch
    watch._telemetry = Told()  # type: ignore[assignment]
    heard(sockets, messages_of(STREAMS["cut text, called finished"], 0))
    watch._telemetry = None
    (entry,) = sockets.house.entries
    numbers = {
        name: {tuple(labels): value for labels, value in rows} for name, rows in watch.snapshot().items()
    }

    assert ("withheld", 1, 1) == (entry.outcome, entry.n_withheld, len(told))
    assert 1 <= sum(numbers["calls_withheld_total"][labels][0] for labels in numbers["calls_withheld_total"])
    assert [0] == numbers["websockets"]["up",]
    assert numbers["websocket_messages_total"]["up", "in"][0] >= entry.messages_in > 0  # type: ignore[operator]
    assert numbers["websockets_total"]["up",][0] >= 1


def test_an_answer_that_the_upstream_leaves_open(sockets: SocketHouse) -> None:
    """What waits for a verdict is told before the close."""
    got = heard(sockets, messages_of(STREAMS["dropped after the name"], 0))

    assert ([], 1000, True) == (calls_in(got), got[-1], any("upstream_incomplete" in str(one) for one in got))
    assert ["upstream_incomplete"] == [entry.error for entry in sockets.house.entries]


@pytest.mark.parametrize(
    ("path", "messages", "dialect"),
    [
        (
            REALTIME,
            ['{"type": "session.created", "event_id": "e", "session": {"id": "s", "object": "realtime.session"}}'],
            "openai-realtime",
        ),
        (LIVE, [b'{\n  "setupComplete": {}\n}\n', b'{"toolCall": {"functionCalls": [{"id": "1", "name": "f", "args": {}}]}}'], "gemini-live"),
        ("/v1/responses/", ['{"type": "keepalive", "sequence_number": 1}'], "responses"),
    ],
)  # fmt: skip
def test_the_path_says_what_is_read(
    sockets: SocketHouse, path: str, messages: list[Any], dialect: str
) -> None:
    """Each of the three APIs is known by its endpoint, and healthy messages pass."""
    assert [*messages, 1000] == heard(sockets, messages, path)
    assert [(dialect, "ok")] == [(entry.dialect, entry.outcome) for entry in sockets.house.entries]


def test_without_repair_everything_passes(sockets: SocketHouse) -> None:
    """It is counted as unrepaired."""
    messages = list(messages_of(STREAMS["cut text, called finished"], 0))

    assert [*messages, 1000] == heard(sockets, messages, no_repair=True)
    assert [("ok", "off")] == [(entry.outcome, entry.unrepaired) for entry in sockets.house.entries]


def test_tools_of_the_session(sockets: SocketHouse) -> None:
    """A call of a tool that the client did not name is withheld, if that is checked."""
    messages = list(messages_of(STREAMS["done without deltas"], 0))
    tools = [{"type": "function", "name": "other", "parameters": {}}]

    async def go() -> list[Any]:
        async with sockets.open() as caller:
            await caller.say(json.dumps({"type": "response.create", "tools": tools}))
            got = [await caller.hear()]
            while not isinstance(got[-1], int):
                got.append(await caller.hear())
            return got

    got = sockets.play(go, telling(messages), repair=RepairConfig(tools="names"))
    (entry,) = sockets.house.entries
    assert ([], 1) == (calls_in(got), entry.n_withheld)


@pytest.mark.parametrize(
    ("live", "headers", "shown"),
    [(False, {}, False), (True, {}, True), (False, {"x-wholecall-live": "1"}, True), (True, {"x-wholecall-live": "0"}, False)],
)  # fmt: skip
def test_calls_are_shown_while_they_arrive(
    sockets: SocketHouse, live: bool, headers: dict[str, str], shown: bool
) -> None:
    """If the configuration or the handshake says so; the handshake decides."""
    messages = list(messages_of(STREAMS["two calls, as documented"], 0))
    begun = next(at for at, one in enumerate(messages) if '"response.function_call_arguments.delta"' in one)

    async def go() -> list[Any]:
        async with sockets.open("/v1/responses", headers=headers) as caller:
            await caller.say('{"type": "response.create"}')
            got = [await caller.hear()]
            while not isinstance(got[-1], int):
                got.append(await caller.hear())
            return got

    got = sockets.play(go, telling(messages[: begun + 1]), repair=RepairConfig(live=live))
    assert shown is any('"response.output_item.added"' in one and "function_call" in one for one in got[:-1])


# What is kept.


def test_recordings_are_lines(tmp_path: Path, parser: str) -> None:
    """A recording has a line for each message of the upstream, before repair, and is read like any other."""
    house = House(parser, {"record": RecordConfig(dir=tmp_path)})
    messages = list(messages_of(STREAMS["each delta restates the text so far"], 0))
    pretty = json.dumps(json.loads(messages[0]), indent=2)
    heard(SocketHouse(house), [pretty, *messages[1:]])
    said = house.close()

    (path,) = tmp_path.glob("*.jsonl")
    (recording,) = read(path)
    lines = b"".join(data for _, data in recording.chunks).splitlines()
    assert [json.loads(message) for message in messages] == [json.loads(line) for line in lines]
    (line,) = [json.loads(one) for one in said.splitlines() if "outcome" in one]
    assert ("/v1/responses", 101, "mended", len(messages), 1, 1000) == (
        line["path"], line["status"], line["outcome"], line["messages_in"], line["messages_asked"], line["close"]
    )  # fmt: skip


# Signs of life, and clients that read nothing.


def test_clients_are_pinged(sockets: SocketHouse) -> None:
    """While nobody speaks."""

    async def quiet(line: Line) -> None:
        await line.hear()

    async def go() -> Any:
        async with sockets.open() as caller:
            return (await caller.socket.receive()).type

    settings = sockets.house.process._server.config
    before, settings.ws_ping_interval = settings.ws_ping_interval, 0.05
    try:
        assert aiohttp.WSMsgType.PING is sockets.play(go, quiet)
    finally:
        settings.ws_ping_interval = before


def test_a_client_that_reads_nothing_is_dropped(parser: str) -> None:
    """It loses its connection, and the upstream learns of it."""
    house = House(parser, {"write_timeout": 0.2})
    sockets = SocketHouse(house)

    async def pour(line: Line) -> None:
        with suppress(ConnectionError):
            while True:
                await line.socket.send_str("x" * 65536)

    async def go() -> None:
        async with sockets.open("/v1/other") as caller:
            caller.socket._conn.transport.pause_reading()
            await until(lambda: bool(house.entries))
            caller.socket._conn.transport.abort()

    sockets.play(go, pour, write_timeout=0.2)
    house.close()
    assert ["client_left"] == [entry.outcome for entry in house.entries]


# The end of the process.


async def echo(line: Line) -> None:
    """Send back each message."""
    while not isinstance(said := await line.hear(), int):
        await line.socket.send_str(said)


@pytest.mark.parametrize(
    ("drain", "n_stops", "expected"), [(60, 1, ["late", 1000]), (0.05, 1, [1012]), (60, 2, [1012])]
)
def test_a_stop_gives_sessions_their_time(
    parser: str, drain: float, n_stops: int, expected: list[Any]
) -> None:
    """They continue for it; new handshakes are refused; then clients are told to come again."""
    house = House(parser, {"drain": drain})
    sockets = SocketHouse(house)

    async def go() -> list[Any]:
        async with sockets.open("/v1/other") as caller:
            await caller.say("early")
            await caller.hear()
            for _ in range(n_stops):
                house.process.stop()
            if expected == [1012]:
                return [await caller.hear()]
            await caller.say("late")
            said = await caller.hear()
            await caller.socket.close()
            return [said, caller.socket.close_code]

    got = sockets.play(go, echo)
    house.finish()
    assert (expected, ["cut" if expected == [1012] else "unread"]) == (
        got,
        [entry.outcome for entry in house.entries],
    )
