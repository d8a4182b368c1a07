"""One place that reads the labels of a call: servers send them as anything (quirks 2, 7, 9, 12, 18, 59)."""

from __future__ import annotations

from wholecall.deltas import INVALID_INDEX

__all__ = ["id_label", "index_label", "name_label", "text_label"]

_LONGEST_INDEX = 40
_NO_LABEL = frozenset({"", "null", "None"})


def index_label(value: object) -> int | None:
    """Return a wire index as a non-negative int, None where it is absent, `INVALID_INDEX` where it is none.

    Integral floats and decimal strings count as their integer, whatever its size: an index is a key, never
    a position in a list.
    """
    if value is None:
        return None
    integral = type(value) is float and value.is_integer()
    decimal = type(value) is str and value.isascii() and value.isdecimal() and len(value) < _LONGEST_INDEX
    number = int(value) if integral or decimal else value  # type: ignore[call-overload]
    return number if type(number) is int and number >= 0 else INVALID_INDEX


def id_label(value: object) -> str | None:
    """Return a wire id as a string, None where it is absent, blank, `"null"` or `"None"`; 0 is an id."""
    if type(value) is str:
        return None if value.strip() in _NO_LABEL else value
    if type(value) is int:
        return str(value)
    return None


def name_label(value: object) -> str | None:
    """Return a wire name, None where it is absent or blank."""
    if type(value) is str and value and not value.isspace():
        return value
    return None


def text_label(value: object) -> str | None:
    """Return any text field of the wire, None where it is not a string or empty."""
    return value if type(value) is str and value else None
