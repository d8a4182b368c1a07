"""The request's body and the client's presence; both come by ASGI's `receive`, which has one reader at a time.

Theory of operation. A body that has to be examined is read whole, within bounds. Any other body is passed on in the
pieces in which it comes. After its end, the next message says that the client left. Therefore the client is watched
from the first byte of its request to the last byte of its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from wholecall import WholecallError
from wholecall.proxy.ends import refusal_of
from wholecall.proxy.errors import Refusal
from wholecall.proxy.room import Held, NoRoomError
from wholecall.proxy.wire import Receive

__all__ = ["ClientLeft", "Incoming"]
_private = True

_CLOSE = ((b"connection", b"close"),)


class ClientLeft(WholecallError):
    """The client closed its connection."""


class Incoming:
    """The input from a client.

    Args:
        receive: ASGI's `receive`.
        timeout: seconds without progress after which a body is given up; None for no bound.
        held: the exchange's share of the room for all bodies.

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
            Refusal: the body is too large, there is no room for it, or it does not continue.
        """
        parts: list[bytes] = []
        size, goes_on = 0, True
        while goes_on:
            piece, goes_on = await self._next()
            try:
                self._held.take(len(piece))
            except NoRoomError:
                raise no_room() from None
            parts.append(piece)
            size += len(piece)
            if size > most:
                raise too_large(most)
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


def no_room() -> Refusal:
    """Return the answer for a body when other bodies take all the room."""
    refusal = refusal_of("too_much_held", "")
    return Refusal(refusal.status, refusal.code, refusal.message, (*_CLOSE, *refusal.headers))


def too_large(most: int) -> Refusal:
    """Return the answer to a body that is too large."""
    return Refusal(413, "request_too_large", f"the body of the request has more than {most} bytes", _CLOSE)
