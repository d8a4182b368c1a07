"""The client's request: its body, the parts of it that the proxy needs, and the question for the upstream.

Theory of operation. The body and the client's presence both come by ASGI's `receive`, which has one reader at a time.
The body is read whole, within bounds, only if its content is needed: for requests whose answers may hold calls, and
where the model decides which upstream is asked. It is decoded once into a type that has only these members, and never
rewritten, unless it is translated; one that cannot be decoded passes, because refusing it is left to the upstream. Every other body is passed on
in the pieces in which it comes. After its end, the next message says that the client left. Therefore the client is
watched from the first byte of its request to the last byte of its answer.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final, Literal, Union
from urllib.parse import quote, unquote

import msgspec

from wholecall import Limits, Tools, WholecallError
from wholecall.proxy.config import Config, Route
from wholecall.proxy.entry import Entry
from wholecall.proxy.errors import Refusal, refusal_of
from wholecall.proxy.headers import LIVE, BadHeaderError, id_of, live_of, to_upstream, value_of
from wholecall.proxy.memory import Held, NoMemoryError
from wholecall.proxy.translating import Translation, headers_for, translation_of
from wholecall.proxy.wire import Headers, Question, Receive, Scope
from wholecall.repairing.answers import asks_for_calls, dialect_of, form_of

_private = True

_MOST_PATH: Final = 512  # characters that are kept
_MOST_MODEL: Final = 128
_JSON: Final = "json"
_CROOKED: Final = re.compile(r"(?:\A|/)\.{1,2}(?:;[^/]*)?(?:/|\Z)|[\\\0-\x1f\x7f]")
_CLOSE: Final = ((b"connection", b"close"),)
_NESTED: Final = ("function", "custom")

Body = Union[bytes, AsyncIterator[bytes], None]


def entry_of(scope: Scope) -> Entry:
    """Return the entry of an exchange at its beginning."""
    path = path_of(scope)
    return Entry(
        id=id_of(scope["headers"]) or uuid.uuid4().hex,
        started=time.time(),
        method=scope.get("method", "GET"),  # that of a handshake
        path=path[:_MOST_PATH] if path.startswith("/") else "",  # a whole URL may have a user
    )


class Request(msgspec.Struct, frozen=True):
    """A request, read as far as needed.

    Attributes:
        question: the request for the upstream.
        options: the options of the repairer; None if the answer passes in any case.
        translation: how the request and its answer are translated; None if they are not.
    """

    question: Question
    options: dict[str, Any] | None
    translation: Translation | None = None

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
        path, headers = straight(path_of(scope)), list(scope["headers"])
        asks = asks_for_calls(scope["method"], path)
        asked, body = await _body(scope, incoming, config, is_read=asks or _decides(path, headers, config))
        entry.model, entry.is_stream = asked.model_name, asked.stream is True
        if isinstance(body, bytes) and config.record.requests:
            entry.request = body
        route = config.route(path, asked.model_name)
        if route is None:
            raise nowhere(config, path)
        entry.upstream = route.upstream.name
        translation = translation_of(config, route, scope["method"], path, _plain(body, headers))
        if translation is not None:
            translation = translation if live_of(headers) is not True else translation.without(LIVE)
            question = _translated_question(scope, route, translation, headers, token)
            return cls(question, _shared(config, route, asked, limits), translation)
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


def nowhere(config: Config, path: str) -> Refusal:
    """Return the answer to a request that no upstream takes."""
    if config.asks_for_model(path) and config.route(path) is not None:
        return Refusal(404, "no_upstream", "no upstream takes this model")
    return Refusal(404, "no_upstream", "no upstream takes this path")


# Paths.


def path_of(scope: Scope) -> str:
    """Return the path of a request as received, without its query."""
    raw: bytes | None = scope.get("raw_path")
    return quote(scope["path"]) if raw is None else raw.decode("latin-1")


def straight(path: str) -> str:
    """Return a path without doubled slashes.

    Raises:
        Refusal: the path is ambiguous: another server may resolve it differently.
    """
    once = unquote(path)
    if any(map(_CROOKED.search, (once, unquote(once)))):
        raise Refusal(400, "bad_path", "a path has no dots for segments, no backslashes and no controls")
    return re.sub("//+", "/", path)


# The body.


class ClientLeft(WholecallError):
    """The client closed its connection."""


class Incoming:
    """The input from a client.

    Args:
        receive: ASGI's `receive`.
        timeout: seconds without progress after which a body is given up; None for no bound.
        held: the exchange's share of the memory for all bodies.

    Attributes:
        refusal: why the body was given up while it was passed on; None if it was not.
    """

    def __init__(self, receive: Receive, timeout: float | None, held: Held) -> None:
        self._held = held
        self.refusal: Refusal | None = None
        self._receive = receive
        self._timeout = timeout
        self._is_over = asyncio.Event()  # the body is no longer read
        self._left = False

    async def whole(self, most: int) -> bytes:
        """Return the whole body.

        Args:
            most: bytes that it may have.

        Raises:
            ClientLeft: the client left in the middle.
            Refusal: the body is too large, other bodies take the memory, or it does not continue.
        """
        parts: list[bytes] = []
        size, goes_on = 0, True
        while goes_on:
            piece, goes_on = await self._next()
            try:
                self._held.take(len(piece))
            except NoMemoryError:
                raise _too_much() from None
            parts.append(piece)
            size += len(piece)
            if size > most:
                raise _too_large(most)
        self._is_over.set()
        return b"".join(parts)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body in the pieces in which it comes.

        Raises:
            ClientLeft, Refusal: as for `whole`.
        """
        try:
            goes_on = True
            while goes_on:
                piece, goes_on = await self._next()
                if piece:
                    yield piece
        finally:
            self._is_over.set()

    async def until_left(self) -> None:
        """Return when the client has left."""
        await self._is_over.wait()
        while not self._left and (await self._receive())["type"] != "http.disconnect":
            pass

    def skip(self) -> None:
        """Note that there is no body."""
        self._is_over.set()

    async def _next(self) -> tuple[bytes, bool]:
        """Return the next piece, and whether there are more."""
        try:
            message = await asyncio.wait_for(self._receive(), self._timeout)
        except asyncio.TimeoutError:
            self.refusal = Refusal(408, "request_timeout", "the body of the request did not come", _CLOSE)
            raise self.refusal from None
        if message["type"] == "http.disconnect":
            self._left = True
            raise ClientLeft("the client left")
        return message.get("body", b""), message.get("more_body", False)


def _too_much() -> Refusal:
    """Return the answer for a body when other bodies take all the memory."""
    refusal = refusal_of("too_much_held", "")
    return Refusal(refusal.status, refusal.code, refusal.message, (*_CLOSE, *refusal.headers))


def _too_large(most: int) -> Refusal:
    """Return the answer to a body that is too large."""
    return Refusal(413, "request_too_large", f"the body of the request has more than {most} bytes", _CLOSE)


async def _body(scope: Scope, incoming: Incoming, config: Config, *, is_read: bool) -> tuple[_Asked, Body]:
    headers: Headers = list(scope["headers"])
    length = _length(headers)
    if length is None and not value_of(headers, b"transfer-encoding") and scope["http_version"][:1] == "1":
        incoming.skip()
        return _Asked(), None
    if not is_read:
        return _Asked(), incoming.pieces()
    if length is not None and length > config.max_request_bytes:
        raise _too_large(config.max_request_bytes)
    body = await incoming.whole(config.max_request_bytes)
    return (_Asked() if value_of(headers, b"content-encoding") else _asked_of(body)), body


def _length(headers: Headers) -> int | None:
    value = value_of(headers, b"content-length").strip()
    return int(value) if value.isascii() and value.isdecimal() else None


# The parts of a body that are needed.


class _Asked(msgspec.Struct, frozen=True):
    """The known parts of a request's body.

    Attributes:
        model: the requested model.
        stream: whether the answer is to be a stream.
        tools: the tools as the body has them.
        functions: their equivalent in the older form of Chat Completions.
    """

    model: Any = None
    stream: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"null")
    functions: msgspec.Raw = msgspec.Raw(b"null")

    def __repr__(self) -> str:
        return f"<Asked stream={self.stream is True}>"

    @property
    def is_legacy(self) -> bool | None:
        """Return whether the client reads a `function_call`; None if it asks for no calls."""
        return form_of(bytes(self.tools), bytes(self.functions))

    @property
    def model_name(self) -> str | None:
        """The model, if it is named."""
        return self.model[:_MOST_MODEL] if isinstance(self.model, str) else None


_DECODER = msgspec.json.Decoder(_Asked)
_NOTHING = _Asked()


def _asked_of(body: bytes) -> _Asked:
    """Return the known parts of a body; all of them empty if it cannot be decoded."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NOTHING


def _tools_of(asked: _Asked, mode: Literal["off", "names", "schema"]) -> Tools[Any] | None:
    """Return the tools that calls are checked against; None for no check.

    Args:
        asked: the request.
        mode: `"names"` for the names of its tools alone, `"schema"` for their schemas too, `"off"` for neither.
    """
    if mode == "off":
        return None
    try:
        listed = msgspec.json.decode(asked.tools)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(listed, list):
        return None
    named = dict(_named(listed))
    if not named or mode == "names":
        return _names_only(named)
    try:
        return Tools(list(named.values()))
    except (TypeError, ValueError, ImportError):  # an invalid schema: the upstream has to refuse it
        return _names_only(named)


def _named(listed: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tools that have a name; a tool that the provider executes has none, or is not called by the client."""
    for tool in listed:
        if not isinstance(tool, dict):
            continue
        inner = next((tool[key] for key in _NESTED if isinstance(tool.get(key), dict)), tool)
        name = inner.get("name")
        if isinstance(name, str) and name:
            yield name, tool


def _names_only(named: dict[str, Any]) -> Tools[Any] | None:
    return Tools([{"type": "custom", "name": name} for name in named]) if named else None


# The question for the upstream, and the treatment of its answer.


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


def _plain(body: Body, headers: Headers) -> bytes | None:
    """Return a body that was read, and has no content coding."""
    return body if isinstance(body, bytes) and not value_of(headers, b"content-encoding") else None


def _translated_question(
    scope: Scope, route: Route, translation: Translation, headers: Headers, token: bytes | None
) -> Question:
    upstream = route.upstream
    try:
        passing = to_upstream(headers, upstream, is_read=True, token=token)
    except BadHeaderError:
        raise Refusal(400, "bad_header", "a header holds what must not be sent on") from None
    return Question(
        upstream=upstream,
        method=scope["method"],
        url=translation.url(upstream.url),
        headers=headers_for(passing, translation.server, has_key=upstream.key is not None),
        body=translation.body,
        length=None if translation.body is None else len(translation.body),
    )


def _shared(config: Config, route: Route, asked: _Asked, limits: Limits) -> dict[str, Any]:
    """Return the options that a repairer and a translator have."""
    repair = config.repair_for(route.upstream)
    return {
        "withheld": repair.withheld,
        "text": None if repair.text == "off" else repair.text,
        "tools": _tools_of(asked, repair.tools),
        "limits": limits,
    }


def _options(
    config: Config, route: Route, asked: _Asked, live: bool | None, limits: Limits
) -> dict[str, Any]:
    shown = config.repair_for(route.upstream).live if live is None else live
    return {
        **_shared(config, route, asked, limits),
        "live_arguments": shown,
        "expected": dialect_of(route.rest),
        "legacy": asked.is_legacy,
    }
