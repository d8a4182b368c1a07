"""A turn is whole, or there is none: for each reader of a stream through a shell, at any chunk where it stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest

from tests.laws.test_timeline import RECORDINGS, cut
from tests.support import corpora
from wholecall import StreamUnread, ToolCallParser, ToolCallStarted, aevents, events, wrap

Read = tuple[list[Any], Any]  # the text before each chunk and at the end, and the events


async def arriving(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    """Yield the chunks."""
    for chunk in chunks:
        yield chunk


def turn_of(found: Any) -> Any:
    """Return the turn, None where it is refused."""
    try:
        return found.turn
    except StreamUnread:
        return None


def through_wrap(chunks: Sequence[bytes], stop: int) -> Read:
    """Read some chunks of a wrapped stream, and then close it unless that was all."""
    stream = wrap(iter(chunks), live=True)
    said, told = [turn_of(stream)], []
    for number, _ in enumerate(stream):
        said.append(turn_of(stream))
        told.append([*stream.events])
        if number == stop:
            break
    return [*said, turn_of(stream)], [*told, [*stream.events]] if stop >= len(chunks) else told


def through_async_wrap(chunks: Sequence[bytes], stop: int) -> Read:
    """Read the same asynchronously."""

    async def read() -> Read:
        said, told, number = [], [], 0
        async with wrap(arriving(chunks), live=True) as stream:
            said.append(turn_of(stream))
            async for _ in stream:
                said.append(turn_of(stream))
                told.append([*stream.events])
                if number == stop:
                    break
                number += 1
        return [*said, turn_of(stream)], [*told, [*stream.events]] if stop >= len(chunks) else told

    return asyncio.run(read())


def by_hand(chunks: Sequence[bytes], stop: int) -> Read:
    """Return the events of a parser that is fed by hand."""
    parser: ToolCallParser[Any] = ToolCallParser(live=True)
    told = [parser.feed(chunk) for chunk in chunks[: stop + 1]]
    if stop >= len(chunks):
        told.append(parser.close())
    parser.abort("the stream was left before its end")
    return [*[None] * (1 + len(chunks[: stop + 1])), parser.turn], told


@pytest.mark.sampled(31)
@pytest.mark.parametrize("read", [through_wrap, through_async_wrap])
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS))
def test_a_wrapped_stream_has_a_turn_once_it_is_over(
    paths: list[Any], read: Callable[[Sequence[bytes], int], Read]
) -> None:
    """Law 122: before, an exception; after, the turn of a parser fed by hand, whose events came with the chunks."""
    for path in paths:
        rng = Random(path.name)
        chunks = [chunk for _, chunk in cut(path.read_bytes(), rng)]
        for stop in {0, rng.randrange(len(chunks) or 1), len(chunks)}:
            assert by_hand(chunks, stop) == read(chunks, stop), (path.name, stop)


def _loop(chunks: Sequence[bytes], stop: int) -> Iterator[Any]:
    found = events(iter(chunks), live=True)
    yield turn_of(found)
    for number, event in enumerate(found):
        if number == stop:
            found.close()
            break
        yield event
    yield turn_of(found)


def _async_loop(chunks: Sequence[bytes], stop: int) -> list[Any]:
    async def read() -> list[Any]:
        found = aevents(arriving(chunks), live=True)
        out, number = [turn_of(found)], 0
        async for event in found:
            if number == stop:
                await found.aclose()
                break
            number += 1
            out.append(event)
        return [*out, turn_of(found)]

    return asyncio.run(read())


@pytest.mark.sampled(33)
@pytest.mark.parametrize("read", [_loop, _async_loop])
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS))
def test_a_loop_over_events_has_a_turn_once_it_is_over(
    paths: list[Any], read: Callable[[Sequence[bytes], int], Any]
) -> None:
    """Law 122: whole streams give the parser's events and then its turn; a loop that is closed, the turn as it ended."""
    for path in paths:
        chunks = [chunk for _, chunk in cut(path.read_bytes(), Random(path.name))]
        _, told = by_hand(chunks, len(chunks))
        parser: ToolCallParser[Any] = ToolCallParser()
        _ = [parser.feed(chunk) for chunk in chunks] + [parser.close()]
        every = [event for some in told for event in some]
        assert [None, *every, parser.turn] == list(read(chunks, len(every))), path.name

        stop = Random(path.name).randrange(len(every) or 1)
        *begun, turn = read(chunks, stop)
        assert [None, *every[:stop]] == list(begun), path.name
        assert turn is not None, path.name


def _partials(chunks: Sequence[bytes]) -> Iterator[tuple[Any, Any]]:
    stream = wrap(iter(chunks), live=True)
    parser: ToolCallParser[Any] = ToolCallParser(live=True)
    started: list[ToolCallStarted] = []
    for chunk in stream:
        started += [event for event in parser.feed(chunk) if isinstance(event, ToolCallStarted)]
        shown = {call: parser.partial(call) for call in started}
        expected = {call: partial.value for call, partial in shown.items() if partial is not None}
        yield expected, {call: partial.value for call, partial in stream.partial.items()}


@pytest.mark.sampled(11)
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS))
def test_partial_values_are_those_of_the_calls_in_progress(paths: list[Any]) -> None:
    """Law 122: at each chunk they are the parser's view of each call that began and has not ended, and no other."""
    for path in paths:
        chunks = [chunk for _, chunk in cut(path.read_bytes(), Random(path.name))]
        assert [] == [pair for pair in _partials(chunks) if pair[0] != pair[1]], path.name
