"""The lane of Ollama's chat.

{"model":"m","created_at":"…","message":{"role":"assistant","content":"Hi"},"done":false}
{"model":"m","created_at":"…","message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}
{"model":"m","created_at":"…","message":{"content":""},"done":true,"done_reason":"stop","eval_count":9}

Calls are whole, and emitted at once. Their arguments are the wire's own text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import msgspec

from wholecall.calls.output.events import Event
from wholecall.deltas import Piecewise
from wholecall.dialects import decode
from wholecall.dialects.others.ollama import OllamaTranslator, piece_of
from wholecall.framing.frame import Frame
from wholecall.stream.lanes.answer import no_more
from wholecall.stream.lanes.lane import Lane
from wholecall.stream.lanes.rows import Row
from wholecall.stream.lanes.texts import is_unread
from wholecall.stream.lanes.words import Word

_Count = Union[int, None]


class _Function(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: Word
    arguments: msgspec.Raw = decode.NO_TEXT
    index: _Count = None


class _Call(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    function: _Function
    id: Union[Word, None] = None
    type: Any = None


class _Message(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    role: Any = None
    content: Union[str, None] = None
    thinking: Union[str, None] = None
    tool_calls: Union[list[_Call], None] = None


class _Line(msgspec.Struct, gc=False):
    model: Word
    message: _Message
    done: bool
    done_reason: Union[str, None] = None
    prompt_eval_count: _Count = None
    eval_count: _Count = None
    error: None = None
    type: None = None


class _First(_Line, gc=False, forbid_unknown_fields=True):
    created_at: Any = None
    total_duration: Any = None
    load_duration: Any = None
    prompt_eval_duration: Any = None
    eval_duration: Any = None


_first = msgspec.json.Decoder(_First).decode
_any = msgspec.json.Decoder(_Line).decode


class OllamaLane(Lane):
    """A lane for the lines of one answer."""

    dialect = "ollama"
    FRAMING = "jsonl"
    _BETWEEN = b"\n"
    _may_be_empty = False
    __slots__ = ()
    _begins, _n_lines, _PREFIX = b"{", 1, ""

    def _texts(self, block: str) -> Iterable[str] | None:
        lines = [line for line in block.split("\n") if line]
        return lines if all(line[0] == "{" for line in lines) else None

    def _frame(self, text: str) -> Frame:
        return Frame("", text)

    def _in_common(self, row: Row, translator: OllamaTranslator) -> Piecewise:
        of = translator.in_common(row.label)
        assert of is not None  # the answer is open
        return of

    def _more_piece(self, text: str, _n: int) -> str | None:
        try:
            key, piece = piece_of(text)
        except decode.UNREADABLE:
            return None
        return piece if piece and key == self._label else None

    def _take(self, frame: Frame, events: list[Event[Any]]) -> bool:
        text, is_first = frame.data, not self.has_begun
        try:
            line = _first(text) if is_first else _any(text)
        except decode.UNREADABLE:
            return False
        if self.reason is not None or not self._keep(frame):
            return False
        if is_first:
            self._open_turn(None, line.model, events)
        message = line.message
        if (message.thinking and message.content) or (
            not message.tool_calls and is_unread(frame, OllamaTranslator.PIECES)
        ):
            return False
        if message.thinking:
            self._thinks(message.thinking, events, ("thought", None), OllamaLane._more_piece)
        elif message.content:
            self._says(message.content, events, ("text", None), OllamaLane._more_piece)
        for call in message.tool_calls or ():
            if not self._take_call(call, events):
                return False
        return not line.done or self._take_end(line)

    def _take_call(self, wanted: _Call, events: list[Event[Any]]) -> bool:
        function = wanted.function
        if not wanted.id and (wanted.id is not None or function.index is not None):
            return False  # the index may say that it came before
        return self._take_whole_call(
            wanted.id, function.name, None, decode.wire_text(function.arguments), events
        )

    def _take_end(self, line: _Line) -> bool:
        reason = line.done_reason
        if not (reason == "stop" or (reason == "length" and not self.calls)):
            return False
        counts = {"prompt_eval_count": line.prompt_eval_count, "eval_count": line.eval_count}
        self.usage.update({name: count for name, count in counts.items() if count is not None})
        self.reason, self.provider_reason = ("tool_calls" if self.calls else reason), reason
        if self.calls:
            self._anomalies = ("finish_reason_mismatch",)  # Ollama never states that it stopped for calls
        self._more = no_more
        return True
