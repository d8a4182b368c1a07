"""Classify exceptions: a fault of the caller, of an input, or of the storage.

Theory of operation. What is in an input never ends a scan: it is a row with `trouble`, and so is a fault of ours over it.
But what says nothing of the input (the machine has no memory left, a store does not answer) must not become a row, or a
table would say for ever that recordings cannot be read, of which nobody knows. It passes through.
"""

from __future__ import annotations

__all__ = ["StoreFailed", "is_ours"]
_private = True


class StoreFailed(Exception):
    """A store does not do what it is asked for, whatever it is asked; the message says which store and why."""


def is_ours(error: BaseException) -> bool:
    """Return whether an exception is a fault of ours, and says nothing of the machine or of a store."""
    return not isinstance(error, (MemoryError, StoreFailed))
