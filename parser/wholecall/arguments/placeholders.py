"""The beginnings of an argument text, and its placeholders: an empty object or null before the real text (quirk 25)."""

from __future__ import annotations

__all__ = ["BEGINNINGS", "PLACEHOLDER_SIZE", "is_placeholder"]

BEGINNINGS = frozenset('{"nN')  # of what can be the whole text of a call, or the text so far once more
PLACEHOLDER_SIZE = 8  # a placeholder and some white space; longer texts are none
_PLACEHOLDERS = frozenset({"{}", "null", "None"})


def is_placeholder(text: str) -> bool:
    """Return whether the text is an empty object or a null, and nothing else."""
    return len(text) <= PLACEHOLDER_SIZE and "".join(text.split()) in _PLACEHOLDERS
