"""Text completions, the oldest dialect (`POST /v1/completions`): text only, no tool calls exist in it.

    data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"Hi","finish_reason":null}]}
    data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"stop"}]}
    data: [DONE]

Every chunk repeats the id and the model; the first one opens the turn. A whole body has the same shape.

Models on Amazon Bedrock that only complete text have their own shapes, without id and model. The reason is null until
the last chunk, and a whole body looks like a chunk:

    Llama    {"generation": "Hi", "stop_reason": null, "prompt_token_count": 5, "generation_token_count": 1}
    Mistral  {"outputs": [{"text": "Hi", "stop_reason": null}]}
    Titan    {"outputText": "Hi", "completionReason": null, "index": 0, "inputTextTokenCount": 5, …}
             {"results": [{"outputText": "Hi", "completionReason": "FINISH"}], …}  as a body

Source: OpenAI API reference, "Completions", as vLLM and llama.cpp still serve it; Amazon Bedrock User Guide,
the response fields of Meta Llama, of Mistral AI's text completion, and of Titan Text.
"""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects import report
from wholecall.dialects.labels import choice_label, id_label
from wholecall.dialects.translator import EventView, TurnTranslator
from wholecall.framing.frame import Frame

__all__ = ["LegacyTranslator"]


class _Chunk(EventView, gc=False):  # or a choice
    index: Any = None
    text: Any = None
    generation: Any = None
    outputText: Any = None  # noqa: N815 - Titan's spelling
    finish_reason: Any = None
    stop_reason: Any = None
    completionReason: Any = None  # noqa: N815 - Titan's spelling
    choices: Union[list[_Chunk], None] = None
    outputs: Union[list[_Chunk], None] = None
    results: Union[list[_Chunk], None] = None
    id: Any = None
    model: Any = None
    usage: Any = None
    prompt_token_count: Any = None
    generation_token_count: Any = None
    inputTextTokenCount: Any = None  # noqa: N815 - Titan's spelling
    totalOutputTextTokenCount: Any = None  # noqa: N815 - Titan's spelling


_OF_LLAMA: Final = ("prompt_token_count", "generation_token_count")
_OF_TITAN: Final = ("inputTextTokenCount", "totalOutputTextTokenCount")


class LegacyTranslator(TurnTranslator):
    """Frames of one stream of text completions to deltas."""

    decoder = msgspec.json.Decoder(_Chunk)
    DONE_ENDS = True

    def _other(self, chunk: _Chunk, _frame: Frame, _kind: str) -> list[Delta]:
        choices = _choices(chunk)
        deltas = self._begin(id_label(chunk.id), chunk.model) if choices and not self._open else []
        for choice in choices:
            number = choice_label(choice.index)
            said = (report.text(text, number) for text in (choice.text, choice.generation, choice.outputText))
            deltas += next(filter(None, said), [])
            reason = choice.finish_reason or choice.stop_reason or choice.completionReason
            deltas += report.finish(reason, number)
        return deltas + (report.usage(chunk.usage) or report.counts(chunk, *_OF_LLAMA, *_OF_TITAN))


def _choices(chunk: _Chunk) -> list[_Chunk]:
    """Return the choices of a chunk; without a list it is one itself, and its index counts chunks."""
    listed = chunk.choices or chunk.outputs or chunk.results
    if listed is not None:
        return listed
    chunk.index = None
    return [] if chunk.generation is None and chunk.outputText is None else [chunk]
