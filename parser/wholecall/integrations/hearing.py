"""The calls that the transport withholds from a framework's model, told to the framework's own hook.

Theory of operation. A hook of a framework runs round a request of its model, and knows neither the request of HTTP nor
its answer. It opens a `Hearing`, and `put_under` puts a transport under the HTTP clients of the model's SDK, once. A
request that is sent while a hearing is open belongs to it: its answer is repaired with the hearing's options, and each
withheld call is noted there, before the SDK sees the end of the turn. A request that is sent outside of any hearing
passes unchanged, because SDKs share their HTTP clients.

The hearing is found by a context variable, which tasks and the executors of asyncio inherit. From the request on the
answer holds it itself, and may be read anywhere.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, TypeVar, cast

from wholecall import ToolCallDropped
from wholecall.history import format_named
from wholecall.repairing.notices import Exchange, Notices
from wholecall.repairing.transport.repair import (
    AsyncRepairTransport,
    RepairOptions,
    RepairTransport,
    checked,
    refuse_coroutines,
)

# Where models keep the client of their SDK, that its HTTP client, and the depth at which that is found.
_WAYS: Final = (
    *("root_client", "root_async_client", "client", "async_client", "_client", "_async_client", "_aclient"),
    *("api_client", "_api_client", "_httpx_client", "_async_httpx_client", "wrapped"),
)
_DEPTH: Final = 5
_LIBRARIES: Final = ("httpx", "httpx2")
# The only argument of a withheld call in messages, as histories name it.
UNREAD: Final = format_named("anthropic").wrapper
_END: Final = object()
_T = TypeVar("_T")


class Hearing:
    """The withheld calls of the requests of a framework's model.

    Args:
        options: those of the transport, but for `withheld`: the model is told.
        raises: whether a turn with nothing but withheld calls ends with an error even if the model is asked again;
            for a hook that may not run.

    Attributes:
        dropped: the calls of the last answer that were withheld and can be answered.
        is_last: whether the model is not asked again.
        hears: is called with each of these calls beside `on_dropped`; None for nothing.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`.
    """

    def __init__(self, options: RepairOptions, *, raises: bool = False) -> None:
        if "withheld" in options:
            raise TypeError("withheld is no option here: the model is told of each withheld call")
        self._options = checked(options)
        self._raises = raises
        self.is_last = False
        self.dropped: list[ToolCallDropped] = []
        self.hears: Callable[[ToolCallDropped], object] | None = None

    def another(self) -> Hearing:
        """Return a hearing with the same options, for requests that run beside these."""
        return Hearing(self._options, raises=self._raises)

    def begin(self, *, is_last: bool = False) -> None:
        """Begin anew, for another request.

        Args:
            is_last: whether the model is not asked again: a turn without a whole call then ends with an error.
        """
        self.is_last = is_last
        self.dropped.clear()

    def open(self) -> None:
        """Hear all that this task sends from now on, until `close`."""
        _OPEN.set(self)

    def close(self) -> None:
        """Hear no further requests."""
        if _OPEN.get() is self:
            _OPEN.set(None)

    def listening(self, *, is_last: bool = False) -> _Listening:
        """Hear the requests that are sent within the block.

        An exception after which the model is asked again ends the block, and is not raised.

        Args:
            is_last: see `begin`.
        """
        self.begin(is_last=is_last)
        return _Listening(self)

    @contextmanager
    def sending(self) -> Generator[None]:
        """Hear the requests that are sent within the block, whose exceptions pass."""
        before = _OPEN.get()
        _OPEN.set(self)
        try:
            yield
        finally:
            _OPEN.set(before)

    def heard(self, events: Iterable[_T]) -> Iterator[_T]:
        """Yield the events of a stream; the request is sent when the first one is asked for.

        An exception after which the model is asked again ends the stream, and is not raised.
        """
        steps = iter(events)
        try:
            while (event := self._next(steps)) is not _END:
                yield cast("_T", event)
        except Exception:
            if not self.goes_on:
                raise

    async def aheard(self, events: AsyncIterable[_T]) -> AsyncIterator[_T]:
        """Do the same, asynchronously."""
        steps = aiter(events)
        try:
            while (event := await self._anext(steps)) is not _END:
                yield cast("_T", event)
        except Exception:
            if not self.goes_on:
                raise

    def _next(self, steps: Iterator[object]) -> object:
        with self.sending():
            return next(steps, _END)

    async def _anext(self, steps: AsyncIterator[object]) -> object:
        with self.sending():
            return await anext(steps, _END)

    @property
    def goes_on(self) -> bool:
        """Whether calls were withheld, and the model is asked again: an exception of the SDK is no reason to stop."""
        return bool(self.dropped) and not self.is_last

    def take(self) -> list[ToolCallDropped]:
        """Return the withheld calls, and forget them."""
        taken = list(self.dropped)
        self.dropped.clear()
        return taken

    def notices(self, exchange: Exchange, *, legacy: bool | None, waits: bool) -> Notices:
        """Return the notices of an exchange, whose withheld calls are noted here as soon as they are known.

        Args:
            exchange: a request and its answer.
            legacy: whether it asks with functions.
            waits: whether a function of the caller can be awaited.
        """
        if not waits:
            refuse_coroutines(self._options)
        withheld: Any = {} if self.is_last or self._raises else {"withheld": "end"}
        notices = Notices({**self._options, **withheld, "legacy": legacy}, exchange)
        passed_on = notices.options.get("on_dropped")
        self.dropped.clear()  # an answer that was given up has been followed by another request

        def note(drop: ToolCallDropped) -> None:
            if drop.is_answerable:
                self.dropped.append(drop)
                if self.hears is not None:
                    self.hears(drop)
            if passed_on is not None:
                passed_on(drop)

        notices.options["on_dropped"] = note
        return notices


_OPEN: ContextVar[Hearing | None] = ContextVar("wholecall_hearing", default=None)


class _Listening:
    """A block within which a hearing hears; type checkers see that it may end an exception.

    Args:
        hearing: the hearing.
    """

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self._before: Hearing | None = None

    def __enter__(self) -> None:
        self._before = _OPEN.get()
        _OPEN.set(self._hearing)

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> bool:
        _OPEN.set(self._before)
        return isinstance(error, Exception) and self._hearing.goes_on


class _Transport(RepairTransport):
    """A transport that repairs what is heard, and passes all else to the one that was there before."""

    def __init__(self, before: Any) -> None:
        super().__init__(_bare(before))
        self._before = before

    def handle_request(self, request: Any) -> Any:
        if _OPEN.get() is None:
            return self._before.handle_request(request)
        return super().handle_request(request)

    def _notices(self, request: Any, exchange: Exchange) -> Notices:
        return _heard(super()._notices(request, exchange), exchange, waits=False)


class _AsyncTransport(AsyncRepairTransport):
    """The same, asynchronously."""

    def __init__(self, before: Any) -> None:
        super().__init__(_bare(before))
        self._before = before

    async def handle_async_request(self, request: Any) -> Any:
        if _OPEN.get() is None:
            return await self._before.handle_async_request(request)
        return await super().handle_async_request(request)

    def _notices(self, request: Any, exchange: Exchange) -> Notices:
        return _heard(super()._notices(request, exchange), exchange, waits=True)


def _bare(transport: Any) -> Any:
    """Return a transport that repairs nothing."""
    return transport.inner if isinstance(transport, (RepairTransport, AsyncRepairTransport)) else transport


def _heard(notices: Notices, exchange: Exchange, *, waits: bool) -> Notices:
    hearing = _OPEN.get()
    if hearing is None:
        return notices
    return hearing.notices(exchange, legacy=notices.options.get("legacy"), waits=waits)


def put_under(model: object) -> None:
    """Put the transport under the HTTP clients of a model, where it is not there yet.

    Args:
        model: a framework's model, a client of an SDK, or a client of httpx or httpx2.

    Raises:
        TypeError: no client of httpx or httpx2 was found in it.
    """
    found = list(_clients(model, _DEPTH, set()))
    if not found:
        kind = type(model)
        raise TypeError(f"{kind.__module__}.{kind.__qualname__} has no client of httpx or httpx2 to go under")
    for client in found:
        wrap = _over_async if hasattr(client, "aclose") else _over
        client._transport = wrap(client._transport)  # noqa: SLF001 - as the transport's own clients do it
        client._mounts = {  # noqa: SLF001 - as above
            pattern: inner and wrap(inner)
            for pattern, inner in client._mounts.items()  # noqa: SLF001 - as above
        }


def _over(before: Any) -> _Transport:
    return before if isinstance(before, _Transport) else _Transport(before)


def _over_async(before: Any) -> _AsyncTransport:
    return before if isinstance(before, _AsyncTransport) else _AsyncTransport(before)


def _clients(holder: object, depth: int, seen: set[int]) -> Iterator[Any]:
    """Yield the HTTP clients that an object leads to."""
    if holder is None or id(holder) in seen:
        return
    seen.add(id(holder))
    if _is_client(holder):
        yield holder
        return
    for way in _WAYS if depth else ():
        yield from _clients(getattr(holder, way, None), depth - 1, seen)


def _is_client(holder: object) -> bool:
    roots = {kind.__module__.partition(".")[0] for kind in type(holder).__mro__}
    return hasattr(holder, "_transport") and hasattr(holder, "_mounts") and not roots.isdisjoint(_LIBRARIES)


class Told(NamedTuple):
    """A withheld call as the next request says it.

    Attributes:
        id: its own, or a new one where it has none, or where that is taken.
        name: of its tool.
        arguments: an object that holds the text that arrived under `UNREAD`: not its own, even if it could be read,
            so that no tool is run with it.
        says: why it was not run, and that it must be sent again.
        reason: the word for why it was withheld.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    says: str
    reason: str


def attempts_of(attempts: int) -> int:
    """Return how often a model may be asked.

    Raises:
        ValueError: less than once.
    """
    if attempts < 1:
        raise ValueError(f"attempts is at least 1, not {attempts}")
    return attempts


def told(dropped: Iterable[ToolCallDropped], taken: Iterable[str] = ()) -> list[Told]:
    """Return withheld calls as the next request says them.

    Args:
        dropped: the calls.
        taken: the ids of the other calls of their turn.
    """
    ids, found = set(taken), list[Told]()
    for drop in dropped:
        id = drop.id if drop.id and drop.id not in ids else f"call_{uuid.uuid4().hex[:24]}"
        ids.add(id)
        arguments = {UNREAD: drop.raw_arguments}
        found.append(Told(id, drop.name or "", arguments, drop.describe(), drop.reason))
    return found
