"""Sources of chunks, read into a parser: opened when the first chunk is asked for, closed once, whatever happens.

Theory of operation. A source is an iterable of bytes or payloads, or a context manager that gives one (the
helpers of SDKs are). A *feeding* takes chunks from it one at a time, gives each to the parser, and hands on the
chunk with the events that it caused. When the source ends, the parser is closed. When the source raises, the parser
takes it as a failure, and the exception goes on with the turn as its attribute `turn`. Anything else that ends the
feeding (an early exit, a cancellation) aborts the parser. Each time the source is closed, by the method that it has
for that. No event loop is imported: the asynchronous feeding works under any.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union

from wholecall.errors import Uncopyable
from wholecall.stream.parser import ToolCallParser

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from wholecall.output.events import Event

__all__ = [
    "AsyncFeeding",
    "AsyncSource",
    "Feeding",
    "Source",
    "advice",
    "gives_chunks",
    "is_asynchronous",
    "is_synchronous",
]

ChunkT = TypeVar("ChunkT")
Source = Union[Iterable[ChunkT], AbstractContextManager[Iterable[ChunkT]]]
AsyncSource = Union[AsyncIterable[ChunkT], AbstractAsyncContextManager[AsyncIterable[ChunkT]]]

_BYTES = (bytes, bytearray, memoryview, str)  # `feed` refuses text, with advice
_CLOSERS = ("close", "__exit__")
_ASYNC_CLOSERS = ("aclose", "close", "__aexit__")


def is_synchronous(source: object) -> bool:
    """Whether a source can be read without `await`."""
    return gives_chunks(source, "__iter__") or hasattr(source, "__enter__")


def is_asynchronous(source: object) -> bool:
    """Whether a source can be read with `await`."""
    return gives_chunks(source, "__aiter__") or hasattr(source, "__aenter__")


def gives_chunks(source: object, method: str) -> bool:
    """Whether an object can be iterated over for its chunks: one payload or whole response is not a stream of them."""
    return (
        hasattr(source, method)
        and not isinstance(source, (*_BYTES, dict))
        and not hasattr(type(source), "model_fields")
    )


def advice(source: object) -> str:
    """Return the message for something that is not a source."""
    wrong = type(source).__name__
    if isawaitable(source):
        return f"this is a {wrong}; await it, and read the stream that it gives"
    return (
        f"a {wrong} is not a stream of chunks; give an iterable of bytes or of an SDK's chunks, or a context manager"
        " that gives one; for one payload or a whole response there is ToolCallParser.feed_event"
    )


class _Common(Uncopyable, Generic[ChunkT]):
    """What both feedings share.

    Attributes:
        parser: the parser that is fed.
        events: what the last chunk caused, or the end of the source.
        stream: the source, once it is entered what it gave.
        error: what the source raised, if it did.
        was_asked: whether a chunk was asked for.
    """

    def __init__(self, parser: ToolCallParser[Any], source: Any) -> None:
        self.parser = parser
        self.events: list[Event[Any]] = []
        self.stream = source
        self.error: Exception | None = None
        self.was_asked = False
        self._source = source
        self._began = False  # a chunk came
        self._entered = False
        self._closed = False

    @property
    def is_over(self) -> bool:
        """Whether no chunk comes any more: the source has ended or failed, or was closed."""
        return self._closed

    def _feed(self, chunk: Any) -> None:
        feed: Any = self.parser.feed if isinstance(chunk, _BYTES) else self.parser.feed_event
        self._began = True
        self.events = feed(chunk)

    def _fail(self, error: Exception) -> None:
        """Let the parser know that the source raised; the exception carries the turn from now on.

        Where the source gave nothing there is nothing left of the stream: the exception goes on without events.
        """
        said = str(error)
        left = self.parser.fail(type(error).__name__ + (f": {said}" if said else ""))
        self.events = left if self._began else []
        self.error = error
        with suppress(AttributeError, TypeError):  # of a class that takes no attributes
            error.turn = self.parser.turn  # type: ignore[attr-defined]

    def _closing(self, closers: tuple[str, ...], error: BaseException | None) -> Any:
        """Abort the parser unless it is closed; close the source, and return what is to be awaited for that."""
        self.parser.abort("the stream was left before its end")
        if self._closed:
            return None
        self._closed = True
        *named, leave = closers
        for name in named if not self._entered else ():
            if hasattr(self._source, name):
                return getattr(self._source, name)()
        if not hasattr(self._source, leave):
            return None
        raised = (None, None, None) if error is None else (type(error), error, error.__traceback__)
        return getattr(self._source, leave)(*raised)


class Feeding(_Common[ChunkT]):
    """Reads a source into a parser; an iterator of the chunks."""

    _chunks: Iterator[ChunkT] | None = None

    def __iter__(self) -> Feeding[ChunkT]:
        return self

    def __next__(self) -> ChunkT:
        if self._closed:
            raise StopIteration
        try:
            chunk = self._take()
            self._feed(chunk)
        except StopIteration:
            self.events = self.parser.close()
            self.close()
            raise
        except BaseException as error:
            self.close(error)
            raise
        return chunk

    def _take(self) -> ChunkT:
        """Return the next chunk of the source."""
        self.was_asked = True
        chunks = self._chunks or self.open()
        try:
            return next(chunks)
        except StopIteration:
            raise
        except Exception as error:
            self._fail(error)
            raise

    def open(self) -> Iterator[ChunkT]:
        """Return the iterator of the source, which is entered if it has to be.

        Raises:
            TypeError: nothing can be read from the source.
        """
        if self._chunks is None:
            source = self._source
            if not gives_chunks(source, "__iter__"):
                source = self.enter()
            self._chunks = iter(source)
        return self._chunks

    def enter(self) -> Any:
        """Enter the source, a context manager, and return what it gives.

        Raises:
            TypeError: it is none.
        """
        if not hasattr(self._source, "__enter__"):
            raise TypeError(advice(self._source))
        inner = self._source.__enter__()
        self._entered = True
        self.stream = inner
        return inner

    def close(self, error: BaseException | None = None) -> None:
        """End the feeding: abort the parser unless it is closed, and close the source; once.

        Args:
            error: what ended it, if anything did.
        """
        self._closing(_CLOSERS, error)


class AsyncFeeding(_Common[ChunkT]):
    """Reads an asynchronous source into a parser; an asynchronous iterator of the chunks."""

    _chunks: AsyncIterator[ChunkT] | None = None

    def __aiter__(self) -> AsyncFeeding[ChunkT]:
        return self

    async def __anext__(self) -> ChunkT:
        if self._closed:
            raise StopAsyncIteration
        try:
            chunk = await self._take()
            self._feed(chunk)
        except StopAsyncIteration:
            self.events = self.parser.close()
            await self.close()
            raise
        except BaseException as error:
            await self.close(error)
            raise
        return chunk

    async def _take(self) -> ChunkT:
        """Return the next chunk of the source."""
        self.was_asked = True
        chunks = self._chunks or await self.open()
        try:
            return await chunks.__anext__()
        except StopAsyncIteration:
            raise
        except Exception as error:
            self._fail(error)
            raise

    async def open(self) -> AsyncIterator[ChunkT]:
        """Return the iterator of the source; see `Feeding.open`."""
        if self._chunks is None:
            source = self._source
            if not gives_chunks(source, "__aiter__"):
                source = await self.enter()
            self._chunks = aiter(source)
        return self._chunks

    async def enter(self) -> Any:
        """Enter the source; see `Feeding.enter`."""
        if not hasattr(self._source, "__aenter__"):
            raise TypeError(advice(self._source))
        inner = await self._source.__aenter__()
        self._entered = True
        self.stream = inner
        return inner

    async def close(self, error: BaseException | None = None) -> None:
        """End the feeding; see `Feeding.close`."""
        closing = self._closing(_ASYNC_CLOSERS, error)
        if isawaitable(closing):
            await closing
