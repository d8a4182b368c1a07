"""Encoders: from events of any dialect to a strict stream of one dialect."""

from __future__ import annotations

from wholecall.repairing.encoders.anthropic import AnthropicEncoder
from wholecall.repairing.encoders.base import Encoder, argument_text
from wholecall.repairing.encoders.chat import ChatEncoder
from wholecall.repairing.encoders.gemini import GeminiEncoder
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.encoders.table import ENCODERS, encoder

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
