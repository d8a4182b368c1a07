"""Cohere chat, version 1 (`POST /v1/chat`, `stream: true`): JSON lines, or server-sent events.

    stream-start           generation_id
    text-generation        text
    tool-calls-chunk       text?, tool_call_delta?{index, name?, parameters? (a piece of text), text?}
    tool-calls-generation  text?, tool_calls[{name, parameters: OBJECT}]
    stream-end             finish_reason, response{text, tool_calls?, finish_reason, meta, …}

`event_type` names the event. Calls have no ids. They stream as text under their index, and are told again as
objects, in the same order, which ends them: the object is the last word. The last event tells the
whole response once more; only what was not said before counts of it. The text of a plan is reasoning. Searches
and citations say nothing about calls. A whole body is the `response` alone.

Source: Cohere API reference, "Chat (v1) with streaming".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import msgspec

from wholecall.deltas import (
    OBJECT,
    CallRefused,
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
from wholecall.dialects.detect import COHERE_V1_QUIET
from wholecall.dialects.labels import id_label, index_label, text_label
from wholecall.dialects.openai.chat_views import ToolCallView, argument_text
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["CohereV1Translator"]


class _CallDelta(ToolCallView, gc=False):
    text: Any = None


class _Answer(msgspec.Struct, gc=False):
    generation_id: Any = None
    text: Any = None
    tool_calls: Union[list[ToolCallView], ToolCallView, None] = None
    finish_reason: Any = None
    meta: Any = None


class _Event(_Answer, gc=False):
    event_type: Union[str, None] = None
    tool_call_delta: Union[_CallDelta, None] = None
    response: Union[_Answer, None] = None
    error: Any = None


_NO_CALL = _CallDelta()


class CohereV1Translator(ViewTranslator):
    """Frames of one stream to deltas; it remembers what was said, because the end tells it again."""

    decoder = msgspec.json.Decoder(_Event)

    _key: str | None
    _spoken: bool
    _planned: bool
    _n_named: int
    _names: dict[Index, str]

    def __init__(self) -> None:
        self._key = None
        self._spoken = self._planned = False
        self._n_named = 0  # calls whose chunks have no index
        self._names = {}  # of the calls that came in chunks, by slot
        self._events: dict[str, Callable[[_Event], list[Delta]]] = {
            "text-generation": self._text,
            "tool-calls-chunk": self._chunk,
            "tool-calls-generation": self._calls,
            "stream-start": self._start,
            "stream-end": self._end,
        }

    def _take(self, event: _Event, frame: Frame) -> list[Delta]:
        if event.error:
            return [provider_error(event.error)]
        kind = event.event_type if event.event_type is not None else frame.event
        known = self._events.get(kind)
        if known is not None:
            return known(event)
        if event.event_type is None and event.generation_id is not None:
            return self._start(event) + self._end(event)
        return [] if kind in COHERE_V1_QUIET else stray(frame)

    def _start(self, event: _Event) -> list[Delta]:
        self._key = id_label(event.generation_id)
        self._spoken = self._planned = False
        self._n_named, self._names = 0, {}
        return [TurnOpened(self._key, self._key, restart=True)]

    def _text(self, answer: _Answer) -> list[Delta]:
        text = text_label(answer.text)
        self._spoken = self._spoken or text is not None
        return [] if text is None else [TextFragment(0, text)]

    def _plan(self, *texts: object) -> list[Delta]:
        plans: list[Delta] = [
            ReasoningFragment(0, plan, PLAN) for text in texts if (plan := text_label(text))
        ]
        self._planned = self._planned or bool(plans)
        return plans

    def _chunk(self, event: _Event) -> list[Delta]:
        call = event.tool_call_delta or _NO_CALL
        deltas = self._plan(event.text, call.text)
        id_, name = id_label(call.id), name_of(call)
        text, whole = argument_text(call.function, call)
        slot = self._slot(call.index, name)
        if name is not None:
            self._names.setdefault(slot, name)
        if id_ is not None or name is not None:
            deltas.append(CallSeen(0, slot, None, id_, name))
        if whole and not is_blank(text):
            deltas.append(CallWhole(0, slot, None, id_, name, text, OBJECT))
        elif text and not whole:
            deltas.append(Slot(0, slot, None, text))
        return deltas

    def _slot(self, index: object, name: str | None) -> Index:
        """Return the slot of a chunk; without an index a name opens the next one."""
        slot = index_label(index)
        if slot is not None:
            return slot
        self._n_named += name is not None
        return max(self._n_named - 1, 0)

    def _calls(self, event: _Event) -> list[Delta]:
        return ([] if self._planned else self._plan(event.text)) + self._told(event)

    def _end(self, event: _Event) -> list[Delta]:
        answer = event.response or event
        deltas = [] if self._spoken or self._planned else self._text(answer)
        reason = event.finish_reason if event.finish_reason is not None else answer.finish_reason
        return deltas + self._told(answer) + _usage(answer.meta) + finish(reason) + self._over()

    def _told(self, answer: _Answer) -> list[Delta]:
        """Return the calls of an answer; their position is their slot, but for one that chunks named otherwise."""
        deltas: list[Delta] = []
        for slot, call in enumerate(calls_in(answer.tool_calls)):
            name = name_of(call)
            if name is None or self._names.get(slot, name) == name:
                deltas += whole_call(slot, call)
            else:
                deltas.append(CallRefused(0, slot, None, "ambiguous", "it came under two names"))
        return deltas

    def _over(self) -> list[Delta]:
        return [TurnEnded(self._key)]


def _usage(meta: object) -> list[Delta]:
    fields = meta if isinstance(meta, dict) else {}
    return counted({name: fields[name] for name in ("billed_units", "tokens") if fields.get(name)})
