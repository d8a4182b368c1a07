"""One exchange: a request is admitted, its answer relayed, until it is over or the client has left.

Theory of operation. Once a request is admitted, two tasks run: one relays the answer, one waits for the client to leave;
the first to end cancels the other. An exception of the relay before the first byte went out becomes an error in the form
of the requested API. After that the exception leaves the application, and the server closes the connection.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, Protocol

from wholecall import Limits
from wholecall.proxy.admission import admit
from wholecall.proxy.config import Config
from wholecall.proxy.deadlines import Clock
from wholecall.proxy.entry import Watcher
from wholecall.proxy.errors import CutOff, Refusal, error_body, error_headers, outcome_of, refusal_of
from wholecall.proxy.memory import BodyMemory, Held
from wholecall.proxy.relay import Relay
from wholecall.proxy.request import ClientLeft, Incoming, Request, entry_of
from wholecall.proxy.wire import Receive, Scope, Send, Upstream
from wholecall.repairing.answers import ID

_private = True

_BODY_TIMEOUT: Final = 60.0  # seconds without progress


class Cuttable(Protocol):
    """A relay that can be ended from outside."""

    def cut(self, code: str) -> None:
        """End it with an error of this code."""


class Exchange:
    """One request and its answer.

    Args:
        scope: the request, as ASGI has it, like the next two.
        receive: returns the pieces of its body.
        send: takes the pieces of the answer.
        watcher: is notified of the exchange.
        memory: the memory for all bodies.
        clock: tells the time; None for the event loop.
        limits: the limits of a stream.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        watcher: Watcher,
        memory: BodyMemory,
        clock: Clock | None,
        limits: Limits,
    ) -> None:
        self._scope = scope
        self._send = send
        self._watcher = watcher
        self._memory = memory
        self._clock = clock
        self._limits = limits
        self._held = Held(memory)
        self._incoming = Incoming(receive, _BODY_TIMEOUT, self._held)
        self._entry = entry_of(scope)
        self._receive = receive
        self._relay: Cuttable | None = None

    def __repr__(self) -> str:
        return f"<Exchange {self._entry!r}>"

    async def run(self, begin: Callable[[], tuple[Config, Upstream, str | None]]) -> None:
        """Answer the request.

        Args:
            begin: returns the configuration, its upstream, and the code of an error if no requests are taken now.

        Raises:
            CutOff: the answer began, and must not end well.
        """
        entry, began = self._entry, time.perf_counter()
        self._watcher.begin(entry)
        try:
            await self._answer(*begin())
        except Refusal as refusal:
            entry.error, entry.status = entry.error or refusal.code, refusal.status
            await self._refuse(refusal)
        except ClientLeft:
            entry.outcome = "client_left"
        except asyncio.CancelledError:
            entry.outcome = entry.outcome or "cut"  # by the server, which stops
            raise
        except CutOff:
            raise
        except Exception:
            entry.outcome = "failed"
            raise
        finally:
            entry.seconds = time.perf_counter() - began
            entry.outcome = entry.outcome or (outcome_of(entry) if entry.status or entry.error else "failed")
            self._watcher.over(entry)

    def cut(self, code: str) -> None:
        """End the answer with an error of this code, if it is being relayed."""
        if self._relay is not None:
            self._relay.cut(code)

    async def _refuse(self, refusal: Refusal) -> None:
        """Answer with an error."""
        entry = self._entry
        body = error_body(entry.path, refusal)
        headers = [*error_headers(body, refusal), (ID.encode(), entry.id.encode())]
        await self._send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body if entry.method != "HEAD" else b""})

    async def _answer(self, config: Config, upstream: Upstream, busy: str | None) -> None:
        self._memory.most = config.max_held_bytes
        try:
            relay = await self._asked(config, upstream, busy)
            self._relay = relay
            await _supervise(relay, self._incoming)
        finally:
            self._relay = None
            self._held.give_all()

    async def _asked(self, config: Config, upstream: Upstream, busy: str | None) -> Relay:
        """Admit and read the request, and return the relay of its answer."""
        entry, scope = self._entry, self._scope
        try:
            token = admit(scope, config.clients)
            if busy is not None:
                raise refusal_of(busy, "")
            request = await Request.read(
                scope, self._incoming, config, entry, token=token, limits=self._limits
            )
        except Refusal:
            entry.outcome = "refused"
            raise
        return Relay(
            request.question,
            entry,
            self._send,
            upstream=upstream,
            watcher=self._watcher,
            config=config,
            clock=self._clock or asyncio.get_running_loop(),
            options=request.options,
            translation=request.translation,
            held=self._held,
        )


# The relay, and the client that may leave.


async def _supervise(relay: Relay, incoming: Incoming) -> None:
    """Relay until the answer is over, or the client has left.

    Raises:
        ClientLeft: the client has left.
        Refusal, CutOff: as `Relay.run`.
    """
    work = asyncio.ensure_future(relay.run())
    watch = asyncio.ensure_future(incoming.until_left())
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        has_left = not work.done()
        for task in (work, watch):
            task.cancel()
        await asyncio.wait({work, watch})
    if has_left or work.cancelled():
        raise ClientLeft("the client left")
    error = work.exception()
    if error is None:
        return
    if incoming.refusal is not None and not relay.has_begun:
        raise incoming.refusal
    raise ClientLeft("the client left") if isinstance(error, OSError) else error
