"""The beginnings of an argument text, and its placeholders: an empty object or null before the real text (quirk 25)."""

from __future__ import annotations

BEGINNINGS = frozenset('{"nN')  # of texts that can be the whole text of a call, or repeat the text so far
PLACEHOLDER_SIZE = 8  # a placeholder and some white space; longer texts are not placeholders
_PLACEHOLDERS = frozenset({"{}", "null", "None"})


def is_placeholder(text: str) -> bool:
    """Return whether the text is only an empty object or a null."""
    return len(text) <= PLACEHOLDER_SIZE and "".join(text.split()) in _PLACEHOLDERS
