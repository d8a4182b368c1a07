"""Encoders: from events of any dialect to a strict stream of one dialect."""

from __future__ import annotations

from wholecall.encoders.anthropic import AnthropicEncoder
from wholecall.encoders.base import Encoder, argument_text
from wholecall.encoders.chat import ChatEncoder
from wholecall.encoders.gemini import GeminiEncoder
from wholecall.encoders.responses import ResponsesEncoder
from wholecall.encoders.table import ENCODERS, encoder

__all__ = [
    "ENCODERS",
    "AnthropicEncoder",
    "ChatEncoder",
    "Encoder",
    "GeminiEncoder",
    "ResponsesEncoder",
    "argument_text",
    "encoder",
]
