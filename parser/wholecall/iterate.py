"""Thin shells round the parser: iterate over a source of bytes, or collect its turn.

Theory of operation. A source is anything that yields bytes (or decoded payloads), synchronously or not. The
shells feed it to a parser and close it. Leaving early, by `break`, by an exception or by cancellation, aborts
the parser and closes the source. No event loop is imported: the asynchronous shells work under any.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from contextlib import aclosing, closing
from typing import Any, Union

from wholecall.events import Event, TurnStarted
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.stream import ToolCallParser
from wholecall.turns import Turn

__all__ = ["acollect", "aevents", "aturns", "collect", "events", "turns"]

Chunk = Union[bytes, bytearray, memoryview, Any]
_BYTES = (bytes, bytearray, memoryview, str)  # `feed` refuses text, with advice


def events(
    source: Iterable[Chunk],
    dialect: str = "auto",
    *,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Generator[Event]:
    """Yield the events of a stream.

    Args:
        source: yields bytes in any pieces, or decoded payloads. It is closed at the end, also an early one.
        dialect: as for `ToolCallParser`, like the others below.
        framing: how the bytes are cut into events.
        policy: how calls are judged.
        limits: what the stream may hold.

    Raises:
        UnknownDialect: the dialect or the framing is not known.
    """
    parser = ToolCallParser(dialect, framing=framing, policy=policy, limits=limits)
    return _events(parser, source)


def aevents(
    source: AsyncIterable[Chunk],
    dialect: str = "auto",
    *,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> AsyncGenerator[Event]:
    """Yield the events of an asynchronous stream; see `events`."""
    parser = ToolCallParser(dialect, framing=framing, policy=policy, limits=limits)
    return _aevents(parser, source)


def turns(
    source: Iterable[Chunk],
    dialect: str = "auto",
    *,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Generator[Turn]:
    """Yield each turn of a stream once the next one begins or the stream is over; see `events`."""
    parser = ToolCallParser(dialect, framing=framing, policy=policy, limits=limits)
    done = 0
    with closing(_events(parser, source)) as stream:
        for event in stream:
            if isinstance(event, TurnStarted):
                yield from parser.turns[done : event.turn]
                done = event.turn
    yield from parser.turns[done:]


async def aturns(
    source: AsyncIterable[Chunk],
    dialect: str = "auto",
    *,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> AsyncGenerator[Turn]:
    """Yield each turn of an asynchronous stream once the next one begins or the stream is over."""
    parser = ToolCallParser(dialect, framing=framing, policy=policy, limits=limits)
    done = 0
    async with aclosing(_aevents(parser, source)) as stream:
        async for event in stream:
            if not isinstance(event, TurnStarted):
                continue
            for turn in parser.turns[done : event.turn]:
                yield turn
            done = event.turn
    for turn in parser.turns[done:]:
        yield turn


def collect(
    source: Iterable[Chunk],
    dialect: str = "auto",
    *,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Turn:
    """Read a stream to its end and return its last turn; see `events`."""
    parser = ToolCallParser(dialect, framing=framing, policy=policy, limits=limits)
    for _ in _events(parser, source):
        pass
    return parser.turn


async def acollect(
    source: AsyncIterable[Chunk],
    dialect: str = "auto",
    *,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Turn:
    """Read an asynchronous stream to its end and return its last turn; see `events`."""
    parser = ToolCallParser(dialect, framing=framing, policy=policy, limits=limits)
    async for _ in _aevents(parser, source):
        pass
    return parser.turn


def _feed(parser: ToolCallParser, chunk: Chunk) -> list[Event]:
    feed: Any = parser.feed if isinstance(chunk, _BYTES) else parser.feed_event
    events: list[Event] = feed(chunk)
    return events


def _events(parser: ToolCallParser, source: Iterable[Chunk]) -> Generator[Event]:
    try:
        for chunk in source:
            yield from _feed(parser, chunk)
        yield from parser.close()
    finally:
        parser.abort()
        close: Any = getattr(source, "close", None)
        if close is not None:
            close()


async def _aevents(parser: ToolCallParser, source: AsyncIterable[Chunk]) -> AsyncGenerator[Event]:
    try:
        async for chunk in source:
            for event in _feed(parser, chunk):
                yield event
        for event in parser.close():
            yield event
    finally:
        parser.abort()
        close: Any = getattr(source, "aclose", None)
        if close is not None:
            await close()
