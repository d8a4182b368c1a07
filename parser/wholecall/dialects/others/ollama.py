"""Ollama's own chat (`POST /api/chat`) and text completion (`POST /api/generate`): one JSON object per line.

    {"model", "message": {role, content, thinking?, tool_calls?}, "done": false}
    {"model", "response": "Hi", "thinking"?, "done": false}
    {"model", "message": {role, content: ""}, "done": true, "done_reason", "eval_count", …}

A call is whole in its line, `{id?, function: {index?, name, arguments: OBJECT}}`; a line may hold several, the last
line too (quirk 86), and so may a whole response. The index only shows whether a line repeats a call: it need not be
unique, and old servers send no id. The reason stays `stop` although calls were made (quirk 43). Source: Ollama API.

The usual lines, pieces of text and whole calls, have views that are as narrow as they can be. Lines that these refuse
are read by the table, to the same deltas.

Covers: Ollama's own `/api/chat`, and its imitations; whole calls with or without ids, also in the last line.
Calls: told apart by order; each ends with its own line.
Covers (ollama-generate): Ollama's `/api/generate`: text only.
Calls (ollama-generate): none.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, labels, pieces, report, say, whole_calls


def _is_last(done: object) -> bool:
    return done is True


# The parts of rows.
_ARGUMENTS = at.json_text(at.CHAT_ARGUMENTS)
_FLAT = say.own("_whole", at.id("id"), at.name("name"), _ARGUMENTS, at.index("index"))
_CALL = say.own("_whole", at.id("id"), at.name("function.name"), _ARGUMENTS, at.index("function.index"))
_MESSAGE = (
    say.own("_opened_by", at.name("/model"), at.text("thinking"), at.text("content"), at.value("tool_calls")),
    say.do("_calls.next_frame"),
    say.thought("thinking"),
    say.text("content"),
    say.each("tool_calls", say.when(at.value("function"), (None,), _FLAT, otherwise=(_CALL,))),
)
_LAST = say.when(
    at.Value("done", _is_last),
    (True,),
    say.counts("prompt_eval_count", "eval_count"),
    say.own("_finish", at.value("done_reason")),
    say.end(),
)
_COMPLETION = (
    say.own("_opened_by", at.name("model"), at.text("thinking"), at.text("response")),
    say.thought("thinking"),
    say.text("response"),
    _LAST,
)


class OllamaTranslator(pieces.PieceTranslator, compiled.TableTranslator):
    """Lines of one stream to deltas; it counts calls, because only their order distinguishes them."""

    BODIES: ClassVar[say.Rows] = {
        "message": (say.given("message", *_MESSAGE), _LAST),
        "response": _COMPLETION,
        "thinking": _COMPLETION,
        "done": _COMPLETION,
    }
    EVENTLESS = True  # whatever type a line names
    DONE_ENDS = True

    _calls: whole_calls.WholeCalls

    def _clear(self) -> None:
        self._calls = whole_calls.WholeCalls()

    def close(self) -> list[deltas.Delta]:
        """Report that the calls are over: each of them came whole."""
        return self._calls.end()

    def _opened_by(
        self, model: str | None, thought: str | None, text: str | None, calls: object = None
    ) -> list[deltas.Delta]:
        """Begin the answer with a line that says something, or with the first line."""
        return [] if self._open else self._opened(None, model, repeats=not (thought or text or calls))

    def _whole(
        self, id_: str | None, name: str | None, text: str, index: deltas.Index | None
    ) -> list[deltas.Delta]:
        return self._calls.add(deltas.CallWhole(0, None, None, id_, name, text, deltas.ITEM_DONE), index)

    def _finish(self, raw: object) -> list[deltas.Delta]:
        return self._calls.ended(report.finish(raw))

    # The usual lines.

    def _reader(self, _event: str) -> pieces.Read:
        return piece_of

    def in_common(self, key: pieces.Key) -> deltas.Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind = deltas.TextFragment if key == _TEXT else deltas.ReasoningFragment
        return kind(0, "") if self._open else None

    def _called(self, data: str) -> list[deltas.Delta] | None:
        try:
            line = _call_lines.decode(data)
        except decode.UNREADABLE:
            return None
        if line.done or not self._open:
            return None
        self._calls.next_frame()
        told: list[deltas.Delta] = []
        for call in line.message.tool_calls:
            of, label = call.function, labels.id_label(call.id)
            told += self._whole(
                label,
                labels.name_label(of.name),
                decode.wire_text(of.arguments),
                labels.index_label(of.index),
            )
        return told


# Narrow views of the usual lines.


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
    arguments: msgspec.Raw = decode.NO_TEXT
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
_TEXT: pieces.Key = ("text", None)
_THOUGHT: pieces.Key = ("thought", None)


def piece_of(data: str) -> tuple[pieces.Key, str]:
    """Return the key and the text of a line that is one piece of text or of reasoning; `NO_PIECE` for most others.

    Raises:
        msgspec.DecodeError: and the rest of `UNREADABLE`, if it is anything else.
    """
    line = _pieces.decode(data)
    said = line.message
    text, thought = (line.response, line.thinking) if said is None else (said.content, said.thinking)
    if line.done or (text and thought):
        return pieces.NO_PIECE
    return (_THOUGHT, thought) if thought else (_TEXT, text)
