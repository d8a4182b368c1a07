"""Laws of the fast lane: it says what the machine says, or leaves the stream to it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from benchmarks import workloads
from benchmarks.envelopes import GATEWAYS
from tests.support import corpora, quirky
from wholecall import Limits, StreamClosed, ToolCallParser

HEAD: dict[str, Any] = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(delta: Any = None, reason: str | None = None, **beside: Any) -> bytes:
    """Return an event with a chunk of one choice."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": reason}
    return event({**HEAD, "choices": [choice], **beside})


def event(payload: Any) -> bytes:
    """Return an event."""
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def call(
    index: int = 0, id: str | None = None, name: str | None = None, arguments: str | None = None
) -> bytes:
    """Return an event with an entry of `tool_calls`; what is None is not there."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return chunk(
        {"tool_calls": [{"index": index, **({} if id is None else {"id": id}), "function": function}]}
    )


OPENING = chunk({"role": "assistant", "content": ""})
DONE = b"data: [DONE]\n\n"
DOCUMENTED: dict[str, bytes] = {
    "text": chunk({"content": "a"}),
    "thought": chunk({"reasoning_content": "b"}),
    "head": call(0, "c1", "f", ""),
    "piece": call(0, arguments='{"a"'),
    "last piece": call(0, arguments=":1}"),
    "whole": call(0, "c1", "f", '{"a":1}'),
    "second": call(1, "c2", "g", '{"b":{"c":2}}'),
    "stop": chunk(reason="stop"),
    "calls": chunk(reason="tool_calls"),
    "length": chunk(reason="length"),
    "text and usage": chunk({"content": "e"}, usage={"total_tokens": 2}),
    "usage": event({**HEAD, "choices": [], "usage": {"total_tokens": 3}}),
    "done": DONE,
}
ODD: dict[str, bytes] = {
    "who speaks": chunk({"role": "assistant", "content": ""}),
    "another id": event({**HEAD, "id": "r2", "choices": [{"index": 0, "delta": {"content": "c"}}]}),
    "no id": event({"choices": [{"index": 0, "delta": {"content": "c"}}]}),
    "another choice": event({**HEAD, "choices": [{"index": 1, "delta": {"content": "d"}}]}),
    "empty object": call(0, arguments="{}"),
    "object again": call(0, arguments='{"a":1}'),
    "piece of the second": call(1, arguments="x"),
    "same id": call(1, "c1", "g", '{"b":2}'),
    "no name": call(1, "c3", None, "{}"),
    "text and call": chunk({"content": "e", "tool_calls": [{"index": 0, "function": {"arguments": "1"}}]}),
    "details": chunk({"reasoning": "b", "reasoning_details": [{"type": "reasoning.text", "text": "b"}]}),
    "refusal": chunk({"refusal": "no"}),
    "filter": chunk(reason="content_filter"),
    "error": event({"error": {"message": "overloaded"}}),
    "message": event({**HEAD, "choices": [{"index": 0, "message": {"content": "whole"}}]}),
    "strange call": chunk({"client_tool_call": {"name": "f", "input": {"a": 1}}}),
    "comment": b": ping\n\n",
    "CRLF": b"data: {}\r\n\r\n",
    "named": b"event: error\n" + event({"message": "x"}),
    "broken": b'data: {"id"\n\n',
    "not UTF-8": chunk({"content": "e"}).replace(b'"e"', b'"\xff"'),
    "blank": b"\n\n",
}
EVERY = {**DOCUMENTED, **ODD}
CUTS: dict[str, Callable[[bytes], list[bytes]]] = {**workloads.CUTS}


def outcome(reads: Sequence[bytes], *, lane: bool, **options: Any) -> tuple[list[Any], Any]:
    """Return the events of each read and of the end, and the turns."""
    parser = ToolCallParser[Any](**options)
    if not lane:
        parser._may_begin_in = ""
    events = [parser.feed(read) for read in reads]
    return [*events, parser.close()], parser.turns


def agree(reads: Sequence[bytes], **options: Any) -> None:
    """Assert that lane and machine say the same at each read."""
    assert outcome(reads, lane=False, **options) == outcome(reads, lane=True, **options), reads


def leaves(reads: Sequence[bytes]) -> bool:
    """Return whether the lane leaves a stream to the machine before its end."""
    parser = ToolCallParser[Any]()
    for read in reads:
        parser.feed(read)
    parser.close()
    return parser._ended is None


@pytest.mark.parametrize("first", EVERY)
def test_every_short_stream(first: str) -> None:
    """Law 129: of every three frames behind an opening, documented and odd ones, each read of one says the same."""
    for second, third in product(EVERY.values(), DOCUMENTED.values()):
        agree([OPENING, EVERY[first], second, third])


@pytest.mark.parametrize("seed", range(8))
def test_longer_streams_in_any_reads(seed: int) -> None:
    """Law 129: so do longer ones, mostly documented, whole, cut anywhere, and without their end."""
    rng = random.Random(seed)
    for _ in range(150):
        kinds = [DOCUMENTED if rng.random() < 0.85 else ODD for _ in range(rng.randrange(2, 12))]
        frames = [OPENING] * (rng.random() < 0.9) + [rng.choice(list(kind.values())) for kind in kinds]
        data = b"".join(frames)
        data = data[: rng.randrange(len(data))] if rng.random() < 0.3 else data
        agree(CUTS[rng.choice(["whole", "frame", "64", "7", "fuzzed 11", "fuzzed 12"])](data))


@pytest.mark.parametrize("number", range(12))
def test_quirky_servers(number: int) -> None:
    """Law 129: of servers whose labels lie in every way, and of good ones."""
    rng = random.Random(number)
    for seed in range(40):
        data = quirky.make_numbered(100 + number, seed).bytes()
        agree(CUTS[rng.choice(["whole", "frame", "64", "fuzzed 11"])](data))


@pytest.mark.parametrize("paths", corpora.groups(corpora.streams()))
def test_recordings(paths: list[Path]) -> None:
    """Law 129: of every recording, in events, in reads of 53 bytes, and cut behind each of its first events."""
    for path in paths:
        data = path.read_bytes()
        events = workloads.CUTS["frame"](data)
        agree(events)
        agree(workloads.cut(data, 53))
        for n in range(1, min(len(events), 12)):
            agree(events[:n])


@pytest.mark.parametrize("name", [*GATEWAYS])
def test_gateways(name: str) -> None:
    """Law 129: text, reasoning and calls in the envelopes of all servers, whole and cut."""
    for kind in ("text", "reasoning", "calls"):
        reads = list(workloads.through(name, kind, 2048).events)
        agree(reads)
        agree(reads[: len(reads) // 2])
        agree(workloads.cut(b"".join(reads), 1460))


def asks() -> dict[str, Callable[[ToolCallParser[Any]], Any]]:
    """Return what may be asked of a parser in the middle of a stream."""
    return {
        "turn": lambda parser: parser.turn,
        "turns": lambda parser: parser.turns,
        "dialect": lambda parser: parser.dialect,
        "repr": repr,
        "is_holding": lambda parser: parser.is_holding,
        "is_enveloped": lambda parser: parser.is_enveloped,
        "forget": lambda parser: parser.forget(),
        "snapshot": lambda parser: ToolCallParser[Any].restore(parser.snapshot()).turns,
        "abort": lambda parser: parser.abort(),
        "fail": lambda parser: parser.fail("lost"),
        "feed_event": lambda parser: parser.feed_event(json.loads(DOCUMENTED["text"][6:])),
    }


def whole_streams() -> Iterator[list[bytes]]:
    """Yield documented streams, the first event of each also in two reads."""
    named = DOCUMENTED
    for names in (
        ("text", "text", "stop", "usage", "done"),
        ("thought", "text", "head", "piece", "last piece", "second", "calls", "done"),
        ("whole", "second", "calls"),
        ("text", "head", "piece"),
    ):
        frames = [OPENING, *(named[name] for name in names)]
        yield frames
        yield [OPENING[:9], OPENING[9:] + frames[1][:70], frames[1][70:], *frames[2:]]


@pytest.mark.parametrize("question", asks())
def test_a_question_changes_nothing(question: str) -> None:
    """Law 129: whatever is asked of a parser between two reads, the answer and what follows are the machine's."""
    ask = asks()[question]
    for reads in whole_streams():
        for at in range(len(reads) + 1):
            found = []
            for lane in (False, True):
                parser = ToolCallParser[Any]()
                parser._may_begin_in = parser._may_begin_in if lane else ""
                events: list[Any] = []
                for n, read in enumerate([*reads, b""]):
                    if n == at:
                        events.append(ask(parser))
                    if not (question in ("abort", "fail") and n >= at):
                        events.append(parser.feed(read))
                events.append(parser.close())
                events += [ask(parser)] if question != "feed_event" else []
                found.append((events, parser.turns))
            assert found[0] == found[1], (question, at)


def test_a_closed_lane_takes_no_more() -> None:
    """Law 129: what was closed in the lane takes nothing, and may be closed again."""
    for reads in whole_streams():
        parser = ToolCallParser[Any]()
        for read in reads:
            parser.feed(read)
        parser.close()

        assert [] == parser.close() == parser.abort()
        with pytest.raises(StreamClosed):
            parser.feed(b"data: x\n\n")
        with pytest.raises(StreamClosed):
            parser.feed_event({})


def test_documented_streams_stay() -> None:
    """A stream with nothing odd in it never leaves its lane, if its first event came whole."""
    assert [False, True] * 4 == [leaves(reads) for reads in whole_streams()]
    stay = {name for name in GATEWAYS if not leaves(list(workloads.through(name, "calls", 2048).events))}
    assert {"openai", "azure", "openrouter", "together", "vllm", "groq", "ollama"} <= stay


@pytest.mark.parametrize("odd", ODD)
def test_odd_streams_leave(odd: str) -> None:
    """A frame that the machine would have to think about is the machine's."""
    assert leaves([OPENING, DOCUMENTED["head"], ODD[odd], DOCUMENTED["stop"]])


@pytest.mark.parametrize(
    "limits",
    [
        Limits(max_calls=1),
        Limits(max_arguments_bytes=3),
        Limits(max_event_bytes=200),
        Limits(max_stream_bytes=400),
    ],
)
def test_limits_are_those_of_the_machine(limits: Limits) -> None:
    """Law 129: near limits the machine reads."""
    for reads in whole_streams():
        agree(reads, limits=limits)
    agree(
        [OPENING, *[call(n, f"c{n}", "f", '{"a":1}') for n in range(200)], DOCUMENTED["calls"]],
        limits=Limits(),
    )
    agree(
        [OPENING, call(0, "c", "f", '{"a":"'), *[call(0, arguments="x" * 900)] * 30, call(0, arguments='"}')]
    )
