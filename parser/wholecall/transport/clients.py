"""HTTP clients for SDKs, made as the SDKs make theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wholecall import Limits
from wholecall.transport.exchange import RepairOptions
from wholecall.transport.library import Library, keep_alive, library_of, pool_limits, timeout
from wholecall.transport.repair import AsyncRepairTransport, RepairTransport

__all__ = ["async_client", "client"]


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
