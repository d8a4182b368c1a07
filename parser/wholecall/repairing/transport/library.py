"""The two HTTP libraries that SDKs use, httpx and httpx2: which one is used, and how its objects are made.

They are one API under two names. Neither is imported before a transport is made. SDKs make their own clients with other
values than the libraries' defaults: 1,000 connections instead of 100, ten minutes instead of five seconds, redirects
that are followed, and probes that keep connections alive through silences. Sources: openai-python and
anthropic-sdk-python, `_constants.py` and `_base_client.py`.
"""

from __future__ import annotations

import socket
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal

Library = Literal["httpx", "httpx2"]

_LIBRARIES: Final[tuple[Library, ...]] = ("httpx2", "httpx")  # the SDKs' present library first
_MOST_CONNECTIONS: Final = 1000
_MOST_IDLE: Final = 100
_SECONDS: Final = 600.0
_SECONDS_TO_CONNECT: Final = 5.0
# How a silent connection is probed, as far as the system knows these: seconds, and how often.
_PROBES: Final = {"TCP_KEEPINTVL": 60, "TCP_KEEPCNT": 5, "TCP_KEEPIDLE": 60}


def library_of(inner: Any, library: Library | None) -> Any:
    """Return the library that a transport belongs to.

    Raises:
        ImportError: none is installed.
    """
    roots = {kind.__module__.partition(".")[0] for kind in type(inner).__mro__}
    for name in _LIBRARIES:
        if (library is None and name in roots) or library == name:
            return import_module(name)
    for name in _LIBRARIES:
        if find_spec(name) is not None:
            return import_module(name)
    raise ImportError("the transport needs httpx2 or httpx: pip install wholecall[http]")


@cache
def body_type(http: Any, body: type[Any], base: str) -> Any:
    """Return a type of body that is one of the library's byte streams; its clients insist on that."""
    return type(f"Repaired{base}", (body, getattr(http, base)), {})


def pool_limits(http: Any) -> Any:
    """Return the numbers of connections of the SDKs' own clients."""
    return http.Limits(max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_IDLE)


def timeout(http: Any) -> Any:
    """Return the timeouts of the SDKs' own clients."""
    return http.Timeout(_SECONDS, connect=_SECONDS_TO_CONNECT)


def probes() -> list[tuple[int, int, int]]:
    """Return the socket options that keep a silent connection alive, and detect when it is dead."""
    known = [(name, value) for name, value in _PROBES.items() if hasattr(socket, name)]
    options = [(socket.IPPROTO_TCP, int(getattr(socket, name)), value) for name, value in known]
    if sys.platform == "darwin" and not hasattr(socket, "TCP_KEEPIDLE"):
        options.append((socket.IPPROTO_TCP, getattr(socket, "TCP_KEEPALIVE", 0x10), _PROBES["TCP_KEEPIDLE"]))
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *options]


def keep_alive(transport: Any) -> None:
    """Give these socket options to a client's own transport, where it has none.

    A client has no option for them, and a client that is given a transport instead loses its proxies.
    """
    pool = getattr(transport, "_pool", None)
    if getattr(pool, "_socket_options", ()) is None:
        pool._socket_options = probes()  # type: ignore[union-attr]  # noqa: SLF001
