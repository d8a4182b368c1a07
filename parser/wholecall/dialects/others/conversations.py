"""Mistral Conversations and Agents (`POST /v1/conversations#stream`); the event's name repeats `type`.

    conversation.response.started    conversation_id, created_at
    message.output.delta             id, output_index, content (a text or one part)
    function.call.delta              id, output_index, name, tool_call_id, arguments, confirmation_status?
    tool.execution.started, .delta   id, output_index, name, arguments
    tool.execution.done              id, output_index, info
    agent.handoff.started, .done     the agents' ids and names
    conversation.response.done       usage
    conversation.response.error      message, code

Every entry of the answer has an id, which is the slot of its call; name and `tool_call_id`, the public id,
come in each of its events. `arguments` are pieces of JSON text. A function call has no end of its own, a tool
that Mistral executes has. The end names no reason: a turn with calls of the client ended for them. A whole body
is `{object: "conversation.response", conversation_id, outputs: [entries], usage}`.

Source: Mistral API reference, "Agents and conversations", and the types of its Python SDK.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import msgspec

from wholecall.deltas import (
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Index,
    Noted,
    Slot,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import (
    NO_TEXT,
    is_blank,
    is_noise,
    plain,
    provider_error,
    wire_text,
)
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.chat_calls import speech
from wholecall.dialects.openai.chat_views import DeltaView
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Flag, Kind

__all__ = ["ConversationsTranslator"]

_QUIET = frozenset({"agent.handoff", "agent.handoff.started", "agent.handoff.done", "ping"})


class _Entry(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None
    output_index: Any = None
    content: Any = None
    name: Any = None
    tool_call_id: Any = None
    arguments: msgspec.Raw = NO_TEXT
    confirmation_status: Any = None
    model: Any = None


class _Event(_Entry, gc=False):
    conversation_id: Any = None
    usage: Any = None
    error: Any = None
    outputs: Union[list[_Entry], None] = None


class ConversationsTranslator(ViewTranslator):
    """Frames of one stream to deltas; it remembers the labels of calls, because every event repeats them."""

    decoder = msgspec.json.Decoder(_Event)

    _key: str | None
    _labels: dict[Index | None, tuple[object, ...]]
    _denied: list[Index | None]
    _called: bool

    def __init__(self) -> None:
        self._key = None
        self._labels = {}
        self._denied = []  # the slots of calls that were denied
        self._called = False  # there is a call that the client executes
        self._events: dict[str, Callable[[_Event], list[Delta]]] = {
            "function.call.delta": self._function,
            "message.output.delta": _said,
            "tool.execution.started": self._tool,
            "tool.execution.delta": self._tool,
            "tool.execution.done": self._tool_done,
            "conversation.response.started": self._start,
            "conversation.response.done": self._over,
        }

    def _take(self, event: _Event, frame: Frame) -> list[Delta]:
        if event.error:
            return [provider_error(event.error)]
        kind = event.type if isinstance(event.type, str) else frame.event
        known = self._events.get(kind)
        if known is not None:
            return known(event)
        if kind in ("conversation.response.error", "error"):
            return [provider_error(plain(frame.data))]
        if event.outputs is not None:
            return self._body(event, event.outputs)
        return [] if kind in _QUIET or is_noise(frame) else [Noted(0, "unknown_events")]

    # The turn.

    def _start(self, event: _Event, model: str | None = None) -> list[Delta]:
        self._key, self._called = id_label(event.conversation_id), False
        self._labels.clear()
        self._denied.clear()
        return [TurnOpened(self._key, self._key, model, restart=True)]

    def _over(self, event: _Event) -> list[Delta]:
        refusals = self._refusals()
        deltas: list[Delta] = [UsageSeen(event.usage)] if isinstance(event.usage, dict) else []
        return [
            *refusals,
            *deltas,
            Finish(0, "tool_calls" if self._called else "stop", None),
            TurnEnded(self._key),
        ]

    def _body(self, event: _Event, outputs: list[_Entry]) -> list[Delta]:
        models = (name_label(entry.model) for entry in outputs)
        deltas = self._start(event, next(filter(None, models), None))
        for entry in outputs:
            deltas += self._entry(entry)
        return deltas + self._over(event)

    def _entry(self, entry: _Entry) -> list[Delta]:
        """Return what a whole entry says."""
        if entry.type == "message.output":
            return _said(entry)
        kind: Kind = "server" if entry.type == "tool.execution" else "function"
        if kind == "function" and entry.type != "function.call":
            return [] if text_label(entry.type) in _QUIET else [Noted(0, "unknown_events")]
        slot, deltas = self._seen(entry, kind)
        if text := wire_text(entry.arguments):
            deltas.append(CallWhole(0, slot, None, None, None, text, ITEM_DONE, kind))
        return [*deltas, *(self._refusals() or [CallClosed(0, slot, None)])]

    # Calls.

    def _function(self, event: _Entry) -> list[Delta]:
        return self._call(event, "function")

    def _tool(self, event: _Entry) -> list[Delta]:
        return self._call(event, "server")

    def _tool_done(self, event: _Entry) -> list[Delta]:
        slot, deltas = self._seen(event, "server")
        return [*deltas, CallClosed(0, slot, None)]

    def _call(self, entry: _Entry, kind: Kind) -> list[Delta]:
        slot, deltas = self._seen(entry, kind)
        text = wire_text(entry.arguments)
        if bytes(entry.arguments).startswith(b'"'):
            deltas += [Slot(0, slot, None, text)] if text else []
        elif not is_blank(text):
            deltas.append(CallWhole(0, slot, None, None, None, text, OBJECT, kind))
        return deltas

    def _refusals(self) -> list[Delta]:
        """Return the ends of calls that somebody denied: nobody may execute them."""
        denied, self._denied = self._denied, []
        return [CallRefused(0, slot, None, "aborted", "the call was denied") for slot in denied]

    def _seen(self, entry: _Entry, kind: Kind) -> tuple[Index | None, list[Delta]]:
        """Return the slot of the entry's call, and what its labels say that is new."""
        entry_id, call_id, name = id_label(entry.id), id_label(entry.tool_call_id), name_label(entry.name)
        slot: Index | None = entry_id or call_id
        slot = index_label(entry.output_index) if slot is None else slot
        self._called = self._called or kind == "function"
        labels = (call_id, name, entry.confirmation_status)
        if self._labels.get(slot) == labels:
            return slot, []
        self._labels[slot] = labels
        if entry.confirmation_status == "denied":
            self._denied.append(slot)
        status = entry.confirmation_status
        extra = None if status is None else {"confirmation_status": status}
        flags: tuple[Flag, ...] = ("needs_approval",) if status == "pending" else ()
        public = entry_id if kind == "server" and call_id is None else call_id
        return slot, [CallSeen(0, slot, None, public, name, kind, flags=flags, extra=extra)]


def _said(entry: _Entry) -> list[Delta]:
    content = entry.content
    return speech(0, DeltaView(content=content if isinstance(content, (str, list)) else [content]))
