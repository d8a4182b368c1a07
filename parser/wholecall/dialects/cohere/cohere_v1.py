"""Cohere chat, version 1 (`POST /v1/chat`, `stream: true`): JSON lines, or server-sent events.

    stream-start           generation_id
    text-generation        text
    tool-calls-chunk       text?, tool_call_delta?{index, name?, parameters? (a piece of text), text?}
    tool-calls-generation  text?, tool_calls[{name, parameters: OBJECT}]
    stream-end             finish_reason, response{text, tool_calls?, finish_reason, meta, …}

`event_type` names the event. Calls have no ids. They stream as text under their index, and are repeated as objects, in
the same order, which ends them: the object is the last word. The last event repeats the whole response; only its new
content counts. The text of a plan is reasoning. Searches and citations are not about calls. A whole body is the
`response` alone.

Source: Cohere API reference, "Chat (v1) with streaming".
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import msgspec
from msgspec.structs import replace

from wholecall.deltas import CallRefused, Delta, Index, Piecewise, ReasoningFragment, Slot, TextFragment
from wholecall.dialects import report
from wholecall.dialects.cohere.cohere_shared import PLAN, CohereTranslator, piece
from wholecall.dialects.decode import member
from wholecall.dialects.detect import COHERE_V1_QUIET
from wholecall.dialects.labels import id_label, index_label
from wholecall.dialects.openai.chat_calls import name_of
from wholecall.dialects.openai.chat_views import ToolCallView
from wholecall.dialects.pieces import NO_PIECE, Read
from wholecall.dialects.runs import Key
from wholecall.dialects.translator import Events, EventView
from wholecall.framing.frame import Frame

__all__ = ["CohereV1Translator"]


class _CallDelta(ToolCallView, gc=False):
    text: Any = None


class _Event(EventView, gc=False):  # or the response in the last event
    event_type: Union[str, None] = None
    generation_id: Any = None
    text: Any = None
    tool_call_delta: Union[_CallDelta, None] = None
    tool_calls: Union[list[ToolCallView], None] = None
    finish_reason: Any = None
    meta: Any = None
    response: Union[_Event, None] = None


class _Text(msgspec.Struct, gc=False, tag_field="event_type", tag="text-generation"):
    text: str
    tool_call_delta: None = None
    tool_calls: None = None
    response: None = None
    error: None = None


class _CallPiece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    index: int
    parameters: str


class _Chunk(msgspec.Struct, gc=False, tag_field="event_type", tag="tool-calls-chunk"):
    text: str = ""
    tool_call_delta: Union[_CallPiece, None] = None
    tool_calls: None = None
    response: None = None
    error: None = None


_piece = msgspec.json.Decoder(Union[_Text, _Chunk]).decode


def _read(data: str) -> tuple[Key, str]:
    event = _piece(data)
    if type(event) is _Text:
        return ("text", None), event.text
    call = event.tool_call_delta
    if call is None:
        return ("plan", None), event.text
    return NO_PIECE if event.text else (("call", call.index), call.parameters)


class CohereV1Translator(CohereTranslator):
    """Frames of one stream to deltas; it remembers the text, because the end repeats it."""

    decoder = msgspec.json.Decoder(_Event)
    QUIET = COHERE_V1_QUIET

    _spoken: bool
    _planned: bool
    _names: dict[Index, str]

    def _reader(self, _event: str) -> Read:
        return _read

    def in_common(self, key: Key) -> Piecewise:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind, index = key
        if kind == "call":
            return Slot(0, index_label(index), None, "")
        if kind == "text":
            self._spoken = True
            return TextFragment(0, "")
        self._planned = True
        return ReasoningFragment(0, "", PLAN)

    def _clear(self) -> None:
        self._spoken = self._planned = False
        self._names = {}  # of the calls that came in chunks, by slot

    def _kind(self, event: _Event, frame: Frame) -> str:
        return event.event_type or super()._kind(event, frame)

    def _other(self, event: _Event, frame: Frame, kind: str) -> list[Delta]:
        if event.event_type is None and event.generation_id is not None:
            return self._start(event) + self._last(
                replace(event, response=None)
            )  # a body is the answer itself
        return super()._other(event, frame, kind)

    def _start(self, event: _Event) -> list[Delta]:
        return self._begin(id_label(event.generation_id))

    def _text(self, event: _Event) -> list[Delta]:
        said = report.text(event.text)
        self._spoken = self._spoken or bool(said)
        return said

    def _plan(self, *texts: object) -> list[Delta]:
        plans = [delta for text in texts for delta in report.thought(text, PLAN)]
        self._planned = self._planned or bool(plans)
        return plans

    def _chunk(self, event: _Event) -> list[Delta]:
        call = event.tool_call_delta or _CallDelta()
        deltas = self._plan(event.text, call.text)
        id_, name = id_label(call.id), name_of(call)
        slot = self._slot(call.index, name)
        if name is not None:
            self._names.setdefault(slot, name)
        return deltas + report.seen(slot, id_, name) + piece(slot, call)

    def _slot(self, index: object, name: str | None) -> Index:
        """Return the slot of a chunk; without an index a name opens the next one."""
        slot = index_label(index)
        return max(len(self._names) - (name is None), 0) if slot is None else slot

    def _calls(self, event: _Event) -> list[Delta]:
        return ([] if self._planned else self._plan(event.text)) + self._listed(event.tool_calls)

    def _last(self, event: _Event) -> list[Delta]:
        answer = event.response or event
        said = [] if self._spoken or self._planned else self._text(answer)
        usage = {name: count for name in ("billed_units", "tokens") if (count := member(answer.meta, name))}
        reason = answer.finish_reason if event.finish_reason is None else event.finish_reason
        return said + self._listed(answer.tool_calls) + self._over(usage, reason)

    def _whole(self, slot: Index, call: ToolCallView) -> list[Delta]:
        name = name_of(call)
        if name is None or self._names.get(slot, name) == name:
            return super()._whole(slot, call)
        return [CallRefused(0, slot, None, "ambiguous", "it came under two names")]

    EVENTS: ClassVar[Events] = {
        "text-generation": _text,
        "tool-calls-chunk": _chunk,
        "tool-calls-generation": _calls,
        "stream-start": _start,
        "stream-end": _last,
    }
