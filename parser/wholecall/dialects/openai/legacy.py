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

Covers: text completions: text only; also the shapes of Llama, Mistral and Titan on Bedrock.
Calls: none.
Source: OpenAI API reference, "Completions", as vLLM and llama.cpp still serve it; Amazon Bedrock User Guide,
the response fields of Meta Llama, of Mistral AI's text completion, and of Titan Text.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from wholecall.deltas import Delta
from wholecall.dialects import at, compiled, say
from wholecall.framing.frame import Frame

_OF_LLAMA: Final = ("prompt_token_count", "generation_token_count")
_OF_TITAN: Final = ("inputTextTokenCount", "totalOutputTextTokenCount")

# The parts of rows.
_BEGIN = say.own("_begin_first", at.id("/id"), at.name("/model"))
_NUMBER = at.choice("index")


class LegacyTranslator(compiled.TableTranslator):
    """Frames of one stream of text completions to deltas."""

    BODIES: ClassVar[say.Rows] = {
        "choices": (
            say.each(
                "choices", _BEGIN, say.text("text", _NUMBER), say.finish("finish_reason|stop_reason", _NUMBER)
            ),
            say.usage("usage"),
        ),
        "generation": (_BEGIN, say.text("generation"), say.finish("stop_reason"), say.counts(*_OF_LLAMA)),
        "outputs": (
            say.each("outputs", _BEGIN, say.text("text", _NUMBER), say.finish("stop_reason", _NUMBER)),
        ),
        "outputText": (
            _BEGIN,
            say.text("outputText"),
            say.finish("completionReason"),
            say.counts(*_OF_TITAN),
        ),
        "results": (
            say.each(
                "results", _BEGIN, say.text("outputText", _NUMBER), say.finish("completionReason", _NUMBER)
            ),
            say.counts(*_OF_TITAN),
        ),
        "usage": (say.usage("usage"),),
        **dict.fromkeys(_OF_LLAMA, (say.counts(*_OF_LLAMA),)),
        **dict.fromkeys(_OF_TITAN, (say.counts(*_OF_TITAN),)),
    }
    KINDS = ()
    QUIET = frozenset({""})  # all other frames, for they can have no call
    DONE_ENDS = True

    def _kind(self, _view: Any, _frame: Frame) -> str:
        return ""  # a frame's name says nothing

    def _begin_first(self, id_: str | None, model: str | None) -> list[Delta]:
        """Begin the only message of a stream, at its first text."""
        return [] if self._open else self._begin(id_, model)
