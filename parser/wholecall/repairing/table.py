"""The dialects whose streams can be repaired, by name."""

from __future__ import annotations

from typing import Final, Union

from wholecall.repairing.anthropic import AnthropicRewriter
from wholecall.repairing.chat import ChatRewriter
from wholecall.repairing.gemini import GeminiRewriter
from wholecall.repairing.responses import ResponsesRewriter

__all__ = ["REWRITERS"]

Mending = Union[type[AnthropicRewriter], type[ChatRewriter], type[GeminiRewriter], type[ResponsesRewriter]]

REWRITERS: Final[dict[str, Mending]] = {
    "anthropic": AnthropicRewriter,
    "chat-completions": ChatRewriter,
    "gemini": GeminiRewriter,
    "responses": ResponsesRewriter,
}
