"""Wrap a stream in one line: its chunks pass unchanged, and its calls are collected.

Theory of operation. A wrapped stream is read like the stream itself; each chunk that passes is also fed to a parser.
The wrapper holds the events of the last chunk and the results so far (`found`). It has the attributes of the stream
that it wraps, and is closed when the loop over it is left, however it is left; a socket that its owner opened stays
open, and the next loop goes on. See `sources` for how streams are opened and closed, `iterate` for the events instead
of the chunks.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.stream.options import ParserOptions, for_turns
from wholecall.stream.parser import ToolCallParser
from wholecall.stream.shells import sources
from wholecall.stream.shells.found import Found

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from wholecall.calls.output.events import Event
    from wholecall.calls.tools.tool import AnyTools, TypedTools

ChunkT = TypeVar("ChunkT")


class _Wrapper(Found[ArgsT], Generic[ChunkT, ArgsT]):
    """The results of the chunks that have passed; all other attributes are the stream's own."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # names that Python looks up by itself, even before there is a stream
            raise AttributeError(name)
        return getattr(self._feeding.stream, name)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {type(self._feeding.stream).__name__} turns={len(self._parser.turns)}>"
        )

    @property
    def events(self) -> tuple[Event[ArgsT], ...]:
        """The events of the last chunk; after the last chunk, the events of the end of the stream.

        With `live=True` or `watch` there are events for pieces of text and arguments as well.

        Raises:
            StreamUnread: nothing was read of the stream; to iterate over events, use `wholecall.events`.
        """
        return self._events()


class WrappedStream(_Wrapper[ChunkT, ArgsT]):
    """A stream whose chunks pass unchanged; see `wrap`."""

    _feeding: sources.Feeding[ChunkT]

    def __init__(self, source: Any, parser: ToolCallParser[ArgsT]) -> None:
        super().__init__(sources.Feeding(parser, source))

    def __iter__(self) -> Iterator[ChunkT]:
        return self._feeding if self._feeding.is_kept else self._closing()

    def _closing(self) -> Generator[ChunkT]:
        """Yield the chunks, and close the stream however the loop is left."""
        try:
            yield from self._feeding
        finally:
            self.close()

    def __next__(self) -> ChunkT:
        return next(self._feeding)

    def __enter__(self) -> Self:
        self._feeding.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._feeding.close(error)

    def close(self) -> None:
        """Close the stream; unless it was read to its end, open calls are dropped."""
        self._feeding.close()


class AsyncWrappedStream(_Wrapper[ChunkT, ArgsT]):
    """An asynchronous stream whose chunks pass unchanged; see `wrap`."""

    _feeding: sources.AsyncFeeding[ChunkT]
    _guarded = False  # by an `async with`

    def __init__(self, source: Any, parser: ToolCallParser[ArgsT]) -> None:
        super().__init__(sources.AsyncFeeding(parser, source))

    def __aiter__(self) -> AsyncIterator[ChunkT]:
        return self._feeding if self._guarded or self._feeding.is_kept else self._guarding()

    async def _guarding(self) -> AsyncGenerator[ChunkT]:
        """Yield the chunks; a generator, because event loops close generators that a loop has left."""
        try:
            async for chunk in self._feeding:
                yield chunk
        finally:
            await self.aclose()

    async def __anext__(self) -> ChunkT:
        return await self._feeding.__anext__()

    async def __aenter__(self) -> Self:
        self._guarded = True
        await self._feeding.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._feeding.close(error)

    async def aclose(self) -> None:
        """Close the stream; unless it was read to its end, open calls are dropped."""
        await self._feeding.close()

    async def close(self) -> None:
        """Do the same as `aclose`, under the SDKs' name for it."""
        await self.aclose()


class _EitherStream(WrappedStream[ChunkT, ArgsT]):
    """A stream that an SDK offers in both ways, as litellm does; the way it is read decides its kind."""

    def __init__(self, source: Any, parser: ToolCallParser[ArgsT]) -> None:
        super().__init__(source, parser)
        self._asynchronous: AsyncWrappedStream[ChunkT, ArgsT] = AsyncWrappedStream(source, parser)
        self._join(self._asynchronous)

    def __aiter__(self) -> AsyncIterator[ChunkT]:
        return self._asynchronous.__aiter__()

    async def __anext__(self) -> ChunkT:
        return await self._asynchronous.__anext__()

    async def __aenter__(self) -> Self:
        await self._asynchronous.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._asynchronous.__aexit__(kind, error, trace)

    async def aclose(self) -> None:
        """Close the stream that is read with `await`."""
        await self._asynchronous.aclose()


@overload
def wrap(
    stream: sources.Source[ChunkT],
    dialect: str = ...,
    *,
    tools: None = None,
    **options: Unpack[ParserOptions],
) -> WrappedStream[ChunkT, dict[str, Any]]: ...
@overload
def wrap(
    stream: sources.Source[ChunkT],
    dialect: str = ...,
    *,
    tools: TypedTools[ArgsT],
    **options: Unpack[ParserOptions],
) -> WrappedStream[ChunkT, ArgsT]: ...
@overload
def wrap(
    stream: sources.Source[ChunkT], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
) -> WrappedStream[ChunkT, Any]: ...
@overload
def wrap(
    stream: sources.AsyncSource[ChunkT],
    dialect: str = ...,
    *,
    tools: None = None,
    **options: Unpack[ParserOptions],
) -> AsyncWrappedStream[ChunkT, dict[str, Any]]: ...
@overload
def wrap(
    stream: sources.AsyncSource[ChunkT],
    dialect: str = ...,
    *,
    tools: TypedTools[ArgsT],
    **options: Unpack[ParserOptions],
) -> AsyncWrappedStream[ChunkT, ArgsT]: ...
@overload
def wrap(
    stream: sources.AsyncSource[ChunkT],
    dialect: str = ...,
    *,
    tools: AnyTools,
    **options: Unpack[ParserOptions],
) -> AsyncWrappedStream[ChunkT, Any]: ...
def wrap(
    stream: Any, dialect: str = "auto", *, tools: Any = None, **options: Unpack[ParserOptions]
) -> WrappedStream[Any, Any] | AsyncWrappedStream[Any, Any]:
    """Return the stream, with a parser that reads its chunks as they pass.

    ::

        stream = wrap(client.chat.completions.create(model=..., messages=..., tools=..., stream=True))
        for chunk in stream:
            ...  # the loop that you have
        for call in stream.calls:
            ...  # whole calls; `stream.dropped` says what is none, and why

    With `live=True` arguments can be shown while they arrive: `stream.events` holds the events of the last chunk, and
    `stream.partial` the known arguments of the calls in progress::

        stream = wrap(client.chat.completions.create(..., stream=True), live=True)
        for chunk in stream:
            for started, partial in stream.partial.items():
                ...  # started.name, partial.value: to show, never to execute

    A loop that is left early, by `break`, by an exception or by cancellation, drops the open calls and closes the
    stream. An asynchronous stream needs `async with wrap(stream) as stream:` to be closed immediately: Python leaves
    asynchronous loops without a notification, and the event loop closes them later.

    A connection of a socket (an SDK's, or one of `websockets`) has many turns: a loop over it that is left stays
    without effect, and the next loop goes on; `turns[-1]` is the turn that was read last. Each of its messages is one
    event.

    Args:
        stream: an SDK's object for a streamed response, synchronous or asynchronous: an iterable of its chunks, of
            dicts or of bytes, or a context manager that returns one; or a connection that is iterated for messages.
        dialect: as for `ToolCallParser`, like all following arguments.
        tools: the tools that were given to the model.
        options: `live`, `watch`, `text`, `framing`, `policy` and `limits`.

    Returns:
        A stream of the same chunks, with all attributes of the stream and `turn`, `turns`, `calls`, `dropped`, `events`
        and `partial`, which raise `StreamUnread` until their value exists.

    Raises:
        TypeError: this is not a stream: a whole response, or something that has to be awaited first.
        UnknownDialect: the dialect or the framing is not known.
        ValueError, ImportError: the content of `tools` does not describe tools.
    """
    kinds = (sources.is_synchronous(stream), sources.is_asynchronous(stream))
    if not any(kinds):
        raise TypeError(sources.advice(stream))
    wrapper = _WRAPPERS[kinds]
    return wrapper(stream, ToolCallParser(dialect, tools=tools, **for_turns(options)))


_WRAPPERS: dict[tuple[bool, bool], type[WrappedStream[Any, Any] | AsyncWrappedStream[Any, Any]]] = {
    (True, False): WrappedStream,
    (False, True): AsyncWrappedStream,
    (True, True): _EitherStream,
}
