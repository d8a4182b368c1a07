"""Cohere chat, version 2 (`POST /v2/chat`, `stream: true`); the event's name repeats `type`.

    message-start      id, delta{message{role, …}}
    tool-plan-delta    delta{message{tool_plan}}
    tool-call-start    index, delta{message{tool_calls: {id, type, function{name, arguments: ""}}}}
    tool-call-delta    index, delta{message{tool_calls: {function{arguments}}}}
    tool-call-end      index
    content-start, content-delta, content-end    index, delta{message{content{type, text | thinking}}}
    message-end        delta{finish_reason, usage, error?}

The index is the call's slot. `tool_calls` is one object, with some relays a list of one. A call without arguments has
no delta at all; neither has a call that was cut before its arguments, so `CallClosed` is not final. A start ends
nothing: a call that another one displaces has not ended. The plan is reasoning. Citations are not about calls. A reason
that means failure takes back the calls that are open. A whole body is `{id, finish_reason, message, usage}`.

Source: Cohere API reference, "Chat with streaming".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from wholecall.deltas import Delta, Index, Piecewise, ReasoningFragment, Slot, TextFragment
from wholecall.dialects import report
from wholecall.dialects.cohere.cohere_shared import PLAN, CohereTranslator, calls_in, piece
from wholecall.dialects.cohere.cohere_v2_views import (
    DECODER,
    PIECES,
    ArgumentPiece,
    Event,
    Message,
    PlanPiece,
)
from wholecall.dialects.labels import id_label, index_label
from wholecall.dialects.openai.chat_calls import name_of
from wholecall.dialects.openai.chat_views import ToolCallView
from wholecall.dialects.pieces import NO_PIECE, Read
from wholecall.dialects.runs import Key
from wholecall.dialects.translator import Events
from wholecall.framing.frame import Frame

__all__ = ["CohereV2Translator"]


_piece = PIECES.decode
_NO_MESSAGE = Message()
_TEXT: Key = ("text", None)


def _read(data: str) -> tuple[Key, str]:
    event = _piece(data)
    if type(event) is ArgumentPiece:
        return ("call", event.index), event.delta.message.tool_calls.function.arguments
    if type(event) is PlanPiece:
        return ("plan", None), event.delta.message.tool_plan
    said = event.delta.message.content
    if not said.thinking:
        return _TEXT, said.text
    return NO_PIECE if said.text else (("thought", event.index), said.thinking)


class CohereV2Translator(CohereTranslator):
    """Frames of one stream to deltas."""

    decoder = DECODER
    QUIET = frozenset({"content-end", "citation-start", "citation-end", "debug"})

    def _reader(self, _event: str) -> Read:
        return _read

    def in_common(self, key: Key) -> Piecewise:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind, index = key[0], index_label(key[1])
        if kind == "call":
            return Slot(0, index, None, "")
        return (
            TextFragment(0, "")
            if kind == "text"
            else ReasoningFragment(0, "", PLAN if index is None else index)
        )

    def _other(self, event: Event, frame: Frame, kind: str) -> list[Delta]:
        if event.message is None or event.type is not None:
            return super()._other(event, frame, kind)
        return self._start(event) + self._listed(event.message.tool_calls) + self._last(event)

    def _start(self, event: Event) -> list[Delta]:
        return self._begin(id_label(event.id)) + self._said(event)

    def _last(self, event: Event) -> list[Delta]:
        answer = event.delta or event
        return self._over(answer.usage, answer.finish_reason, answer.error)

    def _said(self, event: Event) -> list[Delta]:
        """Return the plan, then the deltas of the parts of the content; a part is alone in a stream."""
        block, message = index_label(event.index), _message(event)
        deltas = report.thought(message.tool_plan, PLAN)
        for number, part in enumerate(
            message.content if isinstance(message.content, list) else [message.content]
        ):
            said = part if isinstance(part, dict) else {"text": part}
            deltas += report.thought(said.get("thinking"), number if block is None else block)
            deltas += report.text(said.get("text"))
        return deltas

    def _call_start(self, event: Event) -> list[Delta]:
        deltas: list[Delta] = []
        for slot, call in _slotted(event):
            deltas += report.call_start(slot, id_label(call.id), name_of(call)) + piece(slot, call)
        return deltas

    def _call_delta(self, event: Event) -> list[Delta]:
        return [delta for slot, call in _slotted(event) for delta in piece(slot, call)]

    def _call_end(self, event: Event) -> list[Delta]:
        return report.closed(index_label(event.index), final=False)

    EVENTS: ClassVar[Events] = {
        "tool-call-delta": _call_delta,
        "content-delta": _said,
        "tool-plan-delta": _said,
        "tool-call-start": _call_start,
        "tool-call-end": _call_end,
        "content-start": _said,
        "message-start": _start,
        "message-end": _last,
    }


def _message(event: Event) -> Message:
    return (event.delta or event).message or _NO_MESSAGE


def _slotted(event: Event) -> Iterator[tuple[Index | None, ToolCallView]]:
    """Yield the calls with their slots: further calls of one event get their own, though no server sends any yet."""
    index = index_label(event.index)
    for n, call in enumerate(calls_in(_message(event).tool_calls)):
        yield index if n == 0 else f"{index}.{n}", call
