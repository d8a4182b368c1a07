"""The dialects, as one literal table: a record each, in the order in which detection asks them.

Dialects that others register are asked first, the latest one before all: who registers one knows the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, Final

import msgspec

from wholecall.dialects import (
    acp,
    ag_ui,
    anthropic,
    assistants,
    chat,
    cohere_v1,
    cohere_v2,
    conversations,
    converse,
    copilot,
    dashscope,
    gemini,
    gemini_interactions,
    gemini_live,
    invoke,
    langchain,
    langchain_events,
    langchain_protocol,
    legacy,
    llama_api,
    llama_stack,
    ollama,
    ollama_generate,
    realtime,
    responses,
    vercel_data,
    vercel_ui,
    workers_ai,
    xai_grpc,
)
from wholecall.dialects.translator import Translator
from wholecall.errors import UnknownDialect

__all__ = ["DIALECTS", "Dialect", "Translator", "detect_dialect", "named", "register"]


class Dialect(msgspec.Struct, frozen=True):
    """A wire format.

    Attributes:
        name: as in `TurnStarted.dialect`.
        framings: the framings in which it comes, by their names, the usual one first.
        detect: whether a frame is decisive for this dialect; it is given the decoded object and the event's name.
        start: makes the translator of one stream.
    """

    name: str
    framings: tuple[str, ...]
    detect: Callable[[Mapping[str, Any], str], bool]
    start: Callable[[], Translator]


_SSE = ("sse", "jsonl")
_LINES = ("jsonl", "sse")
_BINARY = ("eventstream", "jsonl", "sse")


def _invoked(
    inner: str, detect: Callable[[Mapping[str, Any], str], bool], start: Callable[[], Translator]
) -> Dialect:
    """Return the record of a dialect whose events come wrapped in chunks."""
    started = partial(invoke.InvokeTranslator, start)
    return Dialect(f"bedrock-invoke-{inner}", _BINARY, invoke.detects(detect), started)


DIALECTS: Final[tuple[Dialect, ...]] = (
    _invoked("anthropic", anthropic.detect, anthropic.AnthropicTranslator),
    _invoked("nova", converse.detect, converse.ConverseTranslator),
    _invoked("cohere-v1", cohere_v1.detect, cohere_v1.CohereV1Translator),
    _invoked("cohere-v2", cohere_v2.detect, cohere_v2.CohereV2Translator),
    _invoked("legacy-completions", legacy.detect, legacy.LegacyTranslator),
    _invoked("chat-completions", chat.detect, chat.ChatTranslator),
    Dialect("openai-assistants", _SSE, assistants.detect, assistants.AssistantsTranslator),
    Dialect("openai-realtime", _LINES, realtime.detect, realtime.RealtimeTranslator),
    Dialect("responses", _SSE, responses.detect, responses.ResponsesTranslator),
    Dialect("anthropic", _SSE, anthropic.detect, anthropic.AnthropicTranslator),
    Dialect(
        "gemini-interactions",
        _SSE,
        gemini_interactions.detect,
        gemini_interactions.GeminiInteractionsTranslator,
    ),
    Dialect("cohere-v1", _LINES, cohere_v1.detect, cohere_v1.CohereV1Translator),
    Dialect("cohere-v2", _SSE, cohere_v2.detect, cohere_v2.CohereV2Translator),
    Dialect(
        "langchain-protocol",
        ("sse", "jsonl", "jsonarray"),
        langchain_protocol.detect,
        langchain_protocol.LangChainProtocolTranslator,
    ),
    Dialect("mistral-conversations", _SSE, conversations.detect, conversations.ConversationsTranslator),
    Dialect("llama-stack", _SSE, llama_stack.detect, llama_stack.LlamaStackTranslator),
    Dialect("llama-api", _SSE, llama_api.detect, llama_api.LlamaTranslator),
    Dialect("gemini-live", _LINES, gemini_live.detect, gemini_live.GeminiLiveTranslator),
    Dialect("ag-ui", ("sse", "jsonl", "jsonarray"), ag_ui.detect, ag_ui.AgUiTranslator),
    Dialect("vercel-data", ("vercel", "jsonl"), vercel_data.detect, vercel_data.VercelDataTranslator),
    Dialect("vercel-ui", _SSE, vercel_ui.detect, vercel_ui.VercelUITranslator),
    Dialect("langchain", _SSE, langchain.detect, langchain.LangChainTranslator),
    Dialect("langchain-events", _LINES, langchain_events.detect, langchain_events.LangChainEventsTranslator),
    Dialect("acp", ("jsonl", "sse", "jsonarray"), acp.detect, acp.AcpTranslator),
    Dialect("copilot", ("jsonl", "sse", "jsonarray"), copilot.detect, copilot.CopilotTranslator),
    Dialect("gemini", ("sse", "jsonarray", "jsonl"), gemini.detect, gemini.GeminiTranslator),
    Dialect("bedrock-converse", _BINARY, converse.detect, converse.ConverseTranslator),
    Dialect("dashscope", _SSE, dashscope.detect, dashscope.DashScopeTranslator),
    Dialect("legacy-completions", _SSE, legacy.detect, legacy.LegacyTranslator),
    Dialect("xai-grpc", _LINES, xai_grpc.detect, xai_grpc.XaiGrpcTranslator),
    Dialect("chat-completions", _SSE, chat.detect, chat.ChatTranslator),
    Dialect("ollama", _LINES, ollama.detect, ollama.OllamaTranslator),
    Dialect("ollama-generate", _LINES, ollama_generate.detect, ollama_generate.OllamaGenerateTranslator),
    Dialect("workers-ai", _SSE, workers_ai.detect, workers_ai.WorkersTranslator),
)


_registered: list[Dialect] = []  # by third parties, the latest first


def register(dialect: Dialect) -> None:
    """Let parsers know a dialect of yours, by its name and in detection.

    Raises:
        ValueError: there is a dialect of this name.
    """
    if any(known.name == dialect.name for known in _all()):
        raise ValueError(f"there is a dialect {dialect.name!r} already; give yours another name")
    _registered.insert(0, dialect)


def _all() -> Iterator[Dialect]:
    return chain(_registered, DIALECTS)


def named(name: str) -> Dialect:
    """Return the dialect of this name.

    Raises:
        UnknownDialect: there is none.
    """
    for dialect in _all():
        if dialect.name == name:
            return dialect
    known = ", ".join(dialect.name for dialect in _all())
    raise UnknownDialect(f"there is no dialect {name!r}; use 'auto' or one of: {known}")


def detect_dialect(payload: Mapping[str, Any], event: str = "") -> Dialect | None:
    """Return the first dialect for which the frame is decisive, None while none is."""
    return next((dialect for dialect in _all() if dialect.detect(payload, event)), None)
