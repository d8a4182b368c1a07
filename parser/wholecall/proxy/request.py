"""A request on its way to the upstream: its entry, its destination, and the forwarded parts.

Theory of operation. The body is read only if its content is needed: for requests whose answers may hold calls, and
where the model decides which upstream is asked. It is never rewritten. Every other body is passed on while it arrives.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import AsyncIterator
from typing import Any, Final, Union
from urllib.parse import quote, unquote

import msgspec

from wholecall import Limits
from wholecall.proxy.asked import Asked, asked_of, tools_of
from wholecall.proxy.config import Config, Route
from wholecall.proxy.entry import Entry
from wholecall.proxy.errors import Refusal
from wholecall.proxy.headers import BadHeaderError, id_of, live_of, to_upstream, value_of
from wholecall.proxy.incoming import Incoming, too_large
from wholecall.proxy.wire import Headers, Question, Scope
from wholecall.repairing.answers import asks_for_calls, dialect_of

__all__ = ["Request", "entry_of", "path_of"]
_private = True

_MOST_PATH: Final = 512  # characters that are kept
_JSON: Final = "json"
_CROOKED: Final = re.compile(r"(?:\A|/)\.{1,2}(?:;[^/]*)?(?:/|\Z)|[\\\0-\x1f\x7f]")

Body = Union[bytes, AsyncIterator[bytes], None]


def path_of(scope: Scope) -> str:
    """Return the path of a request as received, without its query."""
    raw: bytes | None = scope.get("raw_path")
    return quote(scope["path"]) if raw is None else raw.decode("latin-1")


def _straight(path: str) -> str:
    """Return a path without doubled slashes.

    Raises:
        Refusal: the path is ambiguous: another server may resolve it differently.
    """
    once = unquote(path)
    if any(map(_CROOKED.search, (once, unquote(once)))):
        raise Refusal(400, "bad_path", "a path has no dots for segments, no backslashes and no controls")
    return re.sub("//+", "/", path)


def entry_of(scope: Scope) -> Entry:
    """Return the entry of an exchange at its beginning."""
    path = path_of(scope)
    return Entry(
        id=id_of(scope["headers"]) or uuid.uuid4().hex,
        started=time.time(),
        method=scope["method"],
        path=path[:_MOST_PATH] if path.startswith("/") else "",  # a whole URL may have a user
    )


class Request(msgspec.Struct, frozen=True):
    """A request, read as far as needed.

    Attributes:
        question: the request for the upstream.
        options: the options of the repairer; None if the answer passes in any case.
    """

    question: Question
    options: dict[str, Any] | None

    def __repr__(self) -> str:
        return f"<Request {self.question!r}>"

    @classmethod
    async def read(
        cls,
        scope: Scope,
        incoming: Incoming,
        config: Config,
        entry: Entry,
        *,
        token: bytes | None,
        limits: Limits,
    ) -> Request:
        """Read a request, and note its wishes in the entry.

        Raises:
            Refusal: no upstream takes it.
            ClientLeft: the client left before all of it arrived.
        """
        path, headers = _straight(path_of(scope)), list(scope["headers"])
        asks = asks_for_calls(scope["method"], path)
        asked, body = await _body(scope, incoming, config, is_read=asks or _decides(path, headers, config))
        entry.model, entry.is_stream = asked.model_name, asked.stream is True
        if isinstance(body, bytes) and config.record.requests:
            entry.request = body
        route = config.route(path, asked.model_name)
        if route is None:
            raise _nowhere(config, path)
        entry.upstream = route.upstream.name
        is_repaired = asks and not config.no_repair
        if asks and not is_repaired:
            entry.unrepaired = "off"
        question = _question(scope, route, body, headers, is_read=is_repaired, token=token)
        return cls(
            question, _options(config, route, asked, live_of(headers), limits) if is_repaired else None
        )


def _decides(path: str, headers: Headers, config: Config) -> bool:
    """Return whether the body decides which upstream is asked."""
    return config.asks_for_model(path) and _JSON in value_of(headers, b"content-type")


def _nowhere(config: Config, path: str) -> Refusal:
    if config.asks_for_model(path) and config.route(path) is not None:
        return Refusal(404, "no_upstream", "no upstream takes this model")
    return Refusal(404, "no_upstream", "no upstream takes this path")


async def _body(scope: Scope, incoming: Incoming, config: Config, *, is_read: bool) -> tuple[Asked, Body]:
    headers: Headers = list(scope["headers"])
    length = _length(headers)
    if length is None and not value_of(headers, b"transfer-encoding") and scope["http_version"][:1] == "1":
        incoming.skip()
        return Asked(), None
    if not is_read:
        return Asked(), incoming.pieces()
    if length is not None and length > config.max_request_bytes:
        raise too_large(config.max_request_bytes)
    body = await incoming.whole(config.max_request_bytes)
    return (Asked() if value_of(headers, b"content-encoding") else asked_of(body)), body


def _length(headers: Headers) -> int | None:
    value = value_of(headers, b"content-length").strip()
    return int(value) if value.isascii() and value.isdecimal() else None


def _question(
    scope: Scope, route: Route, body: Body, headers: Headers, *, is_read: bool, token: bytes | None
) -> Question:
    try:
        passing = to_upstream(headers, route.upstream, is_read=is_read, token=token)
    except BadHeaderError:
        raise Refusal(400, "bad_header", "a header holds what must not be sent on") from None
    query: bytes = scope.get("query_string", b"")
    return Question(
        upstream=route.upstream,
        method=scope["method"],
        url=route.url(query.decode("latin-1")),
        headers=passing,
        body=body,
        length=len(body) if isinstance(body, bytes) else _length(headers),
    )


def _options(config: Config, route: Route, asked: Asked, live: bool | None, limits: Limits) -> dict[str, Any]:
    repair = config.repair_for(route.upstream)
    return {
        "live_arguments": repair.live if live is None else live,
        "withheld": repair.withheld,
        "text": None if repair.text == "off" else repair.text,
        "tools": tools_of(asked, repair.tools),
        "limits": limits,
        "expected": dialect_of(route.rest),
        "legacy": asked.is_legacy,
    }
