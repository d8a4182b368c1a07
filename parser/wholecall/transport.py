"""Repair under an unmodified SDK: an HTTP transport that makes event streams strict while they are read.

::

    import wholecall.transport

    client = openai.OpenAI(http_client=wholecall.transport.client())

Theory of operation. A transport wraps another one, of httpx or of httpx2, and touches nothing but the bodies of
event streams that answer a POST to an endpoint for tool calls. Such a body is decoded by the library itself, read a
chunk at a time when the client asks for one, and handed on through a `Repairer`. Which of the two libraries it is, is
read from the wrapped transport's class; neither is imported before a transport is made.

Leaving a response early aborts the repairer and closes the connection. An error of the connection passes, after the
calls that were open were dropped.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from wholecall.limits import Limits
from wholecall.repairing import Repairer

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from wholecall.output.events import ToolCallDropped
    from wholecall.policy import Policy
    from wholecall.tools import AnyTools

__all__ = ["AsyncRepairTransport", "RepairTransport", "async_client", "client"]

Library = Literal["httpx", "httpx2"]

_LIBRARIES: Final[tuple[Library, ...]] = ("httpx2", "httpx")  # the SDKs' present one first
_BROKEN_OFF: Final = "the connection was closed before the end of the stream"
_ENDPOINTS: Final = ("/chat/completions", "/responses", "/messages")


class RepairOptions(TypedDict, total=False):
    """The options of `Repairer` that the transports hand on."""

    tools: AnyTools | None
    live_arguments: bool
    on_dropped: Callable[[ToolCallDropped], object] | None
    policy: Policy
    limits: Limits


class RepairTransport:
    """A synchronous transport that repairs event streams with tool calls.

    Args:
        inner: the transport that does the work, of httpx or httpx2; None makes an `HTTPTransport`.
        library: `"httpx"` or `"httpx2"`, where the class of `inner` does not show it; None takes what is installed,
            httpx2 before httpx.
        options: `tools`, `live_arguments`, `on_dropped`, `policy` and `limits`, as for `Repairer`.

    Raises:
        ImportError: the library is not installed; `pip install wholecall[http]` brings it.
        TypeError, ValueError: what `tools` holds describes no tools; see `Tools`.
    """

    def __init__(
        self, inner: Any = None, *, library: Library | None = None, **options: Unpack[RepairOptions]
    ) -> None:
        self._http = _library_of(inner, library)
        self._inner = self._http.HTTPTransport() if inner is None else inner
        self._options = options
        Repairer(**options)  # tools that are none are refused here, not in the middle of a request

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
        response.request = request
        body = _body_type(self._http, _Body, "SyncByteStream")(response, Repairer(**self._options))
        return _with_body(self._http, response, body)

    def close(self) -> None:
        """Close the inner transport."""
        self._inner.close()


class AsyncRepairTransport:
    """An asynchronous transport that repairs event streams with tool calls; see `RepairTransport`."""

    def __init__(
        self, inner: Any = None, *, library: Library | None = None, **options: Unpack[RepairOptions]
    ) -> None:
        self._http = _library_of(inner, library)
        self._inner = self._http.AsyncHTTPTransport() if inner is None else inner
        self._options = options
        Repairer(**options)

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
        response.request = request
        body = _body_type(self._http, _AsyncBody, "AsyncByteStream")(response, Repairer(**self._options))
        return _with_body(self._http, response, body)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


def client(*, library: Library | None = None, **options: Any) -> Any:
    """Return an HTTP client to put under an SDK: `OpenAI(http_client=wholecall.transport.client())`.

    An SDK takes clients of one library only: openai from 3 on and anthropic from 1 on those of httpx2, the versions
    before those of httpx. Where both libraries are installed, `library="httpx"` chooses the older one; an SDK that
    got the wrong one raises a `TypeError`, "Invalid `http_client` argument".

    Args:
        library: `"httpx"` or `"httpx2"`; None takes what is installed, httpx2 before httpx.
        options: `tools`, `live_arguments`, `on_dropped`, `policy` and `limits` go to the `RepairTransport`, all
            others to the library's `Client`; `limits` goes where its type belongs. Redirects are followed unless
            the options say otherwise, as SDKs do.

    Returns:
        The library's `Client`. Proxies, certificates and the rest of its options work as they always do.

    Raises:
        ImportError: the library is not installed; `pip install wholecall[http]` brings it.
        TypeError, ValueError: what `tools` holds describes no tools; see `Tools`.
    """
    repair, rest = _parted(options)
    return _wrapped(_library_of(None, library).Client(**rest), RepairTransport, repair)


def async_client(*, library: Library | None = None, **options: Any) -> Any:
    """Return an asynchronous HTTP client to put under an SDK; see `client`, also for which library an SDK takes."""
    repair, rest = _parted(options)
    return _wrapped(_library_of(None, library).AsyncClient(**rest), AsyncRepairTransport, repair)


def _parted(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part the options of the repair from those of the client."""
    repair: dict[str, Any] = {}
    rest: dict[str, Any] = {"follow_redirects": True}
    for name, value in options.items():
        is_ours = isinstance(value, Limits) if name == "limits" else name in RepairOptions.__optional_keys__
        (repair if is_ours else rest)[name] = value
    return repair, rest


def _wrapped(client: Any, transport: Callable[..., Any], repair: dict[str, Any]) -> Any:
    """Put the repair round the transports that the client has made.

    They are wrapped where they are, as tracing tools do it: a transport that is given to a client instead loses
    the client's proxies and certificates.
    """
    client._transport = transport(client._transport, **repair)  # noqa: SLF001
    client._mounts = {  # noqa: SLF001
        pattern: inner and transport(inner, **repair)
        for pattern, inner in client._mounts.items()  # noqa: SLF001
    }
    return client


# What both transports share.


def _library_of(inner: Any, library: Library | None) -> Any:
    """Return the library that a transport belongs to."""
    roots = {kind.__module__.partition(".")[0] for kind in type(inner).__mro__}
    for name in _LIBRARIES:
        if (library is None and name in roots) or library == name:
            return import_module(name)
    for name in _LIBRARIES:
        if find_spec(name) is not None:
            return import_module(name)
    raise ImportError("the transport needs httpx2 or httpx: pip install wholecall[http]")


def _is_concerned(request: Any, response: Any) -> bool:
    """Whether a response is an event stream from an endpoint for tool calls."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return bool(
        response.status_code == 200
        and kind == "text/event-stream"
        and request.method == "POST"
        and request.url.path.rstrip("/").endswith(_ENDPOINTS)
    )


def _with_body(http: Any, response: Any, body: Any) -> Any:
    """Return the response with another body, which is decoded and of unknown length."""
    headers = response.headers.copy()
    for name in ("content-encoding", "content-length"):
        headers.pop(name, None)
    return http.Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)


@cache
def _body_type(http: Any, body: type[Any], base: str) -> Any:
    """Return a body that is one of the library's byte streams; its clients insist on that."""
    return type(f"Repaired{base}", (body, getattr(http, base)), {})


class _Body:
    """The repaired body of a response: nothing is read before it is asked for.

    Whoever iterates closes it too, as the libraries do at the end and when they are left.
    """

    def __init__(self, response: Any, repairer: Repairer) -> None:
        self._response = response
        self._repairer = repairer

    def __iter__(self) -> Iterator[bytes]:
        repairer = self._repairer
        try:
            for chunk in self._response.iter_bytes():
                if data := repairer.feed(chunk):
                    yield data
                if repairer.ended:
                    break
            if data := repairer.close():
                yield data
        finally:
            repairer.abort(_BROKEN_OFF)

    def close(self) -> None:
        """Drop what is open, and close the connection."""
        try:
            self._repairer.abort(_BROKEN_OFF)
        finally:
            self._response.close()


class _AsyncBody:
    """The same, asynchronous."""

    def __init__(self, response: Any, repairer: Repairer) -> None:
        self._response = response
        self._repairer = repairer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        repairer = self._repairer
        try:
            async for chunk in self._response.aiter_bytes():
                if data := repairer.feed(chunk):
                    yield data
                if repairer.ended:
                    break
            if data := repairer.close():
                yield data
        finally:
            repairer.abort(_BROKEN_OFF)

    async def aclose(self) -> None:
        """Drop what is open, and close the connection."""
        try:
            self._repairer.abort(_BROKEN_OFF)
        finally:
            await self._response.aclose()
