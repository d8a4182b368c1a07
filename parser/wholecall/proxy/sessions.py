"""One WebSocket: its handshake is admitted, then two pumps pass messages until a side ends it, or the proxy does.

Theory of operation. The upstream is asked first, and the client is answered as it answered: a WebSocket, or its status
and body. Then one pump takes the upstream's messages through the repairer to the client, and one shows the client's
messages to the repairer and takes them to the upstream. Each message is passed on before the next one of its direction
is taken, so a slow reader slows the writer on the other side, and nothing accumulates in between. A client that leaves
ends both at once. An upstream that ends is heard to its last message. An interruption (a silence, the end of the drain)
is a future that is waited for beside the pumps.

Live upstreams may be silent for as long as their users are: while nothing comes, they are pinged, and an answer to that
is a sign of life. Clients are pinged by the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, Final, NamedTuple, Optional, Union

import msgspec

from wholecall.proxy import wire
from wholecall.proxy.closing import BROKEN, GONE, ORDINARY, TOO_LARGE, for_client, for_upstream, of_ours
from wholecall.proxy.config import Config
from wholecall.proxy.deadlines import Clock, Deadlines, Timer
from wholecall.proxy.entry import Entry, Watcher
from wholecall.proxy.errors import Refusal, error_body, error_headers, refusal_of
from wholecall.proxy.exchange import Exchange
from wholecall.proxy.headers import BadHeaderError, to_client
from wholecall.proxy.request import ClientLeft
from wholecall.proxy.upgrades import Upgrade
from wholecall.repairing import MessageRepairer
from wholecall.repairing.answers import ID

_private = True

_SWITCHING: Final = 101
_LEAST_PASSED: Final = 300  # statuses of an upstream that opens no WebSocket, which a client is told
_LINES: Final = "application/x-ndjson"
_LINE_ENDS: Final = bytes.maketrans(b"\r\n", b"  ")  # in JSON they only stand where a space may
_MOST_MODEL: Final = 128
_TURN: Final = 0.001  # seconds after which other tasks have their turn
_OWN: Final = (b"sec-websocket-", b"content-length")  # headers that the server of the client's side makes

Sent = Union[str, bytes]


class _End(NamedTuple):
    """The end of a session.

    Attributes:
        closed: the end.
        by: the side that ended it.
    """

    closed: wire.Closed
    by: str


class Session(Exchange):
    """One WebSocket: its handshake, as ASGI has it, and what is said."""

    async def _refuse(self, refusal: Refusal) -> None:
        """Answer the handshake with an error."""
        body = error_body(self._entry.path, refusal)
        await self._reject(refusal.status, error_headers(body, refusal), body)

    async def _reject(self, status: int, headers: wire.Headers, body: bytes) -> None:
        """Answer the handshake with a status, if the server can."""
        if "websocket.http.response" not in self._scope.get("extensions", {}):
            await self._send({"type": "websocket.close", "code": 1008})
            return
        headers = [*headers, (ID.encode(), self._entry.id.encode())]
        await self._send({"type": "websocket.http.response.start", "status": status, "headers": headers})
        await self._send({"type": "websocket.http.response.body", "body": body})

    async def _answer(self, config: Config, upstream: wire.Upstream, busy: str | None) -> None:
        entry = self._entry
        if (await self._receive())["type"] != "websocket.connect":
            raise ClientLeft("the client left")
        try:
            upgrade = Upgrade.read(self._scope, config, entry, self._limits)
            if busy is not None:
                raise refusal_of(busy, "")
        except Refusal:
            entry.outcome = "refused"
            raise
        relay = SocketRelay(
            upgrade.handshake,
            entry,
            self._receive,
            self._send,
            upstream=upstream,
            watcher=self._watcher,
            config=config,
            clock=self._clock or asyncio.get_running_loop(),
            options=upgrade.options,
        )
        self._relay = relay
        try:
            await relay.run()
        except wire.UpstreamRefused as refused:
            await self._pass(refused)
        except OSError:  # of `send`
            raise ClientLeft("the client left") from None
        finally:
            self._relay = None

    async def _pass(self, refused: wire.UpstreamRefused) -> None:
        """Tell the client what the upstream said."""
        if refused.status < _LEAST_PASSED:
            raise refusal_of("upstream_invalid", self._entry.upstream)
        self._entry.status, self._entry.unrepaired = refused.status, None
        self._entry.bytes_in = self._entry.bytes_out = len(refused.body)
        length = (b"content-length", str(len(refused.body)).encode())
        await self._reject(refused.status, [*_passing(refused.headers), length], refused.body)


def _passing(headers: wire.Headers) -> wire.Headers:
    """Return the headers of an upstream's answer to a handshake as the client gets them."""
    try:
        passing = to_client(headers, is_read=False)
    except BadHeaderError:
        raise refusal_of("upstream_invalid", "") from None
    return [(name, value) for name, value in passing if not name.startswith(_OWN) and value.isascii()]


class SocketRelay:
    """Relays the messages of one WebSocket.

    Args:
        handshake: the handshake with the upstream.
        entry: the record of the session, which is filled here.
        receive: ASGI's `receive`; the message of the connection was taken.
        send: ASGI's `send`.
        upstream: the upstream that is asked.
        watcher: observes the session.
        config: the timeouts, and when there are pings.
        clock: the event loop, or its replacement in a test.
        options: the options of the repairer; None if messages pass in any case.
    """

    def __init__(
        self,
        handshake: wire.Handshake,
        entry: Entry,
        receive: wire.Receive,
        send: wire.Send,
        *,
        upstream: wire.Upstream,
        watcher: Watcher,
        config: Config,
        clock: Clock,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.entry = entry
        self._handshake = handshake
        self._receive = receive
        self._send = send
        self._upstream = upstream
        self._watcher = watcher
        self._clock = clock
        self._repairer = None if options is None else MessageRepairer(on_dropped=entry.lose, **options)
        self._began = clock.time()
        self._deadlines = Deadlines(
            self._began,
            ping=config.ping,
            ping_always=True,
            first_byte=config.first_byte_timeout,
            idle=config.idle_timeout,
            write=None if config.write_timeout is None else 2 * config.write_timeout,
        )
        self._timer = Timer(clock, self._look)
        self._turned = perf_counter()
        self._cut: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # why it is to end
        self._early: asyncio.Future[wire.Message] | None = None  # what comes from the client next
        self._socket: wire.Socket | None = None
        self._pinging: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<SocketRelay {self.entry!r}>"

    def cut(self, code: str) -> None:
        """End the session with this error, if it is not over."""
        if not self._cut.done():
            self._cut.set_result(code)

    async def run(self) -> None:
        """Open the WebSocket and relay its messages.

        Raises:
            Refusal, UpstreamRefused: there is none, and the handshake has to be answered with this.
            ClientLeft: the client left, and did not say so.
            OSError: the same, as the server says it.
        """
        self._timer.restart(self._deadlines.wait(self._began))
        try:
            socket = self._socket = await self._connected()
            await self._accept(socket)
            await self._finish(socket, await self._relayed(socket))
        finally:
            await self._leave()

    # The handshake.

    async def _connected(self) -> wire.Socket:
        """Return the upstream's WebSocket, unless the client leaves before, or it takes too long."""
        work = asyncio.ensure_future(self._upstream.connect(self._handshake))
        early = self._early = asyncio.ensure_future(self._receive())
        try:
            await _first(work, early, self._cut)
            if early.done() and not work.done() and early.result()["type"] != "websocket.disconnect":
                await _first(work, self._cut)
        except asyncio.CancelledError:
            await _dropped(work)
            raise
        if not work.done():
            await _dropped(work)
            if self._cut.done():
                raise refusal_of(self._cut.result(), self.entry.upstream)
            raise ClientLeft("the client left")
        try:
            return work.result()
        except wire.UpstreamFailed as failed:
            raise refusal_of(failed.code, self.entry.upstream) from None

    async def _accept(self, socket: wire.Socket) -> None:
        entry, now = self.entry, self._clock.time()
        headers = [*_passing(socket.headers), (ID.encode(), entry.id.encode())]
        accept = {"type": "websocket.accept", "subprotocol": socket.protocol, "headers": headers}
        entry.status, entry.content_type = _SWITCHING, _LINES
        entry.messages_in = entry.messages_out = entry.messages_asked = 0
        if (repairer := self._repairer) is not None:
            entry.handling, entry.held = "repaired", lambda: repairer.report.held
        self._deadlines.begin(now)
        self._timer.restart(self._deadlines.wait(now))
        await self._send(accept)

    # The pumps.

    async def _relayed(self, socket: wire.Socket) -> _End:
        """Pass messages in both directions, and return the end."""
        down = asyncio.ensure_future(self._down(socket))
        up = asyncio.ensure_future(self._up(socket))
        try:
            await _first(down, up, self._cut)
            if not self._cut.done() and not down.done() and up.result() is None:
                await _first(down, self._cut)  # the upstream takes nothing more: what it says last is heard
            if up.done() and (closed := up.result()) is not None:
                await socket.close(*for_upstream(closed)[:2])  # before its reading ends: it may still send
                return _End(closed, "client")
            if self._cut.done():
                return _End(of_ours(self._cut.result()), "us")
            return _End(down.result(), "upstream")
        finally:
            await _dropped(down, up)

    async def _down(self, socket: wire.Socket) -> wire.Closed:
        """Pass the upstream's messages to the client; return its end."""
        deadlines, entry = self._deadlines, self.entry
        while True:
            message = await socket.receive()
            deadlines.came = deadlines.sent = now = self._clock.time()
            if message is None:
                continue
            if isinstance(message, wire.Closed):
                return message
            entry.seconds_last = now - self._began
            if entry.seconds_first is None:
                entry.seconds_first = entry.seconds_last
            await self._turn()
            await self._tell(self._repaired(message))
            if (repairer := self._repairer) is not None and repairer.ended:
                return of_ours(repairer.report.error or "upstream_lost")

    async def _turn(self) -> None:
        """Let other sessions run, after a while of messages that came together."""
        if perf_counter() - self._turned > _TURN:
            await asyncio.sleep(0)
            self._turned = perf_counter()

    def _repaired(self, message: Sent) -> list[Sent]:
        """Return what the client gets for a message of the upstream."""
        entry = self.entry
        data = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
        entry.bytes_in += len(data)
        entry.chunks += 1
        entry.messages_in = (entry.messages_in or 0) + 1
        if self._repairer is None:
            return [message]
        began = perf_counter()
        self._watcher.chunk(entry, data.translate(_LINE_ENDS) + b"\n")
        out = self._repairer.receive(message)
        entry.own_seconds += perf_counter() - began
        return out

    async def _tell(self, messages: list[Sent]) -> None:
        """Send messages to the client, each after it took the one before."""
        deadlines, entry = self._deadlines, self.entry
        for message in messages:
            is_text = isinstance(message, str)
            deadlines.stage, deadlines.sending = "sending", self._clock.time()
            await self._send({"type": "websocket.send", "text" if is_text else "bytes": message})
            entry.messages_out = (entry.messages_out or 0) + 1
            entry.bytes_out += len(message.encode()) if isinstance(message, str) else len(message)
            deadlines.sent, deadlines.stage = self._clock.time(), "reading"

    async def _up(self, socket: wire.Socket) -> Optional[wire.Closed]:
        """Pass the client's messages to the upstream; return the client's end, None if the upstream takes no more."""
        entry = self.entry
        while True:
            early, self._early = self._early, None
            message = await (self._receive() if early is None else early)
            if message["type"] == "websocket.disconnect":
                return wire.Closed(message.get("code", BROKEN), message.get("reason") or "")
            text = message.get("text")
            data: Sent = message["bytes"] if text is None else text
            if not entry.messages_asked and entry.model is None:
                entry.model = _model_of(data)
            entry.messages_asked = (entry.messages_asked or 0) + 1
            if self._repairer is not None:
                self._repairer.send(data)
            try:
                await socket.send(data)
            except wire.UpstreamFailed:
                return None

    # The end.

    async def _finish(self, socket: wire.Socket, end: _End) -> None:
        """Tell each side of the end that the other made."""
        entry, closed = self.entry, end.closed
        entry.close = closed.code
        last = [] if self._repairer is None else self._repairer.close()
        if end.by == "client":
            if closed.code == TOO_LARGE:
                entry.error = "message_too_large"
            elif closed.code not in ORDINARY:
                entry.outcome = "client_left"
            return
        entry.error = closed.error or ("upstream_lost" if closed.code == BROKEN else None)
        if entry.error is None and closed.code not in ORDINARY:
            entry.outcome = "upstream_status"
        if entry.error != "client_stalled":
            await self._tell(last)
            code, reason, _ = of_ours(entry.error) if entry.error else for_client(closed)
            await self._send({"type": "websocket.close", "code": code, "reason": reason})
        await socket.close(*(closed if end.by == "upstream" and closed.code in ORDINARY else GONE)[:2])

    async def _leave(self) -> None:
        """Release everything."""
        self._timer.stop()
        waiting = [task for task in (self._early, self._pinging) if task is not None]
        self._early = self._pinging = None
        await _dropped(*waiting)
        if self._repairer is not None and self.entry.messages_in is not None:
            report = self._repairer.report
            self.entry.report(report)
            self.entry.held = int
            is_known = report.dialect is not None and not report.unread
            self.entry.unrepaired = None if is_known or not self.entry.messages_in else "dialect"
        if self._socket is not None:
            await self._socket.close(*GONE[:2])

    # Actions of the timer.

    def _look(self) -> float | None:
        """Do what is due, and return when to look again."""
        now = self._clock.time()
        due = self._deadlines.due(now)
        if due == "ping":
            self._deadlines.pinged = now
            if self._socket is not None and (self._pinging is None or self._pinging.done()):
                self._pinging = asyncio.ensure_future(self._socket.ping())
        elif due is not None:
            self.cut(due)
            return None
        return self._deadlines.wait(now)


async def _first(*tasks: Awaitable[object]) -> None:
    """Return once one of these is done."""
    await asyncio.wait([asyncio.ensure_future(task) for task in tasks], return_when=asyncio.FIRST_COMPLETED)


async def _dropped(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks, and wait for their ends; a WebSocket that was opened all the same is closed."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if task.cancelled() or task.exception() is not None:
            continue
        close: Callable[..., Awaitable[None]] | None = getattr(task.result(), "close", None)
        if close is not None:
            await close(*GONE[:2])


# The model.


class _Asked(msgspec.Struct, frozen=True):
    """The members of a client's first message that may name a model: of Responses, Realtime and Live."""

    model: Any = None
    response: Any = None
    session: Any = None
    setup: Any = None

    def __repr__(self) -> str:
        return "<Asked>"


_DECODER: Final = msgspec.json.Decoder(_Asked)


def _model_of(message: Sent) -> str | None:
    """Return the model that a message names, None if it names none."""
    try:
        asked = _DECODER.decode(message)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    inner = (
        one.get("model") for one in (asked.response, asked.session, asked.setup) if isinstance(one, dict)
    )
    named = next((one for one in (asked.model, *inner) if isinstance(one, str)), None)
    return None if named is None else named[:_MOST_MODEL]
