"""Admit a request or the handshake of a WebSocket, before any part of it is passed on: its host, its page, its token.

Theory of operation. A web page can make a browser ask a local proxy under the page's own host name, which points to this
machine; therefore the host name has to be known, and the page has to be allowed. Tokens are compared in constant time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hmac import compare_digest
from typing import Final

from wholecall.proxy.config import ClientsConfig
from wholecall.proxy.errors import Refusal
from wholecall.proxy.headers import credentials_of, value_of
from wholecall.proxy.wire import Headers, Scope

_private = True

_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/\s]+))(?::\d{1,5})?\Z", re.ASCII)
_CLOSE: Final = ((b"connection", b"close"),)
_SAME: Final = frozenset({b"none", b"same-origin"})  # typed by the user, or from one of our own pages
_UPGRADE: Final = ((b"upgrade", b"websocket"), (b"connection", b"upgrade"))


def admit(scope: Scope, clients: ClientsConfig) -> bytes | None:
    """Admit a request, and return the token that it brought; None if no token is required.

    Raises:
        Refusal: the request is not admitted.
    """
    headers: Headers = list(scope["headers"])
    if scope["method"] == "CONNECT":
        raise Refusal(400, "no_tunnel", "this is no proxy for CONNECT")
    if (
        value_of(headers, b"upgrade").strip().lower() == "websocket"
    ):  # one that the server did not take for one
        raise Refusal(
            426, "no_websocket", "a WebSocket begins with an upgrade of a GET of HTTP/1.1", _UPGRADE
        )
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
    return _token(credentials_of(headers), clients) if clients.tokens else None


def admit_socket(scope: Scope, clients: ClientsConfig, brought: Sequence[bytes]) -> bytes | None:
    """Admit the handshake of a WebSocket, and return the token that it brought; None if no token is required.

    Args:
        scope: the handshake.
        clients: the clients that are admitted.
        brought: what may be a token, outside of its headers: browsers cannot set headers of a handshake.

    Raises:
        Refusal: it is not admitted.
    """
    headers: Headers = list(scope["headers"])
    if all(name != b"host" for name, _ in headers):
        raise Refusal(400, "bad_host", "a request of HTTP/1.1 has a Host", _CLOSE)
    _check_host(headers, clients)
    _check_origin(headers, clients)
    return _token([*credentials_of(headers), *brought], clients) if clients.tokens else None


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


def _token(brought: Sequence[bytes], clients: ClientsConfig) -> bytes:
    known = [token.value.encode() for token in clients.tokens]
    found: bytes | None = None
    for one in brought:
        for token in known:  # compare all of them, even after a match
            if compare_digest(one, token):
                found = one
    if found is None:
        raise Refusal(
            401, "bad_token", "a token of this proxy is needed", ((b"www-authenticate", b"Bearer"),)
        )
    return found
