"""Thin shells around the parser: iterate over a source of bytes, or collect its turn.

Theory of operation. A source is anything that yields bytes (or decoded payloads), synchronously or not. The shells feed
it to a parser and close it (see `sources`). Where the source raises, the remaining events are emitted first, and the
exception is raised after them. Leaving early, by `break` or by cancellation, aborts the parser and closes the source.
No event loop is imported: the asynchronous shells work under any.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING, Any, Union, overload

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.calls.output.events import TurnStarted
from wholecall.calls.output.turns import Turn
from wholecall.stream.options import ParserOptions, for_turns
from wholecall.stream.parser import ToolCallParser
from wholecall.stream.shells.event_iterators import AsyncEventIterator, EventIterator, aevents_of, events_of
from wholecall.stream.shells.sources import AsyncFeeding, AsyncSource, Feeding, Source

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from wholecall.calls.tools.tool import AnyTools, TypedTools

Chunk = Union[bytes, bytearray, memoryview, Any]


@overload
def events(
    source: Source[Chunk], dialect: str = ..., *, tools: None = None, **options: Unpack[ParserOptions]
) -> EventIterator: ...
@overload
def events(
    source: Source[Chunk], dialect: str = ..., *, tools: TypedTools[ArgsT], **options: Unpack[ParserOptions]
) -> EventIterator[ArgsT]: ...
@overload
def events(
    source: Source[Chunk], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
) -> EventIterator[Any]: ...
def events(
    source: Source[Chunk], dialect: str = "auto", *, tools: Any = None, **options: Unpack[ParserOptions]
) -> EventIterator[Any]:
    """Return an iterator over the events of a stream, which has the turn after them.

    ::

        stream = events(response.iter_bytes())
        for event in stream:
            ...
        turn = stream.turn

    A loop that keeps no name for the iterator (`for event in events(...)`) keeps no text of the stream, however long it
    is.

    Args:
        source: yields bytes in any pieces, decoded payloads or an SDK's chunks, or is a context manager that returns
            such a source. It is closed at the end, also after an early exit.
        dialect: as for `ToolCallParser`, like all following arguments.
        tools: the tools that were given to the model.
        options: `events` (`"calls"` emits none for pieces of text), `live`, `watch`, `text`, `framing`, `policy` and
            `limits`.

    Returns:
        An iterator with all methods of generators, and `turn`, `turns`, `calls`, `dropped` and `partial`.

    Raises:
        UnknownDialect: the dialect or the framing is not known.
        TypeError, ValueError, ImportError: the content of `tools` does not describe tools.
        Exception: the exception of the source, in the iteration, after the fault `source_failed`, the drops and
            `TurnFinished`; its attribute `turn` is the turn as it ended.
    """
    return EventIterator(Feeding(ToolCallParser(dialect, tools=tools, **options), source))


@overload
def aevents(
    source: AsyncSource[Chunk], dialect: str = ..., *, tools: None = None, **options: Unpack[ParserOptions]
) -> AsyncEventIterator: ...
@overload
def aevents(
    source: AsyncSource[Chunk],
    dialect: str = ...,
    *,
    tools: TypedTools[ArgsT],
    **options: Unpack[ParserOptions],
) -> AsyncEventIterator[ArgsT]: ...
@overload
def aevents(
    source: AsyncSource[Chunk], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
) -> AsyncEventIterator[Any]: ...
def aevents(
    source: AsyncSource[Chunk],
    dialect: str = "auto",
    *,
    tools: Any = None,
    **options: Unpack[ParserOptions],
) -> AsyncEventIterator[Any]:
    """Return an iterator over the events of an asynchronous stream, which has the turn after them; see `events`."""
    return AsyncEventIterator(AsyncFeeding(ToolCallParser(dialect, tools=tools, **options), source))


@overload
def turns(
    source: Source[Chunk], dialect: str = ..., *, tools: None = None, **options: Unpack[ParserOptions]
) -> Generator[Turn]: ...
@overload
def turns(
    source: Source[Chunk], dialect: str = ..., *, tools: TypedTools[ArgsT], **options: Unpack[ParserOptions]
) -> Generator[Turn[ArgsT]]: ...
@overload
def turns(
    source: Source[Chunk], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
) -> Generator[Turn[Any]]: ...
def turns(
    source: Source[Chunk], dialect: str = "auto", *, tools: Any = None, **options: Unpack[ParserOptions]
) -> Generator[Turn[Any]]:
    """Yield the turns of a stream in their order, each once it is over and the next one begins; see `events`."""
    return _turns(Feeding(ToolCallParser(dialect, tools=tools, **for_turns(options)), source))


@overload
def aturns(
    source: AsyncSource[Chunk], dialect: str = ..., *, tools: None = None, **options: Unpack[ParserOptions]
) -> AsyncGenerator[Turn]: ...
@overload
def aturns(
    source: AsyncSource[Chunk],
    dialect: str = ...,
    *,
    tools: TypedTools[ArgsT],
    **options: Unpack[ParserOptions],
) -> AsyncGenerator[Turn[ArgsT]]: ...
@overload
def aturns(
    source: AsyncSource[Chunk], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
) -> AsyncGenerator[Turn[Any]]: ...
def aturns(
    source: AsyncSource[Chunk],
    dialect: str = "auto",
    *,
    tools: Any = None,
    **options: Unpack[ParserOptions],
) -> AsyncGenerator[Turn[Any]]:
    """Yield the turns of an asynchronous stream; see `turns`."""
    return _aturns(AsyncFeeding(ToolCallParser(dialect, tools=tools, **for_turns(options)), source))


@overload
def collect(
    source: Source[Chunk], dialect: str = ..., *, tools: None = None, **options: Unpack[ParserOptions]
) -> Turn: ...
@overload
def collect(
    source: Source[Chunk], dialect: str = ..., *, tools: TypedTools[ArgsT], **options: Unpack[ParserOptions]
) -> Turn[ArgsT]: ...
@overload
def collect(
    source: Source[Chunk], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
) -> Turn[Any]: ...
def collect(
    source: Source[Chunk], dialect: str = "auto", *, tools: Any = None, **options: Unpack[ParserOptions]
) -> Turn[Any]:
    """Read a stream to its end and return its last turn; see `events`."""
    parser = ToolCallParser(dialect, tools=tools, **for_turns(options))
    for _ in Feeding[Chunk](parser, source):
        pass
    return parser.turn


@overload
async def acollect(
    source: AsyncSource[Chunk], dialect: str = ..., *, tools: None = None, **options: Unpack[ParserOptions]
) -> Turn: ...
@overload
async def acollect(
    source: AsyncSource[Chunk],
    dialect: str = ...,
    *,
    tools: TypedTools[ArgsT],
    **options: Unpack[ParserOptions],
) -> Turn[ArgsT]: ...
@overload
async def acollect(
    source: AsyncSource[Chunk], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
) -> Turn[Any]: ...
async def acollect(
    source: AsyncSource[Chunk],
    dialect: str = "auto",
    *,
    tools: Any = None,
    **options: Unpack[ParserOptions],
) -> Turn[Any]:
    """Read an asynchronous stream to its end and return its last turn; see `events`."""
    parser = ToolCallParser(dialect, tools=tools, **for_turns(options))
    async for _ in AsyncFeeding[Chunk](parser, source):
        pass
    return parser.turn


def _turns(feeding: Feeding[Chunk]) -> Generator[Turn[Any]]:
    done, parser = 0, feeding.parser
    stream = events_of(feeding)
    try:
        for event in stream:
            if isinstance(event, TurnStarted) and event.turn > done:
                over, done = parser.turns_over(done, event.turn)
                yield from over
    except Exception as error:
        if error is feeding.error and feeding.events:
            yield from parser.turns_from(done)
        raise
    finally:
        stream.close()
    yield from parser.turns_from(done)


async def _aturns(feeding: AsyncFeeding[Chunk]) -> AsyncGenerator[Turn[Any]]:
    done, parser = 0, feeding.parser
    stream = aevents_of(feeding)
    try:
        async for event in stream:
            if not isinstance(event, TurnStarted) or event.turn <= done:
                continue
            over, done = parser.turns_over(done, event.turn)
            for turn in over:
                yield turn
    except Exception as error:
        for turn in parser.turns_from(done) if error is feeding.error and feeding.events else ():
            yield turn
        raise
    finally:
        await stream.aclose()
    for turn in parser.turns_from(done):
        yield turn
