"""ACP, the Agent Client Protocol between agents and editors: JSON-RPC, one message a line.

    {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId", "update": {"sessionUpdate", …}}}
        agent_message_chunk, agent_thought_chunk   content{type: text, text}
        tool_call, tool_call_update                toolCallId, title?, kind?, status?, rawInput?, locations?
    {"jsonrpc": "2.0", "id", "method": "session/request_permission", "params": {"sessionId", "toolCall": {…}}}
    {"jsonrpc": "2.0", "id", "result": {"stopReason", "usage"?}}      the answer to a prompt

The agent executes its calls and shows them, so each is a server's call. An update replaces the fields that it
has, `rawInput` too, whether it calls itself `tool_call` or `tool_call_update`. The wire knows no tool names:
the first title serves as the name, else the kind; later titles are in `extra`. A call is over once it is completed
or failed, or when the client is asked to permit it and its input is known.

A turn is a prompt of a session, up to the stop reason (in the second version a `state_update`). A connection may hold
several sessions, and a log both directions: the client's messages are read only for its prompts. Source: Agent Client
Protocol, "Prompt Turn" and "Tool Calls".
"""

from __future__ import annotations

from wholecall.deltas import ITEM_DONE, CallSeen, CallWhole, Delta, Finish, TurnEnded, TurnOpened
from wholecall.dialects import report
from wholecall.dialects.agents.acp_views import DECODER, QUIET, Message, Params, Result, Session, Update
from wholecall.dialects.decode import is_blank, is_noise, member, wire_text
from wholecall.dialects.labels import id_label, name_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Flag

__all__ = ["AcpTranslator"]


class AcpTranslator(ViewTranslator):
    """Frames of one connection to deltas."""

    decoder = DECODER

    _sessions: dict[str | None, Session]
    _now: Session | None
    _prompts: dict[str, str | None]
    _hears_client: bool

    def __init__(self) -> None:
        self._sessions = {}
        self._now = None  # whose turn is current
        self._prompts = {}  # requests without an answer, and their sessions
        self._hears_client = False

    def _take(self, message: Message, frame: Frame) -> list[Delta]:
        params, id_ = message.params or Params(), id_label(message.id)
        if message.method is not None:
            return self._method(message.method, id_, params)
        if message.error:
            return self._error(id_, message.error)
        if message.result is not None:
            return self._answer(id_, message.result)
        quiet = message.jsonrpc is not None or message.type == "ping" or is_noise(frame)
        return [] if quiet else report.unknown()

    def _method(self, method: object, id_: str | None, params: Params) -> list[Delta]:
        session = id_label(params.session_id)
        if method == "session/update":
            return self._update(session, params.update or Update())
        if method == "session/request_permission":
            asked = params.tool_call or Update()
            return self._switch(session) + self._call(self._session(session), asked, asks=True)
        if method == "session/prompt" and id_ is not None:
            self._prompts[id_], self._hears_client = session, True
        return []

    def _session(self, id_: str | None) -> Session:
        return self._sessions.setdefault(id_, Session(id_))

    def _switch(self, id_: str | None) -> list[Delta]:
        """Return the deltas that make the session's turn the current one; or a new turn if its last prompt is over."""
        session, before = self._session(id_), self._now
        self._now = session
        if session.open:
            return [] if session is before else [TurnOpened(session.key)]
        over = before is not None and not before.open
        session.begin()
        return [TurnOpened(session.key, id_, restart=over)]

    def _answer(self, id_: str | None, result: Result) -> list[Delta]:
        session = self._now.id if self._now is not None else None
        if id_ is not None and turn_reason(result.stop_reason) is not None:
            session = self._prompts.pop(id_, session)
        return self._finish(session, result.stop_reason, result.usage)

    def _finish(self, id_: str | None, stop_reason: object, usage: object = None) -> list[Delta]:
        known = turn_reason(stop_reason)
        if known is None:
            return []
        deltas, session = self._switch(id_), self._session(id_)
        session.open = False
        finish = Finish(0, *known, drops=known[0] in ("content_filter", "error"))  # refused or cancelled
        return [*deltas, *report.usage(usage), finish, TurnEnded(session.key)]

    def _error(self, id_: str | None, error: object) -> list[Delta]:
        """Report that a request failed; only a failed prompt fails the answer."""
        if id_ is None or id_ in self._prompts:
            return report.error(error)
        prompted = self._now is not None and self._now.open
        return [] if self._hears_client else report.error(error, fatal=prompted)

    def _update(self, id_: str | None, update: Update) -> list[Delta]:
        kind, words = update.session_update, member(update.content, "text")
        if kind in ("tool_call", "tool_call_update"):
            session = self._session(id_)
            late = not session.open and id_label(update.tool_call_id) in session.calls
            if late and kind == "tool_call_update":
                return []  # the final text of a call of a prompt that is over
            return self._switch(id_) + self._call(session, update)
        if kind == "state_update":
            return self._finish(id_, update.stop_reason)
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            said = report.text(words) if kind == "agent_message_chunk" else report.thought(words)
            return self._switch(id_) + said if said else []
        return [] if type(kind) is str and kind in QUIET else report.unknown()

    def _call(self, session: Session, update: Update, *, asks: bool = False) -> list[Delta]:
        id_, text = id_label(update.tool_call_id), wire_text(update.raw_input)
        call, new = session.call(id_)
        name = None if call.named else name_label(update.title) or name_label(update.kind)
        call.named = call.named or name is not None
        deltas: list[Delta] = []
        if new or name or update.extra or asks:
            flags: tuple[Flag, ...] = ("needs_approval",) if asks else ()
            deltas.append(CallSeen(0, call.slot, None, id_, name, "server", flags=flags, extra=update.extra))
        if text and text != call.text:
            call.text, call.rank = text, max(call.rank + 1, ITEM_DONE)  # each text replaces the one before
            deltas.append(CallWhole(0, call.slot, None, id_, None, text, call.rank, "server"))
        over = update.status in ("completed", "failed") or (asks and not is_blank(call.text))
        return deltas + report.closed(call.slot) if over else deltas
