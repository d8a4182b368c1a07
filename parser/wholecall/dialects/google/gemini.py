"""Gemini (`:generateContent`, `:streamGenerateContent`, Vertex too): every frame is one whole response.

    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[PART, …]}}],"responseId":"r1", …}
    data: {"candidates":[{"content":{},"finishReason":"STOP"}],"usageMetadata":{…}, …}

    PART is one of  text, with `thought` when it is reasoning
                    functionCall{id?, name, args?}           the client executes it
                    executableCode, toolCall{toolType, args} the provider executes it
         and has    thoughtSignature, to be sent back on this very part

Streamed arguments are `partialArgs`, values at paths, in pieces without a name: a piece that will not continue,
a named call or the reason STOP ends the call, and anything else leaves it cut (quirk 67).

Streams come as SSE without an end mark, as one JSON array or as JSON lines; a whole body is a frame like any
other. Some servers wrap each frame in `response`. A part holds its whole call, so parts are told apart by
their order (quirk 66). A call without arguments waits for what comes next: a cut turn may have lost them. One
that the provider could not read is a finish reason with a text (quirk 68). Source: Gemini API reference.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall.deltas import (
    DONE,
    CallRefused,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    by_transport,
)
from wholecall.dialects.decode import (
    UNREADABLE,
    dumped,
    is_done,
    is_noise,
    provider_error,
    read,
    wire_text,
)
from wholecall.dialects.google import gemini_views as views
from wholecall.dialects.google.gemini_streamed import StreamedCalls
from wholecall.dialects.google.gemini_views import either
from wholecall.dialects.labels import choice_label, id_label, name_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import Translator
from wholecall.dialects.whole_calls import Told, WholeCalls
from wholecall.framing.frame import Frame
from wholecall.types import Kind

__all__ = ["GeminiTranslator"]

_MALFORMED = "MALFORMED_FUNCTION_CALL"
_PARTS = Told(grows=True)
_ANSWER = "text"  # the block of signatures that stand on visible text: they are no thought's


class GeminiTranslator(Translator):
    """Frames of one stream to deltas; it numbers the calls, for the wire does not."""

    decoder: ClassVar[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(views.Frame)

    _key: str | None
    _open: bool
    _malformed: set[int]
    _streamed: StreamedCalls
    _whole_calls: WholeCalls
    _replaced: bool

    def __init__(self) -> None:
        self._key = None
        self._open = False
        self._malformed = set()  # candidates whose malformed call was told
        self._streamed = StreamedCalls()
        self._whole_calls = WholeCalls()
        self._replaced = False  # the frame at hand held bytes that are not UTF-8

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        self._replaced = frame.replaced
        try:
            view = self.decoder.decode(frame.data)
        except UNREADABLE as error:
            return self._slowly(frame, misshapen=isinstance(error, msgspec.ValidationError))
        return self._take(view, frame)

    def lose(self) -> None:
        """A frame was lost: calls without arguments may have got some in it."""
        self._whole_calls.lose()

    def close(self) -> list[Delta]:
        """Report how calls ended that the stream left open.

        A part is whole; what was built of pieces looks whole, and is not.
        """
        return [*self._whole_calls.no_repeats(), *self._whole_calls.end(), *self._streamed.give_up()]

    def _slowly(self, frame: Frame, *, misshapen: bool) -> list[Delta]:
        if is_done(frame.data):  # proxies add it
            return by_transport(self._end())
        found, _, deltas = read(self.decoder, frame)
        if deltas:
            self.lose()
        if found and misshapen:
            self._streamed.lose()
        for view in found:
            deltas += self._take(view, frame)
        return deltas

    def _end(self) -> list[Delta]:
        key, self._key, self._open = self._key, None, False
        return [*self._cut(), TurnEnded(key)]

    def _take(self, view: Any, frame: Frame) -> list[Delta]:
        response: views.Response = view
        if view.response is not None and view.candidates is None:
            response = view.response
        if error := view.error or response.error:
            return [*self._streamed.show(), provider_error(error)]
        feedback = either(response.feedback, response.snake_feedback)
        usage = either(response.usage, response.snake_usage)
        key = id_label(either(response.id, response.snake_id))
        if response.candidates is feedback is usage is key is None:
            return [] if is_noise(frame) or not self._open else [Noted(0, "unknown_events")]
        if key is None and self._key is not None and response.candidates:
            self._streamed.lose()  # they may be of another answer, perhaps with the reason of its end
        deltas = self._begin(key, either(response.model, response.snake_model))
        self._streamed.next_frame()
        for candidate in sorted(response.candidates or (), key=_number):
            deltas += self._candidate(candidate)
        deltas += _blocked(feedback)
        return [*deltas, UsageSeen(usage)] if isinstance(usage, dict) else deltas

    def _begin(self, key: str | None, model: object) -> list[Delta]:
        again = self._open
        if again and (key is None or self._key in (None, key)):
            return []
        cut = self._cut() if again else []
        self._open, self._key = True, key
        return [*cut, TurnOpened(key, key, name_label(model), restart=again)]

    def _cut(self) -> list[Delta]:
        """Report how an answer ended that another one follows on the connection."""
        deltas = self.close()
        self._malformed.clear()
        self._streamed, self._whole_calls = StreamedCalls(), WholeCalls()
        return deltas

    def _candidate(self, candidate: views.Candidate) -> list[Delta]:
        number = _number(candidate)
        parts = (candidate.content.parts if candidate.content is not None else None) or []
        self._whole_calls.next_frame()
        deltas: list[Delta] = []
        for part in parts:
            deltas += self._part(number, part)
        return deltas + self._whole_calls.end_frame(number) + self._finish(number, candidate)

    def _finish(self, number: int, candidate: views.Candidate) -> list[Delta]:
        known = turn_reason(either(candidate.reason, candidate.snake_reason))
        if known is None:
            self._streamed.no_stop(number)
            return []
        deltas = self._whole_calls.finish(number, known[0])
        if known[0] == "stop":
            self._streamed.stop(number)
        else:
            deltas += self._streamed.close(number, "truncated")
        if known[1] == _MALFORMED and number not in self._malformed:
            self._malformed.add(number)
            text = text_label(either(candidate.message, candidate.snake_message)) or ""
            deltas.append(self._unread(number, text))
        return [*deltas, Finish(number, *known)]

    def _unread(self, number: int, text: str) -> CallRefused:
        detail = "the provider could not read the call that the model wrote"
        return CallRefused(number, self._whole_calls.new_slot(), None, "unparseable", detail, text)

    # Parts

    def _part(self, number: int, part: views.Part) -> list[Delta]:
        call: views.Call | None = either(part.call, part.snake_call)
        if call is not None:
            return self._function_call(number, call, _extra(part))
        code: views.Code | None = either(part.code, part.snake_code)
        if code is not None:
            return self._code(number, code, _extra(part))
        tool: views.Tool | None = either(part.tool, part.snake_tool)
        if tool is not None:
            name = name_label(either(tool.type, tool.snake_type))
            return self._whole(number, tool.id, name, wire_text(tool.args), _extra(part), "server")
        return _text(number, part)

    def _function_call(self, number: int, call: views.Call, extra: dict[str, Any]) -> list[Delta]:
        streamed = self._streamed
        if streamed.goes_on(number, call):
            return streamed.go_on(number, call, extra, replaced=self._replaced)
        name, text = name_label(call.name), wire_text(call.args)
        if name is None and not (text or call.in_pieces):
            return []  # the end of a call that is over, or a heartbeat
        if call.in_pieces or call.more:
            slot = self._whole_calls.new_slot()
            return streamed.begin(number, slot, call, extra, replaced=self._replaced)
        return self._whole(number, call.id, name, text, extra)

    def _code(self, number: int, code: views.Code, extra: dict[str, Any]) -> list[Delta]:
        if code.language is not None:
            extra["language"] = code.language
        text = dumped({"input": code.code}) if code.code is not None else ""
        return self._whole(number, code.id, "code_execution", text, extra, "server")

    def _whole(
        self,
        number: int,
        id_: object,
        name: str | None,
        text: str,
        extra: dict[str, Any],
        kind: Kind = "function",
    ) -> list[Delta]:
        told = CallWhole(number, None, None, id_label(id_), name, text, DONE, kind, extra=extra or None)
        return self._whole_calls.tell(told, of=_PARTS)


def _number(candidate: views.Candidate) -> int:
    return choice_label(candidate.index)


def _text(number: int, part: views.Part) -> list[Delta]:
    text = text_label(part.text) or ""
    signature = text_label(either(part.signature, part.snake_signature))
    if part.thought is True:
        return [ReasoningFragment(number, text, signature=signature)] if text or signature else []
    deltas: list[Delta] = [TextFragment(number, text)] if text else []
    if signature is not None:
        deltas.append(ReasoningFragment(number, "", _ANSWER, signature=signature))
    known = part.text is not None or part.thought is not None or part.quiet
    return deltas if deltas or known else [Noted(number, "unknown_events")]


def _extra(part: views.Part) -> dict[str, Any]:
    """Return what must be sent back with the call, under the names of REST."""
    kept = {
        "thoughtSignature": either(part.signature, part.snake_signature),
        "partMetadata": either(part.metadata, part.snake_metadata),
    }
    return {key: value for key, value in kept.items() if value is not None}


def _blocked(feedback: views.Feedback | None) -> list[Delta]:
    """A blocked prompt has no candidates: its reason is the turn's."""
    reason = text_label(either(feedback.reason, feedback.snake_reason)) if feedback is not None else None
    return [Finish(0, "content_filter", reason)] if reason is not None else []
