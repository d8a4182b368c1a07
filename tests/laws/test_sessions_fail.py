"""Sessions of Responses in which a response fails: it ends its turn, and the next one is read as if it came alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support import sessions
from wholecall import StreamFault, ToolCall, ToolCallDropped, ToolCallParser, events, wrap
from wholecall.calls.output.events import Event

RECORDED = sessions.recordings("responses")
ALONE = ("json-lines", "socket-session")  # without lanes
ERROR = {"code": "server_error", "message": "try again"}
Read = Callable[[list[str]], list[Event]]


def failures(lines: list[str]) -> list[str]:
    """Return the messages with which servers say that the response of these messages failed."""
    responses = [response for line in lines if (response := json.loads(line).get("response"))]
    failed = {**responses[-1], "status": "failed", "output": [], "error": ERROR}
    lane = {name: value for name, value in json.loads(lines[-1]).items() if name == "stream_id"}
    return [
        json.dumps({"type": "response.failed", "response": failed, **lane}),
        json.dumps({"type": "error", **ERROR, "param": None, **lane}),
    ]


def failed(lines: list[str]) -> Iterator[list[str]]:
    """Yield sessions that fail after each of their messages that is within a response."""
    runs = False
    for at, line in enumerate(lines):
        kind = json.loads(line)["type"]
        runs = kind == "response.created" or (runs and kind != "response.completed")
        if runs:
            yield from ([*lines[: at + 1], failure] for failure in failures(lines[: at + 1]))


def in_lane(lines: list[str], lane: str) -> list[str]:
    """Return messages in a lane."""
    return [json.dumps({**json.loads(line), "stream_id": lane}) for line in lines]


def as_lines(lines: list[str]) -> list[Event]:
    """Return the events of messages in lines of JSON."""
    parser: ToolCallParser[Any] = ToolCallParser("responses", framing="jsonl")
    return [event for line in lines for event in parser.feed(line.encode() + b"\n")] + parser.close()


def as_payloads(lines: list[str]) -> list[Event]:
    """Return the events of decoded messages."""
    parser: ToolCallParser[Any] = ToolCallParser()
    return [event for line in lines for event in parser.feed_event(json.loads(line))] + parser.close()


def as_moved(lines: list[str]) -> list[Event]:
    """Return the events of messages, each of which another process reads."""
    parser: ToolCallParser[Any] = ToolCallParser("responses", framing="jsonl")
    found: list[Event] = []
    for line in lines:
        parser = ToolCallParser.restore(parser.snapshot())
        found += parser.feed(line.encode() + b"\n")
    return found + parser.close()


class Socket:
    """A connection that gives messages."""

    def __init__(self, messages: list[str]) -> None:
        self.messages = iter(messages)

    def __iter__(self) -> Iterator[str]:
        return self.messages

    def recv(self) -> str:
        """Return the next message."""
        return next(self.messages)

    def send(self, message: str) -> None:
        """Take a message."""


def as_connection(lines: list[str]) -> list[Event]:
    """Return the events of a connection."""
    return list(events(Socket(lines)))


def later(found: list[Event], n: int) -> list[Event]:
    """Return the events of the turns from this number on, as if these were the first."""
    return [replace(event, turn=event.turn - n) for event in found if event.turn >= n]


def called(found: list[Event]) -> set[sessions.Call]:
    """Return names and arguments of the calls among events."""
    calls = [event for event in found if isinstance(event, ToolCall)]
    return {(call.name, json.dumps(call.arguments, sort_keys=True)) for call in calls}


def n_turns(found: list[Event]) -> int:
    """Return how many turns began."""
    return 1 + max(event.turn for event in found)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("read", [as_lines, as_payloads, as_connection])
@pytest.mark.parametrize(("first", "second"), [ALONE, ALONE[::-1]])
def test_the_next_response_is_read_as_if_it_came_alone(read: Read, first: str, second: str) -> None:
    """Law 140: after a failure anywhere, with the events of a new parser, in its own turn."""
    alone = read(RECORDED[second])
    wrong = []
    for cut in failed(RECORDED[first]):
        before = n_turns(read(cut))
        if later(read(cut + RECORDED[second]), before) != alone:
            wrong.append(len(cut))

    assert len(list(failed(RECORDED[first]))) > 20
    assert [] == wrong


def test_a_parser_that_moves_reads_the_next_response() -> None:
    """Law 140: between any two messages."""
    cuts = [*failed(RECORDED["json-lines"])][::7]
    sequences = [cut + RECORDED["json-lines"] + RECORDED["socket-session"] for cut in cuts]

    assert [as_lines(each) for each in sequences] == [as_moved(each) for each in sequences]


@pytest.mark.parametrize("name", ALONE)
def test_no_call_of_the_failed_response_that_was_not_whole(name: str) -> None:
    """Law 140: its calls are those that were whole before, and its open call is a drop, `aborted`."""
    known = sessions.told(RECORDED[name], "responses")
    found = [as_lines(cut) for cut in failed(RECORDED[name])]
    drops = [
        (n_turns(each) - 1 - drop.turn, drop.reason)
        for each in found
        for drop in each
        if isinstance(drop, ToolCallDropped)
    ]

    assert set() == set().union(*map(called, found)) - known
    assert {(0, "aborted")} == {drop for drop in drops if drop[0] == 0}


def test_a_lane_beside_a_failed_one_loses_nothing() -> None:
    """Law 140: whatever the messages of the other lane, and where it fails; the next response in it is read, too."""
    healthy, again = in_lane(RECORDED["json-lines"], "a"), in_lane(RECORDED["socket-session"][:20], "b")
    expected = sessions.told(healthy, "responses") | sessions.told(again, "responses")
    wrong = []
    for cut in failed(in_lane(RECORDED["socket-session"][:19], "b")):
        renamed = [line.replace("0socket", "1socket").replace("_glass_", "_brass_") for line in cut]
        mixed = [line for pair in zip_longest(renamed, healthy) for line in pair if line is not None]
        found = as_lines([*mixed, *again])
        told = called([each for each in found if not (isinstance(each, ToolCall) and "brass" in each.id)])
        fatal = [event.fatal for event in found if isinstance(event, StreamFault)]
        if told != expected or fatal != [False]:
            wrong.append(len(cut))

    assert [] == wrong


@pytest.mark.parametrize("name", ALONE)
def test_nothing_is_read_after_the_failure_of_a_stream(name: str) -> None:
    """Law 140: server-sent events are those of one response, so that nothing may follow."""
    wrong = []
    for cut in failed(RECORDED[name][:20]):
        ends = [as_events(cut), as_events(cut + RECORDED["socket-session"])]
        if ends[0] != ends[1]:
            wrong.append(len(cut))

    assert [] == wrong


def as_events(lines: list[str]) -> list[Event]:
    """Return the events of messages that come as server-sent events."""
    parser: ToolCallParser[Any] = ToolCallParser("responses")
    data = "".join(f"data: {line}\n\n" for line in lines).encode()
    return parser.feed(data) + parser.close()


def test_wrap_reads_on_after_a_failed_response() -> None:
    """Law 140: the turn of the failed response has its reason, the next one its calls."""
    lines = RECORDED["json-lines"]
    cut = next(iter(failed(RECORDED["socket-session"])))
    stream = wrap(Socket([*cut, *lines]))
    list(stream)

    assert ["error", "tool_calls"] == [turn.reason for turn in stream.turns]
    assert ["set_sail"] == [call.name for call in stream.calls]
