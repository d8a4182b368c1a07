"""Ollama's own chat (`POST /api/chat`): one JSON object a line.

    {"model", "created_at", "message": {role, content, thinking?, tool_calls?}, "done": false}
    {"model", "created_at", "message": {role, content: ""}, "done": true, "done_reason", "eval_count", …}
    {"error": "…"}

A call is whole in its line, `{id?, function: {index?, name, arguments: OBJECT}}`; a line may hold several, and the
last line may hold them too (quirk 86). The index inside `function` is not unique with all servers, so it only tells
whether a line repeats a call that has no id. Old servers send no id. The reason stays `stop` although calls
were made (quirk 43). A whole response is one such line with `done: true`.

Source: Ollama API reference, "Generate a chat completion".
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Union

import msgspec

from wholecall.deltas import (
    INVALID_INDEX,
    ITEM_DONE,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import is_noise, provider_error
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.chat_views import FunctionView, ToolCallView, argument_text
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.dialects.whole_calls import WholeCalls
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

__all__ = ["Line", "LineTranslator", "OllamaTranslator", "spoken"]


class Line(msgspec.Struct, gc=False):
    """What the lines of `/api/chat` and `/api/generate` share."""

    model: Any = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    type: Any = None
    error: Any = None


class _Function(FunctionView, gc=False):
    index: Any = None


class _Call(ToolCallView, gc=False):
    function: Union[_Function, None] = None  # pyright: ignore[reportIncompatibleVariableOverride]


class _Message(msgspec.Struct, gc=False):
    content: Any = None
    thinking: Any = None
    tool_calls: Union[list[_Call], _Call, None] = None


class _ChatLine(Line, gc=False):
    message: Union[_Message, None] = None


class LineTranslator(ViewTranslator):
    """Lines of one stream to deltas; a subclass says what stands between the turn's beginning and its end."""

    _open: bool
    _ended: bool

    def __init__(self) -> None:
        self._open = False
        self._ended = False

    def _done(self) -> list[Delta]:
        return self._end() if self._open else []

    def _take(self, line: Any, frame: Frame) -> list[Delta]:
        if line.error:
            return [provider_error(line.error)]
        said = self._said(line)
        if said is None and line.done is None:
            return [] if is_noise(frame) or line.type == "ping" else [Noted(0, "unknown_events")]
        return self._opened(line, said or []) + (said or []) + (self._last(line) if line.done is True else [])

    @abstractmethod
    def _said(self, line: Any) -> list[Delta] | None:
        """Return what the line adds to the answer, None if it has no place for it."""

    def _opened(self, line: Line, said: list[Delta]) -> list[Delta]:
        """Open the turn; after an end only for a line that says something: some servers repeat the last one."""
        if self._open or (self._ended and not said):
            return []
        again, self._open, self._ended = self._ended, True, False
        return [TurnOpened(None, None, name_label(line.model), restart=again)]

    def _last(self, line: Line) -> list[Delta]:
        counts = {"prompt_eval_count": line.prompt_eval_count, "eval_count": line.eval_count}
        usage = {name: count for name, count in counts.items() if count is not None}
        deltas: list[Delta] = [UsageSeen(usage)] if usage else []
        known = turn_reason(line.done_reason)
        deltas += self._finish(None if known is None else known[0])
        if known is not None:
            deltas.append(Finish(0, *known))
        return deltas + self._end()

    def _finish(self, _reason: TurnReason | None) -> list[Delta]:
        """Report what the reason says of calls: nothing where there are none."""
        return []

    def _end(self) -> list[Delta]:
        self._open, self._ended = False, True
        return [TurnEnded()]


class OllamaTranslator(LineTranslator):
    """Lines of one chat to deltas; it counts calls, because their order is all that tells them apart."""

    decoder = msgspec.json.Decoder(_ChatLine)

    _calls: WholeCalls

    def __init__(self) -> None:
        super().__init__()
        self._calls = WholeCalls()

    def close(self) -> list[Delta]:
        """Report that the calls are over: each of them came whole."""
        return self._calls.end()

    def _said(self, line: _ChatLine) -> list[Delta] | None:
        message = line.message
        if message is None:
            return None
        if self._ended:
            self._calls = WholeCalls()
        self._calls.next_frame()
        deltas = spoken(message.content, message.thinking)
        calls = message.tool_calls or []
        for call in [calls] if isinstance(calls, _Call) else calls:
            deltas += self._call(call)
        return deltas

    def _call(self, call: _Call) -> list[Delta]:
        name = name_label((call.function or call).name)
        text, _ = argument_text(call.function, call)
        index = index_label(call.function.index if call.function is not None else call.index)
        number = None if index in (None, INVALID_INDEX) else str(index)
        whole = CallWhole(0, None, None, id_label(call.id), name, text, ITEM_DONE)
        return self._calls.tell(whole, number)

    def _finish(self, reason: TurnReason | None) -> list[Delta]:
        return [*self._calls.finish(0, reason), *self._calls.no_repeats()]


def spoken(content: object, thinking: object) -> list[Delta]:
    """Return what a line says aloud, and before that what it thinks."""
    deltas: list[Delta] = []
    if thought := text_label(thinking):
        deltas.append(ReasoningFragment(0, thought))
    if text := text_label(content):
        deltas.append(TextFragment(0, text))
    return deltas
