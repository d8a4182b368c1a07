"""The dialects whose streams can be repaired, by name."""

from __future__ import annotations

from typing import Final, Union

from wholecall.repairing.anthropic import AnthropicMender
from wholecall.repairing.chat import ChatMender
from wholecall.repairing.gemini import GeminiMender
from wholecall.repairing.responses import ResponsesMender

__all__ = ["MENDERS"]

Mending = Union[type[AnthropicMender], type[ChatMender], type[GeminiMender], type[ResponsesMender]]

MENDERS: Final[dict[str, Mending]] = {
    "anthropic": AnthropicMender,
    "chat-completions": ChatMender,
    "gemini": GeminiMender,
    "responses": ResponsesMender,
}
