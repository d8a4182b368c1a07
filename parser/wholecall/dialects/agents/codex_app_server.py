"""The Codex app server (`codex app-server`): JSON-RPC without its header, one message a line or a WebSocket frame.

    {"method": "turn/started", "params": {"threadId", "turn": {"id", "status"}}}
    {"method": "item/started" | "item/completed", "params": {"threadId", "turnId", "item": {"type", "id", …}}}
        agentMessage         text                       reasoning            summary[], content[]
        commandExecution     command, status            fileChange           changes[], status
        mcpToolCall          server, tool, arguments    collabAgentToolCall  tool, prompt, receiverThreadIds
        webSearch            query, action              imageView            path
        dynamicToolCall      tool, arguments
    {"method": "item/agentMessage/delta" | "item/reasoning/…Delta", "params": {…, "itemId", "delta"}}
    {"method": "item/…/requestApproval", "id", "params": {…, "itemId"}}                 may the agent do this?
    {"method": "item/tool/call", "id", "params": {…, "callId", "tool", "arguments"}}    the client is to do this
    {"method": "turn/completed", "params": {"threadId", "turn": {"id", "status", "error"}}}

The agent executes its items itself, so they are a server's calls. A command, a change or a search has no tool's name:
the type of its item is the name, and the members that describe the action are the arguments. An item is over when it is
completed, or when the client is asked to approve it, whose call is flagged then; one that was declined is dropped.
Dynamic tools are the client's: their calls are reported when the client is asked, with the request's id in `extra`.

Threads have turns side by side (quirk 112). The content of a turn may come in pieces, and comes whole at the end of the
item; the older `codex/event/…` messages repeat all of it, and are not read. A connection outlives its errors. The
client's messages are not read: a log may hold both directions.

Covers: the Codex app server, lines of JSON-RPC: calls that the agent executes, calls that need an approval, the
    dynamic tools that the client is to execute; several threads on one connection.
Calls: told apart by item id; each ends with `item/completed`, or a request to the client.
Source: OpenAI, "Codex App Server" (developers.openai.com/codex/app-server) and the schema of its protocol, version 2
(November 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec

from wholecall.deltas import ITEM_DONE, CallRefused, CallSeen, CallWhole, Delta, Finish
from wholecall.dialects import at, compiled, decode, remembered, report, say
from wholecall.dialects.agents.beside import Beside
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

_BROKEN_OFF: Mapping[object, TurnReason] = {"interrupted": "aborted", "failed": "error"}


# The parts of rows.


def _on(turn: str) -> say.Row:
    """Make the turn of this id the current one; nothing else is said about a turn that is over."""
    return say.own("_on", at.id(turn), at.id("params.threadId|params.conversationId")), say.stop_unless_open()


def _item(rows: say.Rows) -> say.Row:
    """Report an item by its type."""
    kind = at.text("params.item.type")
    return (say.when(kind, _QUIET_ITEMS, otherwise=(*_IN_TURN, say.by(kind, rows))),)


def _work(*members: str) -> say.Row:
    """Report a call that the agent executes: its arguments are the members that describe the action."""
    labels = at.value("/method"), at.id("id"), at.name("tool|type"), at.value("server"), at.value("status")
    return (say.given("params.item", say.own("_work", *labels, **_raw({name: name for name in members}))),)


def _asks(kind: str | None = None, **members: str) -> say.Row:
    """Report that the client is asked for an approval; a request with a kind describes the call."""
    return *_IN_TURN, say.own("_approval", at.id("params.itemId|params.callId"), kind, **_raw(members))


def _raw(paths: Mapping[str, str]) -> dict[str, Any]:
    """Read named values as the wire's own text."""
    return {name: at.raw(path) for name, path in paths.items()}


_IN_TURN = _on("params.turnId")
_OF_TURN = _on("params.turn.id|params.turnId")
_OVER = say.own("_over", at.id("id"), at.text("status"), at.value("error"))
_FAILED = (_IN_TURN[0], say.own("_failed", at.value("params.willRetry")))
_ERROR = say.own(report.error, at.value("params.error"), fatal=False)
_PIECE = (*_IN_TURN, say.own("_in_pieces", at.id("params.itemId")))
_THOUGHT = (*_PIECE, say.thought("params.delta", at.id("params.itemId")))
_TOOL = at.id("params.callId"), at.name("params.tool"), at.json_text("params.arguments")
_ASKS = _asks()
_ANSWER = (say.given("result.thread", say.own("_runs_on", at.id("id"), at.name("../result.model"))),)
_QUIET_ITEMS: Final = (
    *("userMessage", "hookPrompt", "plan", "enteredReviewMode", "exitedReviewMode"),
    *("contextCompaction", "subAgentActivity", "imageGeneration", "sleep"),
)
_WORK: say.Rows = {
    "commandExecution": _work("command"),
    "fileChange": _work("changes"),
    "mcpToolCall": _work("arguments"),
    "collabAgentToolCall": _work("prompt", "receiverThreadIds"),
    "collabToolCall": _work("prompt", "receiverThreadIds"),
    "imageView": _work("path"),
}
_STARTED: say.Rows = {
    **_WORK,
    "webSearch": _work(),  # its members are placeholders
    "dynamicToolCall": (),  # the client's, which is asked for it
    "agentMessage": (),
    "reasoning": (),
}
_COMPLETED: say.Rows = {
    **_WORK,
    "webSearch": _work("query", "action"),
    "dynamicToolCall": _work("arguments"),
    "agentMessage": (say.given("params.item", say.own("_told", at.id("id"), at.value("text"))),),
    "reasoning": (
        say.given("params.item", say.own("_mused", at.id("id"), at.value("summary"), at.value("content"))),
    ),
}


class CodexAppServerTranslator(compiled.TableTranslator):
    """Messages of one connection to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "turn/started": _OF_TURN,
        "turn/completed": (*_OF_TURN, say.given("params.turn", _OVER)),
        "error": (say.when(at.value("params.turnId"), (None,), otherwise=_FAILED), _ERROR),
        "thread/tokenUsage/updated": (*_IN_TURN, say.usage("params.tokenUsage.last")),
        "item/started": _item(_STARTED),
        "item/completed": _item(_COMPLETED),
        "item/agentMessage/delta": (*_PIECE, say.text("params.delta")),
        "item/reasoning/textDelta": _THOUGHT,
        "item/reasoning/summaryTextDelta": _THOUGHT,
        "item/tool/call": (
            *_IN_TURN,
            say.own("_request", at.value("id"), *_TOOL, at.value("params.namespace")),
        ),
        "item/commandExecution/requestApproval": _asks("commandExecution", command="params.command"),
        "item/fileChange/requestApproval": _ASKS,
        "item/permissions/requestApproval": _ASKS,
        "item/tool/requestUserInput": _ASKS,
        "execCommandApproval": _asks("commandExecution", command="params.command"),
        "applyPatchApproval": _asks("fileChange", changes="params.fileChanges"),
    }
    BODIES: ClassVar[say.Rows] = {"id": _ANSWER, "result": (*_ANSWER, say.own(report.unknown))}
    EVENTLESS = True  # an answer to a request of the client
    KINDS = ("method", "type")

    _turns: Beside
    _turn: OpenTurn
    _by_id: dict[str | None, OpenTurn]
    _models: dict[str | None, str | None]
    _ended: str | None

    def __init__(self) -> None:
        super().__init__()
        self._turns = Beside()
        self._turn = OpenTurn("", None)  # the current one, unless it is over
        self._by_id = {}  # turns that are open
        self._models = {}  # of threads
        self._ended = None  # the id of the turn that ended last

    def _take(self, message: Any, frame: Frame) -> list[Delta]:
        """Return the deltas of a message; a server says much about itself by methods that are not in the table."""
        if type(message.method) is str:
            row = self.EVENTS.get(message.method)
            return [] if row is None else row(self, message)
        if message.error:
            return report.error(message.error, fatal=message.id is None)  # else a request failed
        return self._other(message, frame, self._kind(message, frame))

    def _runs_on(self, thread: str | None, model: str | None) -> list[Delta]:
        """Note the model of a thread, whose turns do not name it."""
        self._models[thread] = model
        return []

    # The life of turns

    def _on(self, id_: str | None, thread: str | None) -> list[Delta]:
        """Make the turn that a message is about the current one, unless it is over."""
        if id_ is None:  # the older requests name only the thread
            id_ = next((id for id, turn in self._by_id.items() if turn.thread == thread), None)
        known = self._by_id.get(id_)
        self._open = known is not None or id_ is None or id_ != self._ended
        if known is not None:
            self._turn = known
            return self._turns.switch(known.key)
        if not self._open:
            return []
        key, deltas = self._turns.begin(id_, self._models.get(thread))
        self._turn = self._by_id[id_] = OpenTurn(key, thread)
        return deltas

    def _over(self, id_: str | None, status: str | None, error: object) -> list[Delta]:
        """Report how the turn ended; the open calls of one that broke off are dropped."""
        turn, self._ended = self._turn, id_
        self._by_id = {id: other for id, other in self._by_id.items() if other is not turn}
        failed = report.error(error, fatal=False) if error and not turn.failed else []
        broken = _BROKEN_OFF.get(status)
        reason = broken or ("tool_calls" if turn.asked else "stop")
        return [*failed, Finish(0, reason, status, drops=broken is not None), *self._turns.end(turn.key)]

    def _failed(self, retries: object) -> list[Delta]:
        """Note that the turn's error is reported, which its end repeats; not that of an attempt."""
        if self._open:
            self._turn.failed = self._turn.failed or retries is not True
        return []

    # Items

    def _in_pieces(self, id_: str | None) -> list[Delta]:
        """Note that an item came in pieces: its end repeats them."""
        self._turn.said.add(id_)
        return []

    def _told(self, id_: str | None, said: object) -> list[Delta]:
        return [] if id_ in self._turn.said else report.text(said)

    def _mused(self, id_: str | None, summary: object, content: object) -> list[Delta]:
        thoughts = [one for one in decode.listed(summary) or decode.listed(content) if type(one) is str]
        return [] if id_ in self._turn.said else report.thought("\n".join(thoughts), id_)

    def _work(
        self,
        method: str,
        id_: str | None,
        name: str | None,
        server: object,
        status: object,
        **members: msgspec.Raw,
    ) -> list[Delta]:
        """Report the start or the end of a call that the agent executes."""
        call, new = self._turn.call(id_)
        if call.over:
            return []
        deltas: list[Delta] = []
        if new:
            extra = report.extra(server=server)
            deltas.append(CallSeen(0, call.slot, None, id_, name, "server", extra=extra))
        text = report.arguments_of(members)
        if text and text != call.text:
            call.text, call.rank = text, max(call.rank + 1, ITEM_DONE)  # each text replaces the one before
            deltas.append(CallWhole(0, call.slot, None, id_, None, text, call.rank, "server"))
        call.over = method == "item/completed"
        if call.over and status == "declined":
            return [*deltas, CallRefused(0, call.slot, None, "aborted", "the client declined the call")]
        return deltas + report.closed(call.slot) if call.over else deltas

    # The server's requests to its client

    def _approval(self, id_: str | None, kind: str | None, **members: msgspec.Raw) -> list[Delta]:
        """Report that a call needs an approval; one that no item reported is reported, if the request describes it."""
        if id_ not in self._turn.calls and kind is None:
            return []
        call, new = self._turn.call(id_)
        if call.over:
            return []
        call.over = True
        name = kind if new else None
        deltas: list[Delta] = [CallSeen(0, call.slot, None, id_, name, "server", flags=("needs_approval",))]
        if not call.text and (text := report.arguments_of(members)):
            deltas.append(CallWhole(0, call.slot, None, id_, None, text, ITEM_DONE, "server"))
        return deltas + report.closed(call.slot)

    def _request(
        self, number: object, id_: str | None, tool: str | None, text: str, namespace: object
    ) -> list[Delta]:
        """Report the call of a tool that the client has; its answer needs the number of the request."""
        call, asked = self._turn.call(id_)[0], f"{tool} {remembered.checksum(text)}"
        if call.over and call.asked in (None, asked):
            return []
        if call.over:
            call = self._turn.another(id_)
        call.over = self._turn.asked = True
        call.asked = asked
        numbered = None if number is None else {"request_id": number}
        extra = (numbered or {}) | (report.extra(namespace=namespace) or {}) or None
        deltas: list[Delta] = [CallSeen(0, call.slot, None, id_, tool, extra=extra)]
        if text:
            deltas.append(CallWhole(0, call.slot, None, id_, tool, text, ITEM_DONE))
        return deltas + report.closed(call.slot)


class Known:
    """A call of a turn: its slot, the text that it had last, whether it is over, and what the client is asked."""

    slot: int
    text: str
    rank: int
    over: bool
    asked: str | None

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.text = ""
        self.rank = 0
        self.over = False
        self.asked = None


class OpenTurn:
    """A turn of a thread.

    Attributes:
        key: of the turn among those of the stream.
        thread: whose turn it is.
        calls: by the ids of their items.
        said: ids of the messages and thoughts that came in pieces.
        failed: its error was reported.
    """

    key: str
    thread: str | None
    calls: dict[str | None, Known]
    said: set[str | None]
    n_calls: int
    asked: bool
    failed: bool

    def __init__(self, key: str, thread: str | None) -> None:
        self.key = key
        self.thread = thread
        self.calls = {}
        self.said = set()
        self.n_calls = 0
        self.asked = False  # the client was asked to execute a call
        self.failed = False

    def call(self, id: str | None) -> tuple[Known, bool]:
        """Return the call of this id, and whether it is new; without an id it always is."""
        known = self.calls.get(id) if id is not None else None
        if known is not None:
            return known, False
        return self.another(id), True

    def another(self, id: str | None) -> Known:
        """Return a new call under this id."""
        call = Known(self.n_calls)
        self.n_calls += 1
        if id is not None:
            self.calls[id] = call
        return call
