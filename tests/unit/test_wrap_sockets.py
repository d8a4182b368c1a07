"""Wrapped connections of sockets: each message is one event, and the connection outlives the loops over it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest

from tests.support import sessions
from wholecall import events, wrap

TEXT = sessions.recordings("responses")["socket-session"]
LIVE = sessions.recordings("gemini-live")["pretty-printed-two-channels"]


class Socket:
    """A connection that is iterated for messages."""

    def __init__(self, messages: list[Any]) -> None:
        self.messages = iter(messages)
        self.n_closed = 0

    def __iter__(self) -> Iterator[Any]:
        return self.messages

    def recv(self) -> Any:
        """Return the next message."""
        return next(self.messages)

    def send(self, message: Any) -> None:
        """Take a message."""

    def close(self) -> None:
        """Close the connection."""
        self.n_closed += 1


class AsyncSocket(Socket):
    """The same, asynchronous."""

    __iter__ = None  # type: ignore[assignment]

    async def __aiter__(self) -> AsyncIterator[Any]:
        for message in self.messages:
            yield message

    async def close(self) -> None:  # type: ignore[override]
        """Close the connection."""
        self.n_closed += 1


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(("lines", "names"), [(TEXT, 3), (LIVE, 1)])
def test_each_message_is_an_event(lines: list[str], names: int, binary: bool) -> None:
    """Text and binary messages pass as they are and are read, with line ends inside or without one at their end."""
    messages = [line.encode() if binary else line for line in lines]
    stream = wrap(Socket(messages))
    passed = list(stream)

    assert messages == passed
    assert names == len(stream.calls)


def test_a_message_is_never_joined_with_the_next_one() -> None:
    """A call whose message was cut is lost, and the next message is read for itself."""
    cut = [*LIVE[:3], '{"toolCall":', *LIVE[3:]]
    stream = wrap(Socket(cut))
    list(stream)

    assert ["post_notice"] == [call.name for call in stream.calls]
    assert ["undecodable_frame"] == [fault.kind for turn in stream.turns for fault in turn.faults]


def test_sound_is_not_read() -> None:
    """Binary messages without JSON text pass, and are no events."""
    stream = wrap(Socket([b"\0\xff", *TEXT, b"RIFF"]))

    assert [b"\0\xff", *TEXT, b"RIFF"] == list(stream)
    assert ["provider_error"] == [fault.kind for turn in stream.turns for fault in turn.faults]


def test_a_loop_goes_on_where_the_last_one_was_left() -> None:
    """Leaving a loop closes nothing and drops nothing; the last turn is the one that was read last."""
    socket = Socket(TEXT)
    stream = wrap(socket)
    found = []
    for _ in range(2):
        for message in stream:
            if json.loads(message)["type"] == "response.completed":
                break
        found.append([call.id for call in stream.turns[-1].calls])

    assert [["call_glass_1"], ["call_log_3", "call_glass_4"]] == found
    assert ([], 1) == (list(stream), socket.n_closed)  # the end closes it


def test_an_asynchronous_loop_goes_on_too() -> None:
    """Asynchronous connections stay open in the same way."""

    async def read() -> tuple[list[int], int]:
        socket = AsyncSocket(TEXT)
        stream: Any = wrap(socket)
        counts = []
        for _ in range(2):
            async for message in stream:
                if json.loads(message)["type"] == "response.completed":
                    break
            counts.append(len(stream.calls))
        return counts, socket.n_closed

    assert ([1, 3], 0) == anyio.run(read)


def test_a_connection_that_is_left_by_its_manager_is_closed() -> None:
    """With `with wrap(…)` the wrapper owns the connection."""
    socket = Socket(TEXT)
    with wrap(socket) as stream:
        next(stream)

    assert 1 == socket.n_closed


def test_events_of_a_connection() -> None:
    """`events` reads messages, too."""
    names = [event.name for event in events(Socket(TEXT)) if event.type == "tool_call"]

    assert ["read_barometer", "log_reading", "read_barometer"] == names
