"""One answer of an application, on its way to the client.

Theory of operation. The start of an event stream is sent at once, and each body message passes through a `Repairer`:
its output is sent in the same `send`, and held bytes make no message. Bodies labelled as JSON or as text wait for their
first byte. A JSON body waits for its end and is judged whole, because it may become an error with another status. The
last message closes the repairer, an exception of the application fails it, and a disconnect aborts it.

A stream that was ended by an error ends for the client like a broken connection, so that it is not taken for whole. The
way to do that in ASGI is an exception that leaves the application.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final

from wholecall import WholecallError
from wholecall.repairing import Repairer, RepairReport, answers, repair_body
from wholecall.repairing.notices import Exchange, Notices
from wholecall.repairing.pace import Pace

__all__ = ["UNREAD", "Answer", "AnswerEnded", "App", "Receive", "Scope", "Send"]

# The names that ASGI and every framework use.
Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_BODY: Final = "http.response.body"
_CODING: Final = b"content-encoding"  # no coding is removed here
# Messages, and extensions, that name a file instead of a body: its content was not read.
UNREAD: Final = frozenset({"http.response.pathsend", "http.response.zerocopysend"})
_HAS_AN_END: Final = "responses"  # an error is a proper end there
_LEFT: Final = "the client went away"
_LOST: Final = ("upstream_lost", "the server failed before the end of the answer")


class AnswerEnded(WholecallError, OSError):
    """The error after the end of an answer that an error ended; nothing may follow.

    It is raised in the application, where that continues to send, and out of it, so that the server closes the
    connection without the end of the body. It is an `OSError` because `send` raises that for a disconnected client:
    frameworks then stop to answer.
    """


class Answer:
    """An application's answer to one request, on its way to the client.

    Attributes:
        cut: the exception that ends the connection as broken, once the application is over; None if it ends well.
    """

    def __init__(
        self, options: Mapping[str, Any], exchange: Exchange, most: int | None, receive: Receive, send: Send
    ) -> None:
        self.cut: AnswerEnded | None = None
        self._notices = Notices(options, exchange)
        self._exchange = exchange
        self._most = most
        self._receive = receive
        self._send = send
        self._take: Send = self._out  # takes the body messages
        self._start: Message | None = None  # while the kind of the body is unknown
        self._held = bytearray()  # of a body that waits for its end, or for its first byte
        self._repairer: Repairer | None = None  # of an event stream that is not over
        self._stopped: AnswerEnded | None = None  # raised in an application that continues
        self._pace = Pace()
        self._is_gone = False  # the server reported it to the sender

    # Called by the application.

    async def receive(self) -> Message:
        """Return the client's next message; a disconnect drops open calls."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            await self.leave()
        return message

    async def send(self, message: Message) -> None:
        """Take a message of the application.

        Raises:
            AnswerEnded: the answer was ended, and the application continues.
        """
        kind = message["type"]
        if kind == _BODY:
            await self._take(message)
        elif kind == "http.response.start":
            await self._begin({**message, "headers": list(message.get("headers", ()))})
        elif self._stopped is None:
            if kind in UNREAD:
                await self._let_pass()
            await self._out(message)

    # The ends of the application.

    def was_stopped_by(self, error: Exception) -> bool:
        """Return whether the application raised because it could not send any more."""
        told = (error, error.__cause__, error.__context__, *getattr(error, "exceptions", ()))
        return self._stopped is not None and any(one is self._stopped for one in told)

    async def fail(self) -> None:
        """End the answer of an application that raised, if it has begun."""
        if self._repairer is not None and not self._is_gone:
            with suppress(OSError):
                await self._finish({"type": _BODY, "more_body": True}, self._repairer.fail(*_LOST))

    async def close(self) -> None:
        """End the answer of an application that returned without ending it."""
        if self._start is not None:
            await self._let_pass()
        if self._repairer is not None and not self._is_gone:
            await self._finish({"type": _BODY, "more_body": True}, self._repairer.close())

    async def leave(self) -> None:
        """Drop open calls."""
        repairer, self._repairer = self._repairer, None
        if repairer is not None:
            repairer.abort(_LEFT)
            self._notices.end(repairer.report)
        await self._notices.atell()

    # The beginning.

    async def _begin(self, start: Message) -> None:
        kind = _kind_of(start)
        if kind is not None and answers.is_encoded(_value(start, _CODING)):
            told = (answers.UNREAD.encode(), b"encoding")
            self._notices.end(RepairReport(unread=True))
            await self._out({**start, "headers": [*start["headers"], told]})
        elif kind == answers.EVENT_STREAM:
            await self._open(start)
        elif kind is not None:
            self._start, self._take = start, self._wait
        else:
            await self._out(start)

    async def _open(self, start: Message) -> None:
        self._repairer = Repairer(**self._notices.options, expected=self._notices.expected)
        self._take = self._repair
        await self._out({**start, "headers": self._headers(start)})

    async def _wait(self, message: Message) -> None:
        """Hold a body that may be JSON until its first byte."""
        body = _body(message)
        found = answers.is_json(body)
        if found is False:
            (start, self._start), (held, self._held) = (self._start, None), (self._held, bytearray())
            assert start is not None
            await self._open(start)
            await self._take({**message, "body": bytes(held) + body})
            return
        if found:
            self._take = self._gather
        await self._gather(message)

    async def _let_pass(self) -> None:
        """Send the held messages unchanged, and those that follow."""
        start, self._start, self._take = self._start, None, self._out
        if start is not None:
            await self._out(start)
        if self._held:
            await self._out({"type": _BODY, "body": bytes(self._held), "more_body": True})
        await self.leave()

    # Event streams.

    async def _repair(self, message: Message) -> None:
        """Send the output for a message."""
        repairer, body, goes_on = self._repairer, _body(message), message.get("more_body", False)
        if repairer is None:  # the client has gone; a server may report that to the sender
            await self._out({**message, "body": b""})
            return
        out = await self._read(repairer, body)
        if self._repairer is None:  # it went meanwhile
            return
        if repairer.ended or not goes_on:
            await self._finish(message, out + repairer.close())
            if goes_on:
                await self._refuse(message)
            return
        if out or not body:
            await self._out(message if out is body else {**message, "body": out})
        await self._notices.atell()

    async def _read(self, repairer: Repairer, body: bytes) -> bytes:
        """Return the output for a message; a large one is read in slices, with turns for other tasks."""
        out: list[bytes] = []
        for piece in self._pace.slices([body]):
            await self._pace.turn()
            if self._repairer is None:
                break
            out.append(repairer.feed(piece))
        return b"".join(out)

    async def _finish(self, message: Message, out: bytes) -> None:
        """Send the end of a stream, and let nothing follow an error."""
        assert self._repairer is not None
        report = self._repairer.report
        self._take = self._out
        goes_on = message.get("more_body", False)
        if report.error is not None:
            self._stopped = AnswerEnded(f"the answer was ended by an error: {report.error}")
            self._take = self._refuse
            goes_on = report.dialect != _HAS_AN_END
            self.cut = self._stopped if goes_on else None
        if out or not goes_on:
            await self._out({**message, "body": out, "more_body": goes_on})
        await self.leave()

    async def _refuse(self, _message: Message) -> None:
        """Stop an application that continues."""
        assert self._stopped is not None
        raise self._stopped

    # Whole bodies.

    async def _gather(self, message: Message) -> None:
        """Hold a body until it is whole, or too large to be judged."""
        self._held += _body(message)
        is_full = self._most is not None and len(self._held) > self._most
        if is_full or not message.get("more_body", False):
            await self._judge(message)

    async def _judge(self, message: Message) -> None:
        goes_on = message.get("more_body", False)
        options = {name: value for name, value in self._notices.options.items() if name != "live_arguments"}
        body = repair_body(bytes(self._held), expected=self._notices.expected, **options)
        error = body.report.error
        if goes_on and error is None:  # no single large value
            await self._let_pass()
            return
        self._notices.end(body.report)
        start, self._start, self._take = self._start, None, self._out
        assert start is not None
        status = start["status"] if error is None else answers.ERROR_STATUS
        changed = [("content-length", str(len(body.data))), *(answers.ERROR_HEADERS if error else ())]
        await self._out({**start, "status": status, "headers": self._headers(start, changed)})
        await self._out({**message, "body": body.data, "more_body": False})
        await self._notices.atell()
        if goes_on:
            self._stopped = AnswerEnded(f"the answer was ended by an error: {error}")
            self._take = self._refuse
            await self._refuse(message)

    # Sent to the client.

    def _headers(self, start: Message, changed: Iterable[tuple[str, str]] = ()) -> list[tuple[bytes, bytes]]:
        """Return the headers of an answer with another body."""
        new = [(answers.ID, self._exchange.id), *changed]
        gone = {name.encode() for name in (*answers.OUTDATED, *(name for name, _ in new))} - {_CODING}
        kept = [(name, value) for name, value in start["headers"] if name.lower() not in gone]
        return kept + [(name.encode(), value.encode()) for name, value in new]

    async def _out(self, message: Message) -> None:
        try:
            await self._send(message)
        except BaseException:
            self._is_gone = True  # nothing reaches the client any more
            raise


def _body(message: Message) -> bytes:
    body = message.get("body", b"")
    return body if type(body) is bytes else bytes(body)


def _kind_of(start: Message) -> str | None:
    """Return the media type of an answer that may hold tool calls; None of any other."""
    return answers.kind_of(start["status"], _value(start, b"content-type"))


def _value(start: Message, wanted: bytes) -> str:
    return ", ".join(value.decode("latin-1") for name, value in start["headers"] if name.lower() == wanted)
