"""llama-stack's own inference API (`POST /v1/inference/chat-completion`), before it spoke chat completions.

    data: {"event":{"event_type":"start","delta":{"type":"text","text":""},"logprobs":null,"stop_reason":null}}
    data: {"event":{"event_type":"progress","delta":{"type":"tool_call","parse_status":"started","tool_call":""}}}
    data: {…{"type":"tool_call","parse_status":"in_progress","tool_call":"[get_tide(port="}…}
    data: {…{"type":"tool_call","parse_status":"succeeded","tool_call":{call_id, tool_name, arguments: {…}}}…}
    data: {"event":{"event_type":"complete","delta":{"type":"text","text":""},"stop_reason":"end_of_turn"}}

Strings are the model's own writing: of one call or of several at once, in the form of its template (a Python list,
`name(` and `)` round JSON, tags). They are not arguments. The object on success is the call, sent once and whole;
`arguments_json`, where a server adds it, is the text that `arguments` was read from. `failed` means that the server
could not read the writing so far, or that no such tool was asked for. Writing that was never read is a call without a
name.

The first versions have text as the delta itself, and `{content, parse_status: success | failure}` for a call.
Some servers send calls in events `complete`, so only the end of the stream ends the turn. A whole body is
`{completion_message: {content, stop_reason, tool_calls}, logprobs}`.

Covers: llama-stack's own inference API, streamed and whole: the object that the server made of a call counts, never
    the text that the model wrote.
Calls: told apart by its own event; each ends with its own event, and what follows.
Source: llama-stack, `apis/inference`, and the types of llama-stack-client 0.0.50 to 0.2.
"""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.deltas import ITEM_DONE, CallRefused, CallWhole, Delta, Slot, TurnEnded
from wholecall.dialects import decode, labels, reasons, remembered, report, translator, whole_calls
from wholecall.dialects.openai.chat.chunks import content
from wholecall.framing.frame import Frame
from wholecall.limits import Limits

_TYPES = frozenset({"start", "progress", "complete"})
_SUCCEEDED = frozenset({"succeeded", "success"})
_FAILED = frozenset({"failed", "failure"})
_KEPT: Final = Limits().max_arguments_bytes or 0  # characters; a longer text is too large anyway


class _Call(msgspec.Struct, gc=False):
    call_id: Any = None
    tool_name: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT
    arguments_json: Any = None


class _Delta(msgspec.Struct, gc=False):
    type: str | None = None
    text: Any = None
    parse_status: str | None = None
    tool_call: Union[_Call, str, None] = None
    content: Union[_Call, str, None] = None

    def has_call(self) -> bool:
        return self.type == "tool_call" or self.parse_status is not None


class _Event(msgspec.Struct, gc=False):  # or a whole message
    event_type: str | None = None
    delta: Union[_Delta, str, None] = None
    content: Any = None
    tool_calls: Union[list[_Call], None] = None
    stop_reason: Any = None


class _Frame(translator.EventView, gc=False):
    event: Union[_Event, None] = None
    completion_message: Union[_Event, None] = None
    metrics: Any = None


class LlamaStackTranslator(translator.TurnTranslator):
    """Frames of one stream to deltas.

    Args:
        opened: the turn is open already, as another translator came first.
    """

    decoder = msgspec.json.Decoder(_Frame)
    ERRORS = frozenset({"error"})
    DONE_ENDS = True

    _complete: bool
    _ended: bool
    _reason: object
    _written: list[str]
    _size: int
    _n_started: int
    _calls: whole_calls.WholeCalls

    def __init__(self, *, opened: bool = False) -> None:
        super().__init__()
        self._open = opened

    def _clear(self) -> None:
        self._complete = False
        self._ended = False  # the last event means that the answer is complete, and no more
        self._reason = None
        self._written = []  # by the model, of a call that has no end yet, perhaps nothing
        self._size = 0
        self._n_started = 0  # calls that the model wrote
        self._calls = whole_calls.WholeCalls()

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether it is a piece of a call that is being written, which waits for its end."""
        return bool(self._written) and '"parse_status"' in frame.data

    def close(self) -> list[Delta]:
        """Report text that was written and never read, and end whole calls and a complete answer."""
        return self._end() if self._complete else self._unread() + self._over()

    def _end(self) -> list[Delta]:
        """End the answer; it may continue after a relay's `[DONE]`."""
        ended = [*self._unread(), *self._over(), TurnEnded()]
        self._calls, self._n_started = whole_calls.WholeCalls(), 0
        return ended

    def _over(self) -> list[Delta]:
        """Report that calls are over at the end of the stream; the events of calls show whether the answer was cut."""
        known = reasons.turn_reason(self._reason)
        over = self._calls.finish(0, known and known[0])
        return over + self._calls.no_repeats(self._n_started) if self._ended else over

    def _fail(self, error: Any) -> list[Delta]:
        return self._unread() + super()._fail(error)

    def _other(self, view: _Frame, frame: Frame, kind: str) -> list[Delta]:
        event, body = view.event, view.completion_message
        if event is None:
            return super()._other(view, frame, kind) if body is None else self._body(view, body)
        another = event.event_type == "start" and self._complete  # in a log of several answers
        deltas = self._end() + self._begin() if another else self._opened()
        delta = event.delta if isinstance(event.delta, _Delta) else _Delta(text=event.delta)
        deltas += self._said(delta) + counts(view.metrics)
        self._reason = event.stop_reason or self._reason
        self._ended = event.event_type == "complete" and not delta.has_call()
        if event.event_type == "complete":
            self._complete = True
            return deltas + self._unread() + self._finish(self._reason)
        return deltas if event.event_type in _TYPES else deltas + report.unknown()

    def _body(self, view: _Frame, message: _Event) -> list[Delta]:
        deltas = self._opened() + self._unread() + content(message.content)
        for call in message.tool_calls or ():
            deltas += self._whole(call)
        return deltas + counts(view.metrics) + self._finish(message.stop_reason) + self._end()

    def _finish(self, reason: object) -> list[Delta]:
        known = reasons.turn_reason(reason)
        return self._calls.finish(0, known[0]) + report.finish(reason, drops_at="error") if known else []

    def _said(self, delta: _Delta) -> list[Delta]:
        if delta.has_call():
            return self._call(
                delta.parse_status, delta.content if delta.tool_call is None else delta.tool_call
            )
        if delta.type in (None, "text", "image"):
            return report.text(delta.text)
        return report.text(delta.text) or report.unknown()

    # Calls.

    def _call(self, status: str | None, content: _Call | str | None) -> list[Delta]:
        """Report a server's event of a call; the model's writing waits for that."""
        if status in _FAILED:
            return self._refused(content)
        if status in _SUCCEEDED and isinstance(content, _Call):
            return self._whole(content)
        self._n_started += status == "started"
        text = _text(content)
        if not self._written or (text and self._size <= _KEPT):
            remembered.keep_piece(self._written, text)
            self._size += len(text)
        return []

    def _take_written(self) -> str:
        text, self._written, self._size = "".join(self._written), [], 0
        return text

    def _whole(self, call: _Call) -> list[Delta]:
        # A call waits for the reason, which shows whether the last call was cut.
        manner = whole_calls.Manner(waits=True, new=bool(self._written))
        self._take_written()
        self._calls.next_frame()
        whole = CallWhole(
            0,
            None,
            None,
            labels.id_label(call.call_id),
            labels.name_label(call.tool_name),
            _text(call),
            ITEM_DONE,
        )
        started = "" if self._n_started else None  # servers that report starts repeat no call by accident
        return self._calls.add(whole, started, manner)

    def _refused(self, content: _Call | str | None) -> list[Delta]:
        text, slot, deltas = self._take_written(), self._calls.new_slot(), self._calls.finish(0, None)
        if isinstance(content, _Call):
            deltas += report.seen(
                slot, labels.id_label(content.call_id), labels.name_label(content.tool_name)
            )
        reason = "the server could not read the call"
        return [*deltas, CallRefused(0, slot, None, "unparseable", reason, _text(content) or text)]

    def _unread(self) -> list[Delta]:
        """Report a call that was only begun: it has the text and no name, and ends the calls before it."""
        if not self._written:
            return []
        return [*self._calls.finish(0, None), Slot(0, self._calls.new_slot(), None, self._take_written())]


def _text(content: _Call | str | None) -> str:
    if isinstance(content, _Call):
        return labels.text_label(content.arguments_json) or decode.wire_text(content.arguments)
    return content or ""


def counts(metrics: object) -> list[Delta]:
    """Return the counts among the metrics of an answer."""
    if not isinstance(metrics, list):
        return []
    named = (
        (labels.name_label(decode.member(entry, "metric")), decode.member(entry, "value"))
        for entry in metrics
    )
    return report.usage({name: value for name, value in named if name is not None and value is not None})
