"""Classify exceptions: a fault of the caller, of an input, or of the storage.

Theory of operation. The content of an input never ends a scan: it becomes a row with `trouble`, and so does a fault of
ours over it. An error that says nothing about the input (the machine has no memory left, a store does not answer) must
not become a row: a table would say for ever that recordings cannot be read, although they were never tried. It passes
through.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

_private = True


class StoreFailed(Exception):
    """A store fails at every request; the message says which store and why."""


def is_ours(error: BaseException) -> bool:
    """Return whether an exception is a fault of ours, not of the machine or of a store."""
    return not isinstance(error, (MemoryError, StoreFailed))


class CannotWriteError(Exception):
    """The output cannot be written; the message says why."""


@contextmanager
def writing() -> Generator[None]:
    """Distinguish errors of the output from those of the input.

    Raises:
        CannotWriteError: instead of OSError.
    """
    try:
        yield
    except OSError as error:
        raise CannotWriteError(error.strerror or str(error)) from error
