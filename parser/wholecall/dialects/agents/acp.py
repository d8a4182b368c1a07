"""ACP, the Agent Client Protocol between agents and editors: JSON-RPC, one message a line.

    {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId", "update": {"sessionUpdate", …}}}
        agent_message_chunk, agent_thought_chunk   content{type: text, text}
        tool_call, tool_call_update                toolCallId, title?, kind?, status?, rawInput?, locations?
    {"jsonrpc": "2.0", "id", "method": "session/request_permission", "params": {"sessionId", "toolCall": {…}}}
    {"jsonrpc": "2.0", "id", "result": {"stopReason", "usage"?}}      the answer to a prompt

The agent executes its calls and shows them, so each is a server's call. An update replaces the fields that it
has, `rawInput` too, whether it calls itself `tool_call` or `tool_call_update`. The wire knows no tool names:
the first title stands for it, else the kind; later titles are in `extra`. A call is over once it is completed
or failed, or when the client is asked to permit it and its input is known.

A turn is a prompt of a session, up to the stop reason (in the second version a `state_update`). A connection
may hold several sessions, and a log both directions: what the client says is read only for its prompts.
Source: Agent Client Protocol, "Prompt Turn" and "Tool Calls".
"""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.agents.acp_views import DECODER, QUIET, Message, Params, Result, Session, Update
from wholecall.dialects.decode import (
    is_blank,
    is_noise,
    provider_error,
    wire_text,
)
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Flag

__all__ = ["AcpTranslator"]

_CALLS = ("tool_call", "tool_call_update")
_OVER = ("completed", "failed")
_TAKEN_BACK = ("content_filter", "error")  # refused or cancelled


class AcpTranslator(ViewTranslator):
    """Frames of one connection to deltas."""

    decoder = DECODER

    _sessions: dict[str | None, Session]
    _now: Session | None
    _prompts: dict[str, str | None]
    _hears_client: bool

    def __init__(self) -> None:
        self._sessions = {}
        self._now = None  # whose turn is the current one
        self._prompts = {}  # requests without an answer, and their sessions
        self._hears_client = False

    def _take(self, message: Message, frame: Frame) -> list[Delta]:
        params = message.params or Params()
        if message.method == "session/update":
            return self._update(id_label(params.session_id), params.update or Update())
        if message.method == "session/request_permission":
            session, asked = id_label(params.session_id), params.tool_call or Update()
            return self._switch(session) + self._call(self._session(session), asked, asks=True)
        if message.method is not None:
            return self._request(message, params)
        if message.error:
            return self._error(message)
        if message.result is not None:
            return self._answer(message, message.result)
        quiet = message.jsonrpc is not None or message.type == "ping" or is_noise(frame)
        return [] if quiet else [Noted(0, "unknown_events")]

    # Prompts and their turns

    def _session(self, id_: str | None) -> Session:
        return self._sessions.setdefault(id_, Session(id_))

    def _switch(self, id_: str | None) -> list[Delta]:
        """Return what makes the session's turn the current one; a new one if its last prompt is over."""
        session, before = self._session(id_), self._now
        self._now = session
        if session.open:
            return [] if session is before else [TurnOpened(session.key)]
        over = before is not None and not before.open
        session.begin()
        return [TurnOpened(session.key, id_, restart=over)]

    def _request(self, message: Message, params: Params) -> list[Delta]:
        if message.method == "session/prompt" and (id_ := id_label(message.id)) is not None:
            self._prompts[id_] = id_label(params.session_id)
            self._hears_client = True
        return []

    def _answer(self, message: Message, result: Result) -> list[Delta]:
        if turn_reason(result.stop_reason) is None:
            return []
        id_ = id_label(message.id)
        current = self._now.id if self._now is not None else None
        session = self._prompts.pop(id_, current) if id_ is not None else current
        return self._finish(session, result.stop_reason, result.usage)

    def _finish(self, id_: str | None, stop_reason: object, usage: object = None) -> list[Delta]:
        deltas = self._switch(id_)
        session = self._session(id_)
        session.open = False
        if isinstance(usage, dict):
            deltas.append(UsageSeen(usage))
        if (known := turn_reason(stop_reason)) is not None:
            deltas.append(Finish(0, *known, drops=known[0] in _TAKEN_BACK))
        return [*deltas, TurnEnded(session.key)]

    def _error(self, message: Message) -> list[Delta]:
        """Report that a request failed; only a prompt's failure is that of the answer."""
        id_ = id_label(message.id)
        fault = provider_error(message.error)
        if id_ is None or id_ in self._prompts:
            return [fault]
        if self._hears_client:
            return []
        prompted = self._now is not None and self._now.open
        return [fault if prompted else msgspec.structs.replace(fault, fatal=False)]

    # Updates

    def _update(self, id_: str | None, update: Update) -> list[Delta]:
        kind = update.session_update
        if kind in _CALLS:
            return self._call_update(id_, update)
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            text = _text(update.content)
            if text is None:
                return []
            said = TextFragment(0, text) if kind == "agent_message_chunk" else ReasoningFragment(0, text)
            return [*self._switch(id_), said]
        if kind == "state_update":
            return [] if turn_reason(update.stop_reason) is None else self._finish(id_, update.stop_reason)
        return [] if type(kind) is str and kind in QUIET else [Noted(0, "unknown_events")]

    def _call_update(self, id_: str | None, update: Update) -> list[Delta]:
        session = self._session(id_)
        known = id_label(update.tool_call_id) in session.calls
        if known and not session.open and update.session_update == "tool_call_update":
            return []  # the last word on a call of a prompt that is over
        return self._switch(id_) + self._call(session, update)

    def _call(self, session: Session, update: Update, *, asks: bool = False) -> list[Delta]:
        id_ = id_label(update.tool_call_id)
        call, new = session.call(id_)
        name = None if call.named else name_label(update.title) or name_label(update.kind)
        call.named = call.named or name is not None
        extra, text = _extra(update), wire_text(update.raw_input)
        deltas: list[Delta] = []
        if new or name or extra or asks:
            flags: tuple[Flag, ...] = ("needs_approval",) if asks else ()
            deltas.append(CallSeen(0, call.slot, None, id_, name, "server", flags=flags, extra=extra))
        if text and text != call.text:
            call.text, call.rank = text, max(call.rank + 1, ITEM_DONE)  # each text replaces the one before
            deltas.append(CallWhole(0, call.slot, None, id_, None, text, call.rank, "server"))
        if update.status in _OVER or (asks and not is_blank(call.text)):
            deltas.append(CallClosed(0, call.slot, None))
        return deltas


def _text(content: object) -> str | None:
    return text_label(content.get("text")) if isinstance(content, dict) else None


def _extra(update: Update) -> dict[str, Any] | None:
    told = {
        "title": update.title,
        "kind": update.kind,
        "locations": update.locations,
        "_meta": update.meta,
    }
    return {name: value for name, value in told.items() if value} or None
