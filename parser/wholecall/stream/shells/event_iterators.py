"""Iterators over the events of a stream, which have its turn at the end.

Theory of operation. A generator takes chunks from a feeding (see `sources`) and yields their events. An object around
it also has the parser, and thereby the turn. A loop gets the generator itself: it adds no cost, and is closed like any
generator, also by an event loop. Once the object is gone, as after `for event in events(...)`, its turn cannot be
requested: the model's output is then forgotten chunk by chunk, and long streams take no memory.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any
from weakref import ref

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.calls.output.events import Event
from wholecall.stream.shells.found import Found

if TYPE_CHECKING:
    from wholecall.stream.shells.sources import AsyncFeeding, Feeding

_FORGET_EVERY = 64  # chunks after which text is forgotten where turns are not wanted


class EventIterator(Found[ArgsT], Generator[Event[ArgsT], None, None]):
    """The events of a stream, and its turn after them; see `events`."""

    def __init__(self, feeding: Feeding[Any]) -> None:
        super().__init__(feeding)
        self._generator = events_of(feeding, ref(self))

    def __iter__(self) -> Generator[Event[ArgsT]]:
        return self._generator

    def __next__(self) -> Event[ArgsT]:
        return next(self._generator)

    def send(self, value: None, /) -> Event[ArgsT]:
        """Do what `next` does, as generators do."""
        return self._generator.send(value)

    def throw(self, *error: Any) -> Event[ArgsT]:
        """Raise an exception at the current position, as generators do; this ends the iteration."""
        return self._generator.throw(*error)

    def close(self) -> None:
        """End the iteration: open calls are dropped, and the source is closed."""
        self._generator.close()


class AsyncEventIterator(Found[ArgsT], AsyncGenerator[Event[ArgsT], None]):
    """The events of an asynchronous stream, and its turn after them; see `events`."""

    def __init__(self, feeding: AsyncFeeding[Any]) -> None:
        super().__init__(feeding)
        self._generator = aevents_of(feeding, ref(self))

    def __aiter__(self) -> AsyncGenerator[Event[ArgsT]]:
        return self._generator

    async def __anext__(self) -> Event[ArgsT]:
        return await self._generator.__anext__()

    async def asend(self, value: None, /) -> Event[ArgsT]:
        """Do what `anext` does, as generators do."""
        return await self._generator.asend(value)

    async def athrow(self, *error: Any) -> Event[ArgsT]:
        """Raise an exception at the current position, as generators do; this ends the iteration."""
        return await self._generator.athrow(*error)

    async def aclose(self) -> None:
        """End the iteration: open calls are dropped, and the source is closed."""
        await self._generator.aclose()


def _is_wanted() -> bool:
    return True


def events_of(
    feeding: Feeding[Any], holder: Callable[[], object | None] = _is_wanted
) -> Generator[Event[Any]]:
    """Yield the events of the chunks.

    Args:
        feeding: yields the chunks.
        holder: returns the object that may request the turn, None once it is gone.
    """
    try:
        for number, _ in enumerate(feeding, 1):
            yield from feeding.events
            if number % _FORGET_EVERY == 0 and holder() is None:
                feeding.parser.forget()
        yield from feeding.events  # the events of the end of the source
    except Exception as error:
        if error is feeding.error:  # otherwise it was thrown in from outside
            yield from feeding.events
        raise
    finally:
        feeding.close()


async def aevents_of(
    feeding: AsyncFeeding[Any], holder: Callable[[], object | None] = _is_wanted
) -> AsyncGenerator[Event[Any]]:
    """Yield the events of the chunks; see `events_of`."""
    number = 0
    try:
        async for _ in feeding:
            for event in feeding.events:
                yield event
            number += 1
            if number % _FORGET_EVERY == 0 and holder() is None:
                feeding.parser.forget()
        for event in feeding.events:
            yield event
    except Exception as error:
        for event in feeding.events if error is feeding.error else ():
            yield event
        raise
    finally:
        await feeding.close()
