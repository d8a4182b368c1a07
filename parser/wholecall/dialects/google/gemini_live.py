"""Gemini Live (`BidiGenerateContent`, a WebSocket): one JSON object a message, a session of many turns.

    {"setupComplete": {…}}
    {"serverContent": {"modelTurn": {"parts": [PART, …]}, "outputTranscription": {"text"}}}
    {"toolCall": {"functionCalls": [{"id", "name", "args": OBJECT}, …]}}
    {"toolCallCancellation": {"ids": […]}}
    {"serverContent": {"interrupted": true}}
    {"serverContent": {"generationComplete": true}}
    {"serverContent": {"turnComplete": true, "turnCompleteReason"?}, "usageMetadata": {…}}
    {"goAway": {…}}, {"sessionResumptionUpdate": {…}}

A call is whole in its message and ended by it, also one without arguments: the model waits for its result
before the turn goes on. Parts are those of `gemini`; a call that comes as a part and again as a `toolCall` is
one, by its id (quirk 97). What the model says aloud is its transcription; what the user said is not told.
A turn begins with the first message that says something, and ends with `turnComplete`; nothing has an id
but the calls. A user who interrupts ends the turn, and the calls that wait for a result are taken back by
their ids, perhaps turns later.

A message may be pretty-printed. There are no other bodies than these messages. Source: Live API reference,
"Messages from the server".
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall.deltas import (
    DONE,
    CallCancelled,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    TextFragment,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import is_noise, plain, provider_error
from wholecall.dialects.detect import GEMINI_LIVE_MESSAGES
from wholecall.dialects.google import gemini_views as views
from wholecall.dialects.google.gemini import GeminiTranslator
from wholecall.dialects.google.gemini_views import either
from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.framing.frame import Frame
from wholecall.types import Kind, TurnReason

__all__ = ["GeminiLiveTranslator"]

_QUIET = GEMINI_LIVE_MESSAGES | {
    *("voiceActivity", "voice_activity"),
    *("voiceActivityDetectionSignal", "voice_activity_detection_signal"),
}
_REASONS: dict[str, TurnReason] = {"NEED_MORE_INPUT": "stop", "RESPONSE_REJECTED": "content_filter"}
_NO_REASON = "TURN_COMPLETE_REASON_UNSPECIFIED"


class _ModelTurn(msgspec.Struct, gc=False):
    parts: list[views.Part] | None = None


class _Transcription(msgspec.Struct, gc=False):
    text: Any = None


class _Content(msgspec.Struct, gc=False):
    turn: _ModelTurn | None = msgspec.field(default=None, name="modelTurn")
    snake_turn: _ModelTurn | None = msgspec.field(default=None, name="model_turn")
    spoken: _Transcription | None = msgspec.field(default=None, name="outputTranscription")
    snake_spoken: _Transcription | None = msgspec.field(default=None, name="output_transcription")
    interrupted: Any = None
    complete: Any = msgspec.field(default=None, name="turnComplete")
    snake_complete: Any = msgspec.field(default=None, name="turn_complete")
    reason: Any = msgspec.field(default=None, name="turnCompleteReason")
    snake_reason: Any = msgspec.field(default=None, name="turn_complete_reason")


class _Calls(msgspec.Struct, gc=False):
    calls: list[views.Call] | None = msgspec.field(default=None, name="functionCalls")
    snake_calls: list[views.Call] | None = msgspec.field(default=None, name="function_calls")


class _Cancellation(msgspec.Struct, gc=False):
    ids: Any = None


class _Message(msgspec.Struct, gc=False):
    content: _Content | None = msgspec.field(default=None, name="serverContent")
    snake_content: _Content | None = msgspec.field(default=None, name="server_content")
    calls: _Calls | None = msgspec.field(default=None, name="toolCall")
    snake_calls: _Calls | None = msgspec.field(default=None, name="tool_call")
    off: _Cancellation | None = msgspec.field(default=None, name="toolCallCancellation")
    snake_off: _Cancellation | None = msgspec.field(default=None, name="tool_call_cancellation")
    usage: Any = msgspec.field(default=None, name="usageMetadata")
    snake_usage: Any = msgspec.field(default=None, name="usage_metadata")
    error: Any = None


_NOTHING = _Content()


class GeminiLiveTranslator(GeminiTranslator):
    """Messages of one session to deltas."""

    decoder: ClassVar[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(_Message)

    _slots: dict[str, int]

    def __init__(self) -> None:
        super().__init__()
        self._slots = {}  # of the turn's calls, by their ids

    def _take(self, view: Any, frame: Frame) -> list[Delta]:
        if view.error:
            return [*self._streamed.show(), provider_error(view.error)]
        content: _Content | None = either(view.content, view.snake_content)
        calls: _Calls | None = either(view.calls, view.snake_calls)
        off: _Cancellation | None = either(view.off, view.snake_off)
        usage = either(view.usage, view.snake_usage)
        if content is None and calls is None and off is None and usage is None:
            return self._other(frame)
        content = content or _NOTHING
        said = self._said(content)
        for call in (either(calls.calls, calls.snake_calls) if calls is not None else None) or ():
            said += self._function_call(0, call, {})
        finish = self._finished(content)
        deltas = self._opened() + said if said or finish else []
        deltas += _taken_back(off)
        if isinstance(usage, dict):
            deltas.append(UsageSeen(usage))
        return deltas + finish + (self._end() if _is_over(content) else [])

    def _other(self, frame: Frame) -> list[Delta]:
        """Return the deltas of a message that has nothing of a turn."""
        payload = plain(frame.data)
        known = isinstance(payload, dict) and not _QUIET.isdisjoint(payload)
        return [] if known or is_noise(frame) or not self._open else [Noted(0, "unknown_events")]

    def _opened(self) -> list[Delta]:
        if self._open:
            return []
        self._open = True
        return [TurnOpened(None, restart=True)]

    def _said(self, content: _Content) -> list[Delta]:
        turn: _ModelTurn | None = either(content.turn, content.snake_turn)
        spoken: _Transcription | None = either(content.spoken, content.snake_spoken)
        deltas: list[Delta] = []
        for part in (turn.parts if turn is not None else None) or ():
            deltas += self._part(0, part)
        if spoken is not None and (text := text_label(spoken.text)):
            deltas.append(TextFragment(0, text))
        return deltas

    def _finished(self, content: _Content) -> list[Delta]:
        deltas: list[Delta] = []
        if content.interrupted is True:
            deltas += self._streamed.close(0, "aborted")
            deltas.append(Finish(0, "aborted", "interrupted", drops=True))
        if not _is_over(content):
            return deltas
        reason, word = _reason(either(content.reason, content.snake_reason))
        deltas += self._streamed.close(0, "truncated")
        if reason == "malformed":
            deltas.append(self._unread(0, ""))
        return [*deltas, Finish(0, reason, word)]

    def _end(self) -> list[Delta]:
        self._slots.clear()
        return super()._end() if self._open else []

    def _whole(
        self,
        number: int,
        id_: object,
        name: str | None,
        text: str,
        extra: dict[str, Any],
        kind: Kind = "function",
    ) -> list[Delta]:
        label = id_label(id_)
        slot = self._slots.get(label) if label is not None else None
        if slot is None:
            slot = self._whole_calls.new_slot()
        if label is not None:
            self._slots[label] = slot
        deltas: list[Delta] = [CallSeen(number, slot, None, label, name, kind, extra=extra or None)]
        if text:
            deltas.append(CallWhole(number, slot, None, label, name, text, DONE, kind))
        return [*deltas, CallClosed(number, slot, None)]


def _is_over(content: _Content) -> bool:
    return either(content.complete, content.snake_complete) is True


def _taken_back(off: _Cancellation | None) -> list[Delta]:
    ids = off.ids if off is not None and isinstance(off.ids, list) else []
    labels = [id_label(id_) for id_ in ids]
    return [CallCancelled(label) for label in labels if label is not None]


def _reason(raw: object) -> tuple[TurnReason, str]:
    known = turn_reason(raw)
    if known is None or known[1] == _NO_REASON:
        return "stop", "turnComplete"
    return _REASONS.get(known[1], known[0]), known[1]
