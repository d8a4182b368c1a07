"""The shells around the parser: sources are read, closed, and left early without a leak."""

from __future__ import annotations

import ast
import asyncio
import inspect
import subprocess
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import sessions
from tests.support.together import together
from wholecall import (
    Limits,
    Policy,
    StreamFailed,
    StreamFault,
    StreamUnread,
    TextDelta,
    ToolCall,
    ToolCallParser,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
    UnknownDialect,
    acollect,
    aevents,
    aturns,
    collect,
    events,
    turns,
)
from wholecall.calls.output.turns import Turn
from wholecall.stream.shells import iterate

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator

    from wholecall.calls.output.events import Event

HEAD = b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]}}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
DONE = b"data: [DONE]\n\n"
STREAM = [HEAD[:30], HEAD[30:], END, DONE]
CALL = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}
PAYLOADS: list[dict[str, Any]] = [
    {"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]
MESSAGES = [
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"m%d","content":[]}}\n\n' % number
    for number in (1, 2, 3)
]
SYNCHRONOUS = [events, turns, collect]
ASYNCHRONOUS = [aevents, aturns, acollect]


class Source:
    """An iterator, of either kind, that records whether it was closed."""

    def __init__(self, items: Iterable[object]) -> None:
        self.items = iter(items)
        self.closed = 0

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        item = next(self.items)
        if isinstance(item, BaseException):
            raise item
        return item

    def __aiter__(self) -> Source:
        return self

    async def __anext__(self) -> Any:
        await asyncio.sleep(0)
        try:
            return next(self)
        except StopIteration:
            raise StopAsyncIteration from None

    def close(self) -> None:
        """Record that the source was closed."""
        self.closed += 1

    async def aclose(self) -> None:
        """Record that the source was closed, after the loop had its turn."""
        await asyncio.sleep(0)
        self.closed += 1


class Stuck(Source):
    """An asynchronous source whose next item never comes."""

    def __init__(self, items: Iterable[object]) -> None:
        super().__init__(items)
        self.waits = asyncio.Event()

    async def __anext__(self) -> Any:
        try:
            return await super().__anext__()
        except StopAsyncIteration:
            self.waits.set()
            await asyncio.Event().wait()


@pytest.fixture
def parsers(monkeypatch: pytest.MonkeyPatch) -> list[ToolCallParser]:
    """Return a list that collects every parser of a shell."""
    made: list[ToolCallParser] = []

    class Recorded(ToolCallParser):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr(iterate, "ToolCallParser", Recorded)
    return made


def expected(chunks: Iterable[bytes]) -> list[Event]:
    """Return the events of a parser that is fed by hand."""
    parser = ToolCallParser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.close()


def generated(items: Iterable[object], log: list[str]) -> Iterator[Any]:
    """Yield the items; log the end."""
    try:
        yield from items
    finally:
        log.append("closed")


async def agenerated(items: Iterable[object], log: list[str]) -> AsyncIterator[Any]:
    """Yield the items; log the end."""
    try:
        for item in items:
            yield item
    finally:
        log.append("closed")


def run(shell: Callable[..., Any], source: object, **options: Any) -> list[Any]:
    """Return the output of any of the shells as a list."""

    async def everything() -> list[Any]:
        found = shell(source, **options)
        return [await found] if inspect.isawaitable(found) else [each async for each in found]

    if shell in ASYNCHRONOUS:
        return asyncio.run(everything())
    found = shell(source, **options)
    return [found] if isinstance(found, Turn) else list(found)


def calls(turn: Turn) -> list[tuple[str, dict[str, Any]]]:
    """Return id and arguments of the calls of a turn."""
    return [(call.id, call.arguments) for call in turn.calls]


# Whole streams.


def test_events_are_those_of_a_parser() -> None:
    """A shell adds nothing to the events and removes nothing."""
    assert expected(STREAM) == list(events(STREAM)) == run(aevents, Source(STREAM))


@together("shell", SYNCHRONOUS)
@together("make", [list, tuple, iter, lambda items: generated(items, [])])
def test_a_source_is_anything_to_iterate_over(shell: Callable[..., Any], make: Callable[..., Any]) -> None:
    """Lists have no `close`, and need none."""
    assert run(shell, STREAM) == run(shell, make(STREAM))


@pytest.mark.parametrize("shell", ASYNCHRONOUS)
def test_an_asynchronous_source_needs_no_aclose(shell: Callable[..., Any]) -> None:
    """Anything that can be iterated over asynchronously is a source."""

    class Bare:
        def __aiter__(self) -> AsyncIterator[bytes]:
            return agenerated(STREAM, [])

    assert run(shell, Source(STREAM)) == run(shell, Bare())


@together("shell", [*SYNCHRONOUS, *ASYNCHRONOUS])
@together(
    "chunks",
    [PAYLOADS, [bytearray(chunk) for chunk in STREAM], [memoryview(chunk) for chunk in STREAM]],
    ids=["payloads", "bytearrays", "views"],
)
def test_chunks_are_bytes_or_payloads(shell: Callable[..., Any], chunks: list[Any]) -> None:
    """Bytes of any kind and the decoded chunks of an SDK give the same calls."""
    found = run(shell, Source(chunks))
    emitted = [each for each in found if isinstance(each, ToolCall)]

    assert [("c1", {})] == ([(call.id, call.arguments) for call in emitted] or calls(found[-1]))


@pytest.mark.parametrize("shell", [*SYNCHRONOUS, *ASYNCHRONOUS])
def test_a_source_is_closed_once_at_its_end(shell: Callable[..., Any]) -> None:
    """A source that was read to its end is closed too."""
    source = Source(STREAM)
    run(shell, source)

    assert 1 == source.closed


@pytest.mark.parametrize("shell", [*SYNCHRONOUS, *ASYNCHRONOUS])
def test_an_empty_source_is_an_empty_turn(shell: Callable[..., Any]) -> None:
    """No chunk at all still ends in a turn."""
    (found,) = run(shell, Source([]))

    assert "unknown" == found.reason


@pytest.mark.parametrize("shell", [turns, aturns])
def test_each_turn_is_given(shell: Callable[..., Any]) -> None:
    """Every message of the stream is a turn, also those that one chunk brings together."""
    for chunks in (MESSAGES, [b"".join(MESSAGES)]):
        assert ["m1", "m2", "m3"] == [turn.response_id for turn in run(shell, Source(chunks))]


def test_a_turn_is_given_when_the_next_begins() -> None:
    """The first turn does not wait for the end of the stream."""
    source = Source(MESSAGES)
    found = turns(source)

    assert ["m1", "unknown"] == [(turn := next(found)).response_id, turn.reason]
    assert [MESSAGES[2]] == list(source.items)
    assert ["m2"] == [turn.response_id for turn in found]


@pytest.mark.parametrize("shell", [turns, aturns])
@pytest.mark.parametrize(
    ("dialect", "name"), [("responses", "socket-lanes"), ("openai-realtime", "two-in-flight")]
)
def test_turns_side_by_side_are_given_whole(shell: Callable[..., Any], dialect: str, name: str) -> None:
    """A turn that goes on beside the next one is given when it is over, with all of its calls, in its place."""
    lines = [f"{line}\n".encode() for line in sessions.recordings(dialect)[name]]
    parser: ToolCallParser[Any] = ToolCallParser()
    for line in lines:
        parser.feed(line)
    parser.close()
    by_hand = [(turn.response_id, [call.id for call in turn.calls]) for turn in parser.turns]

    assert by_hand == [
        (turn.response_id, [call.id for call in turn.calls]) for turn in run(shell, Source(lines))
    ]
    assert 2 == sum(len(calls) for _, calls in by_hand)


def test_turns_that_are_not_kept_are_not_given() -> None:
    """With a limit, a turn that went on beside too many others is missing, and no other one comes twice."""
    lines = [
        {"type": "response.created", "response": {"id": f"r{n}"}, "stream_id": f"s{n}"} for n in range(6)
    ]
    ends = [{"type": "response.completed", "response": {"id": "r5"}, "stream_id": "s5"}]
    found = list(turns([*lines, *ends], dialect="responses", limits=Limits(max_turns=3)))

    assert ["r3", "r4", "r5"] == [turn.response_id for turn in found]


@pytest.mark.parametrize("shell", [collect, acollect])
def test_the_last_turn_is_collected(shell: Callable[..., Any]) -> None:
    """A stream of several messages collects to the last."""
    assert ["m3"] == [turn.response_id for turn in run(shell, Source(MESSAGES))]


@pytest.mark.parametrize("shell", [*SYNCHRONOUS, *ASYNCHRONOUS])
def test_options_are_the_parsers(shell: Callable[..., Any]) -> None:
    """Dialect, framing, policy and limits reach the parser."""
    options = {
        "dialect": "chat-completions",
        "framing": "jsonl",
        "policy": Policy(recovery="none"),
        "limits": Limits(max_stream_bytes=1),
    }
    found = run(shell, Source([b"{} "]), **options)
    told = [each for each in found if isinstance(each, StreamFault)] or list(found[-1].faults)

    assert ["stream_too_large"] == [fault.kind for fault in told]


@pytest.mark.parametrize("shell", [events, aevents])
@pytest.mark.parametrize("options", [{"dialect": "x"}, {"framing": "x"}])
def test_a_wrong_name_raises_at_the_call(shell: Callable[..., Any], options: dict[str, str]) -> None:
    """A caller's mistake does not wait for the first event."""
    with pytest.raises(UnknownDialect):
        shell([], **options)


@pytest.mark.parametrize("shell", [*SYNCHRONOUS, *ASYNCHRONOUS])
def test_text_is_refused_with_advice(shell: Callable[..., Any], parsers: list[ToolCallParser]) -> None:
    """A source of `str` is a caller's mistake, and it is closed."""
    source = Source(["data: {}"])

    with pytest.raises(TypeError, match=r"\.encode\(\)"):
        run(shell, source)
    assert (1, "aborted") == (source.closed, parsers[0].turn.reason)


# Early ends.


@pytest.mark.parametrize("shell", [*SYNCHRONOUS, *ASYNCHRONOUS])
def test_a_source_that_fails_ends_the_stream(
    shell: Callable[..., Any], parsers: list[ToolCallParser]
) -> None:
    """The exception is raised on and carries the turn, open calls are dropped with its name, the source is closed."""
    source = Source([HEAD, ConnectionError("lost")])

    with pytest.raises(ConnectionError, match="lost") as raised:
        run(shell, source)
    turn = parsers[0].turn
    assert 1 == source.closed
    assert turn == raised.value.turn  # type: ignore[attr-defined]
    assert ("error", [("aborted", "ConnectionError: lost")]) == (
        turn.reason,
        [(call.reason, call.detail) for call in turn.dropped],
    )
    with pytest.raises(StreamFailed, match="source_failed: ConnectionError: lost"):
        turn.raise_for_fault()


def _until_it_raises(stream: Iterable[Any]) -> list[Any]:
    """Return a stream's events before the source's own exception."""
    found: list[Any] = []
    with pytest.raises(ConnectionError):
        found.extend(stream)  # which keeps the earlier events
    return found


async def _until_it_raises_there(stream: AsyncIterable[Any]) -> list[Any]:
    found: list[Any] = []
    try:
        async for item in stream:
            found.append(item)  # noqa: PERF401 - which keeps what came before
    except ConnectionError:
        return found
    raise AssertionError("it did not raise")


def test_what_is_left_comes_before_the_exception() -> None:
    """Fault, drops and the turn's last event, for synchronous and asynchronous loops; the failed turn is a turn."""
    kinds = ["StreamFault", "ToolCallDropped", "TurnFinished"]
    sources = [Source([HEAD, ConnectionError("lost")]) for _ in range(4)]

    plain = [type(event).__name__ for event in _until_it_raises(events(sources[0]))]
    there = asyncio.run(_until_it_raises_there(aevents(sources[1])))

    assert kinds == plain[-3:] == [type(event).__name__ for event in there][-3:]
    assert ["error"] == [turn.reason for turn in _until_it_raises(turns(sources[2]))]
    found = asyncio.run(_until_it_raises_there(aturns(sources[3])))
    assert ["error"] == [turn.reason for turn in found]


def test_who_ended_a_stream_is_told_apart(parsers: list[ToolCallParser]) -> None:
    """A lost connection, a loop that was left and an abort each have a separate reason or detail."""
    _until_it_raises(events(Source([HEAD, ConnectionError()])))
    for event in events(Source([HEAD, HEAD])):
        if isinstance(event, ToolCallStarted):
            break
    parser = ToolCallParser()
    parser.feed(HEAD)
    parser.abort("the user pressed stop")

    assert [
        ("error", "ConnectionError"),
        ("aborted", "the stream was left before its end"),
        ("aborted", "the user pressed stop"),
    ] == [(found.turn.reason, found.turn.dropped[0].detail) for found in (*parsers[:2], parser)]


@pytest.mark.parametrize("shell", [events, turns])
def test_a_source_that_gives_nothing_leaves_nothing(
    shell: Callable[..., Any], parsers: list[ToolCallParser]
) -> None:
    """The source's exception is raised on without events before it, and carries the turn, whose reason is `error`."""
    error = ConnectionError("refused")

    assert [] == _until_it_raises(shell(Source([error])))
    assert ("error", parsers[0].turn) == (parsers[0].turn.reason, error.turn)  # type: ignore[attr-defined]


def test_an_exception_that_takes_no_attribute_goes_on_alone() -> None:
    """The exception is the source's; nothing else is raised in its place."""

    class Bare(ConnectionError):
        __slots__ = ()

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(name)

    assert 3 == len(_until_it_raises(events(Source([HEAD, Bare()])))[-3:])


@pytest.mark.parametrize("source", ["generator", "object"])
def test_an_early_close_aborts(source: str, parsers: list[ToolCallParser]) -> None:
    """Closing the iterator drops open calls and closes the source at once."""
    log: list[str] = []
    chunks = generated(STREAM, log) if source == "generator" else Source(STREAM)
    found = events(chunks)

    assert isinstance(next(found), TurnStarted)
    found.close()
    assert ["aborted"] == [call.reason for call in parsers[0].turn.dropped]
    assert ["closed"] == log or (isinstance(chunks, Source) and 1 == chunks.closed)
    assert [] == list(found)


@pytest.mark.parametrize("shell", [events, turns])
def test_a_break_closes_the_source(shell: Callable[..., Any], parsers: list[ToolCallParser]) -> None:
    """A loop that is left early leaves nothing open after it."""
    source = Source([*MESSAGES, HEAD])
    for _ in shell(source):
        break

    assert (1, "aborted") == (source.closed, parsers[0].turn.reason)


def test_an_exception_of_the_consumer_closes_the_source(parsers: list[ToolCallParser]) -> None:
    """A failure in the loop's body ends the stream as a break does."""
    source = Source(STREAM)

    def consume() -> None:
        for _ in events(source):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        consume()
    assert (1, "aborted") == (source.closed, parsers[0].turn.reason)


@pytest.mark.parametrize("shell", [aevents, aturns])
def test_an_early_aclose_aborts(shell: Callable[..., Any], parsers: list[ToolCallParser]) -> None:
    """Closing the asynchronous iterator has closed the source when it returns."""
    source = Source([*MESSAGES, HEAD])

    async def consume() -> tuple[int, str | None]:
        async with aclosing(shell(source)) as found:
            async for _ in found:
                break
        return source.closed, parsers[0].turn.reason

    assert (1, "aborted") == asyncio.run(consume())


def test_an_asynchronous_generator_is_closed() -> None:
    """A generator's own `finally` has run when the shell is closed."""
    log: list[str] = []

    async def consume() -> list[str]:
        async with aclosing(aevents(agenerated(STREAM, log))) as found:  # type: ignore[type-var]
            async for _ in found:
                break
        return list(log)

    assert ["closed"] == asyncio.run(consume())


def test_an_exception_of_the_asynchronous_consumer_closes_the_source() -> None:
    """A failure in the loop's body ends the stream as a break does."""
    source = Source(STREAM)

    async def consume() -> None:
        async with aclosing(aevents(source)) as found:  # type: ignore[type-var]
            async for _ in found:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(consume())
    assert 1 == source.closed


@pytest.mark.parametrize("shell", ASYNCHRONOUS)
def test_cancellation_aborts(shell: Callable[..., Any], parsers: list[ToolCallParser]) -> None:
    """A task that is cancelled while it waits drops open calls, closes the source and stays cancelled."""
    source = Stuck([HEAD])

    async def consume() -> None:
        found = shell(source)
        if inspect.isawaitable(found):
            await found
            return
        async with aclosing(found):
            async for _ in found:
                pass

    async def cancel() -> bool:
        task = asyncio.ensure_future(consume())
        await source.waits.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert asyncio.run(cancel())
    assert (1, ["aborted"]) == (source.closed, [call.reason for call in parsers[0].turn.dropped])


def test_the_last_events_may_be_left_too() -> None:
    """A consumer may stop among the events of the end; the turn keeps its verdicts."""
    source = Source(STREAM)
    found = events(source)
    for event in found:
        if isinstance(event, TurnFinished):
            break
    found.close()

    assert 1 == source.closed


# The turn of a loop over events.


def test_events_have_their_turn() -> None:
    """After the loop the turn equals the result of `collect`; before its end an exception gives advice."""
    found = events(STREAM)
    with pytest.raises(StreamUnread, match="iterate over it first"):
        _ = found.turn
    for event in found:
        if isinstance(event, TurnStarted):
            with pytest.raises(StreamUnread, match="read it to its end, or close it"):
                _ = found.turn

    assert (collect(STREAM), [("c1", {})], ()) == (found.turn, calls(found.turn), found.dropped)


def test_asynchronous_events_have_their_turn() -> None:
    """The same with `async for`; `aclose` ends a turn, too."""

    async def read(*, closes: bool) -> Turn:
        found = aevents(Source(STREAM))
        with pytest.raises(StreamUnread, match="iterate over it first"):
            _ = found.turn
        assert isinstance(await anext(found), TurnStarted)
        with pytest.raises(StreamUnread, match="read it to its end, or close it"):
            _ = found.turn
        if closes:
            await found.aclose()
        assert closes != bool([event async for event in found])
        return found.turn

    assert collect(STREAM) == asyncio.run(read(closes=False))
    assert "aborted" == asyncio.run(read(closes=True)).reason


def test_events_are_a_generator_to_whoever_takes_one() -> None:
    """`next`, `send`, `throw`, `close` and loops continue where each other stopped."""
    every = expected(STREAM)
    found = events(STREAM)
    assert every == [next(found), found.send(None), *found]

    found = events(STREAM)
    next(found)
    with pytest.raises(ZeroDivisionError):
        found.throw(ZeroDivisionError())
    assert ([], "aborted") == (list(found), found.turn.reason)


def test_asynchronous_events_are_a_generator_too() -> None:
    """`asend`, `athrow` and `async for` continue where each other stopped."""

    async def read() -> tuple[list[Any], str]:
        found = aevents(Source(STREAM))
        every = [await anext(found), await found.asend(None)]
        every += [event async for event in found]
        found = aevents(Source(STREAM))
        await anext(found)
        with pytest.raises(ZeroDivisionError):
            await found.athrow(ZeroDivisionError())
        return every, found.turn.reason

    assert (expected(STREAM), "aborted") == asyncio.run(read())


def test_events_show_arguments_in_progress() -> None:
    """With `live=True` a loop can ask for partial values as the loop of `wrap` can."""
    found = events(STREAM, live=True)
    shown = {event.type: [dict(partial.value) for partial in found.partial.values()] for event in found}

    assert ([{}], []) == (shown["arguments_delta"], shown["turn_finished"])


def test_text_is_kept_for_who_may_ask_for_the_turn(parsers: list[ToolCallParser]) -> None:
    """A loop over a named iterator has all text in its turn; a loop that keeps no name keeps no text."""
    said = [b'data: {"choices":[{"index":0,"delta":{"content":"ab"}}]}\n\n'] * 640
    found = events(said)
    n_told = sum(isinstance(event, TextDelta) for event in found)
    for _ in events(said):
        pass

    async def read() -> str:
        async for _ in aevents(Source(said)):
            pass
        there = aevents(Source(said))
        async for _ in there:
            pass
        return there.turn.text

    assert ("ab" * 640, 640, "ab" * 640) == (found.turn.text, n_told, asyncio.run(read()))
    assert [1280, 0, 0, 1280] == [len(parser.turn.text) for parser in parsers]


# Imports.


def test_no_event_loop_is_imported() -> None:
    """The asynchronous shells run under any event loop, since they import none."""
    tree = ast.parse(inspect.getsource(iterate))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in [getattr(node, "module", None), *(alias.name for alias in node.names)]
    }
    script = "import sys, wholecall; print(sorted({'asyncio', 'anyio', 'trio'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)  # noqa: S603

    assert set() == imported & {"asyncio", "anyio", "trio"}
    assert "[]" == shown.stdout.strip()


def test_a_shell_runs_without_an_event_loop() -> None:
    """Stepped by hand, the asynchronous shell awaits nothing but its source."""

    async def chunks() -> AsyncIterator[bytes]:
        for chunk in STREAM:
            yield chunk

    with pytest.raises(StopIteration) as ended:
        acollect(chunks()).send(None)

    assert [("c1", {})] == calls(ended.value.value)
