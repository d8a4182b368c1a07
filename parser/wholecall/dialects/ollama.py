"""Ollama's own chat (`POST /api/chat`): one JSON object a line.

    {"model", "created_at", "message": {role, content, thinking?, tool_calls?}, "done": false}
    {"model", "created_at", "message": {role, content: ""}, "done": true, "done_reason", "eval_count", …}
    {"error": "…"}

A call is whole in its line, `{id?, function: {index?, name, arguments: OBJECT}}`, and ended by it; a line may
hold several, and the last line may hold them too (quirk 86). The index inside `function` is not unique with
all servers, so the order of arrival is the slot. Old servers send no id. The reason stays `stop` although calls
were made (quirk 43). A whole response is one such line with `done: true`.

Source: Ollama API reference, "Generate a chat completion".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Union

import msgspec

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallSeen,
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
from wholecall.dialects.chat_views import ToolCallView, argument_text
from wholecall.dialects.decode import is_noise, provider_error
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["Line", "LineTranslator", "OllamaTranslator", "detect", "is_line", "spoken"]


class Line(msgspec.Struct, gc=False):
    """What the lines of `/api/chat` and `/api/generate` share."""

    model: Any = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    type: Any = None
    error: Any = None


class _Message(msgspec.Struct, gc=False):
    content: Any = None
    thinking: Any = None
    tool_calls: Union[list[ToolCallView], ToolCallView, None] = None


class _ChatLine(Line, gc=False):
    message: Union[_Message, None] = None


def detect(payload: Mapping[str, Any], _event: str) -> bool:
    """A line with a message, which also says whether it is the last one."""
    return isinstance(payload.get("message"), dict) and is_line(payload)


def is_line(payload: Mapping[str, Any]) -> bool:
    """Whether the payload has what every line of Ollama's has."""
    return isinstance(payload.get("done"), bool) and "created_at" in payload


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
        if (known := turn_reason(line.done_reason)) is not None:
            deltas.append(Finish(0, *known))
        return deltas + self._end()

    def _end(self) -> list[Delta]:
        self._open, self._ended = False, True
        return [TurnEnded()]


class OllamaTranslator(LineTranslator):
    """Lines of one chat to deltas; it counts calls, because their order is all that tells them apart."""

    decoder = msgspec.json.Decoder(_ChatLine)

    _slots: dict[object, int]

    def __init__(self) -> None:
        super().__init__()
        self._slots = {}  # of the calls so far, by all that they said

    def _said(self, line: _ChatLine) -> list[Delta] | None:
        message = line.message
        if message is None:
            return None
        if self._ended:
            self._slots.clear()
        deltas = spoken(message.content, message.thinking)
        calls = message.tool_calls or []
        for call in [calls] if isinstance(calls, ToolCallView) else calls:
            deltas += self._call(call)
        return deltas

    def _call(self, call: ToolCallView) -> list[Delta]:
        id_ = id_label(call.id)
        name = name_label((call.function or call).name)
        text, _ = argument_text(call.function, call)
        # The same call told again keeps its slot; without an id nothing tells it from a second one.
        told = (id_, name, text) if id_ is not None else len(self._slots)
        slot = self._slots.setdefault(told, len(self._slots))
        deltas: list[Delta] = [CallSeen(0, slot, None, id_, name)]
        if text:
            deltas.append(CallWhole(0, slot, None, id_, name, text, ITEM_DONE))
        # Without any text the turn's reason decides: a call that was cut before its arguments has none either.
        deltas.append(CallClosed(0, slot, None, final=bool(text)))
        return deltas


def spoken(content: object, thinking: object) -> list[Delta]:
    """Return what a line says aloud, and before that what it thinks."""
    deltas: list[Delta] = []
    if thought := text_label(thinking):
        deltas.append(ReasoningFragment(0, thought))
    if text := text_label(content):
        deltas.append(TextFragment(0, text))
    return deltas
