"""Cohere chat, version 2 (`POST /v2/chat`, `stream: true`); the event's name repeats `type`.

    message-start      id, delta{message{role, …}}
    tool-plan-delta    delta{message{tool_plan}}
    tool-call-start    index, delta{message{tool_calls: {id, type, function{name, arguments: ""}}}}
    tool-call-delta    index, delta{message{tool_calls: {function{arguments}}}}
    tool-call-end      index
    content-start, content-delta, content-end    index, delta{message{content{type, text | thinking}}}
    message-end        delta{finish_reason, usage, error?}

The index is the call's slot. `tool_calls` is one object, with some relays a list of one. A call without
arguments has no delta at all; so has one that was cut before its arguments, so `CallClosed` is not final. A start
ends nothing: a call that another one displaces has not ended. The plan is reasoning. Citations say nothing about calls. A reason that means failure takes back the
calls that are open. A whole body is `{id, finish_reason, message, usage}`.

Source: Cohere API reference, "Chat with streaming".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import msgspec

from wholecall.deltas import (
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Index,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
)
from wholecall.dialects.cohere.cohere_shared import (
    PLAN,
    calls_in,
    counted,
    finish,
    name_of,
    stray,
    whole_call,
)
from wholecall.dialects.decode import is_blank, provider_error
from wholecall.dialects.labels import id_label, index_label, text_label
from wholecall.dialects.openai.chat_views import ToolCallView, argument_text
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["CohereV2Translator"]

_QUIET = frozenset({"content-end", "citation-start", "citation-end", "debug", "ping"})


class _Message(msgspec.Struct, gc=False):
    tool_plan: Any = None
    content: Any = None
    tool_calls: Union[list[ToolCallView], ToolCallView, None] = None


class _Delta(msgspec.Struct, gc=False):
    message: Union[_Message, None] = None
    finish_reason: Any = None
    usage: Any = None
    error: Any = None


class _Event(msgspec.Struct, gc=False):
    type: Union[str, None] = None
    index: Any = None
    delta: Union[_Delta, None] = None
    id: Any = None
    error: Any = None
    # A whole body has the members of the last delta at its top level.
    message: Union[_Message, None] = None
    finish_reason: Any = None
    usage: Any = None


_NO_DELTA = _Delta()
_NO_MESSAGE = _Message()


class CohereV2Translator(ViewTranslator):
    """Frames of one stream to deltas."""

    decoder = msgspec.json.Decoder(_Event)

    _key: str | None

    def __init__(self) -> None:
        self._key = None
        self._events: dict[str, Callable[[_Event, _Message], list[Delta]]] = {
            "tool-call-delta": self._call_delta,
            "content-delta": self._said,
            "tool-plan-delta": self._said,
            "tool-call-start": self._call_start,
            "tool-call-end": self._call_end,
            "content-start": self._said,
            "message-start": self._message_start,
            "message-end": self._message_end,
        }

    def _take(self, event: _Event, frame: Frame) -> list[Delta]:
        if event.error:
            return [provider_error(event.error)]
        kind = event.type if event.type is not None else frame.event
        known = self._events.get(kind)
        if known is not None:
            return known(event, (event.delta or _NO_DELTA).message or _NO_MESSAGE)
        if event.message is not None and event.type is None:
            return self._body(event, event.message)
        return [] if kind in _QUIET else stray(frame)

    # Messages.

    def _message_start(self, event: _Event, message: _Message) -> list[Delta]:
        self._key = id_label(event.id)
        return [TurnOpened(self._key, self._key, restart=True), *_spoken(None, message)]

    def _message_end(self, event: _Event, _message: _Message) -> list[Delta]:
        delta = event.delta or _NO_DELTA
        deltas: list[Delta] = counted(delta.usage) + finish(delta.finish_reason)
        if delta.error:
            return [*deltas, provider_error(delta.error)]
        return deltas + self._end()

    def _end(self) -> list[Delta]:
        return [TurnEnded(self._key)]

    def _body(self, event: _Event, message: _Message) -> list[Delta]:
        deltas = self._message_start(event, message)
        for slot, call in enumerate(calls_in(message.tool_calls)):
            deltas += whole_call(slot, call)
        return deltas + counted(event.usage) + finish(event.finish_reason) + self._end()

    # Text and calls.

    def _said(self, event: _Event, message: _Message) -> list[Delta]:
        return _spoken(index_label(event.index), message)

    def _call_start(self, event: _Event, message: _Message) -> list[Delta]:
        deltas: list[Delta] = []
        for slot, call in self._slotted(event, message):
            deltas.append(CallSeen(0, slot, None, id_label(call.id), name_of(call), begins=True))
            deltas += self._piece(slot, call)
        return deltas

    def _call_delta(self, event: _Event, message: _Message) -> list[Delta]:
        return [delta for slot, call in self._slotted(event, message) for delta in self._piece(slot, call)]

    def _slotted(self, event: _Event, message: _Message) -> list[tuple[Index | None, ToolCallView]]:
        """Return the calls with their slots: further calls of one event, which nobody sends yet, get their own."""
        index = index_label(event.index)
        calls = calls_in(message.tool_calls)
        return [(index if n == 0 else f"{index}.{n}", call) for n, call in enumerate(calls)]

    def _piece(self, slot: Index | None, call: ToolCallView) -> list[Delta]:
        text, whole = argument_text(call.function, call)
        if not text or (whole and is_blank(text)):
            return []
        if whole:
            return [CallWhole(0, slot, None, None, None, text, OBJECT)]
        return [Slot(0, slot, None, text)]

    def _call_end(self, event: _Event, _message: _Message) -> list[Delta]:
        return [CallClosed(0, index_label(event.index), None, final=False)]


def _spoken(block: Index | None, message: _Message) -> list[Delta]:
    """Return the plan, then what the parts of the content say; a part stands alone in a stream."""
    plan = text_label(message.tool_plan)
    deltas: list[Delta] = [ReasoningFragment(0, plan, PLAN)] if plan else []
    content = message.content
    parts = content if isinstance(content, list) else [content]
    for number, part in enumerate(parts):
        said = part if isinstance(part, dict) else {"text": part}
        if thought := text_label(said.get("thinking")):
            deltas.append(ReasoningFragment(0, thought, number if block is None else block))
        if text := text_label(said.get("text")):
            deltas.append(TextFragment(0, text))
    return deltas
