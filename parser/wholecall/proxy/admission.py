"""Admit a request: the checks before any part of it is forwarded.

Theory of operation. A web page can make a browser ask a local proxy under the page's own host name, which points to
this machine. Therefore the host name has to be known, and the page has to be allowed. Tokens are compared in constant
time.
"""

from __future__ import annotations

import re
from hmac import compare_digest
from typing import Final

from wholecall.proxy.config import ClientsConfig
from wholecall.proxy.errors import Refusal
from wholecall.proxy.headers import credentials_of, value_of
from wholecall.proxy.wire import Headers, Scope

__all__ = ["admit"]
_private = True

_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/\s]+))(?::\d{1,5})?\Z", re.ASCII)
_CLOSE: Final = ((b"connection", b"close"),)
_SAME: Final = frozenset({b"none", b"same-origin"})  # typed by the user, or from one of our own pages
_UPGRADE: Final = ((b"upgrade", b"HTTP/1.1"), (b"connection", b"upgrade"))


def admit(scope: Scope, clients: ClientsConfig) -> bytes | None:
    """Admit a request, and return the token that it brought; None if no token is required.

    Raises:
        Refusal: the request is not admitted.
    """
    headers: Headers = list(scope["headers"])
    if scope["method"] == "CONNECT":
        raise Refusal(400, "no_tunnel", "this is no proxy for CONNECT")
    if _is_websocket(headers):
        raise Refusal(426, "no_websocket", "there are no WebSockets here; use HTTP", _UPGRADE)
    names = {name for name, _ in headers}
    if b"content-length" in names and b"transfer-encoding" in names:
        raise Refusal(400, "bad_framing", "a body has a length or chunks, not both", _CLOSE)
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    if codings not in ([], [b"chunked"]):
        raise Refusal(501, "bad_coding", "a body comes in chunks, and in no other transfer coding", _CLOSE)
    if scope["http_version"] == "1.1" and b"host" not in names:
        raise Refusal(400, "bad_host", "a request of HTTP/1.1 has a Host", _CLOSE)
    _check_host(headers, clients)
    _check_origin(headers, clients)
    return _token(headers, clients) if clients.tokens else None


def _is_websocket(headers: Headers) -> bool:
    return value_of(headers, b"upgrade").strip().lower() == "websocket"


def _check_host(headers: Headers, clients: ClientsConfig) -> None:
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1:
        raise Refusal(400, "bad_host", "a request has one Host")
    if hosts and _without_port(hosts[0].decode("latin-1").strip().lower()) not in clients.hosts:
        raise Refusal(403, "host_refused", "the proxy does not answer to this Host; add it to clients.hosts")


def _without_port(host: str) -> str:
    """Return a host name without its port, and an address without its brackets; an empty string if it is neither."""
    match = _HOST.match(host)
    return "" if match is None else match[1] or match[2]


def _check_origin(headers: Headers, clients: ClientsConfig) -> None:
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    if any(origin not in clients.origins for origin in origins):
        raise Refusal(
            403, "origin_refused", "web pages of this Origin may not ask; add it to clients.origins"
        )
    # Browsers send no Origin with a GET that a page of another site causes, but they state where it comes from.
    if not origins and not _SAME.issuperset(_sites(headers)):
        raise Refusal(403, "origin_refused", "web pages of other sites may not ask")


def _sites(headers: Headers) -> set[bytes]:
    return {value.strip().lower() for name, value in headers if name == b"sec-fetch-site"}


def _token(headers: Headers, clients: ClientsConfig) -> bytes:
    known = [token.value.encode() for token in clients.tokens]
    found: bytes | None = None
    for brought in credentials_of(headers):
        for token in known:  # compare all of them, even after a match
            if compare_digest(brought, token):
                found = brought
    if found is None:
        raise Refusal(
            401, "bad_token", "a token of this proxy is needed", ((b"www-authenticate", b"Bearer"),)
        )
    return found
