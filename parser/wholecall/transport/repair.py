"""The transports: they wrap another one, of httpx or of httpx2, and repair what it brings.

Theory of operation. Nothing is touched but the bodies of answers to a POST to an endpoint for tool calls: event
streams, also where they are labelled `text/plain`. Such a body is decoded by the library itself, read a chunk at a
time when the client asks for one, and handed on through a `Repairer`. Which of the two libraries it is, is read from
the wrapped transport's class.

Leaving a response early aborts the repairer and closes the connection. An error of the connection passes, after the
calls that were open were dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from wholecall.limits import Limits
from wholecall.repairing import Repairer
from wholecall.transport.bodies import AsyncBody, Body
from wholecall.transport.exchange import Exchange, News, RepairOptions, refuse_coroutines
from wholecall.transport.library import Library, body_type, library_of, pool_limits, probes

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

__all__ = ["AsyncRepairTransport", "RepairTransport"]

_ENDPOINTS: Final = ("/chat/completions", "/responses", "/messages")
_STREAMS: Final = frozenset({"text/event-stream", "text/plain"})
_ID: Final = "x-wholecall-id"


class RepairTransport:
    """A synchronous transport that repairs event streams with tool calls.

    Args:
        inner: the transport that does the work, of httpx or httpx2; None makes an `HTTPTransport` with as many
            connections as the SDKs' own clients have, 1,000.
        library: `"httpx"` or `"httpx2"`, where the class of `inner` does not show it; None takes what is installed,
            httpx2 before httpx.
        options: `tools`, `live_arguments`, `withheld`, `policy` and `limits`, as for `Repairer`; `on_dropped(drop,
            exchange)`, `on_fault(fault, exchange)` and `on_repaired(report, exchange)` are called with what happens in
            an `Exchange`, and may be asynchronous under `AsyncRepairTransport`; what they raise goes to whoever reads
            the body. `counters` adds up what becomes of all exchanges. `limits` may be the library's, where `inner`
            is None: then it bounds connections.

    Raises:
        ImportError: the library is not installed; `pip install wholecall[http]` brings it.
        TypeError, ValueError: what `tools` holds describes no tools; see `Tools`. A function would have to be awaited,
            `withheld` is none of its words, or `limits` bounds connections that `inner` has made already.
    """

    def __init__(
        self, inner: Any = None, *, library: Library | None = None, **options: Unpack[RepairOptions]
    ) -> None:
        refuse_coroutines(options)
        self._http = library_of(inner, library)
        self._inner = _inner(inner, self._http, "HTTPTransport", options)
        self._options = _checked(options)

    def __repr__(self) -> str:
        return f"<RepairTransport {self._inner!r}>"

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    def handle_request(self, request: Any) -> Any:
        """Send a request; return the response, with a repaired body if it is an event stream of tool calls."""
        response = self._inner.handle_request(request)
        if not _is_concerned(request, response):
            return response
        response.request, exchange = request, Exchange.of(request)
        make = body_type(self._http, Body, "SyncByteStream")
        body = make(self._http, response, response.iter_bytes(), News(self._options, exchange))
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
        self._options = _checked(options)

    def __repr__(self) -> str:
        return f"<AsyncRepairTransport {self._inner!r}>"

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._inner.__aexit__(kind, error, trace)

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request; return the response, with a repaired body if it is an event stream of tool calls."""
        response = await self._inner.handle_async_request(request)
        if not _is_concerned(request, response):
            return response
        response.request, exchange = request, Exchange.of(request)
        make = body_type(self._http, AsyncBody, "AsyncByteStream")
        body = make(self._http, response, response.aiter_bytes(), News(self._options, exchange))
        return _with_body(self._http, response, body, exchange)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


# What both transports share.


def _inner(inner: Any, http: Any, kind: str, options: RepairOptions) -> Any:
    """Return the transport to wrap; one that is made here takes the limits of connections out of the options."""
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


def _checked(options: RepairOptions) -> RepairOptions:
    """Return the options; those that no repairer takes are refused here, not in the middle of a request."""
    Repairer(**News(options, Exchange(id="", method="", url="")).options)
    return options


def _is_concerned(request: Any, response: Any) -> bool:
    """Whether a response may be an event stream from an endpoint for tool calls."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return bool(
        response.status_code == 200
        and kind in _STREAMS
        and request.method == "POST"
        and request.url.path.rstrip("/").endswith(_ENDPOINTS)
    )


def _with_body(http: Any, response: Any, body: Any, exchange: Exchange) -> Any:
    """Return the response with another body, which is decoded and of unknown length."""
    headers = response.headers.copy()
    for name in ("content-encoding", "content-length"):
        headers.pop(name, None)
    headers[_ID] = exchange.id
    return http.Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)
