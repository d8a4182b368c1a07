"""Transports that repair the answers of another one, of httpx or of httpx2, and HTTP clients with such transports.

Theory of operation. Only the bodies of answers to a POST to an endpoint for tool calls are changed. An event stream is
passed through a `Repairer` when the client asks for a piece of it. A body labelled as JSON or as text may be a stream,
too, and its first byte decides: a JSON body is read to its end and judged as a whole (`bodies`). If it becomes an error
it gets the status of a bad gateway, for which SDKs raise, and the header that keeps them from asking again. The class
of the wrapped transport shows which of the two libraries is used. Clients are made as the SDKs make theirs.

Leaving a response early aborts the repairer and closes the connection. An error of the connection passes, after open
calls were dropped.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from inspect import iscoroutinefunction
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, Union

from wholecall import Limits, Tools
from wholecall.repairing import RepairedBody, Repairer, answers
from wholecall.repairing.notices import CALLBACKS, Exchange, Notices, Wanted
from wholecall.repairing.transport.bodies import AsyncBody, Body, Gathering, apieces, pieces
from wholecall.repairing.transport.library import (
    Library,
    body_type,
    keep_alive,
    library_of,
    pool_limits,
    probes,
    timeout,
)

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack


class PoolLimits(Protocol):
    """The `Limits` of httpx or httpx2: how many connections there may be."""

    max_connections: int | None
    max_keepalive_connections: int | None


class RepairOptions(Wanted, total=False):
    """The options of the transports: those of `Wanted`, and `limits`, which bounds a stream, or connections.

    Its type shows which of the two it is.
    """

    limits: Union[Limits, PoolLimits]


def refuse_coroutines(options: RepairOptions) -> None:
    """Raise `TypeError` if a function would have to be awaited."""
    for name in CALLBACKS:
        if iscoroutinefunction(options.get(name)):
            raise TypeError(f"{name} cannot be awaited here; AsyncRepairTransport and async_client await it")


class RepairTransport:
    """A synchronous transport that repairs event streams with tool calls.

    Args:
        inner: the transport that does the work, of httpx or httpx2; None makes an `HTTPTransport` with as many
            connections as the SDKs' own clients have, 1,000.
        library: `"httpx"` or `"httpx2"`, where the class of `inner` does not show it; None takes the installed one,
            httpx2 before httpx.
        options: `tools`, `live_arguments`, `withheld`, `policy` and `limits`, as for `Repairer`; `on_dropped(drop)`,
            `on_fault(fault)` and `on_repaired(report)` are called with these events (and with the `Exchange`, if they
            require a second argument, or call it `exchange`), and may be asynchronous under `AsyncRepairTransport`;
            their exceptions go to the reader of the body. `counters` adds up the results of all exchanges. `limits` may
            be the library's, where `inner` is None: then it bounds connections.

    Raises:
        ImportError: the library is not installed; `pip install wholecall[http]` brings it.
        TypeError, ValueError: `tools` does not describe tools; see `Tools`. A function would have to be awaited,
            `withheld` is not one of its words, or `limits` bounds connections that `inner` has made already.
    """

    def __init__(
        self, inner: Any = None, *, library: Library | None = None, **options: Unpack[RepairOptions]
    ) -> None:
        refuse_coroutines(options)
        self._http = library_of(inner, library)
        self._inner = _inner(inner, self._http, "HTTPTransport", options)
        self._options = checked(options)

    def __repr__(self) -> str:
        return f"<RepairTransport {self._inner!r}>"

    @property
    def inner(self) -> Any:
        """The transport that does the work."""
        return self._inner

    def _notices(self, request: Any, exchange: Exchange) -> Notices:
        return Notices({**self._options, "legacy": _legacy(self._http, request)}, exchange)

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    def handle_request(self, request: Any) -> Any:
        """Send a request; return the response, with a repaired body if it may hold tool calls."""
        response = self._inner.handle_request(request)
        kind = _kind(request, response)
        if kind is None:
            return response
        response.request, exchange = request, Exchange.of(request)
        notices, chunks = self._notices(request, exchange), pieces(self._http, response)
        gathering = Gathering(notices)
        try:
            if kind != answers.EVENT_STREAM:
                gathering.gather(chunks)
            whole = gathering.judged()
            notices.tell()
        except BaseException:
            response.close()
            raise
        if whole is not None:
            response.close()
            return _with_whole(self._http, response, whole, exchange)
        make = body_type(self._http, Body, "SyncByteStream")
        body = make(self._http, response, chain((gathering.data,), chunks), notices)
        return _with_body(self._http, response, body, exchange)

    def close(self) -> None:
        """Close the inner transport."""
        self._inner.close()


class AsyncRepairTransport:
    """An asynchronous transport that repairs event streams with tool calls; see `RepairTransport`."""

    def __init__(
        self, inner: Any = None, *, library: Library | None = None, **options: Unpack[RepairOptions]
    ) -> None:
        self._http = library_of(inner, library)
        self._inner = _inner(inner, self._http, "AsyncHTTPTransport", options)
        self._options = checked(options)

    def __repr__(self) -> str:
        return f"<AsyncRepairTransport {self._inner!r}>"

    @property
    def inner(self) -> Any:
        """The transport that does the work."""
        return self._inner

    def _notices(self, request: Any, exchange: Exchange) -> Notices:
        return Notices({**self._options, "legacy": _legacy(self._http, request)}, exchange)

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._inner.__aexit__(kind, error, trace)

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request; return the response, with a repaired body if it may hold tool calls."""
        response = await self._inner.handle_async_request(request)
        kind = _kind(request, response)
        if kind is None:
            return response
        response.request, exchange = request, Exchange.of(request)
        notices, chunks = self._notices(request, exchange), apieces(self._http, response)
        gathering = Gathering(notices)
        try:
            if kind != answers.EVENT_STREAM:
                await gathering.agather(chunks)
            whole = gathering.judged()
            await notices.atell()
        except BaseException:
            await response.aclose()
            raise
        if whole is not None:
            await response.aclose()
            return _with_whole(self._http, response, whole, exchange)
        make = body_type(self._http, AsyncBody, "AsyncByteStream")
        body = make(self._http, response, _achain(gathering.data, chunks), notices)
        return _with_body(self._http, response, body, exchange)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


# Shared by both transports.


def _inner(inner: Any, http: Any, kind: str, options: RepairOptions) -> Any:
    """Return the transport to wrap; a transport made here takes the connection limits out of the options."""
    limits = options.get("limits")
    is_pool = limits is not None and not isinstance(limits, Limits)
    if is_pool:
        options.pop("limits", None)
    if inner is None:
        made = limits if is_pool else pool_limits(http)
        return getattr(http, kind)(limits=made, socket_options=probes())
    if is_pool:
        raise TypeError("limits of connections belong to the inner transport; give them to that")
    return inner


def checked(options: RepairOptions) -> RepairOptions:
    """Return the options; invalid ones are refused here, not in the middle of a request.

    The tools are read here, once for all streams.
    """
    tools = options.get("tools")
    if tools is not None and not isinstance(tools, Tools):
        options = {**options, "tools": Tools(tools)}
    Repairer(**Notices(options, Exchange(id="", method="", url="")).options)
    return options


def _kind(request: Any, response: Any) -> str | None:
    """Return the type of a response that may hold tool calls, None of any other."""
    if not answers.asks_for_calls(request.method, request.url.path):
        return None
    return answers.kind_of(response.status_code, response.headers.get("content-type", ""))


def _legacy(http: Any, request: Any) -> bool | None:
    """Return whether a request lists functions in the older form; None for a streamed body."""
    try:
        body = request.content
    except http.RequestNotRead:
        return None
    return answers.asks_for_functions(body)


async def _achain(head: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    async for chunk in chunks:
        yield chunk


def _with_body(http: Any, response: Any, body: Any, exchange: Exchange) -> Any:
    """Return the response with another body, which is decoded and of unknown length."""
    headers = _headers(response, exchange)
    return http.Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)


def _with_whole(http: Any, response: Any, body: RepairedBody, exchange: Exchange) -> Any:
    """Return the response with a whole body, which may be an error."""
    headers, status = _headers(response, exchange), response.status_code
    if body.report.error is not None:
        status = answers.ERROR_STATUS
        headers.update(answers.ERROR_HEADERS)
    return http.Response(status, headers=headers, content=body.data)


def _headers(response: Any, exchange: Exchange) -> Any:
    headers = response.headers.copy()
    for name in answers.OUTDATED:
        headers.pop(name, None)
    headers[answers.ID] = exchange.id
    return headers


# Clients.


def client(*, library: Library | None = None, **options: Any) -> Any:
    """Return an HTTP client for an SDK: `OpenAI(http_client=wholecall.transport.client())`.

    An SDK takes clients of one library only: openai from 3 on and anthropic from 1 on take those of httpx2, earlier
    versions those of httpx. If both libraries are installed, `library="httpx"` chooses the older one; an SDK that got
    the wrong one raises a `TypeError`, "Invalid `http_client` argument".

    Args:
        library: `"httpx"` or `"httpx2"`; None takes the installed one, httpx2 before httpx.
        options: those of `RepairTransport` go there, all others to the library's `Client`; `limits` goes where its type
            belongs. The defaults are those of the SDKs' own clients: 1,000 connections, 100 of them kept while idle,
            600 seconds (5 to connect), redirects are followed, silent connections are probed.

    Returns:
        The library's `Client`. Proxies, certificates and the rest of its options work as they always do.

    Raises:
        ImportError: the library is not installed; `pip install wholecall[http]` brings it.
        TypeError, ValueError: as for `RepairTransport`.
    """
    http = library_of(None, library)
    repair, rest = _parted(http, options)
    return _wrapped(http.Client(**rest), RepairTransport, repair, _given(rest))


def async_client(*, library: Library | None = None, **options: Any) -> Any:
    """Return an asynchronous HTTP client for an SDK; see `client`, also for which library an SDK takes."""
    http = library_of(None, library)
    repair, rest = _parted(http, options)
    return _wrapped(http.AsyncClient(**rest), AsyncRepairTransport, repair, _given(rest))


def _parted(http: Any, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Separate the options of the repair from those of the client."""
    repair: dict[str, Any] = {}
    rest: dict[str, Any] = {"follow_redirects": True, "limits": pool_limits(http), "timeout": timeout(http)}
    for name, value in options.items():
        is_ours = isinstance(value, Limits) if name == "limits" else name in RepairOptions.__optional_keys__
        (repair if is_ours else rest)[name] = value
    return repair, rest


def _given(rest: dict[str, Any]) -> list[Any]:
    """Return the transports made by the caller."""
    return [rest.get("transport"), *(rest.get("mounts") or {}).values()]


def _wrapped(client: Any, transport: Callable[..., Any], repair: dict[str, Any], given: list[Any]) -> Any:
    """Wrap the client's own transports with the repair.

    They are wrapped in place, as tracing tools do it: passing a transport to a client instead loses the client's
    proxies and certificates.
    """

    def wrap(inner: Any) -> Any:
        if not any(inner is one for one in given):
            keep_alive(inner)
        return transport(inner, **repair)

    client._transport = wrap(client._transport)  # noqa: SLF001
    client._mounts = {  # noqa: SLF001
        pattern: inner and wrap(inner)
        for pattern, inner in client._mounts.items()  # noqa: SLF001
    }
    return client
