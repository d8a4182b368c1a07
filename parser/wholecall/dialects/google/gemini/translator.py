"""Gemini (`:generateContent`, `:streamGenerateContent`, Vertex too): every frame is one whole response.

    data: {"candidates":[{"index":0,"content":{"role":"model","parts":[PART, …]}}],"responseId":"r1", …}
    data: {"candidates":[{"content":{},"finishReason":"STOP"}],"usageMetadata":{…}, …}

    PART is one of  text, with `thought` when it is reasoning
                    functionCall{id?, name, args?}           the client executes it
                    executableCode, toolCall{toolType, args} the provider executes it
                    results of that, media, and others       kept, to be sent back as they came
         and has    thoughtSignature, to be sent back on this very part

Streamed arguments are `partialArgs`, values at paths, in pieces without a name: a piece that will not continue,
a named call or the reason STOP ends the call, and anything else leaves it cut (quirk 67).

Streams come as SSE without an end mark, as one JSON array or as JSON lines; a whole body is a frame like any other.
Some servers wrap each frame in `response`. A part holds its whole call, so parts are distinguished by their order
(quirk 66). A call without arguments waits for the next frame: a cut turn may have lost them. One that the provider
could not read is a finish reason with a text (quirk 68). Source: Gemini API reference.

Covers: Gemini `generateContent` and `streamGenerateContent`, also on Vertex: whole calls, streamed arguments
    (`partialArgs`), the provider's own tools, several candidates, both spellings, the wrapped form.
Calls: told apart by order; each ends with its own part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels, pieces, reasons, report, whole_calls
from wholecall.dialects.google.gemini import views
from wholecall.dialects.google.gemini.streamed import StreamedCalls
from wholecall.dialects.google.gemini.views import WireParts, either
from wholecall.framing.frame import Frame, Like
from wholecall.types import Kind

_MALFORMED = "MALFORMED_FUNCTION_CALL"
_PARTS = whole_calls.Manner(grows=True)
_ANSWER = "text"  # the block of signatures on visible text: they are not a thought's
_speaks, _calls = views.SPOKEN.decode, views.CALLED.decode


class GeminiTranslator(pieces.PieceTranslator):
    """Frames of one stream to deltas; it numbers the calls, as the wire does not."""

    decoder = msgspec.json.Decoder(views.Frame)
    HOLDERS: ClassVar[tuple[str, ...]] = ('"candidates"',)  # of calls in a frame
    CALLS: ClassVar[tuple[str, ...]] = tuple(
        f"{response}candidates.content.parts.functionCall,function_call" for response in ("", "response.")
    )

    _malformed: set[int]
    _streamed: StreamedCalls
    _whole_calls: whole_calls.WholeCalls
    _replaced: bool = False  # the current frame holds bytes that are not UTF-8
    _hides: bool = False  # the current frame holds a call, or a piece of one, that is not read

    DERIVED = frozenset({"_counts"})  # which are reported at the end of each read

    def __init__(self) -> None:
        super().__init__()
        self._counts: list[dict[str, Any]] = []

    def _clear(self) -> None:
        self._malformed = set()  # candidates whose malformed call was reported
        self._streamed = StreamedCalls()
        self._whole_calls = whole_calls.WholeCalls()

    def _reader(self, _event: str) -> pieces.Read:
        return self._spoken

    def _spoken(self, data: str) -> tuple[pieces.Key, str]:
        """Read a frame of the answer that is open, if it holds a piece of text, and perhaps counts."""
        frame = _speaks(data)
        if not self._goes_on(frame):
            return pieces.NO_PIECE
        [candidate] = frame.candidates
        [part] = candidate.content.parts
        if part.text and frame.usageMetadata:
            self._count(frame.usageMetadata)
        return (candidate.index, part.thought), part.text

    def in_common(self, key: pieces.Key) -> deltas.Piecewise:
        """Return the common fields of a text's pieces; nothing else of the answer changes at later pieces."""
        number, thought = labels.choice_label(key[0]), key[1]
        self._streamed.no_stop(number)
        return deltas.ReasoningFragment(number, "") if thought else deltas.TextFragment(number, "")

    def _goes_on(self, frame: views.Usual[Any]) -> bool:
        """Return whether a frame is one more of the answer that is open."""
        return frame.responseId == self._key and self._open

    def _called(self, data: str) -> list[deltas.Delta] | None:
        try:
            frame = _calls(data)
        except decode.UNREADABLE:
            return None
        [candidate] = frame.candidates
        number, parts = labels.choice_label(candidate.index), candidate.content.parts
        names = [labels.name_label(part.functionCall.name) for part in parts]
        if not self._goes_on(frame) or None in names:
            return None
        self._streamed.no_stop(number)
        self._whole_calls.next_frame()
        told: list[deltas.Delta] = []
        for name, part in zip(names, parts, strict=True):
            call, seal = part.functionCall, part.thoughtSignature
            extra = {} if seal is None else {"thoughtSignature": seal}
            told += self._whole(_call_of(number, call.id, name, decode.wire_text(call.args), extra))
        return told + self._whole_calls.end_frame(number) + report.usage(frame.usageMetadata)

    def _count(self, usage: dict[str, Any]) -> None:
        """Keep the counts of a piece's frame until the run ends: later ones of the same names replace them."""
        counts = self._counts
        if counts and counts[-1].keys() == usage.keys():
            counts[-1].update(usage)
        else:
            counts.append(usage)

    def _counted(self) -> list[deltas.Delta]:
        """Report the counts of the pieces so far."""
        counts, self._counts = self._counts, []
        return [deltas.UsageSeen(usage) for usage in counts]

    def translate_texts(self, texts: list[str], like: Like) -> list[deltas.Delta]:
        """Return the deltas of frames in a row; pieces of one text that nothing interrupts are one `Run`."""
        return super().translate_texts(texts, like) + self._counted()

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame."""
        self._runs.stop()
        return self._counted() + self._any(frame)

    def _any(self, frame: Frame) -> list[deltas.Delta]:
        self._replaced = frame.replaced
        self._hides = self._may_hide(frame.data) and views.hides_piece(frame.data, self.CALLS)
        if self._hides:
            self._streamed.lose()
        try:
            view = self.decoder.decode(frame.data)
        except decode.UNREADABLE as error:
            if (
                isinstance(error, msgspec.ValidationError)
                and decode.decode(self.decoder, frame.data) is not None
            ):
                self._streamed.lose()  # a member of a wrong type counts as absent
            return self._slowly(frame)
        return self._take(view, frame)

    def _may_hide(self, text: str) -> bool:
        return self._streamed.are_open or views.may_hold_piece(text)

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether the frame is a piece of a call in pieces, which may report nothing."""
        return self._streamed.are_open and any(member in frame.data for member in self.HOLDERS)

    def lose(self) -> None:
        """Note that a frame was lost: calls without arguments may have got some in it."""
        self._whole_calls.lose()

    def close(self) -> list[deltas.Delta]:
        """Report how open calls ended: a part is whole, but a call built of pieces may only look whole."""
        return [*self._whole_calls.no_repeats(), *self._whole_calls.end(), *self._streamed.give_up()]

    def _done(self) -> list[deltas.Delta]:
        return deltas.by_transport(self._end())

    def _end(self) -> list[deltas.Delta]:
        told = self.close()
        self._clear()
        return told + super()._end()

    def _begin(self, id_: str | None = None, model: object = None) -> list[deltas.Delta]:
        """Begin an answer; an open one on the connection ends."""
        return (self.close() if self._open else []) + super()._begin(id_, model)

    def _take(self, view: Any, frame: Frame) -> list[deltas.Delta]:
        response: views.Response = (
            view if view.response is None or view.candidates is not None else view.response
        )
        if error := view.error or response.error:
            return self._streamed.show() + report.error(error)
        feedback = either(response.feedback, response.snake_feedback)
        usage = either(response.usage, response.snake_usage)
        key = labels.id_label(either(response.id, response.snake_id))
        if response.candidates is feedback is usage is key is None:
            return self._other(view, frame, frame.event) if self._open else []
        if key is None and self._key is not None and response.candidates:
            self._streamed.lose()  # they may belong to another answer, perhaps with its finish reason
        told = self._opened(key, either(response.model, response.snake_model))
        self._streamed.next_frame()
        wire = WireParts(frame.data)
        by_number = sorted(
            enumerate(response.candidates or ()), key=lambda one: labels.choice_label(one[1].index)
        )
        for place, candidate in by_number:
            told += self._candidate(labels.choice_label(candidate.index), candidate, wire.of(place))
        blocked = (
            labels.text_label(either(feedback.reason, feedback.snake_reason))
            if feedback is not None
            else None
        )
        if blocked is not None:  # a prompt; it has no candidates, and its reason is the turn's
            told.append(deltas.Finish(0, "content_filter", blocked))
        return told + report.usage(usage)

    def _candidate(
        self, number: int, candidate: views.Candidate, wire: Callable[[int], dict[str, Any]]
    ) -> list[deltas.Delta]:
        parts = (candidate.content.parts if candidate.content is not None else None) or []
        self._whole_calls.next_frame()
        told = [delta for n, part in enumerate(parts) for delta in self._part(number, part, wire, n)]
        return told + self._whole_calls.end_frame(number) + self._finish(number, candidate)

    def _finish(self, number: int, candidate: views.Candidate) -> list[deltas.Delta]:
        known = reasons.turn_reason(either(candidate.reason, candidate.snake_reason))
        if known is None:
            self._streamed.no_stop(number)
            return []
        told = self._whole_calls.finish(number, known[0])
        if known[0] == "stop":
            self._streamed.stop(number)
        else:
            told += self._streamed.close(number, "truncated")
        if known[1] == _MALFORMED and number not in self._malformed:
            self._malformed.add(number)
            told.append(self._unread(number, either(candidate.message, candidate.snake_message)))
        return [*told, deltas.Finish(number, *known)]

    def _unread(self, number: int, message: object = None) -> deltas.CallRefused:
        detail, text = (
            "the provider could not read the call that the model wrote",
            labels.text_label(message) or "",
        )
        return deltas.CallRefused(number, self._whole_calls.new_slot(), None, "unparseable", detail, text)

    def _part(
        self, number: int, part: views.Part, wire: Callable[[int], dict[str, Any]], n: int
    ) -> list[deltas.Delta]:
        call: views.Call | None = either(part.call, part.snake_call)
        if call is not None:
            return self._function_call(number, call, part.kept)
        called = self._server_call(number, part)
        if called == [] or (called is None and part.text is not None):
            return called or _spoken(number, part)
        kept = [deltas.BlockKept(number, value)] if (value := wire(n)) else []
        if called is None and kept:
            called = [] if part.quiet else report.unknown(number)
        return _spoken(number, part) if called is None else [*called, *kept]

    def _server_call(self, number: int, part: views.Part) -> list[deltas.Delta] | None:
        """Return the deltas of a call that the provider executes, none if it is a duplicate; None of any other part."""
        code: views.Code | None = either(part.code, part.snake_code)
        tool: views.Tool | None = either(part.tool, part.snake_tool)
        if code is not None:
            kept = part.kept if code.language is None else part.kept | {"language": code.language}
            text = decode.dumped({"input": code.code}) if code.code is not None else ""
            return self._whole(_call_of(number, code.id, "code_execution", text, kept, "server"))
        if tool is not None:
            name = labels.name_label(either(tool.type, tool.snake_type))
            return self._whole(
                _call_of(number, tool.id, name, decode.wire_text(tool.args), part.kept, "server")
            )
        return None

    def _function_call(self, number: int, call: views.Call, extra: dict[str, Any]) -> list[deltas.Delta]:
        if self._streamed.goes_on(number, call):
            return self._streamed.go_on(number, call, extra, replaced=self._replaced)
        name, text = labels.name_label(call.name), decode.wire_text(call.args)
        if name is None and not (text or call.in_pieces):
            return []  # the end of a call that is over, or a heartbeat
        if call.in_pieces or call.more:
            slot = self._whole_calls.new_slot()
            return self._streamed.begin(number, slot, call, extra, replaced=self._replaced, hides=self._hides)
        whole = self._whole(_call_of(number, call.id, name, text, extra))
        if self._hides and name is not None and not text:
            return [deltas.TextUnread(number, labels.id_label(call.id), name), *whole]
        return whole

    def _whole(self, call: deltas.CallWhole) -> list[deltas.Delta]:
        return self._whole_calls.add(call, of=_PARTS)


def _call_of(
    number: int, id: object, name: str | None, text: str, extra: dict[str, Any], kind: Kind = "function"
) -> deltas.CallWhole:
    return deltas.CallWhole(
        number, None, None, labels.id_label(id), name, text, deltas.DONE, kind, extra=extra or None
    )


def _spoken(number: int, part: views.Part) -> list[deltas.Delta]:
    signature = either(part.signature, part.snake_signature)
    if part.thought is True:
        return report.thought(part.text, None, number, signature=signature)
    told = report.text(part.text, number) + report.thought(None, _ANSWER, number, signature=signature)
    known = part.text is not None or part.thought is not None or part.quiet
    return told if told or known else report.unknown(number)
