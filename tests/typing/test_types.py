"""Types of calls as type checkers infer them; mypy and pyright read this file, and pytest runs it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Generator
from typing import Any, Literal, TypedDict

import msgspec
import pydantic
import pytest
from typing_extensions import assert_type

import wholecall
from wholecall import (
    AsyncEventIterator,
    AsyncWrappedStream,
    Event,
    EventIterator,
    PartialArguments,
    StreamUnread,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDropped,
    ToolCallParser,
    ToolCallStarted,
    Tools,
    Turn,
    Verdict,
    WrappedStream,
    parse_arguments,
    wrap,
)
from wholecall.history import (
    Conversation,
    Repaired,
    encode_calls,
    encode_results,
    repair_transcript,
    shrink_transcript,
)


class Tide(msgspec.Struct):
    """A tool as a Struct."""

    port: str


@dataclasses.dataclass
class Berth:
    """A tool as a dataclass."""

    nights: int


class Weather(TypedDict):
    """A tool as a TypedDict."""

    place: str


class Model(pydantic.BaseModel):
    """A tool as a pydantic model."""

    port: str


def tide(port: str) -> str:
    """A tool as a function."""
    return port


SCHEMA: dict[str, Any] = {"type": "object"}
NO_BYTES: list[bytes] = []


def test_parsers() -> None:
    """A parser knows the type of its calls' values from its tools."""
    assert_type(ToolCallParser(), ToolCallParser[dict[str, Any]])
    assert_type(ToolCallParser(tools=[Tide]), ToolCallParser[Tide])
    assert_type(ToolCallParser(tools={"berth": Berth}), ToolCallParser[Berth])
    assert_type(ToolCallParser(tools=[Weather]), ToolCallParser[Weather])
    assert_type(ToolCallParser(tools=[Model]), ToolCallParser[Model])
    assert_type(ToolCallParser(tools={"n": pydantic.TypeAdapter(Model)}), ToolCallParser[Model])
    assert_type(ToolCallParser(tools=[tide]), ToolCallParser[Any])
    assert_type(ToolCallParser(tools={"tide": SCHEMA}), ToolCallParser[Any])


def test_several_types() -> None:
    """Several types make a union; where the checker does not find it, an annotation or the type itself says it."""
    parser: ToolCallParser[Tide | Berth] = ToolCallParser(tools={"tide": Tide, "berth": Berth})
    tools = Tools[Tide | Berth]([Tide, Berth])

    assert_type(tools, Tools[Tide | Berth])
    assert_type(wholecall.collect(NO_BYTES, tools=tools).calls, tuple[ToolCall[Tide | Berth], ...])

    assert_type(parser.turn.calls, tuple[ToolCall[Tide | Berth], ...])


def test_tools() -> None:
    """`Tool` and `Tools` carry the type to wherever they are used."""
    assert_type(Tool(Tide), Tool[Tide])
    assert_type(Tool(SCHEMA, "tide"), Tool[dict[str, Any]])
    assert_type(Tools([Tide]), Tools[Tide])
    assert_type(ToolCallParser(tools=Tools([Tide])), ToolCallParser[Tide])
    assert_type(ToolCallParser(tools=[Tool(Tide)]), ToolCallParser[Tide])


def test_shells() -> None:
    """Events and turns of the shells are typed like the parser's."""
    assert_type(wholecall.events(NO_BYTES), EventIterator)
    assert_type(wholecall.events(NO_BYTES, tools=[Tide]), EventIterator[Tide])
    generator: Generator[Event[Tide]] = wholecall.events(NO_BYTES, tools=[Tide])
    for event in generator:
        assert_type(event, Event[Tide])
    found = wholecall.events(NO_BYTES, tools=[Tide])
    assert_type(list(found), list[Event[Tide]])
    assert_type(found.turn, Turn[Tide])
    assert_type(found.calls, tuple[ToolCall[Tide], ...])
    assert_type(wholecall.turns(NO_BYTES, tools=[Tide]), Generator[Turn[Tide], None, None])
    assert_type(wholecall.collect(NO_BYTES), Turn)
    assert_type(wholecall.collect(NO_BYTES, tools=[Tide]), Turn[Tide])
    assert_type(wholecall.collect(NO_BYTES, tools=[SCHEMA | {"name": "x"}]), Turn[Any])


async def shells_of_asynchronous_streams(source: AsyncGenerator[bytes]) -> None:
    """The asynchronous shells are typed alike."""
    assert_type(wholecall.aevents(source, tools=[Tide]), AsyncEventIterator[Tide])
    generator: AsyncGenerator[Event[Tide], None] = wholecall.aevents(source, tools=[Tide])
    async for event in generator:
        assert_type(event, Event[Tide])
    assert_type(wholecall.aturns(source, tools=[Tide]), AsyncGenerator[Turn[Tide], None])
    assert_type(await wholecall.acollect(source, tools=[Tide]), Turn[Tide])


def test_values() -> None:
    """`value` is what the tool's type makes of the arguments, and a union of events can be told apart."""
    for event in ToolCallParser(tools=[Tide]).close():
        if isinstance(event, ToolCallStarted):
            assert_type(event.id, "str | None")
    turn = wholecall.collect(NO_BYTES, tools=[Tide])
    for call in turn.calls:
        assert_type(call.value, Tide)
        assert_type(call.arguments, dict[str, Any])
    for dropped in turn.dropped:
        assert_type(dropped, ToolCallDropped)
    for untyped in wholecall.collect(NO_BYTES).calls:
        assert_type(untyped.value, dict[str, Any])
    assert () == turn.calls


def test_verdicts() -> None:
    """A verdict is typed by its tool."""
    assert_type(parse_arguments("{}"), Verdict)
    assert_type(parse_arguments('{"port": ""}', tool=Tide).value, "Tide | None")
    assert_type(parse_arguments("{}", tool=Tool(Berth)), Verdict[Berth])
    assert Tide("Brest") == parse_arguments('{"port": "Brest"}', tool=Tide).value


async def no_chunks() -> AsyncGenerator[bytes]:
    """Yield nothing."""
    for each in NO_BYTES:
        yield each


def test_wrapped_streams() -> None:
    """A wrapped stream knows the type of its chunks, and that of its calls' values."""
    stream = wrap([1, 2], tools=[Tide])

    assert_type(stream, WrappedStream[int, Tide])
    with pytest.raises(StreamUnread):
        assert_type(stream.calls, tuple[ToolCall[Tide], ...])
    with pytest.raises(StreamUnread):
        assert_type(stream.turn, Turn[Tide])
    with pytest.raises(StreamUnread):
        assert_type(stream.events, tuple[Event[Tide], ...])
    with pytest.raises(ValueError, match="live"):
        assert_type(stream.partial, dict[ToolCallStarted, PartialArguments])
    assert_type(wrap(iter(NO_BYTES)), WrappedStream[bytes, dict[str, Any]])
    assert_type(wrap(no_chunks()), AsyncWrappedStream[bytes, dict[str, Any]])
    assert_type(wrap(NO_BYTES, tools={"n": SCHEMA}), WrappedStream[bytes, Any])


def test_events_narrow_by_their_type() -> None:
    """`event.type` is a literal, and tells the events of the union apart."""
    for event in ToolCallParser(tools=[Tide]).close():
        if event.type == "tool_call":
            assert_type(event, ToolCall[Tide])
        elif event.type == "tool_call_dropped":
            assert_type(event, ToolCallDropped)
    decoded = msgspec.json.decode(b'{"type":"text_delta","turn":0,"choice":0,"text":"Hi"}', type=Event)
    assert TextDelta(0, 0, "Hi") == decoded


class UserMessage(TypedDict):
    """A message as an SDK types it."""

    role: Literal["user"]
    content: str


def test_turns_of_any_tools_go_back() -> None:
    """Histories take turns of typed calls, and their messages go into lists of an SDK's own types."""
    messages: list[UserMessage] = [{"role": "user", "content": "Hi"}]
    turn = wholecall.collect(NO_BYTES, tools=[Tide])
    messages += encode_calls(turn, "chat-completions").messages
    messages += encode_results(turn, {}, "chat-completions")
    messages += Conversation("chat-completions").add(turn)

    assert 1 == len(messages)


def test_transcripts_keep_the_type_of_their_messages() -> None:
    """What goes into a repair comes out of it: lists of an SDK's messages, tuples, plain dicts."""
    messages: list[UserMessage] = [{"role": "user", "content": "Hi"}]
    plain: list[dict[str, Any]] = []

    assert_type(repair_transcript(messages).messages, list[UserMessage])
    assert_type(repair_transcript(tuple(messages)).messages, tuple[UserMessage, ...])
    assert_type(repair_transcript(plain), Repaired)
    assert_type(shrink_transcript(messages, keep_recent=1).messages, list[UserMessage])
