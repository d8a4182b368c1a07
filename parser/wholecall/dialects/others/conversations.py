"""Mistral Conversations and Agents (`POST /v1/conversations#stream`); the event's name repeats `type`.

    conversation.response.started    conversation_id, created_at
    message.output.delta             id, output_index, content (a text or one part)
    function.call.delta              id, output_index, name, tool_call_id, arguments, confirmation_status?
    tool.execution.started, .delta   id, output_index, name, arguments
    tool.execution.done              id, output_index, info
    agent.handoff.started, .done     the agents' ids and names
    conversation.response.done       usage
    conversation.response.error      message, code

Every entry of the answer has an id, which is the slot of its call; name and `tool_call_id`, the public id, come in each
of its events. `arguments` are pieces of JSON text. A function call has no separate end, a tool that Mistral executes
has. The end names no reason: a turn with calls of the client ended for them. A whole body is
`{object: "conversation.response", conversation_id, outputs: [entries], usage}`.

Source: Mistral API reference, "Agents and conversations", and the types of its Python SDK.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall.deltas import ITEM_DONE, CallRefused, CallSeen, CallWhole, Delta, Finish, Index
from wholecall.dialects import report
from wholecall.dialects.decode import NO_TEXT, value_text, wire_text
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.chat_calls import content
from wholecall.dialects.translator import Events, EventView, TurnTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Flag, Kind

__all__ = ["ConversationsTranslator"]

_CALLS: Final[dict[str | None, Kind]] = {"function.call": "function", "tool.execution": "server"}


class _Event(EventView, gc=False):  # or an entry of a whole body
    id: Any = None
    output_index: Any = None
    content: Any = None
    name: Any = None
    tool_call_id: Any = None
    arguments: msgspec.Raw = NO_TEXT
    confirmation_status: Any = None
    model: Any = None
    conversation_id: Any = None
    usage: Any = None
    outputs: Union[list[_Event], None] = None


class ConversationsTranslator(TurnTranslator):
    """Frames of one stream to deltas; it remembers the labels of calls, because every event repeats them."""

    decoder = msgspec.json.Decoder(_Event)
    QUIET = frozenset({"agent.handoff", "agent.handoff.started", "agent.handoff.done"})
    ERRORS = frozenset({"conversation.response.error", "error"})

    _labels: dict[Index | None, tuple[object, ...]]
    _denied: list[Index | None]
    _called: bool

    def _clear(self) -> None:
        self._labels = {}
        self._denied = []  # the slots of calls that were denied
        self._called = False  # there is a call that the client executes

    def _other(self, event: _Event, frame: Frame, kind: str) -> list[Delta]:
        if event.outputs is None:
            return super()._other(event, frame, kind)
        model = next((entry.model for entry in event.outputs if name_label(entry.model)), None)
        opened = self._begin(id_label(event.conversation_id), model)
        said = [delta for entry in event.outputs for delta in self._entry(entry)]
        return opened + said + self._over(event)

    def _start(self, event: _Event) -> list[Delta]:
        return self._begin(id_label(event.conversation_id))

    def _over(self, event: _Event) -> list[Delta]:
        finish = Finish(0, "tool_calls" if self._called else "stop", None)
        return [*self._refusals(), *report.usage(event.usage), finish, *self._end()]

    def _said(self, entry: _Event) -> list[Delta]:
        return content(entry.content)

    def _entry(self, entry: _Event) -> list[Delta]:
        """Return the deltas of a whole entry."""
        named = text_label(entry.type)
        if named == "message.output":
            return self._said(entry)
        kind = _CALLS.get(named)
        if kind is None:
            return [] if named in self.QUIET else report.unknown()
        slot, deltas = self._seen(entry, kind)
        if text := wire_text(entry.arguments):
            deltas.append(CallWhole(0, slot, None, None, None, text, ITEM_DONE, kind))
        return deltas + (self._refusals() or report.closed(slot))

    def _call(self, entry: _Event, kind: Kind = "function") -> list[Delta]:
        slot, deltas = self._seen(entry, kind)
        text, whole = value_text(entry.arguments)
        return deltas + report.piece(slot, text, kind, whole=whole)

    def _tool_done(self, entry: _Event) -> list[Delta]:
        slot, deltas = self._seen(entry, "server")
        return deltas + report.closed(slot)

    def _refusals(self) -> list[Delta]:
        """Return the ends of denied calls: they may not be executed."""
        denied, self._denied = self._denied, []
        return [CallRefused(0, slot, None, "aborted", "the call was denied") for slot in denied]

    def _seen(self, entry: _Event, kind: Kind) -> tuple[Index | None, list[Delta]]:
        """Return the slot of the entry's call, and its new labels."""
        entry_id, call_id, name = id_label(entry.id), id_label(entry.tool_call_id), name_label(entry.name)
        slot = entry_id or call_id or index_label(entry.output_index)
        self._called = self._called or kind == "function"
        status = entry.confirmation_status
        labels = (call_id, name, status)
        if self._labels.get(slot) == labels:
            return slot, []
        self._labels[slot] = labels
        if status == "denied":
            self._denied.append(slot)
        public = entry_id if kind == "server" and call_id is None else call_id
        flags: tuple[Flag, ...] = ("needs_approval",) if status == "pending" else ()
        extra = None if status is None else {"confirmation_status": status}
        return slot, [CallSeen(0, slot, None, public, name, kind, flags=flags, extra=extra)]

    EVENTS: ClassVar[Events] = {
        "function.call.delta": _call,
        "message.output.delta": _said,
        "tool.execution.started": partial(_call, kind="server"),
        "tool.execution.delta": partial(_call, kind="server"),
        "tool.execution.done": _tool_done,
        "conversation.response.started": _start,
        "conversation.response.done": _over,
    }
