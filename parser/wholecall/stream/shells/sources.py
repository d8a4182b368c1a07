"""Sources of chunks, read into a parser: opened when the first chunk is requested, closed once in any case.

Theory of operation. A source is an iterable of bytes or payloads, or a context manager that returns one (as SDK helpers
do). A *feeding* takes chunks from it one at a time, feeds each to the parser, and passes on the chunk with its events.
When the source ends, the parser is closed. When the source raises, the parser takes it as a failure, and the exception
propagates with the turn as its attribute `turn`. Anything else that ends the feeding (an early exit, a cancellation)
aborts the parser. In every case the source is closed, by its own method for that. No event loop is imported: the
asynchronous feeding works under any.

A *socket* gives messages, not pieces of a stream: each is one frame, and is never joined with the next one. Its owner
leaves the loop after a turn, asks for the next one, and loops again.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union

import msgspec

from wholecall.errors import Uncopyable
from wholecall.stream.parser import ToolCallParser

if TYPE_CHECKING:
    from wholecall.calls.output.events import Event

ChunkT = TypeVar("ChunkT")
Source = Union[Iterable[ChunkT], AbstractContextManager[Iterable[ChunkT]]]
AsyncSource = Union[AsyncIterable[ChunkT], AbstractAsyncContextManager[AsyncIterable[ChunkT]]]

_BYTES = (bytes, bytearray, memoryview, str)  # `feed` rejects text, with advice
_CLOSERS = ("close", "__exit__")
_ASYNC_CLOSERS = ("aclose", "close", "__aexit__")


class _Message(msgspec.Struct):
    """One message of a socket, in the form of an SDK's wrapper for an event."""

    data: str


def is_synchronous(source: object) -> bool:
    """Return whether a source can be read without `await`."""
    return gives_chunks(source, "__iter__") or hasattr(source, "__enter__")


def is_asynchronous(source: object) -> bool:
    """Return whether a source can be read with `await`."""
    return gives_chunks(source, "__aiter__") or hasattr(source, "__aenter__")


def gives_chunks(source: object, method: str) -> bool:
    """Return whether iterating over an object yields chunks: a single payload or a whole response does not."""
    return (
        hasattr(source, method)
        and not isinstance(source, (*_BYTES, dict))
        and not hasattr(type(source), "model_fields")
    )


def is_socket(source: object) -> bool:
    """Return whether an object is a connection that gives messages, such as those of `websockets` and of SDKs."""
    return hasattr(source, "recv") and hasattr(source, "send")


def _message_text(message: bytes | bytearray | memoryview | str) -> str | None:
    """Return the text of a socket's message, None for a binary one that is not JSON: sound."""
    if isinstance(message, str):
        return message
    data = bytes(message)
    return data.decode("utf-8", "replace") if data.lstrip().startswith((b"{", b"[")) else None


def advice(source: object) -> str:
    """Return the message for an object that is not a source."""
    wrong = type(source).__name__
    if isawaitable(source):
        return f"this is a {wrong}; await it, and read the stream that it gives"
    return (
        f"a {wrong} is not a stream of chunks; give an iterable of bytes or of an SDK's chunks, or a context manager"
        " that gives one; for one payload or a whole response there is ToolCallParser.feed_event"
    )


class _Common(Uncopyable, Generic[ChunkT]):
    """The shared part of both feedings.

    Attributes:
        parser: the parser that is fed.
        events: the events of the last chunk, or of the end of the source.
        stream: the source; once it is entered, the object that it returned.
        error: the exception that the source raised, if any.
        was_asked: whether a chunk was requested.
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
        """Whether no more chunks come: the source has ended or failed, or was closed."""
        return self._closed

    @property
    def is_kept(self) -> bool:
        """Whether the source outlives the loops over it: a socket that its owner opened."""
        return not self._entered and is_socket(self._source)

    def _feed(self, chunk: Any) -> None:
        self._began = True
        if not isinstance(chunk, _BYTES):
            self.events = self.parser.feed_event(chunk)
        elif not is_socket(self.stream):
            self.events = self.parser.feed(chunk)  # type: ignore[arg-type] # it rejects text, with advice
        else:
            text = _message_text(chunk)
            self.events = [] if text is None else self.parser.feed_event(_Message(text))

    def _fail(self, error: Exception) -> None:
        """Report to the parser that the source raised, and attach the turn to the exception.

        If the source yielded nothing, no part of the stream is left: the exception propagates without events.
        """
        said = str(error)
        left = self.parser.fail(type(error).__name__ + (f": {said}" if said else ""))
        self.events = left if self._began else []
        self.error = error
        with suppress(AttributeError, TypeError):  # of a class that takes no attributes
            error.turn = self.parser.turn  # type: ignore[attr-defined]

    def _closing(self, closers: tuple[str, ...], error: BaseException | None) -> Any:
        """Abort the parser unless it is closed; close the source, and return the awaitable for that, if any."""
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
    """A reader of a source into a parser; an iterator of the chunks."""

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
        """Return the iterator of the source, which is entered first if necessary.

        Raises:
            TypeError: the source is not readable.
        """
        if self._chunks is None:
            source = self._source
            if not gives_chunks(source, "__iter__"):
                source = self.enter()
            self._chunks = iter(source)
        return self._chunks

    def enter(self) -> Any:
        """Enter the source, a context manager, and return its object.

        Raises:
            TypeError: it is not a context manager.
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
            error: the exception that ended it, if any.
        """
        self._closing(_CLOSERS, error)


class AsyncFeeding(_Common[ChunkT]):
    """A reader of an asynchronous source into a parser; an asynchronous iterator of the chunks."""

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
