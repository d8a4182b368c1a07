"""How long objects live, and what a copy of them is: values can be copied and pickled, what stands for a stream cannot."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.support import bless, encode
from tests.support.renderers import RENDERERS
from tests.support.turns import frame
from wholecall import (
    Limits,
    Policy,
    StreamFailed,
    Tool,
    ToolCallParser,
    Tools,
    UnknownDialect,
    events,
    parse_arguments,
    wrap,
)
from wholecall.repairing import Repairer
from wholecall.timeline import Timeline

COPIES: dict[str, Callable[[Any], Any]] = {
    **{f"pickle {n}": lambda value, n=n: pickle.loads(pickle.dumps(value, n)) for n in range(6)},  # noqa: S301
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
any_copy = pytest.mark.parametrize("how", COPIES)


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
        "repairer": Repairer,
        "timeline": Timeline,
        "wrapped stream": lambda: wrap(iter(data)),
        "events": lambda: events(iter(data)),
    }


@any_copy
@pytest.mark.parametrize("what", _sources())
def test_what_stands_for_a_stream_is_not_copied(what: str, how: str) -> None:
    """A copy would read the stream twice, or share half of a state: it is refused."""
    with pytest.raises(TypeError):
        COPIES[how](_sources()[what]())


def test_a_parser_says_what_to_do_instead() -> None:
    """The message names what a parser has for this."""
    with pytest.raises(TypeError, match=r"snapshot\(\).*restore\(\)"):
        copy.copy(ToolCallParser())


def _values() -> list[Any]:
    found: list[Any] = [Limits(), Limits.gateway(), Policy(coerce="schema"), parse_arguments('{"a":[1,]}')]
    for entry in bless.manifest():
        if len(bless.recorded(entry)) < 4096:
            parser: ToolCallParser[Any] = ToolCallParser()
            found += [*parser.feed(bless.recorded(entry)), *parser.close(), *parser.turns]
    return found


@any_copy
def test_values_are_copied_and_pickled(how: str) -> None:
    """Events of all kinds, turns, verdicts, limits and policies come back equal."""
    values = _values()

    assert len({type(value) for value in values}) > 12
    assert [] == [value for value in values if COPIES[how](value) != value]


@any_copy
@pytest.mark.parametrize("forms", [[Weather], {"f": Weather}, [Tool(Weather, "f")], Tools([Weather])])
def test_tools_are_copied_and_pickled(forms: Any, how: str) -> None:
    """Tools come back as what they were made of, and judge as before."""
    tools = COPIES[how](Tools(forms))
    (name,) = tools
    data = frame({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": n, "id": f"c{n}", "function": {"name": name, "arguments": f'{{"city":{city}}}'}}
        for n, city in enumerate(('"Oslo"', "1"))]}, "finish_reason": "tool_calls"}]})  # fmt: skip
    parser: ToolCallParser[Any] = ToolCallParser(tools=tools)
    ended = [*parser.feed(data), *parser.close()]

    assert [Weather("Oslo")] == [event.value for event in ended if event.__class__.__name__ == "ToolCall"]
    assert ["schema"] == [event.reason for event in ended if event.__class__.__name__ == "ToolCallDropped"]


@any_copy
@pytest.mark.parametrize("error", [StreamFailed("provider_error", "no", {"a": 1}), UnknownDialect("no")])
def test_exceptions_are_copied_and_pickled(error: Exception, how: str) -> None:
    """What a worker process raises arrives whole in its parent."""
    other = COPIES[how](error)

    assert (type(error), str(error), vars(error)) == (type(other), str(other), vars(other))


# What is left of a stream.


@pytest.mark.parametrize("dialect", RENDERERS)
@pytest.mark.parametrize("cut", [1.0, 0.6])
def test_a_parser_is_collected(dialect: str, cut: float) -> None:
    """Whatever a parser read, whole or not, the collector takes it all once nobody holds it."""
    data = _stream(dialect)
    parser: ToolCallParser[Any] = ToolCallParser(live=True)
    parser.feed(data[: int(len(data) * cut)])
    parser.close()
    gone = weakref.ref(parser)
    del parser
    gc.collect()

    assert gone() is None


def _read(data: bytes, times: int) -> None:
    for _ in range(times):
        parser: ToolCallParser[Any] = ToolCallParser()
        parser.feed(data)
        parser.close()


@pytest.mark.parametrize(
    "dialect", ["chat-completions", "responses", "anthropic", "gemini", "bedrock-converse"]
)
def test_streams_leave_nothing_behind(dialect: str) -> None:
    """A thousand streams leave no more than ten did: less than one pointer each."""
    data = _stream(dialect)
    tracemalloc.start()
    try:
        _read(data, 10)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        _read(data, 1000)
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert kept < 8 * 1000
