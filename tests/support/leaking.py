"""Streams in which a model writes its calls as text, because the server reads none."""

from __future__ import annotations

import json
from typing import Any

HERMES = 'Let me see.\n<tool_call>\n{"name": "ring", "arguments": {"bell": 3}}\n</tool_call>'
QWEN = "<tool_call>\n<function=ring>\n<parameter=bell>\n4\n</parameter>\n</function>\n</tool_call>"
QUOTED = "A call stands in `<tool_call>`:\n```\n" + HERMES + "\n```\nThat is all."


def chat(*deltas: dict[str, Any], finish: str | None = "stop") -> bytes:
    """Return a chat stream."""
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices += [{"index": 0, "delta": {}, "finish_reason": finish}] if finish else []
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
    chunks = [{**head, "choices": [one]} for one in choices]
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"


def leaked(text: str, *, field: str = "content", size: int = 7, finish: str | None = "stop") -> bytes:
    """Return a chat stream that brings a text in a field of its deltas, in pieces of this size."""
    return chat(*({field: text[at : at + size]} for at in range(0, len(text), size)), finish=finish)
