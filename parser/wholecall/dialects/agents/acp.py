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

Covers: the Agent Client Protocol, lines of JSON-RPC: calls that an agent executes and shows; several sessions and
    prompts on one connection.
Calls: told apart by `toolCallId`; each ends with its status.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, reasons, report, say
from wholecall.framing.frame import Frame
from wholecall.types import Flag

# Updates that are not about the answer.
_QUIET: Final = (
    *("user_message_chunk", "user_message", "plan", "plan_update", "plan_removed"),
    *("available_commands_update", "current_mode_update", "config_option_update"),
    *("session_info_update", "usage_update", "tool_call_content_chunk"),
)

# The parts of rows.
_SESSION = at.id("params.sessionId")
_CONTENT = at.value("params.update.content")
_EXTRA = ("title", "kind", "locations", "_meta")  # members of a call that are kept


def _call(of: str, **named: Any) -> say.Say:
    """Return the statement about the call in a member, which holds only its changes."""
    labels = at.id(f"{of}.toolCallId"), at.name(f"{of}.title|{of}.kind")
    changes = at.json_text(f"{of}.rawInput"), at.value(f"{of}.status")
    extra: dict[str, Any] = {name: at.value(f"{of}.{name}") for name in _EXTRA}
    return say.own("_call", _SESSION, *labels, *changes, **named, **extra)


_UPDATES: say.Rows = {
    "agent_message_chunk": (say.own("_said", _SESSION, report.text, _CONTENT),),
    "agent_thought_chunk": (say.own("_said", _SESSION, report.thought, _CONTENT),),
    "tool_call": (_call("params.update"),),
    "tool_call_update": (_call("params.update", changes=True),),
    "state_update": (say.own("_finish", _SESSION, at.value("params.update.stopReason")),),
}


class AcpTranslator(compiled.TableTranslator):
    """Messages of one connection to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "session/update": (say.by(at.text("params.update.sessionUpdate"), _UPDATES, _QUIET),),
        "session/request_permission": (_call("params.toolCall", asks=True),),
        "session/prompt": (say.own("_prompt", at.id("id"), _SESSION),),
    }
    BODIES: ClassVar[say.Rows] = {
        "method": (),  # other requests and notifications are not about an answer
        "error": (say.own("_failed", at.id("id"), at.value("error")),),
        "result": (say.own("_answer", at.id("id"), at.value("result.stopReason"), at.value("result.usage")),),
        "jsonrpc": (),
    }
    EVENTLESS = True  # a message without a known method is named by its members

    _sessions: dict[str | None, _Session]
    _now: _Session | None
    _prompts: dict[str, str | None]
    _hears_client: bool

    def __init__(self) -> None:
        super().__init__()
        self._sessions = {}
        self._now = None  # whose turn is current
        self._prompts = {}  # requests without an answer, and their sessions
        self._hears_client = False

    def _take(self, view: Any, frame: Frame, /) -> list[deltas.Delta]:
        """Return the deltas of one message; an error is an answer, which may be one to any request."""
        row = self.EVENTS.get(view.method) if type(view.method) is str else None
        return self._other(view, frame, self._kind(view, frame)) if row is None else row(self, view)

    # Sessions and their prompts

    def _session(self, id_: str | None) -> _Session:
        return self._sessions.setdefault(id_, _Session(id_))

    def _switch(self, id_: str | None) -> list[deltas.Delta]:
        """Return the deltas that make the session's turn the current one; or a new turn if its last prompt is over."""
        session, before = self._session(id_), self._now
        self._now = session
        if session.open:
            return [] if session is before else [deltas.TurnOpened(session.key)]
        over = before is not None and not before.open
        session.begin()
        return [deltas.TurnOpened(session.key, id_, restart=over)]

    def _prompt(self, id_: str | None, session: str | None) -> list[deltas.Delta]:
        if id_ is not None:
            self._prompts[id_], self._hears_client = session, True
        return []

    def _answer(self, id_: str | None, stop_reason: object, usage: object) -> list[deltas.Delta]:
        session = self._now.id if self._now is not None else None
        if id_ is not None and reasons.turn_reason(stop_reason) is not None:
            session = self._prompts.pop(id_, session)
        return self._finish(session, stop_reason, usage)

    def _finish(self, id_: str | None, stop_reason: object, usage: object = None) -> list[deltas.Delta]:
        known = reasons.turn_reason(stop_reason)
        if known is None:
            return []
        told, session = self._switch(id_), self._session(id_)
        session.open = False
        finish = deltas.Finish(
            0, *known, drops=known[0] in ("content_filter", "error")
        )  # refused or cancelled
        return [*told, *report.usage(usage), finish, deltas.TurnEnded(session.key)]

    def _failed(self, id_: str | None, error: object) -> list[deltas.Delta]:
        """Report that a request failed; only a failed prompt fails the answer."""
        if not error:
            return []
        if id_ is None or id_ in self._prompts:
            return report.error(error)
        prompted = self._now is not None and self._now.open
        return [] if self._hears_client else report.error(error, fatal=prompted)

    # Content

    def _said(
        self, id_: str | None, say: Callable[[object], list[deltas.Delta]], content: object
    ) -> list[deltas.Delta]:
        said = say(decode.member(content, "text"))
        return self._switch(id_) + said if said else []

    def _call(
        self,
        session: str | None,
        id_: str | None,
        name: str | None,
        text: str,
        status: object,
        *,
        asks: bool = False,
        changes: bool = False,
        **extra: object,
    ) -> list[deltas.Delta]:
        of = self._session(session)
        if changes and not of.open and id_ in of.calls:
            return []  # the final text of a call of a prompt that is over
        told = self._switch(session)
        call, new = of.call(id_)
        name = None if call.named else name
        call.named = call.named or name is not None
        others = report.extra(**extra)
        if new or name or others or asks:
            flags: tuple[Flag, ...] = ("needs_approval",) if asks else ()
            told.append(deltas.CallSeen(0, call.slot, None, id_, name, "server", flags=flags, extra=others))
        if text and text != call.text:
            call.text, call.rank = (
                text,
                max(call.rank + 1, deltas.ITEM_DONE),
            )  # each text replaces the one before
            told.append(deltas.CallWhole(0, call.slot, None, id_, None, text, call.rank, "server"))
        over = status in ("completed", "failed") or (asks and not decode.is_blank(call.text))
        return told + report.closed(call.slot) if over else told


class _Known:
    """The state of a call: its slot, and its last text."""

    slot: int
    named: bool
    text: str
    rank: int

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.named = False
        self.text = ""
        self.rank = 0


class _Session:
    """A session, and the turn that its latest prompt began."""

    id: str | None
    open: bool
    calls: dict[str, _Known]
    n_slots: int
    _n_turns: int

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.open = False
        self.calls = {}
        self.n_slots = 0
        self._n_turns = 0

    @property
    def key(self) -> str:
        """Return the key of the turn."""
        return f"{self.id}#{self._n_turns}"

    def begin(self) -> None:
        """Begin the next turn."""
        self.open = True
        self._n_turns += 1
        self.calls.clear()
        self.n_slots = 0

    def call(self, id: str | None) -> tuple[_Known, bool]:
        """Return the call of this id, and whether it is new; without an id it always is."""
        known = self.calls.get(id) if id is not None else None
        if known is not None:
            return known, False
        call = _Known(self.n_slots)
        self.n_slots += 1
        if id is not None:
            self.calls[id] = call
        return call, True
