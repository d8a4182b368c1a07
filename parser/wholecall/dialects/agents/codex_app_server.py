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

Source: OpenAI, "Codex App Server" (developers.openai.com/codex/app-server) and the schema of its protocol, version 2
(November 2026).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from wholecall.deltas import Delta, Finish
from wholecall.dialects import report
from wholecall.dialects.agents.beside import Beside
from wholecall.dialects.agents.codex_app_server_calls import (
    ASKING,
    WORK,
    OpenTurn,
    approval,
    request,
    work_done,
)
from wholecall.dialects.agents.codex_app_server_views import DECODER, QUIET_ITEMS, Item, Message, Params
from wholecall.dialects.decode import is_noise, listed
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

__all__ = ["CodexAppServerTranslator"]

_BROKEN_OFF: Mapping[object, TurnReason] = {"interrupted": "aborted", "failed": "error"}


class CodexAppServerTranslator(ViewTranslator):
    """Messages of one connection to deltas."""

    decoder = DECODER

    _turns: Beside
    _open: dict[str | None, OpenTurn]
    _models: dict[str | None, str | None]
    _ended: str | None

    def __init__(self) -> None:
        self._turns = Beside()
        self._open = {}  # turns by their ids
        self._models = {}  # of threads
        self._ended = None  # the id of the turn that ended last

    def _take(self, message: Message, frame: Frame) -> list[Delta]:
        method, params = message.method, message.params or Params()
        if type(method) is str:
            if method in ASKING:
                return self._asks(method, params)
            known = self.METHODS.get(method)
            return [] if known is None else known(self, message, params)
        if message.error:
            return report.error(message.error, fatal=message.id is None)  # else a request failed
        if message.result is not None and message.result.thread is not None:
            self._models[id_label(message.result.thread.id)] = name_label(message.result.model)
        quiet = message.id is not None or message.type == "ping" or is_noise(frame)
        return [] if quiet else report.unknown()

    # The life of turns

    def _on(self, params: Params) -> tuple[OpenTurn | None, list[Delta]]:
        """Return the turn that a message is about, and the deltas that make it the current one; None if it is over."""
        id_, thread = id_label(params.turn_id), id_label(params.thread_id) or id_label(params.conversation_id)
        if id_ is None:  # the older requests name only the thread
            id_ = next((id for id, turn in self._open.items() if turn.thread == thread), None)
        turn = self._open.get(id_)
        if turn is not None:
            return turn, self._turns.switch(turn.key)
        if id_ is not None and id_ == self._ended:
            return None, []
        key, deltas = self._turns.begin(id_, self._models.get(thread))
        turn = self._open[id_] = OpenTurn(key, thread)
        return turn, deltas

    def _started(self, _message: Message, params: Params) -> list[Delta]:
        return self._on(_within(params))[1]

    def _completed(self, _message: Message, params: Params) -> list[Delta]:
        turn, deltas = self._on(_within(params))
        told = params.turn
        if turn is None or told is None:
            return deltas
        self._ended = id_label(told.id)
        self._open = {id: other for id, other in self._open.items() if other is not turn}
        if told.error and not turn.failed:
            deltas += report.error(told.error, fatal=False)
        return [*deltas, _finish(told.status, asked=turn.asked), *self._turns.end(turn.key)]

    def _failed(self, _message: Message, params: Params) -> list[Delta]:
        turn, deltas = self._on(params) if params.turn_id is not None else (None, [])
        if turn is not None:
            turn.failed = turn.failed or params.will_retry is not True
        return deltas + report.error(params.error, fatal=False)

    def _usage(self, _message: Message, params: Params) -> list[Delta]:
        turn, deltas = self._on(params)
        counts = params.token_usage.last if params.token_usage is not None else None
        return deltas + report.usage(counts) if turn is not None else []

    # Items

    def _text(self, _message: Message, params: Params) -> list[Delta]:
        turn, deltas = self._on(params)
        if turn is None:
            return []
        turn.said.add(id_label(params.item_id))
        return deltas + report.text(params.delta)

    def _thought(self, _message: Message, params: Params) -> list[Delta]:
        turn, deltas = self._on(params)
        if turn is None:
            return []
        id_ = id_label(params.item_id)
        turn.said.add(id_)
        return deltas + report.thought(params.delta, id_)

    def _item(self, params: Params, *, over: bool) -> list[Delta]:
        item = params.item or Item()
        kind = item.type if type(item.type) is str else ""
        turn, deltas = (None, []) if kind in QUIET_ITEMS else self._on(params)
        if turn is None:
            return []
        if kind in WORK:
            return deltas + work_done(turn, kind, item, over=over)
        id_ = id_label(item.id)
        if kind not in ("agentMessage", "reasoning"):
            return deltas + report.unknown()
        if not over or id_ in turn.said:
            return deltas
        if kind == "agentMessage":
            return deltas + report.text(item.text)
        thoughts = [one for one in listed(item.summary) or listed(item.content) if type(one) is str]
        return deltas + report.thought("\n".join(thoughts), id_)

    # The server's requests to its client

    def _asks(self, method: str, params: Params) -> list[Delta]:
        turn, deltas = self._on(params)
        return [] if turn is None else deltas + approval(turn, method, params)

    def _call(self, message: Message, params: Params) -> list[Delta]:
        turn, deltas = self._on(params)
        return [] if turn is None else deltas + request(turn, params, message.id)

    METHODS: ClassVar[Mapping[str, Callable[[Any, Message, Params], list[Delta]]]] = {
        "turn/started": _started,
        "turn/completed": _completed,
        "error": _failed,
        "thread/tokenUsage/updated": _usage,
        "item/started": lambda self, _, params: self._item(params, over=False),
        "item/completed": lambda self, _, params: self._item(params, over=True),
        "item/agentMessage/delta": _text,
        "item/reasoning/textDelta": _thought,
        "item/reasoning/summaryTextDelta": _thought,
        "item/tool/call": _call,
    }


def _within(params: Params) -> Params:
    """Return the parameters of a message about a turn as those of one in it."""
    return replace(params, turn_id=params.turn.id) if params.turn is not None else params


def _finish(status: object, *, asked: bool) -> Finish:
    """Return how a turn ended; the open calls of a turn that broke off are dropped."""
    broken = _BROKEN_OFF.get(text_label(status))
    if broken is not None:
        return Finish(0, broken, text_label(status), drops=True)
    return Finish(0, "tool_calls" if asked else "stop", text_label(status))
