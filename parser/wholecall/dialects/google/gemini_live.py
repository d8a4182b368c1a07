"""Gemini Live (`BidiGenerateContent`, a WebSocket): one JSON object a message, a session of many turns.

    {"setupComplete": {…}}
    {"serverContent": {"modelTurn": {"parts": [PART, …]}, "outputTranscription": {"text"}}}
    {"toolCall": {"functionCalls": [{"id", "name", "args": OBJECT}, …]}}
    {"toolCallCancellation": {"ids": […]}}
    {"serverContent": {"interrupted": true}}
    {"serverContent": {"generationComplete": true}}
    {"serverContent": {"turnComplete": true, "turnCompleteReason"?}, "usageMetadata": {…}}
    {"goAway": {…}}, {"sessionResumptionUpdate": {…}}

A call is whole in its message and ended by it, also one without arguments: the model waits for its result before the
turn continues. Parts are those of `gemini`; a call that comes as a part and again as a `toolCall` is one call, by its
id (quirk 97). The model's speech is its transcription; the user's speech is not reported. A turn begins with the first
message that has content, and ends with `turnComplete`; only calls have ids. A user who interrupts ends the turn, and
the calls that wait for a result are taken back by their ids, perhaps turns later.

A message may be pretty-printed. There are no bodies other than these messages. Source: Live API reference, "Messages
from the server".

Covers: Gemini Live sessions, a message a line: many turns, speech as text, calls that are taken back
    (`ToolCallCancelled`).
Calls: told apart by order; each ends with its own message.
"""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.deltas import CallCancelled, CallSeen, CallWhole, Delta, Finish, TurnOpened
from wholecall.dialects import decode, pieces, reasons, report
from wholecall.dialects.google.gemini import views
from wholecall.dialects.google.gemini.translator import GeminiTranslator
from wholecall.dialects.google.gemini.views import either, no_parts
from wholecall.dialects.labels import id_label
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

_QUIET = {
    *("setupComplete", "setup_complete", "serverContent", "server_content"),
    *("toolCall", "toolCallCancellation", "tool_call_cancellation", "goAway", "go_away"),
    *("sessionResumptionUpdate", "session_resumption_update"),
    *("voiceActivity", "voice_activity"),
    *("voiceActivityDetectionSignal", "voice_activity_detection_signal"),
}
_REASONS: dict[str, TurnReason] = {"NEED_MORE_INPUT": "stop", "RESPONSE_REJECTED": "content_filter"}
_NO_REASON = "TURN_COMPLETE_REASON_UNSPECIFIED"


class _Inner(msgspec.Struct, gc=False):
    """The model's output: parts, the transcription of its speech, calls, or ids of calls that are taken back."""

    parts: list[views.Part] | None = None
    text: Any = None
    calls: list[views.Call] | None = msgspec.field(default=None, name="functionCalls")
    snake_calls: list[views.Call] | None = msgspec.field(default=None, name="function_calls")
    ids: Any = None


class _Content(msgspec.Struct, gc=False):
    turn: _Inner | None = msgspec.field(default=None, name="modelTurn")
    snake_turn: _Inner | None = msgspec.field(default=None, name="model_turn")
    spoken: _Inner | None = msgspec.field(default=None, name="outputTranscription")
    snake_spoken: _Inner | None = msgspec.field(default=None, name="output_transcription")
    interrupted: Any = None
    complete: Any = msgspec.field(default=None, name="turnComplete")
    snake_complete: Any = msgspec.field(default=None, name="turn_complete")
    reason: Any = msgspec.field(default=None, name="turnCompleteReason")
    snake_reason: Any = msgspec.field(default=None, name="turn_complete_reason")


class _Message(msgspec.Struct, gc=False):
    content: _Content | None = msgspec.field(default=None, name="serverContent")
    snake_content: _Content | None = msgspec.field(default=None, name="server_content")
    calls: _Inner | None = msgspec.field(default=None, name="toolCall")
    snake_calls: _Inner | None = msgspec.field(default=None, name="tool_call")
    off: _Inner | None = msgspec.field(default=None, name="toolCallCancellation")
    snake_off: _Inner | None = msgspec.field(default=None, name="tool_call_cancellation")
    usage: Any = msgspec.field(default=None, name="usageMetadata")
    snake_usage: Any = msgspec.field(default=None, name="usage_metadata")
    error: Any = None


_NOTHING = _Inner()


class GeminiLiveTranslator(GeminiTranslator):
    """Messages of one session to deltas."""

    decoder = msgspec.json.Decoder(_Message)
    HOLDERS = ('"toolCall"', '"tool_call"', '"serverContent"', '"server_content"')
    CALLS = (
        "toolCall,tool_call.functionCalls,function_calls",
        "serverContent,server_content.modelTurn,model_turn.parts.functionCall,function_call",
    )

    _slots: dict[str, int]
    _listed: set[str]

    def _clear(self) -> None:
        super()._clear()
        self._slots = {}  # of the turn's calls, by their ids
        self._listed = set()  # the ids of the list that is read

    def _reader(self, _event: str) -> pieces.Read:
        return pieces.no_piece

    def _take(self, view: Any, frame: Frame) -> list[Delta]:
        if view.error:
            return self._streamed.show() + report.error(view.error)
        content: _Content | None = either(view.content, view.snake_content)
        calls: _Inner | None = either(view.calls, view.snake_calls)
        off: _Inner | None = either(view.off, view.snake_off)
        usage = either(view.usage, view.snake_usage)
        if content is usage is calls is off is None:
            return self._other(view, frame, frame.event)
        content, calls, off = content or _Content(), calls or _NOTHING, off or _NOTHING
        said = self._said(content)
        self._listed.clear()
        for call in either(calls.calls, calls.snake_calls) or ():
            said += self._function_call(0, call, {})
        over = either(content.complete, content.snake_complete) is True
        finish = self._finished(content, over=over)
        opened = self._begun() if said or finish else []
        labels = [id_label(id_) for id_ in off.ids] if isinstance(off.ids, list) else []
        cancelled = [CallCancelled(label) for label in labels if label is not None]
        return [*opened, *said, *cancelled, *report.usage(usage), *finish, *(self._end() if over else ())]

    def _other(self, view: Any, frame: Frame, kind: str) -> list[Delta]:
        payload = decode.plain(frame.data)
        known = isinstance(payload, dict) and not _QUIET.isdisjoint(payload)
        return [] if known or not self._open else super()._other(view, frame, kind)

    def _begun(self) -> list[Delta]:
        """Begin a turn, if none is open, with the output so far."""
        begun, self._open = self._open, True
        return [] if begun else [TurnOpened(None, restart=True)]

    def _said(self, content: _Content) -> list[Delta]:
        turn: _Inner = either(content.turn, content.snake_turn) or _NOTHING
        spoken: _Inner = either(content.spoken, content.snake_spoken) or _NOTHING
        parts = [delta for part in turn.parts or () for delta in self._part(0, part, no_parts, 0)]
        return parts + report.text(spoken.text)

    def _finished(self, content: _Content, *, over: bool) -> list[Delta]:
        deltas: list[Delta] = []
        if content.interrupted is True:
            deltas += self._streamed.close(0, "aborted")
            deltas.append(Finish(0, "aborted", "interrupted", drops=True))
        if not over:
            return deltas
        reason, word = _reason(either(content.reason, content.snake_reason))
        unread = [self._unread(0)] if reason == "malformed" else []
        return [*deltas, *self._streamed.close(0, "truncated"), *unread, Finish(0, reason, word)]

    def _end(self) -> list[Delta]:
        return super()._end() if self._open else []

    def _whole(self, call: CallWhole) -> list[Delta]:
        known = None if call.id in self._listed else self._slots.get(call.id or "")  # one list, several calls
        slot = known or self._whole_calls.new_slot()
        if call.id is not None:
            self._slots[call.id] = slot
            self._listed.add(call.id)
        seen = CallSeen(0, slot, None, call.id, call.name, call.kind, extra=call.extra)
        whole = [msgspec.structs.replace(call, index=slot, extra=None)] if call.text else []
        return [seen, *whole, *report.closed(slot)]


def _reason(raw: object) -> tuple[TurnReason, str]:
    known = reasons.turn_reason(raw)
    if known is None or known[1] == _NO_REASON:
        return "stop", "turnComplete"
    return _REASONS.get(known[1], known[0]), known[1]
