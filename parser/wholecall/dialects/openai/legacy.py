"""Text completions, the oldest dialect (`POST /v1/completions`): text only, no tool calls exist in it.

    data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"Hi","finish_reason":null}]}
    data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"stop"}]}
    data: [DONE]

Every chunk repeats the id and the model; the first one opens the turn. A whole body has the same shape.

Models on Amazon Bedrock that only complete text have shapes of their own, without id and model. The reason is
null until the last chunk, and a whole body looks like a chunk:

    Llama    {"generation": "Hi", "stop_reason": null, "prompt_token_count": 5, "generation_token_count": 1}
    Mistral  {"outputs": [{"text": "Hi", "stop_reason": null}]}
    Titan    {"outputText": "Hi", "completionReason": null, "index": 0, "inputTextTokenCount": 5, …}
             {"results": [{"outputText": "Hi", "completionReason": "FINISH"}], …}  as a body

Source: OpenAI API reference, "Completions", as vLLM and llama.cpp still serve it; Amazon Bedrock User Guide,
the response fields of Meta Llama, of Mistral AI's text completion, and of Titan Text.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.deltas import Delta, Finish, TextFragment, TurnEnded, TurnOpened, UsageSeen
from wholecall.dialects.decode import provider_error
from wholecall.dialects.labels import choice_label, id_label, name_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["LegacyTranslator"]


class _Choice(msgspec.Struct, gc=False):
    index: Any = None
    text: Any = None
    generation: Any = None
    outputText: Any = None  # noqa: N815 - Titan's spelling
    finish_reason: Any = None
    stop_reason: Any = None
    completionReason: Any = None  # noqa: N815 - Titan's spelling


class _Chunk(_Choice, gc=False):
    choices: list[_Choice] | None = None
    outputs: list[_Choice] | None = None
    results: list[_Choice] | None = None
    id: Any = None
    model: Any = None
    usage: Any = None
    error: Any = None
    prompt_token_count: Any = None
    generation_token_count: Any = None
    inputTextTokenCount: Any = None  # noqa: N815 - Titan's spelling
    totalOutputTextTokenCount: Any = None  # noqa: N815 - Titan's spelling


_COUNTS: Final = (
    "prompt_token_count",
    "generation_token_count",
    "inputTextTokenCount",
    "totalOutputTextTokenCount",
)


class LegacyTranslator(ViewTranslator):
    """Frames of one stream of text completions to deltas."""

    decoder = msgspec.json.Decoder(_Chunk)

    _key: str | None
    _open: bool

    def __init__(self) -> None:
        self._key = None
        self._open = False

    def _done(self) -> list[Delta]:
        key, self._key, self._open = self._key, None, False
        return [TurnEnded(key)]

    def _take(self, chunk: _Chunk, _frame: Frame) -> list[Delta]:
        if chunk.error:
            return [provider_error(chunk.error)]
        deltas: list[Delta] = []
        choices = _choices(chunk)
        if not self._open and choices:
            self._open, self._key = True, id_label(chunk.id)
            deltas.append(TurnOpened(self._key, self._key, name_label(chunk.model)))
        for choice in choices:
            number = choice_label(choice.index)
            said = text_label(choice.text) or text_label(choice.generation) or text_label(choice.outputText)
            if said is not None:
                deltas.append(TextFragment(number, said))
            reason = choice.finish_reason or choice.stop_reason or choice.completionReason
            if (known := turn_reason(reason)) is not None:
                deltas.append(Finish(number, *known))
        usage = chunk.usage if isinstance(chunk.usage, dict) else _counts(chunk)
        return [*deltas, UsageSeen(usage)] if usage else deltas


def _choices(chunk: _Chunk) -> list[_Choice]:
    """Return the choices of a chunk; without a list it is one itself, and its index counts chunks."""
    listed = chunk.choices or chunk.outputs or chunk.results
    if listed is not None:
        return listed
    chunk.index = None
    return [] if chunk.generation is None and chunk.outputText is None else [chunk]


def _counts(chunk: _Chunk) -> dict[str, Any]:
    return {name: count for name in _COUNTS if (count := getattr(chunk, name)) is not None}
