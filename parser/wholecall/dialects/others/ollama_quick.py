"""The usual lines of Ollama's chat, pieces of text and whole calls, read by views that are as narrow as they can be.

Lines that these views refuse are read by the translator of `ollama` with its wide view, to the same deltas: it works
without this module, at a lower speed.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from wholecall.deltas import Delta, Piecewise, ReasoningFragment, TextFragment
from wholecall.dialects.decode import NO_TEXT, UNREADABLE, wire_text
from wholecall.dialects.others.ollama import OllamaTranslator
from wholecall.dialects.pieces import NO_PIECE, PieceTranslator, Read
from wholecall.dialects.runs import Key

__all__ = ["QuickOllamaTranslator", "piece_of"]


class _Said(msgspec.Struct, gc=False):
    content: str = ""
    thinking: str = ""
    tool_calls: None = None


class _Piece(msgspec.Struct, gc=False):
    message: Union[_Said, None] = None
    response: str = ""
    thinking: str = ""
    done: bool = False
    error: None = None


class _Function(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: str
    arguments: msgspec.Raw = NO_TEXT
    index: Any = None


class _Call(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    function: _Function
    id: Any = None
    type: Any = None


class _Called(msgspec.Struct, gc=False):
    tool_calls: list[_Call]
    content: Union[Literal[""], None] = ""
    thinking: Union[Literal[""], None] = ""


class _CallLine(msgspec.Struct, gc=False):
    message: _Called
    done: bool = False
    error: None = None


_pieces = msgspec.json.Decoder(_Piece)
_call_lines = msgspec.json.Decoder(_CallLine)
_TEXT: Key = ("text", None)
_THOUGHT: Key = ("thought", None)


def piece_of(data: str) -> tuple[Key, str]:
    """Return the key and the text of a line that is one piece of text or of reasoning; `NO_PIECE` for most others.

    Raises:
        msgspec.DecodeError: and the rest of `UNREADABLE`, if it is anything else.
    """
    line = _pieces.decode(data)
    said = line.message
    text, thought = (line.response, line.thinking) if said is None else (said.content, said.thinking)
    if line.done or (text and thought):
        return NO_PIECE
    return (_THOUGHT, thought) if thought else (_TEXT, text)


class QuickOllamaTranslator(PieceTranslator, OllamaTranslator):
    """Lines of one stream to deltas, the usual ones by narrow views."""

    def _reader(self, _event: str) -> Read:
        return piece_of

    def in_common(self, key: Key) -> Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind = TextFragment if key == _TEXT else ReasoningFragment
        return kind(0, "") if self._open else None

    def _called(self, data: str) -> list[Delta] | None:
        try:
            line = _call_lines.decode(data)
        except UNREADABLE:
            return None
        if line.done or not self._open:
            return None
        self._calls.next_frame()
        deltas: list[Delta] = []
        for call in line.message.tool_calls:
            of = call.function
            deltas += self._whole(call.id, of.name, wire_text(of.arguments), of.index)
        return deltas
