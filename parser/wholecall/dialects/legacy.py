"""Text completions, the oldest dialect (`POST /v1/completions`): text only, no tool calls exist in it.

    data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"Hi","finish_reason":null}]}
    data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"stop"}]}
    data: [DONE]

Every chunk repeats the id and the model; the first one opens the turn. A whole body has the same shape.
Source: OpenAI API reference, "Completions", as vLLM and llama.cpp still serve it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from wholecall.deltas import Delta, Finish, TextFragment, TurnEnded, TurnOpened, UsageSeen
from wholecall.dialects.decode import first_choice, provider_error
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["LegacyTranslator", "detect"]


class _Choice(msgspec.Struct, gc=False):
    index: Any = None
    text: Any = None
    finish_reason: Any = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    id: Any = None
    model: Any = None
    usage: Any = None
    error: Any = None


def detect(payload: Mapping[str, Any], _event: str) -> bool:
    """Choices that hold text and neither a delta nor a message; `object` is not to be trusted."""
    choice = first_choice(payload)
    return isinstance(choice.get("text"), str) and not ("delta" in choice or "message" in choice)


class LegacyTranslator(ViewTranslator):
    """Frames of one stream of text completions to deltas."""

    decoder = msgspec.json.Decoder(_Chunk)

    def __init__(self) -> None:
        self._key: str | None = None
        self._open = False

    def _done(self) -> list[Delta]:
        key, self._key, self._open = self._key, None, False
        return [TurnEnded(key)]

    def _take(self, chunk: _Chunk, _frame: Frame) -> list[Delta]:
        if chunk.error:
            return [provider_error(chunk.error)]
        deltas: list[Delta] = []
        if not self._open and chunk.choices:
            self._open, self._key = True, id_label(chunk.id)
            deltas.append(TurnOpened(self._key, self._key, name_label(chunk.model)))
        for choice in chunk.choices or ():
            number = max(index_label(choice.index) or 0, 0)
            if type(choice.text) is str and choice.text:
                deltas.append(TextFragment(number, choice.text))
            if (known := turn_reason(choice.finish_reason)) is not None:
                deltas.append(Finish(number, *known))
        if isinstance(chunk.usage, dict):
            deltas.append(UsageSeen(chunk.usage))
        return deltas
