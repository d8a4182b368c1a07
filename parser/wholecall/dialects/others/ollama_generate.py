"""Ollama's text completion (`POST /api/generate`): text only, no tool calls exist in it.

    {"model", "created_at", "response": "Hi", "thinking"?, "done": false}
    {"model", "created_at", "response": "", "done": true, "done_reason", "context", "eval_count", …}

One JSON object a line, with the same end and the same errors as `/api/chat`. A whole response is one line with
`done: true`. Source: Ollama API reference, "Generate a completion".
"""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects.others.ollama import Line, LineTranslator, spoken

__all__ = ["OllamaGenerateTranslator"]


class _TextLine(Line, gc=False):
    response: Any = None
    thinking: Any = None


class OllamaGenerateTranslator(LineTranslator):
    """Lines of one completion to deltas."""

    decoder = msgspec.json.Decoder(_TextLine)

    def _said(self, line: _TextLine) -> list[Delta] | None:
        if line.response is None and line.thinking is None:
            return None
        return spoken(line.response, line.thinking)
