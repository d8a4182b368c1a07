"""The client's handshake for a WebSocket: where it goes, what the upstream gets of it, and how messages are repaired.

Theory of operation. A handshake has no body: its path says which API its messages are of, and `model` in its query
which upstream is asked, where the path leaves a choice. A browser cannot set headers of a handshake, so clients also
bring their key in the query (Gemini) or as a subprotocol (OpenAI). It is treated there as in a header: it may be the
token of this proxy, which stays here, and an upstream with a key of its own gets no other one.
"""

from __future__ import annotations

import re
from typing import Any, Final, Optional
from urllib.parse import unquote, unquote_plus

import msgspec

from wholecall import Limits
from wholecall.proxy.admission import admit_socket
from wholecall.proxy.config import Config, Route
from wholecall.proxy.entry import Entry
from wholecall.proxy.errors import Refusal
from wholecall.proxy.headers import BadHeaderError, live_of, to_upstream
from wholecall.proxy.request import nowhere, path_of, straight
from wholecall.proxy.wire import Handshake, Headers, Scope

_private = True

# The ends of paths of which messages hold calls, in small letters.
_DIALECTS: Final = {
    "/responses": "responses",
    "/realtime": "openai-realtime",
    "bidigeneratecontent": "gemini-live",
    "bidigeneratecontentconstrained": "gemini-live",
}
_OF_HANDSHAKES: Final = b"sec-websocket-"
_PROTOCOLS: Final = b"sec-websocket-protocol"
_KEY_PROTOCOL: Final = "openai-insecure-api-key."
_KEYS: Final = frozenset({"key", "access_token"})  # in a query
_MOST_MODEL: Final = 128


class Upgrade(msgspec.Struct, frozen=True):
    """A handshake, read.

    Attributes:
        handshake: the handshake for the upstream.
        options: the options of the repairer; None if messages pass in any case.
    """

    handshake: Handshake
    options: Optional[dict[str, Any]]

    def __repr__(self) -> str:
        return f"<Upgrade {self.handshake!r}>"

    @classmethod
    def read(cls, scope: Scope, config: Config, entry: Entry, limits: Limits) -> Upgrade:
        """Admit and read a handshake, and note its wishes in the entry.

        Raises:
            Refusal: it is not admitted, or no upstream takes it.
        """
        token = admit_socket(scope, config.clients, _brought(scope))
        path, pairs = straight(path_of(scope)), _pairs(scope)
        model = next((value for name, value, _ in pairs if name == "model" and value), None)
        entry.model = None if model is None else model[:_MOST_MODEL]
        route = config.route(path, entry.model)
        if route is None:
            raise nowhere(config, path)
        entry.upstream = route.upstream.name
        if config.serve is not None and route.upstream.wire not in (None, config.serve):
            raise Refusal(426, "not_translated", "messages of WebSockets are not translated; use HTTP")
        dialect = dialect_of(path)
        entry.unrepaired = "dialect" if dialect is None else "off" if config.no_repair else None
        live = live_of(scope["headers"])
        options = _options(config, route, dialect, live, limits) if entry.unrepaired is None else None
        return cls(_handshake(scope, config, route, token), options)


def dialect_of(path: str) -> str | None:
    """Return the dialect of the messages of an endpoint, None where its path does not show it.

    Args:
        path: without the query.
    """
    folded = re.sub(";[^/]*", "", unquote(path)).lower().rstrip("/")
    return next((name for end, name in _DIALECTS.items() if folded.endswith(end)), None)


def _options(
    config: Config, route: Route, dialect: str | None, live: bool | None, limits: Limits
) -> dict[str, Any]:
    repair = config.repair_for(route.upstream)
    return {
        "expected": dialect,
        "live_arguments": repair.live if live is None else live,
        "withheld": repair.withheld,
        "text": None if repair.text == "off" else repair.text,
        "tools": None if repair.tools == "off" else "session",  # which has their names alone
        "limits": limits,
    }


# What the upstream gets.


def _handshake(scope: Scope, config: Config, route: Route, token: bytes | None) -> Handshake:
    upstream = route.upstream
    headers: Headers = [pair for pair in scope["headers"] if not pair[0].lower().startswith(_OF_HANDSHAKES)]
    try:
        passing = to_upstream(headers, upstream, is_read=False, token=token)
    except BadHeaderError:
        raise Refusal(400, "bad_header", "a header holds what must not be sent on") from None
    is_secret = _Secrets(token, has_key=upstream.key is not None)
    query = "&".join(raw for name, value, raw in _pairs(scope) if not (name in _KEYS and is_secret(value)))
    return Handshake(
        upstream=upstream,
        url=route.url(query),
        headers=passing,
        protocols=tuple(one for one in _protocols(scope) if not is_secret.protocol(one)),
        most=config.max_message_bytes,
    )


class _Secrets:
    """Tells which credentials stay here: the token of this proxy, and all if the upstream has a key of its own."""

    def __init__(self, token: bytes | None, *, has_key: bool) -> None:
        self._token = token
        self._has_key = has_key

    def __call__(self, value: str) -> bool:
        return self._has_key or value.encode("utf-8", "surrogateescape") == self._token

    def protocol(self, protocol: str) -> bool:
        """Return whether a subprotocol is a credential that stays here."""
        return protocol.startswith(_KEY_PROTOCOL) and self(protocol.removeprefix(_KEY_PROTOCOL))


def _brought(scope: Scope) -> list[bytes]:
    """Return what may be a token, outside of the headers that hold one."""
    queried = [value for name, value, _ in _pairs(scope) if name in _KEYS]
    offered = [one.removeprefix(_KEY_PROTOCOL) for one in _protocols(scope) if one.startswith(_KEY_PROTOCOL)]
    return [one.encode("utf-8", "surrogateescape") for one in (*queried, *offered)]


def _pairs(scope: Scope) -> list[tuple[str, str, str]]:
    """Return the pairs of the query: name and value, and both as received."""
    query: bytes = scope.get("query_string", b"")
    found: list[tuple[str, str, str]] = []
    for raw in query.decode("latin-1").split("&") if query else ():
        name, _, value = raw.partition("=")
        found.append((unquote_plus(name), unquote_plus(value), raw))
    return found


def _protocols(scope: Scope) -> list[str]:
    """Return the subprotocols that the client offers, in its order."""
    said = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == _PROTOCOLS]
    return [one for value in said for one in map(str.strip, value.split(",")) if one]
