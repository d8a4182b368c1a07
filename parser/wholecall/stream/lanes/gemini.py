"""The lane of Gemini.

data: {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"index":0}],"responseId":"r1","modelVersion":"m"}
data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}],"role":"model"}}],"responseId":"r1"}
data: {"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{…},"responseId":"r1"}

Calls are whole, and emitted at once. Their arguments are the wire's own text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union

import msgspec

from wholecall.calls.output.events import Event
from wholecall.deltas import Piecewise
from wholecall.dialects import decode, labels, reasons
from wholecall.dialects.google.gemini.translator import GeminiTranslator
from wholecall.dialects.google.gemini.views import SPOKEN
from wholecall.framing.frame import Frame
from wholecall.stream.lanes.answer import no_more
from wholecall.stream.lanes.lane import Lane
from wholecall.stream.lanes.rows import Row
from wholecall.stream.lanes.texts import data_of, is_unread
from wholecall.stream.lanes.words import Counts, Word


class _Call(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: Word
    args: msgspec.Raw = decode.NO_TEXT
    id: Union[Word, None] = None


class _Part(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    text: Union[str, None] = None
    thought: bool = False
    functionCall: Union[_Call, None] = None  # noqa: N815 - as REST spells it
    thoughtSignature: Union[Word, None] = None  # noqa: N815


class _Content(msgspec.Struct, gc=False):
    parts: list[_Part] = []


class _Candidate(msgspec.Struct, gc=False):
    content: Union[_Content, None] = None
    index: Literal[0] = 0
    finishReason: Union[str, None] = None  # noqa: N815
    finish_reason: None = None


class _Frame(msgspec.Struct, gc=False):
    candidates: Annotated[list[_Candidate], msgspec.Meta(min_length=1, max_length=1)]
    responseId: Union[Word, None] = None  # noqa: N815
    modelVersion: Union[Word, None] = None  # noqa: N815
    usageMetadata: Counts = None  # noqa: N815
    usage_metadata: None = None
    response_id: None = None
    model_version: None = None
    promptFeedback: None = None  # noqa: N815
    prompt_feedback: None = None
    response: None = None
    error: None = None


class _First(_Frame, gc=False, forbid_unknown_fields=True):
    createTime: Any = None  # noqa: N815 - Vertex says it


_first = msgspec.json.Decoder(_First).decode
_any = msgspec.json.Decoder(_Frame).decode
_spoken = SPOKEN.decode


class GeminiLane(Lane):
    """A lane for the responses of one candidate."""

    dialect = "gemini"
    _may_be_empty = False
    __slots__ = ()
    _begins, _n_lines, _PREFIX = b"data: ", 1, "data: "

    def _texts(self, block: str) -> Iterable[str] | None:
        return data_of(block)

    def _frame(self, text: str) -> Frame:
        return Frame("message", text)

    def _in_common(self, row: Row, translator: GeminiTranslator) -> Piecewise:
        return translator.in_common(row.label)

    def _more_piece(self, text: str, _n: int) -> str | None:
        try:
            frame = _spoken(text)
        except decode.UNREADABLE:
            return None
        [candidate] = frame.candidates
        [part] = candidate.content.parts
        if frame.responseId != self.id or (candidate.index, part.thought) != self._label or not part.text:
            return None
        if frame.usageMetadata:
            self.count(frame.usageMetadata)
        return part.text

    def _take(self, frame: Frame, events: list[Event[Any]]) -> bool:
        text = frame.data
        try:
            said = _any(text) if self.has_begun else _first(text)
        except decode.UNREADABLE:
            return False
        [candidate] = said.candidates
        parts = candidate.content.parts if candidate.content is not None else []
        if not self.has_begun and (said.responseId is None or labels.id_label(said.responseId) is not None):
            self._open_turn(said.responseId, said.modelVersion, events)
        if said.responseId != self.id or self.reason is not None or not self._keep(frame):
            return False
        is_call = parts and (parts[0].functionCall or any(part.functionCall for part in parts))
        if not is_call and is_unread(frame, GeminiTranslator.PIECES):
            return False
        if said.usageMetadata:
            self.usage.update(said.usageMetadata)
        for part in parts:
            if not self._take_part(part, events):
                return False
        return candidate.finishReason is None or self._take_end(candidate.finishReason)

    def _take_part(self, part: _Part, events: list[Event[Any]]) -> bool:
        wanted, seal = part.functionCall, part.thoughtSignature
        if wanted is not None:
            extra = None if seal is None else {"thoughtSignature": seal}
            is_alone = part.text is None and not part.thought
            text = decode.wire_text(wanted.args)
            return is_alone and self._take_whole_call(wanted.id, wanted.name, extra, text, events)
        if part.text is None or seal is not None:
            return False
        if not part.text:
            return True
        take = self._thinks if part.thought else self._says
        take(part.text, events, (0, part.thought), GeminiLane._more_piece)
        return True

    def _take_end(self, raw: str) -> bool:
        known = reasons.turn_reason(raw)
        if known is None or known[0] not in ("stop", "length") or (known[0] == "length" and self.calls):
            return False
        self.reason, self.provider_reason = ("tool_calls" if self.calls else known[0]), raw
        self._more = no_more
        return True
