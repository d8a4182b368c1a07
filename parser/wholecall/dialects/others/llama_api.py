"""Meta's Llama API (`POST /v1/chat/completions` of api.llama.com, `stream: true`), its own format.

    data: {"id":"r1","event":{"event_type":"start","delta":{"type":"text","text":""}}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","id":"c1","function":{"name":"f"}}}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","function":{"arguments":"{}"}}}}
    data: {"event":{"event_type":"complete","delta":{"type":"text","text":""},"stop_reason":"tool_calls"}}
    data: {"event":{"event_type":"metrics","delta":{…},"metrics":[{metric, value, unit}, …]}}

Calls have no index and no end of their own: a piece without an id continues the call of the last id. The order
of ids is told as the index, and what the labels mean is left to the binder. A whole body is
`{id, completion_message: {content, stop_reason, tool_calls}, metrics}`.

llama-stack's own API is where this one comes from: a start may be either's, and decides nothing if it has no id.
Where text alone decided, the first call with a `parse_status` hands the stream over.

Source: Llama API reference, "Chat completion", and the types of its Python SDK.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec.structs import replace

from wholecall.deltas import Delta, Finish, Noted, TextFragment, TurnEnded, TurnOpened
from wholecall.dialects.decode import is_noise, plain, provider_error
from wholecall.dialects.detect import LLAMA_API_TYPES
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.openai.chat_calls import labelled, speech
from wholecall.dialects.openai.chat_views import DeltaView, ToolCallView
from wholecall.dialects.others.llama_stack import LlamaStackTranslator, counts
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["LlamaTranslator"]


class _Delta(ToolCallView, gc=False):
    text: Any = None
    parse_status: Any = None


class _Event(msgspec.Struct, gc=False):
    event_type: Any = None
    delta: Union[_Delta, None] = None
    stop_reason: Any = None
    metrics: Any = None


class _Message(msgspec.Struct, gc=False):
    content: Any = None
    tool_calls: Union[list[ToolCallView], None] = None
    stop_reason: Any = None


class _Frame(msgspec.Struct, gc=False):
    id: Any = None
    event: Union[_Event, None] = None
    completion_message: Union[_Message, None] = None
    metrics: Any = None
    model: Any = None
    error: Any = None
    type: Any = None


class LlamaTranslator(ViewTranslator):
    """Frames of one stream to deltas; it numbers the calls by their ids."""

    decoder = msgspec.json.Decoder(_Frame)

    _key: str | None
    _id: str | None
    _n_answers: int
    _numbers: dict[str, int]
    _latest: int
    _other: LlamaStackTranslator | None

    def __init__(self) -> None:
        self._key = self._id = None
        self._n_answers = 0  # on this connection: one that starts, or has another id, is the next
        self._numbers = {}
        self._latest = 0
        self._other = None  # whose stream it turned out to be

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        return super().translate(frame) if self._other is None else self._other.translate(frame)

    def close(self) -> list[Delta]:
        """Return the deltas of the end of the stream: nothing, unless it is llama-stack's."""
        return [] if self._other is None else self._other.close()

    def _take(self, view: _Frame, frame: Frame) -> list[Delta]:
        if view.error or frame.event == "error":
            return [provider_error(view.error or plain(frame.data))]
        if view.completion_message is not None:
            return self._body(view, view.completion_message)
        event = view.event
        if event is None:
            return [] if is_noise(frame) or view.type == "ping" else [Noted(0, "unknown_events")]
        deltas = self._begin(view)
        if event.delta is not None and event.delta.parse_status is not None:
            self._other = LlamaStackTranslator(opened=True)
            return deltas + self._other.translate(frame)
        if event.delta is not None:
            deltas += self._delta(event.delta)
        elif text_label(event.event_type) not in LLAMA_API_TYPES:
            deltas.append(Noted(0, "unknown_events"))
        return deltas + _end(event.stop_reason, event.metrics)

    def _begin(self, view: _Frame) -> list[Delta]:
        id_ = id_label(view.id)
        starts = view.event is not None and view.event.event_type == "start"
        if self._n_answers and not starts and (id_ is None or self._id in (None, id_)):
            return []
        again, self._id, self._key = self._n_answers > 0, id_, id_ or f"answer {self._n_answers}"
        self._n_answers += 1
        self._numbers, self._latest = {}, 0
        return [TurnOpened(self._key, id_, name_label(view.model), restart=again)]

    def _delta(self, delta: _Delta) -> list[Delta]:
        if delta.type == "tool_call" or delta.function is not None:
            return [self._call(delta)]
        if text := text_label(delta.text):
            return [TextFragment(0, text)]
        return [] if delta.type in (None, "text") else [Noted(0, "unknown_events")]

    def _call(self, call: ToolCallView) -> Delta:
        told = labelled(0, call, None)
        if told.id is not None:
            self._latest = self._numbers.setdefault(told.id, len(self._numbers))
        return replace(told, index=self._latest)

    def _body(self, view: _Frame, message: _Message) -> list[Delta]:
        deltas = self._begin(view)
        content = message.content
        said = content if isinstance(content, (str, list)) else [content]
        deltas += speech(0, DeltaView(content=said))
        for number, call in enumerate(message.tool_calls or ()):
            deltas.append(replace(labelled(0, call, None), index=number))
        return [*deltas, *_end(message.stop_reason, view.metrics), TurnEnded(self._key)]


def _end(stop_reason: object, metrics: object) -> list[Delta]:
    """Return the reason and the counts, where they are told."""
    known = turn_reason(stop_reason)
    return [*([] if known is None else [Finish(0, *known)]), *counts(metrics)]
