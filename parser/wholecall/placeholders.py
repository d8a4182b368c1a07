"""What stands for arguments that are still to come: an empty object or a null (quirk 25)."""

from __future__ import annotations

__all__ = ["PLACEHOLDER_SIZE", "is_placeholder"]

PLACEHOLDER_SIZE = 8  # a placeholder and some white space; longer texts are none
_PLACEHOLDERS = frozenset({"{}", "null", "None"})


def is_placeholder(text: str) -> bool:
    """Return whether the text is an empty object or a null, and nothing else."""
    return len(text) <= PLACEHOLDER_SIZE and "".join(text.split()) in _PLACEHOLDERS
