"""HTTP as the relay sees it: ASGI towards the client; towards the upstream what is asked, what answers, and how that fails.

Theory of operation. The relay reads an answer piece by piece and knows nothing of sockets. Whatever has to interrupt
it, a silence or the end of the drain, closes the answer; the read that waits raises then. So no read needs a timeout
of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final, Literal, Optional, Protocol, Union

import msgspec

from wholecall import WholecallError
from wholecall.proxy.config import UpstreamConfig

__all__ = [
    "Answer",
    "Headers",
    "Message",
    "Question",
    "Receive",
    "Scope",
    "Send",
    "Upstream",
    "UpstreamCode",
    "UpstreamFailed",
]
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
    """The upstream gave no answer, or not all of one.

    Attributes:
        code: why.
    """

    def __init__(self, code: UpstreamCode) -> None:
        super().__init__(_SAID[code])
        self.code = code


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A request to an upstream.

    Attributes:
        upstream: whom it is for.
        method: in capitals.
        url: the whole of it, as it is to be sent.
        headers: end-to-end ones; without `host` and without framing.
        body: its bytes, the pieces as they come, or None for no body.
        length: of the body; None where the client has not told it.
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
    """An answer whose head has come.

    Attributes:
        status: the HTTP status.
        headers: as they came, in their order.
    """

    status: int
    headers: Headers

    async def read(self) -> bytes:
        """Return what came since, at least a byte; nothing at the end of the body.

        Raises:
            UpstreamFailed: the body broke off, or the answer was closed.
        """
        ...

    def close(self) -> None:
        """Close the connection at once; where the answer was read to its end that is done already."""


class Upstream(Protocol):
    """What is asked."""

    async def ask(self, question: Question) -> Answer:
        """Send a request, and return its answer once the head has come; cancelling it closes the connection.

        Raises:
            UpstreamFailed: there is none.
        """
        ...

    async def close(self) -> None:
        """Close what is open."""
