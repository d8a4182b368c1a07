"""HTTP from the relay's side: ASGI towards the client; requests, answers and failures towards the upstream.

Theory of operation. The relay reads an answer piece by piece and has no access to sockets. An interruption (a silence,
the end of the drain) closes the answer; the waiting read raises then. Therefore no read needs its own timeout.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final, Literal, NamedTuple, Optional, Protocol, Union

import msgspec

from wholecall import WholecallError
from wholecall.proxy.config import UpstreamConfig

_private = True

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

Headers = list[tuple[bytes, bytes]]
UpstreamCode = Literal["upstream_unreachable", "upstream_timeout", "upstream_invalid", "upstream_lost"]

_SAID: Final[dict[UpstreamCode, str]] = {
    "upstream_unreachable": "cannot be reached",
    "upstream_timeout": "did not answer in time",
    "upstream_invalid": "sent what is not HTTP, or too large a head",
    "upstream_lost": "closed the connection in the middle",
}


class UpstreamFailed(WholecallError):
    """The upstream gave no answer, or an incomplete one.

    Attributes:
        code: the reason.
    """

    def __init__(self, code: UpstreamCode) -> None:
        super().__init__(_SAID[code])
        self.code = code


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A request to an upstream.

    Attributes:
        upstream: the recipient.
        method: in capitals.
        url: the whole URL as it is to be sent.
        headers: end-to-end headers; without `host` and without framing.
        body: its bytes, the pieces as they arrive, or None for no body.
        length: the length of the body; None if the client has not stated it.
    """

    upstream: UpstreamConfig
    method: str
    url: str
    headers: Headers
    body: Union[bytes, AsyncIterator[bytes], None] = None
    length: Optional[int] = None

    def __repr__(self) -> str:
        return f"<Question {self.method}>"


class Answer(Protocol):
    """An answer whose head has arrived.

    Attributes:
        status: the HTTP status.
        headers: as received, in their order.
    """

    status: int
    headers: Headers

    async def read(self) -> bytes:
        """Return the bytes received since, at least one; empty at the end of the body.

        Raises:
            UpstreamFailed: the body broke off, or the answer was closed.
        """
        ...

    def close(self) -> None:
        """Close the connection at once; after a complete read it is closed already."""


# WebSockets.


class UpstreamRefused(WholecallError):
    """The upstream answered a handshake, and opened no WebSocket.

    Attributes:
        status: the HTTP status.
        headers: as received, in their order.
        body: the beginning of the body, all of a usual one.
    """

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        super().__init__("opened no WebSocket")
        self.status = status
        self.headers = headers
        self.body = body


class Handshake(msgspec.Struct, frozen=True, kw_only=True):
    """The request for a WebSocket of an upstream.

    Attributes:
        upstream: the recipient.
        url: the whole URL as it is to be sent, with `http` or `https`.
        headers: end-to-end headers; without `host` and without those of the handshake itself.
        protocols: the subprotocols that the client offers.
        most: bytes that a message of the upstream may have.
    """

    upstream: UpstreamConfig
    url: str
    headers: Headers
    protocols: tuple[str, ...] = ()
    most: int

    def __repr__(self) -> str:
        return f"<Handshake with {self.upstream.name}>"


class Closed(NamedTuple):
    """The end of a WebSocket.

    Attributes:
        code: the close code; 1005 for a close frame without one, 1006 if the connection broke without such a frame.
        reason: the reason that the peer gave.
        error: the code of an error of ours, if the end is one: `message_too_large`.
    """

    code: int
    reason: str = ""
    error: Optional[str] = None


class Socket(Protocol):
    """A WebSocket of an upstream.

    Attributes:
        headers: those of its answer to the handshake, as received.
        protocol: the subprotocol that it chose.
    """

    headers: Headers
    protocol: Optional[str]

    async def receive(self) -> Union[str, bytes, Closed, None]:
        """Return its next message; None for a ping, which is answered here, or a pong. Nothing follows `Closed`."""
        ...

    async def send(self, message: Union[str, bytes]) -> None:
        """Send a message, and return once there is room for another one.

        Raises:
            UpstreamFailed: the connection is closed.
        """

    async def ping(self) -> None:
        """Send a ping; nothing happens on a connection that is closed."""

    async def close(self, code: int, reason: str = "") -> None:
        """Close it, and wait a little for the peer's part of that; a repeated call does nothing."""


class Upstream(Protocol):
    """An upstream."""

    async def ask(self, question: Question) -> Answer:
        """Send a request, and return its answer once the head has arrived; cancelling it closes the connection.

        Raises:
            UpstreamFailed: there is no answer.
        """
        ...

    async def connect(self, handshake: Handshake) -> Socket:
        """Open a WebSocket; cancelling it closes the connection.

        Raises:
            UpstreamRefused: the upstream answered, and opened none.
            UpstreamFailed: there is no answer.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
