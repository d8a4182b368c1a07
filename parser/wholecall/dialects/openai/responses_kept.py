"""The items of a response that go back as they came: those that text, reasoning and the client's calls do not cover.

They are OpenAI's own calls and their results (`program`, `code_interpreter_call`, `mcp_list_tools`, outputs), items of
unknown types, and messages with more than their text: a phase, citations, a refusal. A message goes back without its
own id, which the API knows only where it stored the response; other items need theirs.

Source: OpenAI API reference, "Create a model response", `input`.
"""

from __future__ import annotations

from typing import Any, Final

from wholecall.deltas import BlockKept
from wholecall.dialects.decode import listed, member
from wholecall.dialects.labels import text_label

__all__ = ["kept_item"]

_PLAIN_MESSAGE: Final = frozenset({"type", "id", "role", "status", "content"})
_PLAIN_PART: Final = frozenset({"type", "text", "annotations", "logprobs"})


def kept_item(item: object) -> BlockKept | None:
    """Return the kept content of an item, neither reasoning nor a client's call; None if it has only text."""
    if not isinstance(item, dict):
        return None
    if item.get("type") != "message":
        return BlockKept(0, item)
    if _is_plain(item):
        return None
    value = {name: one for name, one in item.items() if name != "id"}
    return BlockKept(0, value, of_text=True, said="".join(map(_text, listed(item.get("content")))))


def _is_plain(message: dict[str, Any]) -> bool:
    parts = listed(message.get("content"))
    return message.keys() <= _PLAIN_MESSAGE and all(
        isinstance(part, dict) and part.keys() <= _PLAIN_PART and not part.get("annotations")
        for part in parts
    )


def _text(part: object) -> str:
    return text_label(member(part, "text")) or text_label(member(part, "refusal")) or ""
