"""Laws of the fast lane: it gives the machine's events, or leaves the stream to the machine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks import workloads
from benchmarks.envelopes import GATEWAYS
from tests.support import corpora, quirky, share
from tests.support.lanes import WIRES, Wire
from tests.support.together import together
from wholecall import Limits, StreamClosed, ToolCall, ToolCallDropped, ToolCallParser, Tools

CUTS: dict[str, Callable[[bytes], list[bytes]]] = {**workloads.CUTS}


def outcome(reads: Sequence[bytes], *, lane: bool, **options: Any) -> tuple[list[Any], Any]:
    """Return the events of each read and of the end, and the turns."""
    parser = ToolCallParser[Any](**options)
    if not lane:
        parser._may_begin_in = ""
    events = [parser.feed(read) for read in reads]
    return [*events, parser.close()], parser.turns


def differing(streams: Iterable[Sequence[bytes]], **options: Any) -> list[Sequence[bytes]]:
    """Return the streams, each in its reads, for which lane and machine differ at some read."""
    return [
        reads
        for reads in streams
        if outcome(reads, lane=False, **options) != outcome(reads, lane=True, **options)
    ]


def leaves(reads: Sequence[bytes]) -> bool:
    """Return whether the lane leaves a stream to the machine before its end."""
    parser = ToolCallParser[Any]()
    for read in reads:
        parser.feed(read)
    parser.close()
    return parser._ended is None


FRAMES = [(name, frame) for name, wire in WIRES.items() for frame in wire.every]


@pytest.mark.sampled(187)
@pytest.mark.parametrize(("dialect", "first"), FRAMES)
def test_every_short_stream(dialect: str, first: str) -> None:
    """Law 129: every two frames after an opening, documented and odd, and an end give the same in any reads."""
    wire = WIRES[dialect]
    streams = (
        [wire.opening, wire.every[first], second, wire.documented[third]]
        for second, third in product(wire.every.values(), wire.ends)
    )

    assert [] == differing(streams)


@together("odd", ["with arguments", "with another member", "with input beside it"])
def test_a_call_beside_whose_empty_input_there_is_more(odd: str) -> None:
    """Law 129: a call of Messages without text, whose start has content in a member that is not read, is a drop."""
    wire = WIRES["anthropic"]
    reads = [wire.opening, wire.odd[odd], *(wire.documented[name] for name in ("stop", "tool use"))]
    events = [event for read in outcome(reads, lane=True)[0] for event in read]

    assert [] == differing([reads])
    assert ["incomplete_input"] == [event.reason for event in events if isinstance(event, ToolCallDropped)]


@pytest.mark.sampled(53)
@pytest.mark.parametrize("dialect", WIRES)
@pytest.mark.parametrize("seed", range(8))
def test_streams_with_something_odd(dialect: str, seed: int) -> None:
    """Law 129: the same for conforming streams and those with lost, duplicate, late or strange frames; in any reads."""
    rng = random.Random(seed)

    assert [] == differing(odd_stream(rng, WIRES[dialect]) for _ in range(200))


def odd_stream(rng: random.Random, wire: Wire) -> list[bytes]:
    """Return the reads of a stream with some deviations, or none, from the documentation."""
    frames = wire.stream(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        change(frames, rng, wire)
    data = b"".join(frames)
    data = data[: rng.randrange(len(data))] if rng.random() < 0.3 else data
    return CUTS[rng.choice(["whole", "frame", "frame", "64", "7", "fuzzed 11", "fuzzed 12"])](data)


def change(frames: list[bytes], rng: random.Random, wire: Wire) -> None:
    """Change one thing in a stream."""
    at = rng.randrange(len(frames))
    kind = rng.randrange(4)
    if kind == 0:
        frames.insert(at, rng.choice([*wire.every.values()]))
    elif kind == 1 and len(frames) > 1:
        del frames[at]
    elif kind == 2:
        frames.insert(at, frames[at])
    else:
        frames.insert(rng.randrange(len(frames)), frames.pop(at))


@pytest.mark.sampled(29)
@pytest.mark.parametrize("dialect", WIRES)
@pytest.mark.parametrize("way", ["forgetting", "calls only", "as events", "as dicts", "both"])
def test_other_ways_to_read(dialect: str, way: str) -> None:
    """Law 129: the same where text is forgotten at times or not shown, and events come decoded, named or not."""
    rng, wire = random.Random(3), WIRES[dialect]
    for _ in range(150):
        frames = wire.stream(rng)
        if rng.random() < 0.5:
            change(frames, rng, wire)
        steps = [(frame, rng.random() < 0.3) for frame in frames]
        assert told(steps, way, lane=False) == told(steps, way, lane=True), frames


def told(steps: Sequence[tuple[bytes, bool]], way: str, *, lane: bool) -> tuple[list[Any], Any]:
    """Return the events of a stream fed in steps, each of which states whether it is fed in another form than bytes."""
    parser = ToolCallParser[Any](events="calls" if way == "calls only" else "all")
    parser._may_begin_in = parser._may_begin_in if lane else ""
    events: list[Any] = []
    for frame, chosen in steps:
        name, payload = decoded(frame)
        if way == "forgetting" and chosen:
            parser.forget()
        if payload is None or way in ("forgetting", "calls only") or (way == "both" and chosen):
            events.append(parser.feed(frame))
        else:
            events.append(parser.feed_event(payload, name if way == "as events" else None))
    events.append(parser.close())
    return events, parser.turns


def decoded(frame: bytes) -> tuple[str | None, Any]:
    """Return the name and the payload of an event, None if it has no separate payload."""
    text = frame.decode(errors="replace")
    name = text[len("event: ") :].partition("\n")[0] if text.startswith("event: ") else None
    try:
        return name, json.loads(text[text.index("{") :])
    except ValueError:
        return name, None


class Number(int):
    """A number with a separate class."""


class Words(str):
    """A text with a separate class."""

    __slots__ = ()


# Values of dict members that JSON lacks, or has in another form.
STRANGE: list[Any] = [
    *(float("nan"), float("inf"), {"a": float("nan")}, 10**400, True, Number(0)),
    *("\ud800", Words("{"), b"text", {None: 2}, date(2026, 1, 1)),
]
OTHERS: list[Any] = [[], {"a": 1}, ["a"], [[]], "x", 0, None]


def test_details_go_back_in_the_order_of_the_wire() -> None:
    """Law 129: a detail of reasoning has its members in the order in which they came, in the lane and after it."""
    chat = WIRES["chat-completions"]
    detail = {"format": "unknown", "text": "b", "index": 0, "type": "reasoning.text"}
    delta = {"reasoning": "b", "reasoning_details": [detail]}
    payload = {**decoded(chat.opening)[1], "choices": [{"index": 0, "delta": delta}]}
    thought = b"data: " + json.dumps(payload).encode() + b"\n\n"
    for last in ("stop", "text"):
        reads = [chat.opening, thought, thought, chat.documented[last]]
        turns = [outcome(reads, lane=lane)[1][0] for lane in (False, True)]
        kept = [msgspec.json.encode(turn.content) for turn in turns]

        assert kept[0] == kept[1]
        assert b'{"format":"unknown","text":"bb","index":0,"type":"reasoning.text"}' in kept[0]


@share.in_parts(55)
@pytest.mark.parametrize("dialect", WIRES)
def test_values_of_other_types(dialect: str, part: share.Part) -> None:
    """Law 129: the same with a value of another JSON type in any place of any event, or with one more member there."""
    wire = WIRES[dialect]
    for names in wire.whole:
        frames = [wire.opening, *(wire.documented[name] for name in names)]
        odd = (
            [*frames[:n], changed, *frames[n + 1 :]]
            for n, frame in enumerate(frames)
            for changed in frames_with_others(frame)
        )
        assert [] == differing(part.of(odd, f"{dialect} {names}"))


def frames_with_others(frame: bytes) -> Iterator[bytes]:
    """Yield the frame with each of `OTHERS` in each place of its payload."""
    payload, head = decoded(frame)[1], frame[: frame.find(b"{")]
    for changed in (changed for value in OTHERS for changed in with_value(payload, value)):
        yield head + json.dumps(changed).encode() + frame[len(frame.rstrip()) :]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("dialect", WIRES)
@pytest.mark.parametrize("strange", range(len(STRANGE)))
def test_dicts_of_any_values(dialect: str, strange: int) -> None:
    """Law 129: the same for dicts with values that no JSON text has, in each place of each event."""
    wire, value = WIRES[dialect], STRANGE[strange]
    payloads = [decoded(frame)[1] for frame in next(iter(wire.streams()))]
    payloads = [payload for payload in payloads if payload is not None]
    for n, payload in enumerate(payloads):
        for changed in with_value(payload, value):
            read = [*payloads[:n], changed, *payloads[n + 1 :]]
            assert read_dicts(read, lane=False) == read_dicts(read, lane=True), (n, changed)


def with_value(payload: Any, value: Any) -> Iterator[Any]:
    """Yield a payload with another value in each place, and one more member in each object."""
    if isinstance(payload, dict):
        yield {**payload, "another": value}
        places: Iterable[Any] = payload
    else:
        places = range(len(payload)) if isinstance(payload, list) else ()
    for place in places:
        for changed in (value, *with_value(payload[place], value)):
            copy = payload.copy()
            copy[place] = changed
            yield copy


def read_dicts(payloads: Iterable[Any], *, lane: bool) -> list[Any]:
    """Return the events of each dict, or its fault."""
    parser = ToolCallParser[Any]()
    parser._may_begin_in = parser._may_begin_in if lane else ""
    said = [feed_dict(parser, payload) for payload in payloads]
    return [*said, parser.close(), parser.turns]


def feed_dict(parser: ToolCallParser[Any], payload: Any) -> Any:
    """Return the events of a dict, or which exception it raises."""
    try:
        return parser.feed_event(payload)
    except (TypeError, ValueError) as error:
        return type(error)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("number", range(12))
def test_quirky_servers(number: int) -> None:
    """Law 129: of servers whose labels lie in every way, and of good ones."""
    rng = random.Random(number)
    made = (quirky.make_numbered(100 + number, seed).bytes() for seed in range(40))

    assert [] == differing(CUTS[rng.choice(["whole", "frame", "64", "fuzzed 11"])](data) for data in made)


@pytest.mark.sampled(19)
@pytest.mark.parametrize("paths", corpora.groups(corpora.streams()))
def test_recordings(paths: list[Path]) -> None:
    """Law 129: of every recording, in events, in reads of 53 bytes, and cut after each of its first events."""
    for path in paths:
        data = path.read_bytes()
        events = workloads.CUTS["frame"](data)
        cut = [events[:n] for n in range(1, min(len(events), 12))]

        assert [] == differing([events, workloads.cut(data, 53), *cut]), path.name


@together("name", [*GATEWAYS], one_in=4)
def test_gateways(name: str) -> None:
    """Law 129: text, reasoning and calls in the envelopes of all servers, whole and cut."""
    for kind in ("text", "reasoning", "calls"):
        reads = list(workloads.through(name, kind, 2048).events)
        streams = (reads, reads[: len(reads) // 2], workloads.cut(b"".join(reads), 1460))

        assert [] == differing(streams), kind


class Whole(msgspec.Struct):
    """The argument of `f`."""

    a: int


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    """The inner argument of `g`."""

    c: str


class Nested(msgspec.Struct):
    """The argument of `g`: a number where a string is due, so that it never fits."""

    b: Inner


TOOLS: dict[str, Any] = {
    "all": {"f": Whole, "g": dict[str, dict[str, int]]},
    "one": {"f": Whole},
    "never": {"f": Whole, "g": Nested},
    "read as another type": {"f": dict[str, datetime], "g": dict[str, Any]},
    "joined": {"f": Whole, "fg": dict[str, Any], "g": dict[str, Any], "F": dict[str, Any]},
}


@share.in_parts(55)
@pytest.mark.parametrize("known", TOOLS)
def test_tools(known: str, part: share.Part) -> None:
    """Law 129: of calls of tools that are known and others, which fit or do not, with the same values."""
    tools = Tools[Any](TOOLS[known])
    for wire in WIRES.values():
        for seed in part.of(range(100), known):
            rng = random.Random(seed)
            frames = wire.stream(rng)
            other = [*frames]
            change(other, rng, wire)
            assert [] == differing([frames, other], tools=tools)
    for reads in whole_streams():
        assert [] == differing([reads], tools=tools)
        assert typed(reads, tools, lane=False) == typed(reads, tools, lane=True)


def typed(reads: Sequence[bytes], tools: Any, *, lane: bool) -> list[Any]:
    """Return the values of calls, which their equality does not see."""
    events, _ = outcome(reads, lane=lane, tools=tools)
    return [event.value for read in events for event in read if isinstance(event, ToolCall)]


def asks() -> dict[str, Callable[[ToolCallParser[Any]], Any]]:
    """Return the queries that a parser allows in the middle of a stream."""
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
        "feed_event": lambda parser: parser.feed_event({"type": "ping"}),
    }


def whole_streams() -> Iterator[list[bytes]]:
    """Yield the whole streams of all dialects."""
    return (reads for wire in WIRES.values() for reads in wire.streams())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("question", asks())
def test_a_question_changes_nothing(question: str) -> None:
    """Law 129: for any query to a parser between two reads, the answer and the later events are the machine's."""
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
    """Law 129: a parser that was closed in the lane takes no input, and may be closed again."""
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
    """A stream without oddities never leaves its lane, if its first event came whole."""
    assert not any(leaves(reads) for reads in whole_streams())
    stay = {name for name in GATEWAYS if not leaves(list(workloads.through(name, "calls", 2048).events))}
    assert {"openai", "azure", "openrouter", "together", "vllm", "groq", "ollama"} <= stay


@together(("dialect", "odd"), [(name, odd) for name, wire in WIRES.items() for odd in wire.odd])
def test_odd_streams_leave(dialect: str, odd: str) -> None:
    """A frame that the machine would have to think about is the machine's."""
    wire = WIRES[dialect]
    assert leaves([wire.opening, *(wire.documented[name] for name in wire.before), wire.odd[odd]])


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
    assert [] == differing(whole_streams(), limits=limits)


@share.in_parts(29)
@pytest.mark.parametrize("dialect", WIRES)
def test_a_stream_ends_where_its_limit_is(dialect: str, part: share.Part) -> None:
    """Law 129: at any limit of a stream's bytes, also after comments, in frames, in reads of 53 bytes and in one."""
    for frames in WIRES[dialect].streams():
        data = b"".join(frames)
        ways = [frames, workloads.cut(data, 53), [data]]
        if data.startswith((b"data", b"event")):
            ways += [[b": waits\n\n", *frames], [b": waits\n\n" + data[:200], data[200:]]]
        for most in part.of(range(1, len(data) + 20, 19), dialect):
            assert [] == differing(ways, limits=Limits(max_stream_bytes=most)), most


def test_gateways_have_lanes() -> None:
    """Streams under the bounds for gateways, which limit their bytes, stay in their lane, too."""
    for reads in whole_streams():
        parser = ToolCallParser[Any](limits=Limits.gateway())
        for read in reads:
            parser.feed(read)
        parser.close()

        assert parser._ended is not None


@pytest.mark.parametrize("name", ["max_line_bytes", "max_event_bytes", "max_arguments_bytes"])
def test_no_event_passes_a_limit(name: str) -> None:
    """Law 129: at the tightest limits that allow a lane, larger events give the machine's result."""
    chat = WIRES["chat-completions"]
    for frame, small, end in (("text", '"a"', "stop"), ("whole", "1}", "calls")):
        for size in (200_000, 270_000, 600_000):
            large = chat.documented[frame].replace(
                small.encode(), small[:1].encode() + b"1" * size + small[1:].encode()
            )
            reads = [chat.opening, large, chat.documented[end]]
            streams = (reads, workloads.cut(b"".join(reads), 4096))
            assert [] == differing(streams, limits=Limits(**{name: 262_144})), (frame, size)


def test_what_is_large_is_the_machines() -> None:
    """Law 129: many calls, and long ones, are taken over in the middle of a stream."""
    chat = WIRES["chat-completions"]
    head, piece = (chat.documented[name].decode() for name in ("whole", "piece"))
    many = [
        head.replace('"index": 0, "id": "c1"', f'"index": {n}, "id": "c{n}"').encode() for n in range(500)
    ]
    long = piece.replace('{\\"a\\"', "x" * 900).encode()
    begun = [chat.opening, chat.documented["head"], chat.documented["piece"]]
    streams = [[chat.opening, *many], [*begun, *[long] * 30], [*begun, *[long] * 90]]

    assert [] == differing([*reads, chat.documented["calls"]] for reads in streams)
