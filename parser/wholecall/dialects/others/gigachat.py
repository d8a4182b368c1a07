"""GigaChat's second chat (Sber, `POST /v2/chat/completions`): named events, each with messages that consist of parts.

    event: response.message.delta    data: {"model", "created_at", "messages": [{"role", "content": [PART]}]}
    event: response.tool.in_progress, response.tool.completed            the provider's own tools, in the same form
    event: response.message.done     data: {"model", "messages"?: […], "finish_reason", "usage"}

    PART is  {"text"}  or  {"function_call": {"id"?, "name", "arguments": OBJECT}}  or  {"tool_execution": {…}}  or files

A call is whole in its part, and the client's to execute; in some streams it comes only in the last event. One without
arguments waits for the reason. Old servers send no ids: the calls of the last event are distinguished by their position
from those that came before it. The state of the tools, which an answer needs, is in `extra`. The provider's own
executions show no arguments, and are not calls. The role `reasoning` thinks aloud; content may also be one text.

No `[DONE]` ends the stream. A whole response is one last event without a name, as are lines of JSON.
Source: Sber, "GigaChat API", `POST /v2/chat/completions`, and the recordings of its Python SDK (June 2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import msgspec

from wholecall.deltas import ITEM_DONE, CallWhole, Delta, Finish
from wholecall.dialects import report
from wholecall.dialects.decode import NO_TEXT, wire_text
from wholecall.dialects.detect import GIGACHAT_DELTA, GIGACHAT_DONE, GIGACHAT_TOOLS
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.translator import Events, EventView, TurnTranslator
from wholecall.dialects.whole_calls import WholeCalls
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

__all__ = ["GigaChatTranslator"]

_UNNAMED = ("", "message")  # names of events that have no name on the wire
_OURS = (None, "assistant")  # roles whose calls are the client's


class _Call(msgspec.Struct, gc=False):
    id: Any = None
    name: Any = None
    arguments: msgspec.Raw = NO_TEXT


class _Part(msgspec.Struct, gc=False):
    text: Any = None
    function_call: Union[_Call, None] = None


class _Message(msgspec.Struct, gc=False):
    role: Any = None
    content: Union[list[_Part], str, None] = None
    reasoning_content: Any = None
    tool_state_id: Any = None
    tools_state_id: Any = None


class _View(EventView, gc=False):
    event: Any = None
    messages: Union[list[_Message], None] = None
    model: Any = None
    finish_reason: Any = None
    usage: Any = None


class GigaChatTranslator(TurnTranslator):
    """Events of one stream to deltas; calls without ids are counted."""

    decoder = msgspec.json.Decoder(_View)
    QUIET = GIGACHAT_TOOLS
    ERRORS = frozenset({"error", "response.error"})

    _calls: WholeCalls
    _n_calls: int

    def _clear(self) -> None:
        self._calls = WholeCalls()
        self._n_calls = 0

    def lose(self) -> None:
        """Note that a frame was lost, perhaps with calls."""
        self._calls.lose()

    def _kind(self, view: _View, frame: Frame) -> str:
        return text_label(view.event) or text_label(view.type) or frame.event

    def _other(self, view: _View, frame: Frame, kind: str) -> list[Delta]:
        if kind not in _UNNAMED or view.messages is view.finish_reason is None:
            return super()._other(view, frame, kind)
        return self._said(view) if view.finish_reason is None else self._last(view)

    def _said(self, view: _View) -> list[Delta]:
        deltas = self._opened(None, view.model)
        self._calls.next_frame()
        for message in view.messages or ():
            deltas += self._message(message)
        return deltas

    def _last(self, view: _View) -> list[Delta]:
        n_calls, self._n_calls = self._n_calls, 0  # the calls of this event may be repeats of earlier calls
        deltas = self._said(view) if view.messages else self._opened(None, view.model, repeats=True)
        self._n_calls = max(n_calls, self._n_calls)
        if not self._open:
            return deltas
        finish = report.finish(view.finish_reason)
        reason: TurnReason | None = next((end.reason for end in finish if isinstance(end, Finish)), None)
        return [*deltas, *report.usage(view.usage), *self._calls.finish(0, reason), *finish, *self._end()]

    def _message(self, message: _Message) -> list[Delta]:
        deltas = report.thought(message.reasoning_content)
        if message.role not in (*_OURS, "reasoning"):
            return deltas
        parts = message.content if type(message.content) is list else [_Part(message.content)]
        for part in parts:
            ours = message.role in _OURS
            deltas += report.text(part.text) if ours else report.thought(part.text)
            if ours and part.function_call is not None:
                deltas += self._call(part.function_call, message)
        return deltas

    def _call(self, call: _Call, message: _Message) -> list[Delta]:
        id_, text = id_label(call.id), wire_text(call.arguments)
        extra = report.extra(tool_state_id=message.tool_state_id, tools_state_id=message.tools_state_id)
        nth = None if id_ is not None else self._n_calls
        self._n_calls += 1
        whole = CallWhole(0, None, None, id_, name_label(call.name), text, ITEM_DONE, extra=extra)
        return self._calls.add(whole, nth)

    EVENTS: ClassVar[Events] = {GIGACHAT_DELTA: _said, GIGACHAT_DONE: _last}
