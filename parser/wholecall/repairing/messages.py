"""The repairer of messages: reads the messages of any socket session, and returns those that a client may read.

Theory of operation. Every message is one event, so nothing is cut or joined. The first message that only one dialect
knows decides which *session* reads them, unless the caller named it; what comes before holds no call, and passes. So
does every message of a dialect without a session, and every binary message without JSON text, which is sound.

A message that waits for the verdict on its call is held by its session, within the limits of a response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from msgspec.structs import replace

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import Event, StreamFault
from wholecall.calls.tools.tool import AnyTools, Tools
from wholecall.dialects.table import detect_dialect, named
from wholecall.errors import StreamClosed, Uncopyable
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.repairing.report import RepairReport
from wholecall.repairing.rewriter import most_of
from wholecall.repairing.sessions.base import Message, Options, Session, read
from wholecall.repairing.sessions.live import LiveSession
from wholecall.repairing.sessions.realtime import RealtimeSession
from wholecall.repairing.sessions.responses import ResponsesSession
from wholecall.repairing.withholding import Withheld, checked
from wholecall.text.options import TextWanted, text_calls

SESSIONS: Final[dict[str, Callable[[Options], Session]]] = {
    "gemini-live": LiveSession,
    "openai-realtime": RealtimeSession,
    "responses": ResponsesSession,
}


class MessageRepairer(Uncopyable):
    """Turn the messages of any server's socket session into strict ones, one by one.

    The wires are OpenAI Responses over a WebSocket, OpenAI Realtime and Gemini Live. Calls leave whole, with whole
    names and JSON arguments, or not at all; a message about a call is held until the verdict. Everything else passes
    unchanged and at once, except messages of JSON text that no client can read. A healthy session passes unchanged,
    each message as it came, text or binary.

    Args:
        expected: the requested dialect, `responses`, `openai-realtime` or `gemini-live`, where the endpoint shows it.
            With None the messages decide. Messages of any other dialect pass.
        live_arguments: whether calls are shown while their arguments arrive, as for `Repairer`. A shown call that turns out
            wrong fails its response. In Gemini Live calls are always shown whole.
        tools: the tools that the model was given, as for `ToolCallParser`. With `"session"` those of the client's own
            messages (`send`) are known from there on, by their names alone. None for no check.
        text: calls that the model writes as text, as for `ToolCallParser`; only in Responses.
        policy: how calls are judged.
        limits: bounds of one response; `max_event_bytes` bounds a message, and those that wait for a verdict.
        on_dropped: called with each withheld call, which holds the reason.
        on_fault: called with each fault of the wire.
        withheld: how a response ends that claims success but whose calls were all withheld, as for `Repairer`. An error
            ends that response alone; in Gemini Live, which has no responses, it ends the session.

    Raises:
        TypeError, ValueError, ImportError: `tools` does not describe tools; see `Tools`. `withheld` is not one of its
            words.
        UnknownDialect: no dialect is called `expected`.
    """

    def __init__(
        self,
        expected: str | None = None,
        *,
        live_arguments: bool = False,
        tools: AnyTools | Literal["session"] | None = None,
        text: TextWanted = None,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        limits: Limits = Limits(),  # noqa: B008 - frozen
        on_dropped: Callable[[ToolCallDropped], object] | None = None,
        on_fault: Callable[[StreamFault], object] | None = None,
        withheld: Withheld = "auto",
    ) -> None:
        text_calls(text)
        learns = isinstance(tools, str)
        if learns and tools != "session":
            raise ValueError(f"tools are descriptions of tools, or the word session: {tools!r}")
        known = None if tools is None or isinstance(tools, str) else tools
        self._on_dropped = on_dropped
        self._on_fault = on_fault
        self._options = Options(
            tools=known if known is None or isinstance(known, Tools) else Tools[Any](known),
            learns=learns,
            text=text,
            policy=policy,
            limits=limits,
            withheld=checked(withheld),
            live=live_arguments,
            note=self._note,
        )
        self._most = most_of(limits.max_event_bytes)
        self._dialect: str | None = None
        self._session: Session | None = None
        self._early: list[dict[str, Any]] = []  # the client's messages before the dialect was known
        self._closed = False
        if expected is not None:
            self._begin(named(expected).name)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "ended" if self.ended else "open"
        return f"<MessageRepairer {self._dialect} {state}>"

    @property
    def ended(self) -> bool:
        """Return whether an error of ours ended the whole session; nothing more is sent then."""
        return self._session is not None and self._session.is_over

    @property
    def report(self) -> RepairReport:
        """The report of the session so far: counts of all responses; `ended` and `usage` of the last one.

        An `error` is the last of ours; it may have ended one response only (`ended` of the repairer).
        """
        if self._session is None:
            return RepairReport(dialect=self._dialect, unread=self._dialect is not None or self._closed)
        report = self._session.report
        return replace(report, dialect=self._dialect, held=0 if self._closed else report.held)

    def receive(self, message: str | bytes) -> list[str | bytes]:
        """Take a message of the server; return the messages that go on to the client, in order.

        Raises:
            StreamClosed: the repairer was closed.
        """
        self._refuse_if_closed()
        if self.ended:
            return []
        if self._session is None and self._dialect is not None:
            return [message]
        if len(message) > self._most:
            text = "a message is larger than max_event_bytes"
            return [message] if self._session is None else self._session.fail("event_too_large", text)
        seen = read(message)
        if seen is None:
            return [message]
        if self._session is None:
            self._detect(seen)
        return [message] if self._session is None else self._session.receive(seen)

    def send(self, message: str | bytes) -> None:
        """Take note of a message of the client, which goes to the server unchanged.

        Raises:
            StreamClosed: the repairer was closed.
        """
        self._refuse_if_closed()
        seen = read(message) if len(message) <= self._most else None
        if seen is None or seen.payload is None:
            return
        if self._session is not None:
            self._session.send(seen.payload)
        elif self._dialect is None and self._options.learns:
            del self._early[:-1]  # the last two: a session's tools, and a request
            self._early.append(seen.payload)

    def close(self) -> list[str | bytes]:
        """End the session: open calls are dropped; return the messages that say so, where the wire has any.

        A second call returns nothing.
        """
        if self._closed:
            return []
        self._closed = True
        return [] if self._session is None or self._session.is_over else self._session.close()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StreamClosed("the session is closed; use a new repairer for another one")

    def _detect(self, message: Message) -> None:
        found = None if message.payload is None else detect_dialect(message.payload)
        if found is not None:
            self._begin(found.name)

    def _begin(self, dialect: str) -> None:
        self._dialect = dialect
        start = SESSIONS.get(dialect)
        if start is None:
            return
        self._session = start(self._options)
        early, self._early = self._early, []
        for payload in early:
            self._session.send(payload)

    def _note(self, events: Sequence[Event[Any]]) -> None:
        for event in events:
            if self._on_dropped is not None and type(event) is ToolCallDropped:
                self._on_dropped(event)
            elif self._on_fault is not None and type(event) is StreamFault:
                self._on_fault(event)
