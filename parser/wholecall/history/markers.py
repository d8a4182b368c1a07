"""Replacements for missing results: the sentences by which they are recognised, ours and those of other tools.

A made result is marked only by its text: providers refuse unknown members, and a model that reads the history should
know about it as well.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["INVALID_NAME", "MISSING_RESULT", "is_made", "text_of"]

MISSING_RESULT = (
    "[wholecall] The result of this tool call is missing from the history. "
    "It is not known whether the call was executed."
)
# The name for a nameless call that must stay.
INVALID_NAME = "invalid_tool_call"

# The texts in results made by other tools: pi, turnsafe, then openclaw and its plugins.
_OTHERS = frozenset(
    {
        MISSING_RESULT,
        "No result provided",
        (
            "Error: this tool call was not executed, or its result was lost from the conversation history. "
            "Do not assume it succeeded."
        ),
    }
)
_OPENCLAW = re.compile(
    r"\[[\w-]{1,40}\] missing tool result in session history; "
    r"inserted synthetic error result for transcript repair\."
)
_LONGEST = 200


def is_made(content: Any) -> bool:
    """Return whether a result's content is that of a result that was made to fill a gap."""
    text = text_of(content).strip()
    return len(text) <= _LONGEST and (text in _OTHERS or _OPENCLAW.fullmatch(text) is not None)


def text_of(content: Any) -> str:
    """Return the text of a result, if it is one text: a string, one block of text, an object's one member."""
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
        if isinstance(content, dict):
            content = content.get("text") or content.get("stderr")
    elif isinstance(content, dict) and len(content) == 1:
        content = next(iter(content.values()))
    return content if isinstance(content, str) else ""
