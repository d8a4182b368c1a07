"""The answers of one wire, written in another: bytes of a server in, bytes for a client out, without any I/O.

Theory of operation. The parser says what came, in events of no wire, and an encoder writes them in the client's: text
and reasoning at once, a call when it is whole. Rules of endings are those of the repairer: a turn without its wire's
end, a fault, or a turn that claims success and lost all its calls ends with an error, and no call is finished by the
translation. A part that the client's wire cannot say, and the client would have to act on, is an error, too. Streams
and whole bodies are read alike; the request decides which of them is written.

The wire of the server is found from its bytes: a gateway's envelope, or an answer of another wire than the expected
one, is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Union

from msgspec.structs import replace

from wholecall.calls.output.call_events import (
    ServerToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import EXECUTABLE, TERMINAL, Event, StreamFault, TurnFinished, TurnStarted
from wholecall.calls.tools.tool import AnyTools
from wholecall.errors import StreamClosed, Uncopyable
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.repairing.encoders.anthropic import AnthropicEncoder
from wholecall.repairing.encoders.base import Executable
from wholecall.repairing.encoders.chat import CHUNK, ChatEncoder
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.report import Ledger, RepairReport
from wholecall.repairing.rewriter import lasting
from wholecall.repairing.table import WIRES as REPAIRED
from wholecall.repairing.translation.requests import wire_named
from wholecall.repairing.translation.whole import WholeWriter
from wholecall.repairing.withholding import CALLS_WITHHELD, INCOMPLETE, Losses, Withheld, checked
from wholecall.stream.parser import ToolCallParser
from wholecall.text.options import TextWanted
from wholecall.types import TurnReason

_private = True

UNREAD: Final = "upstream_unread"
UNTRANSLATABLE: Final = "untranslatable"
_HAS_DONE: Final = "chat-completions"  # where a turn without a reason ends with it
_DONE: Final = re.compile(rb"[\r\n]data:[ \t]*\[DONE\]")
_LONGEST_DONE: Final = 16
_MOST_SAID: Final = 65536  # bytes after which their text is forgotten

# The kinds of calls that each wire can say, of those that a client executes.
_KINDS: Final = {
    "anthropic": frozenset({"function"}),
    "chat-completions": frozenset({"function", "custom"}),
    "responses": frozenset({"function", "custom", "builtin"}),
}
_BROKEN: Final = frozenset({"error", "aborted", "malformed"})  # reasons of turns that failed

_Writer = Union[AnthropicEncoder, ChatEncoder, ResponsesEncoder, WholeWriter]


def _writer(wire: str, *, stream: bool, usage: bool, created: int) -> _Writer:
    if not stream:
        return WholeWriter(wire, created)
    if wire == "chat-completions":
        return ChatEncoder({"id": "", "object": CHUNK, "created": created}, usage=usage)
    return AnthropicEncoder() if wire == "anthropic" else ResponsesEncoder(created)


class AnswerTranslator(Uncopyable):
    """Write the answer of a server in the wire of its client, while it comes.

    Args:
        server: the wire of the server: `anthropic`, `chat-completions` or `responses`.
        client: the wire of the client, another of these.
        stream: whether the client asked for a stream; else one body is written at the end. Either is read.
        usage: whether a stream of Chat Completions ends with its token counts.
        id: the id of an answer whose server gives none.
        model: the same for the name of the model.
        created: the time of the answer, in seconds since 1970.
        tools: the tools that the model was given, as for `ToolCallParser`.
        withheld: how a turn ends that claims success but whose calls were all withheld, as for `Repairer`.
        on_dropped: called with each withheld call, which holds the reason.
        on_fault: called with each fault of the wire.
        text: calls that the model writes as text, as for `ToolCallParser`.
        policy: how calls are judged.
        limits: bounds of an answer.

    Raises:
        UnknownDialect: a wire is not one of these.
        TypeError, ValueError, ImportError: as for `Repairer`.
    """

    def __init__(
        self,
        server: str,
        client: str,
        *,
        stream: bool = True,
        usage: bool = True,
        id: str = "",
        model: str = "",
        created: int = 0,
        tools: AnyTools | None = None,
        withheld: Withheld = "auto",
        on_dropped: Callable[[ToolCallDropped], object] | None = None,
        on_fault: Callable[[StreamFault], object] | None = None,
        text: TextWanted = None,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        served = wire_named(client)
        self._server = wire_named(server)
        self._parser: ToolCallParser[Any] = ToolCallParser(
            tools=tools, text=text, policy=policy, limits=limits
        )
        goes_on = REPAIRED[served].rewriter.goes_on_after_cuts
        self._losses = Losses(checked(withheld), goes_on_after_cuts=goes_on)
        self._on_dropped = on_dropped
        self._on_fault = on_fault
        self._writer = _writer(served, stream=stream, usage=usage, created=created)
        self._kinds = _KINDS[served]
        self._can_pause = served == "anthropic"
        self._labels = {"id": id, "model": model}
        self._ledger = Ledger()
        self._error: str | None = None
        self._calls: set[str] = set()  # the ids of written calls
        self._open: set[int] = set()  # the numbers of calls that have not ended
        self._waiting: dict[int, Executable] = {}  # whole calls, while an earlier one has not ended
        self._response_id: str | None = None
        self._tail = b"\n"  # the last bytes, which may begin a `[DONE]`
        self._is_done = False  # it came
        self._n_kept = 0  # bytes of which the parser may hold the text
        self._has_begun = False
        self._is_over = False  # the turn ended well
        self._closed = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else "ended" if self.ended else "open"
        return f"<AnswerTranslator from {self._server} {state}>"

    @property
    def ended(self) -> bool:
        """Return whether the answer was ended by an error; nothing more is written then."""
        return self._error is not None

    @property
    def report(self) -> RepairReport:
        """The report of the answer so far; `dialect` is the server's wire, and nothing counts as mended."""
        ledger = self._ledger
        return RepairReport(
            dialect=self._parser.dialect,
            ended=self._is_over or ledger.ended,
            n_calls=ledger.n_calls,
            n_withheld=ledger.n_withheld,
            error=self._error,
            usage=ledger.usage,
        )

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the answer, cut anywhere, and return the bytes that may be sent now.

        Raises:
            StreamClosed: the translator was closed or aborted.
        """
        if self._closed:
            raise StreamClosed("the answer is closed; use a new translator for another one")
        if self.ended or not data:
            return b""
        if self._server == _HAS_DONE:
            recent = self._tail + data
            self._is_done = self._is_done or _DONE.search(recent) is not None
            self._tail = recent[-_LONGEST_DONE:]
        out = self._taken(self._parser.feed(data))
        self._n_kept += len(data)
        if self._n_kept > _MOST_SAID:
            self._n_kept = 0
            self._parser.forget()
        return out

    def close(self) -> bytes:
        """End the answer and return the remaining bytes; a second call returns nothing."""
        if self._closed:
            return b""
        self._closed = True
        events = self._parser.close()
        if self.ended:
            return b""
        out = self._taken(events)
        if self.ended:
            return out
        if not self._is_over:
            return out + self._fail(UNREAD, "the server's answer is not one of its API")
        return out + self._writer.close()

    def fail(self, code: str, message: str) -> bytes:
        """End the answer because its source failed, and return the remaining bytes: an error, but no call.

        If the turn had already ended nothing was lost, and the result is that of `close`.

        Args:
            code: for programs, such as `upstream_lost`; Anthropic's form has no place for it.
            message: for people, and shown to them; also the `detail` of the calls that are dropped.
        """
        if self._closed or self.ended or self._is_over or self._is_done or self._parser.has_reasons:
            return self.close()
        self._closed = True
        self._note(self._parser.fail(message))
        return self._fail(code, message)

    def abort(self, reason: str = "aborted by the caller") -> None:
        """Drop open calls: the answer broke off.

        Args:
            reason: for people; the `detail` of the calls that are dropped.
        """
        if not self._closed:
            self._closed = True
            self._note(self._parser.abort(reason))

    def ping(self) -> bytes:
        """Return a frame that only shows that the server is alive; nothing where none is allowed, and in bodies."""
        if self._closed or self.ended or self._is_over or not self._has_begun:
            return b""
        return self._writer.ping()

    # Events.

    def _taken(self, events: Sequence[Event[Any]]) -> bytes:
        self._note(events)
        first = (event for event in events if event.choice == 0)
        return b"".join([self._said(event) for event in first if not self.ended])

    def _note(self, events: Sequence[Event[Any]]) -> None:
        self._ledger.note(events)
        for event in events:
            if isinstance(event, ToolCallDropped):
                self._losses.note(event)
                if self._on_dropped is not None:
                    self._on_dropped(event)
            elif isinstance(event, StreamFault) and self._on_fault is not None:
                self._on_fault(event)

    def _said(self, event: Event[Any]) -> bytes:
        """Return the bytes for one event."""
        if isinstance(event, ToolCallStarted):
            self._open.add(event.index)
            return b""
        if isinstance(event, TERMINAL):
            return self._ended(event)
        if isinstance(event, TurnFinished):
            return self._finished(event)
        if isinstance(event, TurnStarted):
            return self._started(event)
        if isinstance(event, StreamFault):
            return self._fail(event.kind, event.detail) if event.fatal else b""
        if isinstance(event, ToolCallCancelled) and event.id in self._calls:
            return self._fail(UNTRANSLATABLE, "the server took back a call, which cannot be said")
        return self._writer.encode([event])

    def _started(self, event: TurnStarted) -> bytes:
        if self._has_begun:
            return self._fail(UNTRANSLATABLE, "the server sent several turns in one answer")
        self._has_begun = True
        self._response_id = event.id
        labels = self._labels
        named = replace(event, id=event.id or labels["id"], model=event.model or labels["model"])
        return self._writer.encode([named])

    def _ended(self, event: Executable | ServerToolCall | ToolCallDropped) -> bytes:
        """Return the bytes for a call that ended, and for those that waited for it: calls keep their order."""
        self._open.discard(event.index)
        if isinstance(event, ServerToolCall) and "needs_approval" in event.flags:
            return self._fail(UNTRANSLATABLE, "the server waits for an approval, which cannot be asked for")
        if isinstance(event, EXECUTABLE):
            self._waiting[event.index] = event
        first = min(self._open, default=None)
        ready = [index for index in sorted(self._waiting) if first is None or index < first]
        return b"".join([self._call(self._waiting.pop(index)) for index in ready if not self.ended])

    def _call(self, call: Executable) -> bytes:
        if call.kind not in self._kinds:
            return self._fail(UNTRANSLATABLE, f"a {call.kind} call cannot be said in the client's API")
        self._calls.add(call.id)
        return self._writer.encode([lasting(call, self._response_id)])

    def _finished(self, event: TurnFinished) -> bytes:
        written = b"".join([self._call(self._waiting.pop(index)) for index in sorted(self._waiting)])
        return written + (b"" if self.ended else self._end(event))

    def _end(self, event: TurnFinished) -> bytes:
        executed = bool(self._calls)
        if "missing_finish" in event.anomalies and not self._is_done:
            return self._fail(INCOMPLETE, "the server ended the answer before the turn was over")
        claimed = self._claimed(event.reason)
        if self._losses.is_error(claimed, executed=executed):
            return self._fail(CALLS_WITHHELD, self._losses.sentence)
        if claimed in _BROKEN:
            return self._fail("provider_error", "the server ended the turn with a failure")
        if claimed == "pause" and not self._can_pause:
            return self._fail(UNTRANSLATABLE, "the server paused its turn, which cannot be said")
        self._is_over = True
        reason = self._losses.reason(claimed, executed=executed)
        return self._writer.encode([replace(event, reason=reason)])

    def _claimed(self, reason: TurnReason) -> TurnReason:
        """Return the reason that the server gave; a turn that lost its calls counts as a call for tools."""
        if reason == "malformed" and self._losses:
            return "tool_calls"
        return "stop" if reason == "unknown" else reason  # ended, in a word that only the server knows

    def _fail(self, code: str, message: str) -> bytes:
        self._error = code
        return self._writer.error(message, code)
