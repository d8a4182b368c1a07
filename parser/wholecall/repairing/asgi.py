"""Repair inside a server: an ASGI middleware that gives every client whole tool calls or none.

::

    app.add_middleware(wholecall.asgi.RepairMiddleware)

Theory of operation. The start of an event stream is sent at once, and each body message passes through a `Repairer`:
its output is sent in the same `send`, and held bytes make no message. Bodies labelled as JSON or as text wait for their
first byte. A JSON body waits for its end and is judged whole, because it may become an error with another status. The
last message closes the repairer, an exception of the application fails it, and a disconnect aborts it.

A stream that was ended by an error ends for the client like a broken connection, so that it is not taken for whole. The
way to do that in ASGI is an exception that leaves the application.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

import wholecall
from wholecall.calls.tools.tool import AnyTools
from wholecall.repairing import Repairer, RepairReport, answers, bodies, repair_body
from wholecall.repairing.notices import Counters, Exchange, Hearer, Notices
from wholecall.repairing.pace import Pace
from wholecall.repairing.withholding import Withheld, checked

# The names that ASGI and every framework use.
Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_BODY: Final = "http.response.body"
_CODING: Final = b"content-encoding"  # no coding is removed here
# Messages, and extensions, that name a file instead of a body: its content was not read.
_FILES: Final = frozenset({"http.response.pathsend", "http.response.zerocopysend"})
_HAS_AN_END: Final = "responses"  # an error is a proper end there
_LEFT: Final = "the client went away"
_LOST: Final = ("upstream_lost", "the server failed before the end of the answer")
_PREFIX: Final = "WHOLECALL_ASGI_"  # of variables


class AnswerEnded(wholecall.WholecallError, OSError):
    """The error after the end of an answer that an error ended; nothing may follow.

    It is raised in the application, where that continues to send, and out of it, so that the server closes the
    connection without the end of the body. It is an `OSError` because `send` raises that for a disconnected client:
    frameworks then stop to answer.
    """


class RepairMiddleware:
    """An ASGI application that wraps another one, and makes its event streams and JSON bodies with tool calls strict.

    Only answers to a POST to an endpoint for tool calls are changed, with status 200 or 201 and without a
    `content-encoding`: put it inside of any compressing middleware. It has no dependencies, and runs under every ASGI
    server and framework.

    Args:
        app: the application that answers.
        live: whether calls are shown while they arrive, as `live_arguments` of `Repairer`; False by default.
        withheld: how a turn ends whose calls were all withheld, as for `Repairer`; `"auto"` by default.
        tools: the tools that the model was given, as for `Repairer`; only if all requests give the same tools.
        text: calls that the model writes as text, as for `Repairer`; None by default.
        on_dropped: called with each withheld call, and with its `Exchange` if it requires a second argument, or calls
            it `exchange`; it may be asynchronous, as the next two may. Their exceptions go to the application.
        on_fault: called likewise with each fault of the stream.
        on_repaired: called likewise with the `RepairReport` of each changed answer, once it is over.
        counters: adds up the results of all answers.
        policy: how calls are judged.
        limits: bounds of a stream or a body; `Limits.gateway()` by default.
        paths: the ends of the paths of endpoints; by default `/chat/completions`, `/responses`, `/messages`, and of
            Gemini `:generateContent` and `:streamGenerateContent`.

    Options that are None are taken from the environment, for servers that give a middleware no options:
    `WHOLECALL_ASGI_LIVE` (1 or 0), `WHOLECALL_ASGI_WITHHELD`, `WHOLECALL_ASGI_TEXT` (the name of a format),
    `WHOLECALL_ASGI_LIMITS` (`gateway`, `default`, `desktop` or `none`) and `WHOLECALL_ASGI_PATHS` (with commas between
    them).

    Raises:
        TypeError, ValueError, ImportError: an option is not one of its words, also in the environment; or as for
            `Repairer`.
    """

    def __init__(
        self,
        app: App,
        *,
        live: bool | None = None,
        withheld: Withheld | None = None,
        tools: AnyTools | None = None,
        text: wholecall.TextWanted = None,
        on_dropped: Hearer[wholecall.ToolCallDropped] | None = None,
        on_fault: Hearer[wholecall.StreamFault] | None = None,
        on_repaired: Hearer[RepairReport] | None = None,
        counters: Counters | None = None,
        policy: wholecall.Policy = wholecall.Policy(),  # noqa: B008 - frozen
        limits: wholecall.Limits | None = None,
        paths: Sequence[str] | None = None,
    ) -> None:
        self.app = app
        given = {"live": live, "withheld": withheld, "text": text, "limits": limits, "paths": paths}
        chosen = {**_DEFAULTS, **_from_environment(os.environ)}
        chosen.update({name: value for name, value in given.items() if value is not None})
        self._paths = _checked_paths(chosen["paths"])
        self._limits: wholecall.Limits = chosen["limits"]
        self._options: dict[str, Any] = {
            "live_arguments": chosen["live"],
            "withheld": chosen["withheld"],
            "text": chosen["text"],
            "tools": tools
            if tools is None or isinstance(tools, wholecall.Tools)
            else wholecall.Tools[Any](tools),
            "policy": policy,
            "limits": chosen["limits"],
            "on_dropped": on_dropped,
            "on_fault": on_fault,
            "on_repaired": on_repaired,
            "counters": counters,
        }
        Repairer(
            **Notices(self._options, Exchange(id="", method="", url="")).options
        )  # refuses invalid options

    def __repr__(self) -> str:
        return f"<RepairMiddleware {self.app!r}>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, and make the answer strict if it may hold tool calls."""
        is_request = scope["type"] == "http"
        if not is_request or not answers.asks_for_calls(scope["method"], scope["path"], self._paths):
            await self.app(scope, receive, send)
            return
        exchange = Exchange(id=uuid.uuid4().hex, method=scope["method"], url=quote(scope["path"]))
        answer = _Answer(self._options, exchange, bodies.most_of_body(self._limits), receive, send)
        try:
            await self.app(_without_files(scope), answer.receive, answer.send)
        except Exception as error:
            if not answer.was_stopped_by(error):
                await answer.fail()
                raise
        else:
            await answer.close()
        finally:
            await answer.leave()
        if answer.cut is not None:
            raise answer.cut


def _without_files(scope: Scope) -> Scope:
    """Return the scope without the offer to send a file, which would not be read here."""
    offered = scope.get("extensions") or {}
    if _FILES.isdisjoint(offered):
        return scope
    return {**scope, "extensions": {name: offered[name] for name in offered if name not in _FILES}}


class _Answer:
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
            if kind in _FILES:
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


# Options from the environment.


def _switch(value: str) -> bool:
    if value.lower() not in _SWITCHES:
        raise ValueError(f"it is 1 or 0, and not {value!r}")
    return _SWITCHES[value.lower()]


def _limits(value: str) -> wholecall.Limits:
    if value.lower() not in _LIMITS:
        raise ValueError(f"there are no limits {value!r}; use one of: {', '.join(_LIMITS)}")
    return _LIMITS[value.lower()]()


def _withheld(value: str) -> Withheld:
    return checked(value.lower())  # type: ignore[arg-type]  # it is what is checked


def _paths(value: str) -> Sequence[str]:
    return _checked_paths([path.strip() for path in value.split(",")])


def _checked_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the ends of paths without their last slashes."""
    if isinstance(paths, str):
        raise TypeError(f"paths is a list of strings; give [{paths!r}]")
    ends = tuple(path.rstrip("/") for path in paths)
    for end in ends:
        if not end.startswith(("/", ":")):
            raise ValueError(
                f"an end of paths begins with a slash or a colon and names something: '/messages', not {end!r}"
            )
    return ends


_SWITCHES: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_LIMITS: Final = {
    "default": wholecall.Limits,
    "desktop": wholecall.Limits.desktop,
    "gateway": wholecall.Limits.gateway,
    "none": wholecall.Limits.none,
}
_DEFAULTS: Final[dict[str, Any]] = {
    "live": False,
    "withheld": "auto",
    "text": None,
    "limits": wholecall.Limits.gateway(),
    "paths": answers.ENDPOINTS,
}
_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "live": _switch,
    "withheld": _withheld,
    "text": wholecall.TextCalls,
    "limits": _limits,
    "paths": _paths,
}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that variables give; an empty variable gives none."""
    found: dict[str, Any] = {}
    for variable, value in environ.items():
        if not variable.startswith(_PREFIX) or not value.strip():
            continue
        reader = _READERS.get(variable.removeprefix(_PREFIX).lower())
        if reader is None:
            known = [_PREFIX + name.upper() for name in _READERS]
            raise ValueError(f"there is no variable {variable}; use one of: {', '.join(known)}")
        try:
            found[variable.removeprefix(_PREFIX).lower()] = reader(value.strip())
        except ValueError as error:
            raise ValueError(f"{variable}: {error}") from error
    return found
