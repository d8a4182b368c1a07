"""Meta's Llama API (`POST /v1/chat/completions` of api.llama.com, `stream: true`), its own format.

    data: {"id":"r1","event":{"event_type":"start","delta":{"type":"text","text":""}}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","id":"c1","function":{"name":"f"}}}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","function":{"arguments":"{}"}}}}
    data: {"event":{"event_type":"complete","delta":{"type":"text","text":""},"stop_reason":"tool_calls"}}
    data: {"event":{"event_type":"metrics","delta":{…},"metrics":[{metric, value, unit}, …]}}

Calls have no index and no separate end: a piece without an id continues the call of the last id. The order of ids is
given as the index, and the binder decides the meaning of the labels. A whole body is
`{id, completion_message: {content, stop_reason, tool_calls}, metrics}`.

llama-stack's own API is where this one comes from: a start may be either's, and decides nothing if it has no id.
Where text alone decided, the first call with a `parse_status` hands the stream over.

Source: Llama API reference, "Chat completion", and the types of its Python SDK.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec.structs import replace

from wholecall.deltas import Delta, TurnEnded
from wholecall.dialects import report
from wholecall.dialects.detect import LLAMA_API_TYPES
from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.openai.chat_calls import content, labelled
from wholecall.dialects.openai.chat_views import ToolCallView
from wholecall.dialects.others.llama_stack import LlamaStackTranslator, counts
from wholecall.dialects.translator import EventView, TurnTranslator
from wholecall.framing.frame import Frame

__all__ = ["LlamaTranslator"]


class _Delta(ToolCallView, gc=False):
    text: Any = None
    parse_status: Any = None


class _Event(msgspec.Struct, gc=False):  # or a whole message
    event_type: Any = None
    delta: Union[_Delta, None] = None
    content: Any = None
    tool_calls: Union[list[ToolCallView], None] = None
    stop_reason: Any = None
    metrics: Any = None


class _Frame(EventView, gc=False):
    id: Any = None
    event: Union[_Event, None] = None
    completion_message: Union[_Event, None] = None
    metrics: Any = None
    model: Any = None


class LlamaTranslator(TurnTranslator):
    """Frames of one stream to deltas; it numbers the calls by their ids."""

    decoder = msgspec.json.Decoder(_Frame)
    ERRORS = frozenset({"error"})

    _numbers: dict[str, int]
    _latest: int
    _guest: LlamaStackTranslator | None

    def __init__(self) -> None:
        super().__init__()
        self._guest = None  # the translator of the stream's real dialect, once it is known

    def _clear(self) -> None:
        self._numbers = {}
        self._latest = 0

    def _begin(self, id_: str | None = None, model: object = None) -> list[Delta]:
        """Begin an answer; one without an id is always a new one."""
        opened = super()._begin(id_, model)
        return [replace(delta, key=id_ or f"answer {self._n_turns}") for delta in opened]

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        return super().translate(frame) if self._guest is None else self._guest.translate(frame)

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether the translator that replaced this one takes the frame silently."""
        return self._guest is not None and self._guest.takes_silently(frame)

    def close(self) -> list[Delta]:
        """Return the deltas of the end of the stream: none, unless it is llama-stack's."""
        return [] if self._guest is None else self._guest.close()

    def _other(self, view: _Frame, frame: Frame, kind: str) -> list[Delta]:
        event = view.event or view.completion_message
        if event is None:
            return super()._other(view, frame, kind)
        begin = self._begin if event.event_type == "start" else self._opened
        deltas = begin(id_label(view.id), view.model)
        if event.delta is not None and event.delta.parse_status is not None:
            self._guest = LlamaStackTranslator(opened=True)
            return deltas + self._guest.translate(frame)
        deltas += self._body(event) if event is view.completion_message else self._said(event)
        deltas += report.finish(event.stop_reason) + counts(event.metrics or view.metrics)
        return deltas if event is view.event else [*deltas, TurnEnded(self._key)]

    def _body(self, message: _Event) -> list[Delta]:
        calls = enumerate(message.tool_calls or ())
        fragments = [replace(labelled(0, call, None), index=number) for number, call in calls]
        return [*content(message.content), *fragments]

    def _said(self, event: _Event) -> list[Delta]:
        delta = event.delta
        if delta is None:
            return [] if text_label(event.event_type) in LLAMA_API_TYPES else report.unknown()
        if delta.type != "tool_call" and delta.function is None:
            known = delta.type in (None, "text")
            return report.text(delta.text) or ([] if known else report.unknown())
        fragment = labelled(0, delta, None)
        if fragment.id is not None:
            self._latest = self._numbers.setdefault(fragment.id, len(self._numbers))
        return [replace(fragment, index=self._latest)]
