"""llama-stack's own inference API (`POST /v1/inference/chat-completion`), before it spoke chat completions.

    data: {"event":{"event_type":"start","delta":{"type":"text","text":""},"logprobs":null,"stop_reason":null}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","parse_status":"started","tool_call":""}}}
    data: {…{"type":"tool_call","parse_status":"in_progress","tool_call":"[get_tide(port="}…}
    data: {…{"type":"tool_call","parse_status":"succeeded","tool_call":{call_id, tool_name, arguments: {…}}}…}
    data: {"event":{"event_type":"complete","delta":{"type":"text","text":""},"stop_reason":"end_of_turn"}}

Strings are what the model wrote: of one call or of several at once, in whatever form its template has (a Python
list, `name(` and `)` round JSON, tags). They are no arguments. The object on success is the call, told once and
whole; `arguments_json`, where a server adds it, is the text that `arguments` was read from. `failed` means that
the server could not read what was written so far, or that no such tool was asked for. What was written and never
read is a call without a name.

The first versions have text as the delta itself, and `{content, parse_status: success | failure}` for a call.
Some servers tell calls in events `complete`, so only the end of the stream ends the turn. A whole body is
`{completion_message: {content, stop_reason, tool_calls}, logprobs}`.

Source: llama-stack, `apis/inference`, and the types of llama-stack-client 0.0.50 to 0.2.
"""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.deltas import (
    ITEM_DONE,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import NO_TEXT, is_noise, member, plain, provider_error, wire_text
from wholecall.dialects.detect import LLAMA_STACK_TYPES
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.openai.chat_calls import speech
from wholecall.dialects.openai.chat_views import DeltaView
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.dialects.whole_calls import Told, WholeCalls
from wholecall.framing.frame import Frame
from wholecall.limits import Limits

__all__ = ["LlamaStackTranslator", "counts"]

_SUCCEEDED = frozenset({"succeeded", "success"})
_FAILED = frozenset({"failed", "failure"})
_TOLD: Final = Told(waits=True)  # the last call may have been cut, which the reason says
_BEGUN: Final = Told(waits=True, new=True)
_KEPT: Final = Limits().max_arguments_bytes or 0  # characters, after which the text is too large anyway


class _Call(msgspec.Struct, gc=False):
    call_id: Any = None
    tool_name: Any = None
    arguments: msgspec.Raw = NO_TEXT
    arguments_json: Any = None


class _Delta(msgspec.Struct, gc=False):
    type: str | None = None
    text: Any = None
    parse_status: str | None = None
    tool_call: Union[_Call, str, None] = None
    content: Union[_Call, str, None] = None


class _Event(msgspec.Struct, gc=False):
    event_type: str | None = None
    delta: Union[_Delta, str, None] = None
    stop_reason: Any = None


class _Message(msgspec.Struct, gc=False):
    content: Any = None
    tool_calls: Union[list[_Call], None] = None
    stop_reason: Any = None


class _Frame(msgspec.Struct, gc=False):
    event: Union[_Event, None] = None
    completion_message: Union[_Message, None] = None
    metrics: Any = None
    error: Any = None
    type: Any = None


class LlamaStackTranslator(ViewTranslator):
    """Frames of one stream to deltas.

    Args:
        opened: the turn is open already: another translator was asked first.
    """

    decoder = msgspec.json.Decoder(_Frame)

    _open: bool
    _complete: bool
    _ended: bool
    _reason: object
    _written: list[str]
    _size: int
    _begun: bool
    _n_started: int
    _calls: WholeCalls

    def __init__(self, *, opened: bool = False) -> None:
        self._open = opened
        self._complete = False
        self._ended = False  # the last event says that the answer is complete, and no more
        self._reason = None
        self._written = []  # by the model, of calls that have no end yet
        self._size = 0
        self._begun = False  # a call was, even if nothing of it was written
        self._n_started = 0  # calls that the model wrote
        self._calls = WholeCalls()

    def close(self) -> list[Delta]:
        """Report what was written and never read, that calls came whole, and that an answer which is complete is over."""
        return self._done() if self._complete else [*self._unread(), *self._over()]

    def _done(self) -> list[Delta]:
        ended = [*self._unread(), *self._over(), TurnEnded()]
        self._calls, self._n_started = WholeCalls(), 0
        return ended

    def _over(self) -> list[Delta]:
        """Report that calls are over at the end of the stream; the events of calls say if the answer was cut."""
        known = turn_reason(self._reason)
        over = self._calls.finish(0, known[0] if known is not None else None)
        return over + self._calls.no_repeats(self._n_started) if self._ended else over

    def _take(self, view: _Frame, frame: Frame) -> list[Delta]:
        if view.error or frame.event == "error":
            return [*self._unread(), provider_error(view.error or plain(frame.data))]
        if view.completion_message is not None:
            return self._body(view, view.completion_message)
        event = view.event
        if event is None:
            return [] if is_noise(frame) or view.type == "ping" else [Noted(0, "unknown_events")]
        deltas = self._begin(event) + self._said(event.delta) + counts(view.metrics)
        self._reason = event.stop_reason or self._reason
        self._ended = event.event_type == "complete" and not _tells_a_call(event.delta)
        if event.event_type == "complete":
            self._complete = True
            return deltas + self._unread() + self._finish(self._reason)
        return deltas if event.event_type in LLAMA_STACK_TYPES else [*deltas, Noted(0, "unknown_events")]

    def _begin(self, event: _Event) -> list[Delta]:
        if event.event_type == "start" and self._complete:  # a log of several answers
            self._complete, self._reason = False, None
            return [*self._done(), TurnOpened(None, restart=True)]
        if self._open:
            return []
        self._open = True
        return [TurnOpened(None)]

    def _said(self, delta: _Delta | str | None) -> list[Delta]:
        if isinstance(delta, str):
            return [TextFragment(0, delta)] if delta else []
        if delta is None:
            return []
        if _tells_a_call(delta):
            call = delta.content if delta.tool_call is None else delta.tool_call
            return self._told(delta.parse_status, call)
        if text := text_label(delta.text):
            return [TextFragment(0, text)]
        return [] if delta.type in (None, "text", "image") else [Noted(0, "unknown_events")]

    # Calls.

    def _told(self, status: str | None, told: _Call | str | None) -> list[Delta]:
        """Report what a server says of a call; what the model writes waits for that."""
        if status in _FAILED:
            return self._failed(told)
        if status in _SUCCEEDED and isinstance(told, _Call):
            begun = self._begun
            self._take_written()
            return self._whole(told, begun=begun)
        self._begun = True
        self._n_started += status == "started"
        text = _arguments(told) if isinstance(told, _Call) else told
        if text and self._size <= _KEPT:
            self._written.append(text)
            self._size += len(text)
        return []

    def _take_written(self) -> str:
        text = "".join(self._written)
        self._written, self._size, self._begun = [], 0, False
        return text

    def _whole(self, call: _Call, *, begun: bool = False) -> list[Delta]:
        id_, name = id_label(call.call_id), name_label(call.tool_name)
        self._calls.next_frame()
        whole = CallWhole(0, None, None, id_, name, _arguments(call), ITEM_DONE)
        started = "" if self._n_started else None  # who says when a call begins tells none again by chance
        return self._calls.tell(whole, started, _BEGUN if begun else _TOLD)

    def _failed(self, told: _Call | str | None) -> list[Delta]:
        written, slot, deltas = self._take_written(), self._calls.new_slot(), self._calls.finish(0, None)
        if isinstance(told, _Call):
            deltas.append(CallSeen(0, slot, None, id_label(told.call_id), name_label(told.tool_name)))
            told = _arguments(told)
        refused = CallRefused(
            0, slot, None, "unparseable", "the server could not read the call", told or written
        )
        return [*deltas, refused]

    def _unread(self) -> list[Delta]:
        """Report that a call was begun: it has what was written, and no name. So the one before it was not the last."""
        if not self._begun:
            return []
        return [*self._calls.finish(0, None), Slot(0, self._calls.new_slot(), None, self._take_written())]

    def _finish(self, reason: object) -> list[Delta]:
        known = turn_reason(reason)
        if known is None:
            return []
        return [
            *self._calls.finish(0, known[0]),
            Finish(0, *known, drops=known[0] == "error"),
        ]

    def _body(self, view: _Frame, message: _Message) -> list[Delta]:
        content = message.content
        said = content if isinstance(content, (str, list)) else [content]
        deltas = [*self._begin(_Event()), *speech(0, DeltaView(content=said))]
        for call in message.tool_calls or ():
            deltas += self._whole(call)
        return [*deltas, *counts(view.metrics), *self._finish(message.stop_reason), *self._done()]


def _tells_a_call(delta: _Delta | str | None) -> bool:
    return isinstance(delta, _Delta) and (delta.type == "tool_call" or delta.parse_status is not None)


def _arguments(call: _Call) -> str:
    return text_label(call.arguments_json) or wire_text(call.arguments)


def counts(metrics: object) -> list[Delta]:
    """Return the counts among the metrics of an answer."""
    entries = metrics if isinstance(metrics, list) else []
    named = ((name_label(member(entry, "metric")), member(entry, "value")) for entry in entries)
    usage = {name: value for name, value in named if name is not None and value is not None}
    return [UsageSeen(usage)] if usage else []
