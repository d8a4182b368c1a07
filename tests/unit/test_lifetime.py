"""Lifetime and copies of objects: values can be copied and pickled, objects of a stream cannot."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec
import pytest

import wholecall
from tests.support import corpora, encode
from tests.support.renderers import RENDERERS
from tests.support.together import together
from tests.support.turns import frame
from wholecall import (
    BadRecording,
    BadSnapshot,
    Dialect,
    Limits,
    PartialArguments,
    PartialJson,
    PartialJsonParser,
    PartialOutput,
    Policy,
    StreamClosed,
    StreamFailed,
    StreamUnread,
    TextCalls,
    TextParser,
    Tool,
    ToolCallParser,
    ToolCallStarted,
    Tools,
    UnknownDialect,
    WholecallError,
    events,
    parse_arguments,
    parse_output,
    partial_json,
    wrap,
)
from wholecall.errors import Uncopyable
from wholecall.repairing import Repairer
from wholecall.text import FORMATS
from wholecall.timeline import Timeline

COPIES: dict[str, Callable[[Any], Any]] = {
    **{f"pickle {n}": lambda value, n=n: pickle.loads(pickle.dumps(value, n)) for n in range(6)},  # noqa: S301
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
any_copy = together("how", COPIES)


class Weather(msgspec.Struct):
    """Arguments of a tool."""

    city: str = ""


def _stream(dialect: str, n: int = 2) -> bytes:
    calls = [encode.Call(f"call_{number}", "f", f'{{"n":{number}}}') for number in range(n)]
    return RENDERERS[dialect](encode.Turn(calls, text="hi"), encode.every(4))


def _sources() -> dict[str, Callable[[], Any]]:
    data = [_stream("chat-completions")]
    return {
        "parser": ToolCallParser,
        "parser, live": lambda: ToolCallParser("anthropic", live=True),
        "text": TextParser,
        "partial JSON": PartialJsonParser,
        "repairer": Repairer,
        "timeline": Timeline,
        "wrapped stream": lambda: wrap(iter(data)),
        "events": lambda: events(iter(data)),
    }


@any_copy
@together("what", _sources())
def test_what_stands_for_a_stream_is_not_copied(what: str, how: str) -> None:
    """A copy would read the stream twice, or share half of a state: it is refused."""
    with pytest.raises(TypeError):
        COPIES[how](_sources()[what]())


def test_a_parser_says_what_to_do_instead() -> None:
    """The message names a parser's substitute for this."""
    with pytest.raises(TypeError, match=r"snapshot\(\).*restore\(\)"):
        copy.copy(ToolCallParser())


@cache
def _values() -> list[Any]:
    found: list[Any] = [Limits(), Limits.gateway(), Policy(coerce="schema"), parse_arguments('{"a":[1,]}')]
    found += [TextCalls(format="hermes", weak=frozenset({"json"})), TextCalls(format=FORMATS["kimi_k3"])]
    for entry in corpora.cases():
        if len(corpora.recorded(entry)) < 2000 or entry["name"].startswith("responses/local-shell"):
            parser: ToolCallParser[Any] = ToolCallParser(live=True)
            found += [*parser.feed(corpora.recorded(entry)), *parser.close(), *parser.turns]
    for text in ('{"a":["x"]}', '{"a":'):
        parser = ToolCallParser(live=True, output=list)
        found += [*parser.feed(RENDERERS["ollama"](encode.Turn(text=text), encode.whole)), *parser.close()]
        found += [*parser.turns, parse_output('{"a":["x"]}', Weather)]
    return found


@pytest.mark.slow
@any_copy
def test_values_are_copied_and_pickled(how: str) -> None:
    """Events of all kinds, turns, verdicts, limits and policies come back equal."""
    values = _values()

    assert len({type(value) for value in values}) > 12
    assert [] == [value for value in values if COPIES[how](value) != value]


@any_copy
@together("forms", [[Weather], {"f": Weather}, [Tool(Weather, "f")], Tools([Weather])])
def test_tools_are_copied_and_pickled(forms: Any, how: str) -> None:
    """Tools come back with their sources, and judge as before."""
    tools = COPIES[how](Tools(forms))
    (name,) = tools
    data = frame({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": n, "id": f"c{n}", "function": {"name": name, "arguments": f'{{"city":{city}}}'}}
        for n, city in enumerate(('"Oslo"', "1"))]}, "finish_reason": "tool_calls"}]})  # fmt: skip
    parser: ToolCallParser[Any] = ToolCallParser(tools=tools)
    ended = [*parser.feed(data), *parser.close()]

    assert [Weather("Oslo")] == [event.value for event in ended if event.__class__.__name__ == "ToolCall"]
    assert ["schema"] == [event.reason for event in ended if event.__class__.__name__ == "ToolCallDropped"]


def _previews() -> list[PartialArguments]:
    """Return a parser's view of one call at each byte."""
    parser: ToolCallParser[Any] = ToolCallParser("chat-completions", live=True)
    data = RENDERERS["chat-completions"](
        encode.Turn([encode.Call("call_1", "f", '{"a":["x",{"b":"longer"}],"n":[1,2]}')]), encode.every(1)
    )
    told = [event for octet in data for event in parser.feed(bytes([octet]))]
    started = next(event for event in told if isinstance(event, ToolCallStarted))
    parser = ToolCallParser("chat-completions", live=True)
    shown = [parser.feed(bytes([octet])) and parser.partial(started) for octet in data]
    return [preview for preview in shown if preview]


def _shown(preview: PartialArguments) -> list[Any]:
    return [dict(preview.value), preview.closed, preview.open_path, repr(preview)]


@pytest.mark.slow
@any_copy
@together("asked", [True, False])
def test_previews_are_copied_and_pickled(how: str, asked: bool) -> None:
    """Half-finished arguments come back as they were shown, whatever has come since, requested before or not."""
    previews = _previews()
    expected = [_shown(preview) for preview in _previews()]
    if asked:
        assert expected == [_shown(preview) for preview in previews]

    assert len(expected) > 20
    assert expected == [_shown(COPIES[how](preview)) for preview in previews]


@any_copy
@together("text", ['{"a":["x"', '["a', '"a', '"a"', "null", "12", "[01]", ""])
def test_partial_values_are_copied_and_pickled(how: str, text: str) -> None:
    """A partial value of a bare text comes back as it was shown."""
    partial = partial_json(text)
    other = COPIES[how](partial)

    assert (repr(partial), partial.value, partial.open_path) == (repr(other), other.value, other.open_path)
    assert (partial.closed, type(partial.value)) == (other.closed, type(other.value))


ERRORS = [
    StreamFailed("provider_error", "no", {"a": 1}),
    *(kind("no") for kind in (UnknownDialect, StreamClosed, StreamUnread, BadSnapshot, BadRecording)),
    WholecallError("no"),
]


@any_copy
@together("error", ERRORS, ids=lambda error: type(error).__name__)
def test_exceptions_are_copied_and_pickled(error: Exception, how: str) -> None:
    """An exception of a worker process arrives whole in its parent."""
    other = COPIES[how](error)

    assert (type(error), str(error), vars(error)) == (type(other), str(other), vars(other))


def test_every_public_class_is_one_of_these() -> None:
    """The kind of copy is known for every class that the package names; a dialect is known by its name."""
    known = {
        PartialArguments,
        PartialJson,
        PartialOutput,
        Dialect,
        Tool,
        Tools,
        *map(type, ERRORS),
        *map(type, _inside(_values())),
    }
    single = {type(make()) for make in _sources().values()} | set(Uncopyable.__subclasses__())
    single |= {sub for cls in single for sub in _below(cls)}
    public = {getattr(wholecall, name) for name in wholecall.__all__}
    classes = {value for value in public if isinstance(value, type) and value.__module__ != "typing"}

    assert set() == classes - known - single


def _below(cls: type[Any]) -> Iterator[type[Any]]:
    """Yield the subclasses of a class, and theirs."""
    for sub in cls.__subclasses__():
        yield sub
        yield from _below(sub)


def _inside(values: Iterable[Any]) -> Iterator[Any]:
    """Yield values and all contents of their fields."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, msgspec.Struct):
            waiting += [getattr(value, name) for name in value.__struct_fields__]
        elif isinstance(value, (list, tuple)):
            waiting += value


# Remains of a stream.


def _ended(end: str, **options: Any) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        parser: ToolCallParser[Any] = ToolCallParser(**options)
        parser.feed(data)
        getattr(parser, end)(*["the connection was lost"][: end == "fail"])

    return read


def _moved(data: bytes) -> None:
    parser: ToolCallParser[Any] = ToolCallParser()
    parser.feed(data[: len(data) // 2])
    other: ToolCallParser[Any] = ToolCallParser.restore(parser.snapshot())
    other.feed(data[len(data) // 2 :])
    other.close()
    ToolCallParser.restore(other.snapshot())
    parser.close()


def _repaired(data: bytes, end: str = "close", **options: Any) -> None:
    repairer = Repairer(**options)
    repairer.feed(data)
    getattr(repairer, end)(*["upstream_lost", "the connection was lost"][: 2 * (end == "fail")])


def _left(data: bytes) -> None:
    found = events(iter([data]))
    next(found)
    found.close()
    assert found.turn


def _shown_live(data: bytes) -> None:
    stream = wrap(iter([data]), live=True)
    for _ in stream:
        assert stream.events is not stream.partial
    assert stream.turn


def _timed(data: bytes) -> None:
    timeline = Timeline()
    timeline.feed(data)
    timeline.close()


USES: dict[str, Callable[[bytes], object]] = {
    "closed": _ended("close"),
    "closed, live": _ended("close", live=True),
    "closed, calls only": _ended("close", events="calls"),
    "aborted": _ended("abort"),
    "failed": _ended("fail"),
    "moved": _moved,
    "repaired": _repaired,
    "repaired live": lambda data: _repaired(data, live_arguments=True),
    "repaired, failed": lambda data: _repaired(data, "fail"),
    "repaired, aborted": lambda data: _repaired(data, "abort"),
    "events": lambda data: list(events(iter([data]))),
    "events, left early": _left,
    "wrapped": lambda data: list(wrap(iter([data]))),
    "wrapped, live": _shown_live,
    "timeline": _timed,
}


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Let the collector run only on request, and ignore all existing objects."""
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


def _n_cyclic(use: Callable[[bytes], object], data: bytes) -> int:
    """Return how many objects a use of a stream leaves that only the collector can free."""
    use(data)  # permanent objects: imports, tables by class
    gc.collect()
    use(data)
    return gc.collect()


@pytest.mark.sampled(21)
@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("use", USES)
def test_no_stream_leaves_work_for_the_collector(use: str) -> None:
    """A finished object has no cycle: it is freed with its last reference, whatever the stream."""
    whole = [_stream(dialect) for dialect in RENDERERS]
    streams = [
        *whole,
        *(data[: len(data) * 3 // 5] for data in whole),
        *_shortest(),
        b"",
        b"data: {}\n\n",
        b"<html>",
    ]

    assert [] == [data for data in streams if _n_cyclic(USES[use], data)]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("use", USES)
def test_no_recording_leaves_work_for_the_collector(use: str) -> None:
    """No recording leaves any either."""
    assert [] == [path.name for path in corpora.streams() if _n_cyclic(USES[use], path.read_bytes())]


def _read(data: bytes, times: int) -> None:
    for _ in range(times):
        parser: ToolCallParser[Any] = ToolCallParser()
        parser.feed(data)
        parser.close()


def _kept(data: bytes, times: int) -> int:
    """Return how many bytes the interpreter holds more after a stream was read so many times.

    The least of several rounds: memory that streams leave is in each, memory that the test runner keeps in one.
    """
    held: list[int] = []
    tracemalloc.start()
    try:
        for _ in range(5):
            _read(data, times)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    return min(after - before for before, after in pairwise(held))


@pytest.mark.parametrize(
    "dialect",
    [
        "chat-completions",
        *(
            pytest.param(other, marks=pytest.mark.slow)
            for other in ("bedrock-converse", "responses", "anthropic", "gemini")
        ),
    ],
)
def test_streams_leave_nothing_behind(dialect: str) -> None:
    """Of hundreds of streams nothing is left: less than one pointer each."""
    assert _kept(_stream(dialect), 300) < 8 * 300


def _shortest() -> list[bytes]:
    """Return the shortest recording of each dialect that has a call."""
    by_dialect: dict[str, list[bytes]] = {}
    for entry in corpora.cases():
        data = corpora.recorded(entry)
        if len(data) > 400:
            by_dialect.setdefault(entry["name"].partition("/")[0], []).append(data)
    return [min(found, key=len) for found in by_dialect.values()]


def _blocks_after(streams: list[bytes], times: int) -> int:
    """Return how many blocks of memory the interpreter has in use after streams were read so many times."""
    for data in streams:
        _read(data, times)
    gc.collect()
    return sys.getallocatedblocks()


@pytest.mark.slow
@pytest.mark.later
def test_a_hundred_thousand_streams_leave_nothing_behind() -> None:
    """Of 100,000 streams of all dialects nothing is left: not one object for a hundred of them."""
    streams = _shortest()
    times = -(-100_000 // len(streams))

    before = _blocks_after(streams, 150)  # until all caches are full
    assert _blocks_after(streams, times) - before < 1000
