"""One place that reads the labels of a call: servers send them as anything (quirks 2, 7, 9, 12, 18, 59)."""

from __future__ import annotations

from zlib import crc32

from wholecall.deltas import HIGHEST_INDEX, INVALID_INDEX, Index

_LONGEST_INDEX = 40
_NO_LABEL = frozenset({"", "null", "None"})


def index_label(value: object) -> Index | None:
    """Return a wire index as a key, None where it is absent, `INVALID_INDEX` where it is invalid.

    A key is the non-negative int; beyond `HIGHEST_INDEX` it is a negative int, below `INVALID_INDEX`, that is made of
    it. Integral floats and decimal strings count as their integer of any size: an index is never a position in a list.
    """
    if (type(value) is int and 0 <= value <= HIGHEST_INDEX) or value is None:
        return value
    number = _number(value)
    return number if number <= HIGHEST_INDEX else INVALID_INDEX - 1 - number % HIGHEST_INDEX


def choice_label(value: object) -> int:
    """Return the number of a choice: 0 where the wire sent none.

    An invalid number (negative, fractional, a word, beyond `HIGHEST_INDEX`) is a separate choice beyond all others,
    whose number is made of it: it is never taken for another choice.
    """
    if type(value) is int and 0 <= value <= HIGHEST_INDEX:  # nearly always
        return value
    number = 0 if value is None else _number(value)
    return number if 0 <= number <= HIGHEST_INDEX else HIGHEST_INDEX + 1 + _fold(value)


def _fold(value: object) -> int:
    """Return a number from 0 to `HIGHEST_INDEX` for a label that is not an index; containers share one."""
    if type(value) is int:  # of any size: its digits might be too many to write
        # A number that was made here is made of itself.
        return (value - HIGHEST_INDEX - 1) % HIGHEST_INDEX
    return crc32(ascii(value).encode()) if isinstance(value, (str, float, bool)) else HIGHEST_INDEX - 1


def _number(value: object) -> int:
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
