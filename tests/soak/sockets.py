"""A long run of the proxy's WebSockets: `python -m tests.soak.sockets --minutes 10 --streams 200 --seed 1`.

It is the soak of the proxy with sessions of some turns in place of requests. The upstream's messages are those of the
quirky streams of Responses, and between them notes with numbers. Every call that a client gets must have been sent, no
note may be lost before the end of its session, and an undamaged session must bring all notes and all calls.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import aiohttp
from aiohttp import web

from benchmarks.rivals.responses_streams import RESPONSES
from tests.soak.proxy import Soak, main
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall

_PATIENCE = 120.0  # seconds until a session must end
_LARGEST = 65536  # bytes of a message
_NOTE = "soak.note"
_BEGIN = f'{{"type": "{_NOTE}"'
_BLANK = re.compile(rb"\r?\n\r?\n|\r\r")
# Answers that never end: only a close ends a turn with one.
_ENDLESS = frozenset({"dropped after the name"})
_WHOLE = [n for n, stream in enumerate(RESPONSES) if stream.title not in _ENDLESS]
_ID = re.compile(r'"(call_|fc_|resp_)(?=[\dq])')


class Planned(NamedTuple):
    """The plan of one session; the query carries it to the upstream.

    Attributes:
        turns: the numbers of the streams, one for each turn.
        upstream: how the upstream behaves.
        client: how the client behaves.
        seed: draws all else.
    """

    turns: tuple[int, ...]
    upstream: str
    client: str
    seed: int

    @property
    def is_whole(self) -> bool:
        """Whether it is undamaged."""
        return self.upstream in HARMLESS and self.client in ("reads", "slow")


@cache
def messages_of(number: int, turn: int) -> tuple[str, ...]:
    """Return the messages of a turn: the data of a stream's events, with ids that no other turn has."""
    found: list[str] = []
    for event in _BLANK.split(b"".join(RESPONSES[number].pieces)):
        data = [line[5:].strip() for line in event.splitlines() if line.startswith(b"data:")]
        if data:
            found.append(_ID.sub(rf'"\g<1>{turn}_', b"\n".join(data).decode()))
    return tuple(found)


def _note(turn: int, n: int, *, is_last: bool = False) -> str:
    return json.dumps({"type": _NOTE, "turn": turn, "n": n, "last": is_last})


@cache
def said(number: int, turn: int) -> tuple[str, ...]:
    """Return all messages of a turn, notes between them."""
    out: list[str] = []
    messages = messages_of(number, turn)
    for n, message in enumerate(messages):
        out += [message, _note(turn, n)]
    return (*out, _note(turn, len(messages), is_last=True))


def notes_of(plan: Planned) -> list[tuple[int, int]]:
    """Return the turns and numbers of all notes of a session."""
    n_notes = (len(messages_of(number, turn)) + 1 for turn, number in enumerate(plan.turns))
    return [(turn, n) for turn, n_of_turn in enumerate(n_notes) for n in range(n_of_turn)]


# The upstream's behaviours. Each sends the messages of a turn, and returns whether the session continues.

Told = Callable[[web.Request, web.WebSocketResponse, Sequence[str], random.Random], Awaitable[bool]]


async def _well(
    _: web.Request, to: web.WebSocketResponse, messages: Sequence[str], __: random.Random
) -> bool:
    for message in messages:
        await to.send_str(message)
    return True


async def _paced(
    _: web.Request, to: web.WebSocketResponse, messages: Sequence[str], chance: random.Random
) -> bool:
    for message in messages:
        await asyncio.sleep(chance.random() / len(messages))
        await to.send_str(message)
    return True


async def _pinging(
    _: web.Request, to: web.WebSocketResponse, messages: Sequence[str], __: random.Random
) -> bool:
    for message in messages:
        await to.ping(b"soak")
        await to.send_str(message)
    return True


async def _bytes(
    _: web.Request, to: web.WebSocketResponse, messages: Sequence[str], __: random.Random
) -> bool:
    for message in messages:
        await to.send_bytes(message.encode())
    return True


async def _some(to: web.WebSocketResponse, messages: Sequence[str], chance: random.Random) -> None:
    for message in messages[: chance.randrange(len(messages))]:
        await to.send_str(message)


async def _reset(
    on: web.Request, to: web.WebSocketResponse, messages: Sequence[str], chance: random.Random
) -> bool:
    await _some(to, messages, chance)
    if on.transport is not None:
        on.transport.abort()
    return False


async def _closed(
    _: web.Request, to: web.WebSocketResponse, messages: Sequence[str], chance: random.Random
) -> bool:
    await _some(to, messages, chance)
    await to.close(code=chance.choice([1000, 1001, 1008, 1011, 4000]), message=b"soak")
    return False


async def _stalled(
    on: web.Request, to: web.WebSocketResponse, messages: Sequence[str], chance: random.Random
) -> bool:
    await _some(to, messages, chance)
    while on.transport is not None and not on.transport.is_closing():  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(0.2)
    return False


async def _huge(
    _: web.Request, to: web.WebSocketResponse, messages: Sequence[str], chance: random.Random
) -> bool:
    await _some(to, messages, chance)
    await to.send_str("x" * (_LARGEST + 1))
    return True


async def _noisy(
    _: web.Request, to: web.WebSocketResponse, messages: Sequence[str], chance: random.Random
) -> bool:
    for message in messages:
        await to.send_str(message)
        await to.send_bytes(chance.randbytes(20))
        await to.send_str(message[: chance.randrange(len(message))])
    return True


UPSTREAMS: dict[str, Told] = {
    "well": _well, "paced": _paced, "pinging": _pinging, "bytes": _bytes, "reset": _reset, "closed": _closed,
    "stalled": _stalled, "huge": _huge, "noisy": _noisy,
}  # fmt: skip
HANDSHAKES = ("refused", "no HTTP")
HARMLESS = frozenset({"well", "paced", "pinging", "bytes"})
CLIENTS = ("reads", "reads", "reads", "slow", "leaves early", "leaves late", "closes", "says too much")


async def _met(request: web.Request) -> web.StreamResponse:
    """Serve a handshake, and the session that it opens."""
    turns, upstream, client, seed = json.loads(request.query["plan"])
    plan, chance = Planned(tuple(turns), upstream, client, seed), random.Random(seed)
    if plan.upstream == "refused":
        return web.json_response({"error": "slow down"}, status=429)
    if plan.upstream == "no HTTP" and request.transport is not None:
        request.transport.write(b"SSH-2.0-none\r\n")  # type: ignore[attr-defined]
        request.transport.close()
        return web.Response()
    socket = web.WebSocketResponse(max_msg_size=0, compress=False, timeout=1.0)
    await socket.prepare(request)
    faulty = chance.randrange(len(plan.turns))  # the turn in which a fault occurs
    with suppress(ConnectionError, RuntimeError):
        for turn in range(len(plan.turns)):
            if (await socket.receive()).type is not aiohttp.WSMsgType.TEXT:
                break
            is_harmless = plan.upstream in HARMLESS or turn != faulty
            tell = _well if is_harmless and plan.upstream not in HARMLESS else UPSTREAMS[plan.upstream]
            if not await tell(request, socket, said(plan.turns[turn], turn), chance):
                break
        await socket.close()
    return socket


# The clients.


class Got:
    """What a client got.

    Attributes:
        turns: the messages of each turn, without the notes.
        notes: the notes, in order.
        code: the close code; None while it is open.
        status: the status of the handshake.
    """

    def __init__(self) -> None:
        self.turns: list[list[str]] = []
        self.notes: list[tuple[int, int]] = []
        self.code: int | None = None
        self.status = 0


async def _converse(session: aiohttp.ClientSession, port: int, plan: Planned) -> Got:
    got, chance = Got(), random.Random(plan.seed + 1)
    try:
        async with session.ws_connect(
            f"http://127.0.0.1:{port}/v1/responses",
            params={"plan": json.dumps(plan)},
            headers={"host": "localhost"},
            max_msg_size=0,
            timeout=aiohttp.ClientWSTimeout(ws_close=5.0),
        ) as socket:
            got.status = 101
            await _talk(socket, plan, got, chance)
            got.code = socket.close_code if got.code is None else got.code
    except aiohttp.WSServerHandshakeError as error:
        got.status = error.status
    except (aiohttp.ClientError, ConnectionError):
        got.code = got.code or 1006
    return got


async def _talk(socket: Any, plan: Planned, got: Got, chance: random.Random) -> None:
    leaves = chance.randrange(len(plan.turns)) if plan.client not in ("reads", "slow") else None
    for turn in range(len(plan.turns)):
        if plan.client == "leaves early":
            socket._conn.transport.abort()
            return
        text = "x" * (_LARGEST + 1) if leaves == turn and plan.client == "says too much" else "{}"
        await socket.send_str(json.dumps({"type": "response.create", "input": text}))
        got.turns.append([])
        if not await _turn(socket, plan, got, chance, leaves=leaves == turn):
            return
    while (await socket.receive()).type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
        pass  # what is said of an answer that never ended, then the upstream's close


async def _turn(socket: Any, plan: Planned, got: Got, chance: random.Random, *, leaves: bool) -> bool:
    """Read a turn; return whether there may be another one."""
    while True:
        message = await socket.receive()
        if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            got.code = socket.close_code
            return False
        note = _note_in(message.data)
        if note is None:
            if isinstance(message.data, str) or message.data[:1] == b"{":
                got.turns[-1].append(message.data if isinstance(message.data, str) else message.data.decode())
        else:
            got.notes.append((note["turn"], note["n"]))
            if note["last"]:
                return True
        if leaves and plan.client == "leaves late" and chance.random() < 0.2:
            socket._conn.transport.abort()
            return False
        if leaves and plan.client == "closes" and chance.random() < 0.2:
            return False
        if plan.client == "slow":
            await asyncio.sleep(chance.random() / 50)


def _note_in(data: str | bytes) -> Any:
    is_note = data.startswith(_BEGIN) if isinstance(data, str) else data.startswith(_BEGIN.encode())
    return json.loads(data) if is_note else None


def complaint(plan: Planned, got: Got) -> str | None:
    """Return the faults in what a client got."""
    sent = notes_of(plan)
    if plan.upstream != "noisy" and got.notes != sent[: len(got.notes)]:
        return "a message was lost"
    for turn, messages in enumerate(got.turns):
        expected = Counter(
            (one.name, json.dumps(one.arguments)) for one in RESPONSES[plan.turns[turn]].expected
        )
        calls = _calls(messages)
        if calls - expected:
            return "a call that nobody sent"
        if plan.is_whole and expected - calls:
            return "a call was lost"
    if plan.is_whole and (got.notes != sent or got.code != 1000):
        return f"it did not end well: {len(got.notes)} of {len(sent)} messages, {got.status}, {got.code}"
    return None


def _calls(messages: Sequence[str]) -> Counter[tuple[str, str]]:
    parser: ToolCallParser[Any] = ToolCallParser("responses", events="calls")
    events = [event for message in messages for event in parser.feed(b"data: " + message.encode() + b"\n\n")]
    events += parser.close()
    return Counter((one.name, json.dumps(one.arguments)) for one in events if isinstance(one, ToolCall))


class SocketSoak(Soak):
    """One run.

    Attributes:
        received: the notes that reached clients.
        due: the notes of undamaged sessions.
        arrived: those of them that reached their client.
    """

    idle: ClassVar[int] = 10
    settings: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"WHOLECALL_PROXY_MAX_MESSAGE_BYTES": str(_LARGEST), "WHOLECALL_PROXY_MAX_STREAMS": "5000"}
    )

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.received = self.due = self.arrived = 0

    def session(self) -> Planned:
        """Return the next session."""
        chance, self._n = self._chance, self._n + 1
        others = [name for name in (*UPSTREAMS, *HANDSHAKES) if name != "stalled"]
        upstream = "stalled" if self._n % 40 == 0 else chance.choice(others)
        turns = [chance.choice(_WHOLE) for _ in range(chance.randint(0, 2))]
        return Planned(
            (*turns, chance.randrange(len(RESPONSES))),
            upstream,
            chance.choice(CLIENTS),
            chance.getrandbits(32),
        )

    @asynccontextmanager
    async def upstream(self) -> AsyncIterator[str]:
        """Serve while the block runs; give the URL."""
        app = web.Application()
        app.router.add_get("/{path:.*}", _met)
        runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def client(self, port: int, until: float) -> None:
        """Open one session after the other."""
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            while time.monotonic() < until:
                plan = self.session()
                try:
                    got = await asyncio.wait_for(_converse(session, port, plan), _PATIENCE)
                    wrong = complaint(plan, got)
                except asyncio.TimeoutError:
                    got, wrong = Got(), "no end"
                self._count(plan, got)
                if wrong is not None:
                    titles = ", ".join(RESPONSES[number].title for number in plan.turns)
                    self.wrong[f"{wrong}: {plan.upstream}, {plan.client}: {titles}"] += 1

    def _count(self, plan: Planned, got: Got) -> None:
        self.done[plan.upstream] += 1
        self.received += len(got.notes)
        if plan.is_whole:
            self.arrived += len(got.notes)
            self.due += len(notes_of(plan))

    def told(self) -> list[str]:
        """Return how many messages arrived."""
        lost = self.due - self.arrived
        return [f"{self.received:,} notes arrived; of {self.due:,} in undamaged sessions {lost:,} were lost"]


if __name__ == "__main__":
    sys.exit(main(None, SocketSoak, __doc__))
