"""Requests to an endpoint, over httpx or httpx2: one exchange a request, whatever the endpoint does.

Theory of operation. Nothing that an endpoint does raises: a refusal, a redirect, a timeout, a connection that breaks, are
exchanges that say so. Redirects are not followed, and proxies of the environment are used for https alone, so that a key
reaches no other host in the clear. A request that is rate limited is asked again after the time that the server names; a
refusal that names a parameter teaches the endpoint's habits. Answers are covered (`keys.Cover`) as soon as they are
there.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec

from wholecall import WholecallError, collect
from wholecall.calls.output.usage import tokens_of
from wholecall.grading.probe.bodies import Habits, body_of, tokens_at_most
from wholecall.grading.probe.exchange import HEADERS, Ending, Exchange, Wire
from wholecall.grading.probe.keys import Cover, Secret
from wholecall.grading.probe.scenarios import Variant
from wholecall.recordings.model import Chunk
from wholecall.repairing.transport.library import library_of

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

_PATHS: dict[Wire, str] = {  # but for Gemini's, see `target_of`
    "chat-completions": "/chat/completions",
    "responses": "/responses",
    "anthropic": "/messages",
}
_WAYS = {False: ":generateContent", True: ":streamGenerateContent"}  # of Gemini
_VERSION = re.compile(r"/v\d\w*(/|$)")
_ANTHROPIC_VERSION = "2023-06-01"
_BUSY = frozenset({429, 503, 529})
_REFUSED = frozenset({400, 422})
_PATIENCE = 2  # times that a busy server is asked again
_LONGEST_WAIT = 20.0  # seconds
_MOST_BYTES = 32 * 1024 * 1024  # of an answer
_HANG_UP_AFTER = 3  # chunks
_CODING = "content-encoding"  # httpx has undone it


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One request that the probe makes.

    Attributes:
        scenario: the scenario's id.
        variant: the request; its history is whole.
        is_streamed: whether a stream is asked for.
        attempt: the number of the try of this variant, from 1.
        round: the number of the try of the scenario, from 0.
    """

    scenario: str
    variant: Variant
    is_streamed: bool
    attempt: int = 1
    round: int = 0


class Endpoint:
    """An endpoint and a client for it; an asynchronous context manager.

    Args:
        url: its checked URL.
        model: the model's name.
        wire: the wire.
        secrets: the headers with keys.
        extra: members that are added to each request.
        timeout: seconds that an answer may take in all.
        cover: covers what the answers may show of any key.
        transport: the client's transport; None for one that opens connections.

    Attributes:
        n_requests: the requests that were sent.

    Raises:
        ImportError: neither httpx2 nor httpx is installed.
    """

    def __init__(
        self,
        url: str,
        model: str,
        wire: Wire,
        *,
        secrets: Sequence[Secret] = (),
        extra: dict[str, Any] | None = None,
        timeout: float = 120.0,
        cover: Cover | None = None,
        transport: Any = None,
    ) -> None:
        self.url = url
        self.model = model
        self.wire: Wire = wire
        self.habits = Habits(extra=extra or {})
        self.n_requests = 0
        self._cover = Cover(secrets) if cover is None else cover
        self._timeout = timeout
        self._http: Any = library_of(transport, None)
        self._headers = _headers(wire, secrets)
        is_encrypted = urlsplit(url).scheme == "https"
        self._client: Any = self._http.AsyncClient(
            transport=transport,
            timeout=timeout,
            follow_redirects=False,
            trust_env=is_encrypted,
            verify=is_encrypted,  # certificates take long to load, and plain http has none
        )

    def __repr__(self) -> str:
        return f"Endpoint(wire={self.wire!r})"

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    def body(self, ask: Ask) -> dict[str, Any]:
        """Return the body of a request, as the endpoint's habits have it."""
        return body_of(ask.variant, self.wire, self.model, is_streamed=ask.is_streamed, habits=self.habits)

    async def ask(self, ask: Ask) -> Exchange:
        """Send a request, again if the server is busy or refuses a parameter, and return the last exchange."""
        exchange = await self._taught(ask)
        for _ in range(_PATIENCE):
            if exchange.status not in _BUSY:
                break
            await asyncio.sleep(_wait(exchange))
            exchange = await self._taught(ask)
        return exchange

    async def _taught(self, ask: Ask) -> Exchange:
        """Send a request, and again with other habits for as long as a refusal teaches some."""
        while True:
            habits = self.habits
            exchange = await self._once(ask)
            if exchange.status not in _REFUSED or ask.variant.asked.outcome == "refusal":
                return exchange
            if self.habits is habits:  # else another request has learned meanwhile
                learned = habits.after_refusal(exchange.body)
                if learned is None:
                    return exchange
                self.habits = learned

    async def _once(self, ask: Ask) -> Exchange:
        body = self.body(ask)
        answer = _Answer(hangs_up=ask.variant.hangs_up)
        self.n_requests += 1
        try:
            await asyncio.wait_for(self._send(body, answer, is_streamed=ask.is_streamed), self._timeout)
        except (asyncio.TimeoutError, self._http.TimeoutException):
            answer.ended = "timed_out"
        except (self._http.HTTPError, self._http.InvalidURL, OSError):
            answer.ended = "unreachable" if answer.status is None else "broken"
        return Exchange(
            scenario=ask.scenario,
            variant=ask.variant.name,
            attempt=ask.attempt,
            wire=self.wire,
            is_streamed=ask.is_streamed,
            request=body,
            status=answer.status,
            headers={name: self._cover.text(value) for name, value in answer.headers.items()},
            chunks=self._cover.chunks(answer.chunks),
            ended=answer.ended,
            asked=ask.variant.asked,
        )

    async def _send(self, body: dict[str, Any], answer: _Answer, *, is_streamed: bool) -> None:
        began = time.monotonic()
        target = target_of(self.url, self.wire, self.model, is_streamed=is_streamed)
        async with self._client.stream(
            "POST", target, content=msgspec.json.encode(body), headers=self._headers
        ) as response:
            answer.begin(response)
            await answer.take_all(response, began)


class _Answer:
    """The part of an answer that has arrived."""

    def __init__(self, *, hangs_up: bool) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.chunks: list[Chunk] = []
        self.ended: Ending = "closed"
        self._size = 0
        self._hangs_up = hangs_up

    def begin(self, response: Any) -> None:
        self.status = response.status_code
        self.headers = {
            name: response.headers[name] for name in HEADERS - {_CODING} if name in response.headers
        }

    async def take_all(self, response: Any, began: float) -> None:
        """Keep the pieces of a body until it ends, or no more are wanted."""
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                if not self._take(time.monotonic() - began, piece):
                    return

    def _take(self, at: float, piece: bytes) -> bool:
        self.chunks.append((at, piece))
        self._size += len(piece)
        if self._hangs_up and len(self.chunks) >= _HANG_UP_AFTER:
            self.ended = "hung_up"
        elif self._size > _MOST_BYTES:
            self.ended = "broken"
        return self.ended == "closed"


def _headers(wire: Wire, secrets: Sequence[Secret]) -> dict[str, str]:
    headers = {"content-type": "application/json", "accept-encoding": "identity"}
    if wire == "anthropic":
        headers["anthropic-version"] = _ANTHROPIC_VERSION
    return headers | {one.name: one.value for one in secrets}


def key_header(wire: Wire, key: Secret) -> Secret:
    """Return a key as the header in which a wire carries it."""
    if wire == "anthropic":
        return Secret(key.value, "x-api-key")
    if wire == "gemini":
        return Secret(key.value, "x-goog-api-key")
    return Secret(f"Bearer {key.value}", "authorization")


def target_of(url: str, wire: Wire, model: str = "", *, is_streamed: bool = False) -> str:
    """Return the address that requests are sent to: the URL's, with the wire's path where it is not there yet.

    Args:
        url: the endpoint's URL.
        wire: the wire.
        model: the model's name, which Gemini has in the path.
        is_streamed: whether a stream is asked for, which Gemini has there, too.
    """
    parts = urlsplit(url)
    if wire == "gemini":
        query = "&".join(filter(None, (parts.query, "alt=sse" if is_streamed else "")))
        return urlunsplit(
            (parts.scheme, parts.netloc, _gemini_path(parts.path, model) + _WAYS[is_streamed], query, "")
        )
    path, end = parts.path.rstrip("/"), _PATHS[wire]
    if not path.endswith(end):
        path += f"/v1{end}" if wire == "anthropic" and not path.endswith("/v1") else end
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _gemini_path(path: str, model: str) -> str:
    """Return the path of a model; a path that names one already names it."""
    path = path.rstrip("/").partition(":")[0]
    if "/models/" in path:
        return path
    path = path if _VERSION.search(path) else f"{path}/v1beta"
    return f"{path}/models/{quote(model.removeprefix('models/'), safe='')}"


def wire_told_by(url: str) -> Wire | None:
    """Return the wire that a URL's path or host shows, None if it could be several."""
    parts = urlsplit(url)
    for wire, end in _PATHS.items():
        if parts.path.rstrip("/").endswith(end):
            return wire
    host = parts.hostname or ""
    if parts.path.endswith(tuple(_WAYS.values())) or (
        host.endswith("googleapis.com") and not parts.path.rstrip("/").endswith("/openai")
    ):
        return "gemini"
    return "anthropic" if host.endswith("anthropic.com") else None


def _wait(exchange: Exchange) -> float:
    """Return the seconds after which a busy server wants to be asked again."""
    said = exchange.headers.get("retry-after", "")
    return min(float(said), _LONGEST_WAIT) if said.isdecimal() else 1.0


# What an answer shows to the runner, apart from any verdict.


def turn_of(exchange: Exchange) -> Any:
    """Return the turn that an answer holds, None where it is no answer of a model."""
    if exchange.status is None or exchange.status >= 300:
        return None
    try:
        return collect([exchange.body], exchange.wire)
    except WholecallError:
        return None


def output_tokens(exchange: Exchange) -> int | None:
    """Return how many tokens the model wrote, as the server counts them."""
    turn = turn_of(exchange)
    return tokens_of(turn.usage)[1] if turn is not None and turn.usage else None


def tokens_spent(exchange: Exchange) -> int:
    """Return the tokens that an exchange has cost: as the server counts them, else the most that it allowed."""
    if exchange.status is None or exchange.status >= 300:
        return 0
    turn = turn_of(exchange)
    counts = tokens_of(turn.usage) if turn is not None and turn.usage else (None, None)
    if counts[0] and counts[1]:
        return counts[0] + counts[1]
    return tokens_at_most(exchange.request)
