"""Which dialect a frame belongs to: tests on the first decisive frame.

A ping, a comment, an empty list of choices, `{}` or an error frame decides nothing; the frames before the
decisive one are kept by the parser and translated then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_anthropic", "is_chat_completions", "is_legacy_completions", "is_responses"]

_ANTHROPIC_TYPES = frozenset({"message_start", "message_delta", "message_stop"})
_ORACLE_FIELDS = ("apiFormat", "finishReason", "toolCalls")


def is_responses(payload: Mapping[str, Any]) -> bool:
    """A `response.*` event without the event id of the Realtime API, or a whole body."""
    kind = payload.get("type")
    if isinstance(kind, str) and kind.startswith("response."):
        return "event_id" not in payload
    return payload.get("object") == "response" and isinstance(payload.get("output"), list)


def is_anthropic(payload: Mapping[str, Any]) -> bool:
    """A Messages event (a ping decides nothing), or a whole body."""
    kind = payload.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _ANTHROPIC_TYPES or kind.startswith("content_block_"):
        return True
    return kind == "message" and isinstance(payload.get("content"), list)


def is_legacy_completions(payload: Mapping[str, Any]) -> bool:
    """Choices that hold text and neither a delta nor a message; `object` is not to be trusted."""
    choice = _first_choice(payload)
    return isinstance(choice.get("text"), str) and not ("delta" in choice or "message" in choice)


def is_chat_completions(payload: Mapping[str, Any]) -> bool:
    """A chunk with choices, one that says what it is, or Oracle's flat form."""
    if _first_choice(payload):
        return True
    if str(payload.get("object", "")).startswith("chat.completion") and payload.get("choices") != []:
        return True
    if "candidates" in payload:
        return False
    message = payload.get("message")
    flat = isinstance(message, dict) and "toolCalls" in message
    return flat or any(field in payload for field in _ORACLE_FIELDS)


def _first_choice(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = payload.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}
