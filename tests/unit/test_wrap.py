"""Wrapped streams: chunks pass untouched, calls are kept, and nothing stays open."""

from __future__ import annotations

import asyncio
import copy
import gc
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import pydantic
import pytest
import trio

from tests.support.together import together
from wholecall import (
    AsyncWrappedStream,
    PartialArguments,
    StreamUnread,
    ToolCallParser,
    UnknownDialect,
    WrappedStream,
    collect,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

    from typing_extensions import Self

    from wholecall import ToolCallDropped


def chunk(*calls: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """Return a chunk of chat completions."""
    return {
        "id": "r1",
        "choices": [{"index": 0, "delta": {"tool_calls": list(calls)}, "finish_reason": finish}],
    }


HEAD = chunk({"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a":'}})
TAIL = chunk({"index": 0, "function": {"arguments": "1}"}})
CHUNKS = [HEAD, TAIL, chunk(finish="tool_calls")]
LOOPS: list[Callable[..., Any]] = [asyncio.run, lambda made: trio.run(lambda: made)]


class Stream:
    """A stream like those of SDKs: an iterator with `close`, and an own attribute."""

    def __init__(self, chunks: Iterable[Any] = CHUNKS) -> None:
        self.response = "the response"
        self.chunks = iter(chunks)
        self.n_closed = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        item = next(self.chunks)
        if isinstance(item, BaseException):
            raise item
        return item

    def close(self) -> None:
        """Count."""
        self.n_closed += 1


class AsyncStream:
    """The same, asynchronous; `close` has to be awaited, as in openai's and anthropic's SDKs."""

    def __init__(self, chunks: Iterable[Any] = CHUNKS) -> None:
        self.response = "the response"
        self.inner = Stream(chunks)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            return next(self.inner)
        except StopIteration:
            raise StopAsyncIteration from None

    async def close(self) -> None:
        """Count."""
        self.inner.close()

    @property
    def n_closed(self) -> int:
        """The number of times it was closed."""
        return self.inner.n_closed


class Both(Stream):
    """One class for both kinds, as litellm has it."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return AsyncStream(self.chunks)

    async def aclose(self) -> None:
        """Count."""
        self.n_closed += 1


class Leaves:
    """A stream that has no `close`: it is closed by leaving it."""

    def __init__(self) -> None:
        self.n_closed = 0

    def __iter__(self) -> Iterator[Any]:
        return iter(CHUNKS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.n_closed += 1


def arguments(stream: WrappedStream[Any, Any] | AsyncWrappedStream[Any, Any]) -> list[dict[str, Any]]:
    """Return the arguments of the calls."""
    return [call.arguments for call in stream.calls]


def reasons(drops: Iterable[ToolCallDropped]) -> list[str]:
    """Return why calls were dropped."""
    return [drop.reason for drop in drops]


@contextmanager
def managed(stream: Stream, log: list[object]) -> Iterator[Stream]:
    """Give the stream, as the helpers of SDKs do."""
    log.append("entered")
    try:
        yield stream
    except BaseException as error:
        log.append(type(error))
        raise
    finally:
        stream.close()


@asynccontextmanager
async def amanaged(stream: AsyncStream, log: list[object]) -> AsyncIterator[AsyncStream]:
    """Give the stream."""
    log.append("entered")
    try:
        yield stream
    finally:
        await stream.close()


def test_chunks_pass_untouched() -> None:
    """The loop gets the very objects of the stream, and the calls are there after it."""
    stream = wrap(Stream())
    passed = list(stream)

    assert [True] * 3 == [mine is theirs for mine, theirs in zip(passed, CHUNKS, strict=True)]
    assert ([{"a": 1}], (), "tool_calls") == (arguments(stream), stream.dropped, stream.turn.reason)


def test_calls_are_those_of_the_shells() -> None:
    """A wrapped source gives the same turns as `collect`."""
    stream = wrap(Stream())
    list(stream)

    assert (collect(CHUNKS),) == stream.turns


def test_calls_are_there_as_soon_as_they_are_whole() -> None:
    """Before its end a call is in no list."""
    stream = wrap(Stream())
    seen = [arguments(stream) for _ in stream]

    assert [[], [], [{"a": 1}]] == seen


def test_calls_of_all_turns() -> None:
    """A stream of several messages has the calls of all of them; `turn` is the last one."""
    starts = [{"type": "message_start", "message": {"id": f"m{n}", "content": []}} for n in range(2)]
    block = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t", "name": "f"},
    }
    rest = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]  # fmt: skip
    stream = wrap([each for start in starts for each in (start, block, *rest)])
    list(stream)

    assert ([0, 1], "m1") == ([call.turn for call in stream.calls], stream.turn.response_id)


def test_bytes_are_chunks_too() -> None:
    """Where a stream gives bytes, they pass unchanged."""
    pieces = [b'data: {"choices":[{"index":0,"delta":{"content":"hi"}', b"}]}\n\n"]
    stream = wrap(pieces)

    assert (pieces, "hi") == (list(stream), stream.turn.text)


def test_the_attributes_of_the_stream_are_there() -> None:
    """Code that uses more of the stream than its chunks continues."""
    assert "the response" == wrap(Stream()).response == wrap(AsyncStream()).response
    with pytest.raises(AttributeError, match="nothing"):
        wrap(Stream()).nothing  # noqa: B018
    with pytest.raises(TypeError, match="pickle"):
        copy.deepcopy(wrap(Stream(each for each in CHUNKS)))


def test_chunks_may_be_taken_one_by_one() -> None:
    """`next` takes a chunk, and a loop continues after it."""
    stream = wrap(Stream())

    assert (HEAD, CHUNKS[1:]) == (next(stream), list(stream))
    assert ([], [{"a": 1}]) == (list(stream), arguments(stream))


def test_the_representation_tells_no_content() -> None:
    """A wrapped stream shows its source and its progress."""
    stream = wrap(Stream())
    list(stream)

    assert "<WrappedStream Stream turns=1>" == repr(stream)


# The end.


@pytest.mark.parametrize("make", [Stream, Leaves])
def test_a_stream_is_closed_once_at_its_end(make: type[Stream | Leaves]) -> None:
    """By `close`, or by leaving it where it has nothing else."""
    stream = make()
    wrapped: WrappedStream[Any, Any] = wrap(stream)
    list(wrapped)
    wrapped.__exit__(None, None, None)

    assert 1 == stream.n_closed


def test_a_break_aborts() -> None:
    """A loop that is left early drops open calls and closes the stream at once."""
    stream = Stream()
    wrapped = wrap(stream)
    for _ in wrapped:
        break

    assert (1, ["aborted"], [], []) == (
        stream.n_closed,
        reasons(wrapped.dropped),
        arguments(wrapped),
        list(wrapped),
    )


def test_a_call_that_was_whole_before_the_break_stays() -> None:
    """Only open calls are dropped."""
    wrapped = wrap(Stream())
    for _ in wrapped:
        if wrapped.calls:
            break

    assert ([{"a": 1}], ()) == (arguments(wrapped), wrapped.dropped)


@pytest.mark.parametrize("error", [ConnectionError("lost"), KeyboardInterrupt()])
def test_an_exception_of_the_stream_aborts(error: BaseException) -> None:
    """The exception propagates, after the stream is closed."""
    stream = Stream([HEAD, error])
    wrapped = wrap(stream)

    with pytest.raises(type(error)):
        list(wrapped)
    assert (1, ["aborted"]) == (stream.n_closed, reasons(wrapped.dropped))


def test_an_exception_of_the_loop_aborts() -> None:
    """A failure in the loop's body ends the stream as a break does."""
    stream = Stream()
    wrapped = wrap(stream)

    def consume() -> None:
        with wrapped as inner:
            for _ in inner:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        consume()
    assert (1, ["aborted"]) == (stream.n_closed, reasons(wrapped.dropped))


def test_a_stream_that_was_never_read_is_closed() -> None:
    """Closing needs no chunk to have come."""
    stream = Stream()
    wrap(stream).close()
    with wrap(stream):
        pass

    assert 2 == stream.n_closed


def test_a_mistake_among_the_chunks_closes() -> None:
    """A chunk that is not data raises, and leaves nothing open."""
    stream = Stream([HEAD, object()])

    with pytest.raises(TypeError):
        list(wrap(stream))
    assert 1 == stream.n_closed


# Views that can be asked for, and when.

FOUND = ("turn", "turns", "calls", "dropped", "events", "partial")


@together("name", FOUND)
@together("make", [Stream, AsyncStream, Both])
def test_a_stream_that_nobody_read_has_no_turn(make: type[Any], name: str) -> None:
    """An agent loop takes an empty turn for the last one: before anything was read there is an exception instead."""
    with pytest.raises(StreamUnread, match="iterate over it first"):
        getattr(wrap(make(), live=True), name)


def test_the_turn_is_there_once_the_stream_is_over() -> None:
    """In the middle of a loop there are calls so far, and no turn; after a break there is the turn as it ended."""
    stream = wrap(Stream())
    for _ in stream:
        with pytest.raises(StreamUnread, match=r"not over.*close it"):
            _ = stream.turn
        assert 1 == len(stream.turns)
        break

    assert ("aborted", ["aborted"]) == (stream.turn.reason, reasons(stream.turn.dropped))


def test_what_was_read_past_the_wrapper_is_no_turn() -> None:
    """Methods of the SDK's own stream read it unseen: leaving the block gives no empty turn."""
    with wrap(Stream()) as stream:
        assert CHUNKS == list(stream.chunks)

    with pytest.raises(StreamUnread, match="own methods"):
        _ = stream.turn


def test_an_empty_stream_has_an_empty_turn() -> None:
    """A stream without a chunk was read to its end all the same, and says so."""
    stream = wrap(Stream([]))

    assert ([], (), "nothing_came") == (list(stream), stream.calls, _fault(stream.turn))


def _fault(turn: Any) -> str:
    try:
        turn.raise_for_fault()
    except Exception as error:  # noqa: BLE001 - its kind is asked for
        return str(getattr(error, "kind", error))
    return ""


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "trio"])
def test_an_asynchronous_turn_is_there_once_the_stream_is_over(
    run: Callable[[Awaitable[Any]], Any],
) -> None:
    """The same with `async for`, for streams of both kinds too."""

    async def read(stream: Any) -> list[Any]:
        said = []
        async with stream:
            async for _ in stream:
                try:
                    said.append(stream.turn)
                except StreamUnread:
                    said.append(None)
        return [*said, stream.turn.reason, arguments(stream)]

    assert [None, None, None, "tool_calls", [{"a": 1}]] == run(read(wrap(AsyncStream())))
    assert [None, None, None, "tool_calls", [{"a": 1}]] == run(read(wrap(Both())))


# Live.


def test_events_stand_beside_the_chunk_that_caused_them() -> None:
    """All events of a parser, chunk by chunk, and the end's own events after the last chunk."""
    parser = ToolCallParser(live=True)
    expected = [tuple(parser.feed_event(each)) for each in CHUNKS] + [tuple(parser.close())]
    stream = wrap(Stream(), live=True)
    told = [stream.events for _ in stream] + [stream.events]

    assert expected == told
    assert "arguments_progress" in [event.type for each in told for event in each]


def test_partial_values_of_the_calls_in_progress() -> None:
    """Each open call has the known part of its arguments, by its start; a call that is over has none."""
    parts = [
        chunk({"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"a":"x'}}),
        chunk({"index": 1, "id": "c2", "function": {"name": "g", "arguments": '{"b":[1,'}}),
        chunk({"index": 0, "function": {"arguments": 'y"}'}}, {"index": 1, "function": {"arguments": "2]}"}}),
        chunk(finish="tool_calls"),
    ]
    stream = wrap(Stream(parts), live=True)
    shown = [
        {started.name: (dict(partial.value), partial.complete) for started, partial in stream.partial.items()}
        for _ in stream
    ]

    assert [
        {"f": ({"a": "x"}, False)},
        {"f": ({"a": "x"}, False), "g": ({"b": [1]}, False)},
        {"f": ({"a": "xy"}, True), "g": ({"b": [1, 2]}, True)},
        {},
    ] == shown


def test_partial_values_are_no_arguments() -> None:
    """The shown value is of its own type, which nothing executes."""
    stream = wrap(Stream(), live=True)
    next(stream)
    (partial,) = stream.partial.values()

    assert type(partial) is PartialArguments
    assert not isinstance(partial.value, dict)
    assert not hasattr(partial, "arguments")


@pytest.mark.parametrize("options", [{}, {"watch": {"f": "a"}}])
def test_partial_values_are_to_be_asked_for(options: dict[str, Any]) -> None:
    """Without `live=True` there would be none, and the cause would be hidden."""
    stream = wrap(Stream(), **options)
    next(stream)

    with pytest.raises(ValueError, match="live=True"):
        _ = stream.partial


# Context managers.


def test_a_manager_is_entered_and_left() -> None:
    """`with wrap(manager)` reads the stream that the manager gives, attributes included."""
    stream, log = Stream(), list[object]()
    with wrap(managed(stream, log)) as wrapped:
        assert "the response" == wrapped.response
        passed = list(wrapped)

    assert (CHUNKS, 1, ["entered"], [{"a": 1}]) == (passed, stream.n_closed, log, arguments(wrapped))


def test_a_manager_is_entered_by_the_loop() -> None:
    """A loop alone enters it too, and leaves it at its end."""
    stream, log = Stream(), list[object]()
    wrapped = wrap(managed(stream, log))

    assert (CHUNKS, 1) == (list(wrapped), stream.n_closed)


def test_a_manager_hears_of_the_exception() -> None:
    """The cause of the stream's end is given to the manager."""
    stream, log = Stream([HEAD, ConnectionError()]), list[object]()

    with pytest.raises(ConnectionError):
        list(wrap(managed(stream, log)))
    assert ["entered", ConnectionError] == log
    assert 1 == stream.n_closed


# Asynchronous streams, under two event loops.


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "trio"])
def test_asynchronous_chunks_pass_untouched(run: Callable[[Awaitable[Any]], Any]) -> None:
    """The asynchronous loop gets the very objects, and the calls are there after it."""
    stream = AsyncStream()

    async def read() -> tuple[Any, ...]:
        wrapped = wrap(stream)
        first = await wrapped.__anext__()
        passed = [first, *[each async for each in wrapped]]
        return passed, arguments(wrapped), stream.n_closed, wrapped.turn.reason

    assert (CHUNKS, [{"a": 1}], 1, "tool_calls") == run(read())


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "trio"])
def test_an_asynchronous_break_aborts(run: Callable[[Awaitable[Any]], Any]) -> None:
    """Inside `async with` the stream is closed when the block is left."""
    stream = AsyncStream()

    async def read() -> tuple[Any, ...]:
        async with wrap(stream) as wrapped:
            await wrapped.__anext__()
        return stream.n_closed, reasons(wrapped.dropped)

    assert (1, ["aborted"]) == run(read())


@pytest.mark.slow
def test_a_bare_asynchronous_break_is_closed_by_the_loop() -> None:
    """Without `async with` the event loop closes it before it ends."""
    stream = AsyncStream()

    async def read() -> None:
        async for _ in wrap(stream):
            break

    asyncio.run(read())
    gc.collect()
    assert 1 == stream.n_closed


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "trio"])
def test_an_asynchronous_manager_is_entered_and_left(run: Callable[[Awaitable[Any]], Any]) -> None:
    """`async with wrap(manager)` reads the stream that the manager gives; a loop alone does so too."""
    streams, log = (AsyncStream(), AsyncStream()), list[object]()

    async def read() -> list[Any]:
        async with wrap(amanaged(streams[0], log)) as wrapped:
            passed = [each async for each in wrapped]
        return [passed, [each async for each in wrap(amanaged(streams[1], log))]]

    assert [CHUNKS, CHUNKS] == run(read())
    assert [1, 1] == [stream.n_closed for stream in streams]


def test_a_cancelled_task_aborts() -> None:
    """The task stays cancelled, the stream is closed, open calls are dropped."""
    waits = asyncio.Event()

    class Stuck(AsyncStream):
        async def __anext__(self) -> Any:
            try:
                return await super().__anext__()
            except StopAsyncIteration:
                waits.set()
                return await asyncio.Event().wait()

    async def cancel() -> tuple[Any, ...]:
        stream = Stuck([HEAD])
        wrapped = wrap(stream)

        async def read() -> list[Any]:
            return [each async for each in wrapped]

        task = asyncio.ensure_future(read())
        await waits.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return stream.n_closed, reasons(wrapped.dropped)

    assert (1, ["aborted"]) == asyncio.run(cancel())


def test_a_cancelled_scope_aborts() -> None:
    """The same under trio: closing is tried, and the cancellation continues."""
    stream = AsyncStream([HEAD])
    wrapped = wrap(stream)

    async def read() -> bool:
        with trio.CancelScope() as scope:
            async with wrapped:
                async for _ in wrapped:
                    scope.cancel()
                    await trio.sleep_forever()
        return scope.cancelled_caught

    assert trio.run(read)
    assert (1, ["aborted"]) == (stream.n_closed, reasons(wrapped.dropped))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_of_both_kinds_is_read_either_way(asynchronous: bool) -> None:
    """One wrapper serves an SDK that has one class for both."""
    stream: Any = wrap(Both())

    async def read() -> list[Any]:
        async with stream:
            return [each async for each in stream]

    assert CHUNKS == (asyncio.run(read()) if asynchronous else list(stream))
    assert [{"a": 1}] == arguments(stream)


# Mistakes.


async def _later() -> Stream:
    return Stream()


def test_an_awaitable_is_refused_with_advice() -> None:
    """An asynchronous SDK's return value has to be awaited first."""
    coroutine = _later()
    with pytest.raises(TypeError, match="await it"):
        wrap(coroutine)  # type: ignore[call-overload]
    coroutine.close()


@pytest.mark.parametrize("source", [CHUNKS[0], "text", b"data: {}", 5, None])
def test_what_is_no_stream_is_refused_with_advice(source: Any) -> None:
    """A payload, text, one piece of bytes and numbers have no chunks."""
    with pytest.raises(TypeError, match="feed_event"):
        wrap(source)


def test_a_whole_response_is_refused_with_advice() -> None:
    """A model of pydantic can be iterated over, but for its fields."""

    class Response(pydantic.BaseModel):
        id: str = "r"

    with pytest.raises(TypeError, match="feed_event"):
        wrap(Response())  # type: ignore[arg-type]


def test_a_wrong_name_raises_at_the_call() -> None:
    """A caller's mistake does not wait for the first chunk."""
    with pytest.raises(UnknownDialect):
        wrap(Stream(), "x")
