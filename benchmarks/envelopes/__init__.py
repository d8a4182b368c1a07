"""The envelopes in which the providers send pieces of calls and text, member for member as they do.

An envelope writes one stream: an opening; the head, the pieces and the tail of each call, in any order that the wire
allows; an ending. Where calls arrive whole, only the tail has content.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.envelopes.anthropic import Anthropic
from benchmarks.envelopes.base import Envelope, Thinking
from benchmarks.envelopes.bedrock import Converse, InvokeAnthropic
from benchmarks.envelopes.chat import Chat
from benchmarks.envelopes.cohere import Cohere
from benchmarks.envelopes.gateways import GATEWAYS
from benchmarks.envelopes.gemini import Gemini, GeminiStreamed
from benchmarks.envelopes.ollama import Ollama
from benchmarks.envelopes.responses import Responses
from benchmarks.envelopes.vercel import VercelUI

__all__ = ["ENVELOPES", "GATEWAYS", "THINKING", "Chat", "Envelope", "GeminiStreamed", "Responses", "Thinking"]

ENVELOPES: dict[str, Callable[[], Envelope]] = {
    "chat-completions": Chat,
    "anthropic": Anthropic,
    "responses": Responses,
    "gemini": Gemini,
    "ollama": Ollama,
    "bedrock-converse": Converse,
    "bedrock-invoke-anthropic": InvokeAnthropic,
    "cohere-v2": Cohere,
    "vercel-ui": VercelUI,
}
THINKING: dict[str, Callable[[], Thinking]] = {
    "chat-completions": Chat,
    "anthropic": Anthropic,
    "responses": Responses,
    "gemini": Gemini,
    "cohere-v2": Cohere,
}
