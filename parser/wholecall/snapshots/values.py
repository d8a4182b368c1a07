"""Scalars and plain values as MessagePack has them, whatever text and numbers they hold.

Theory of operation. MessagePack knows no lone surrogates and no integers beyond 64 bits; streams do. Both go as
extensions. A plain value (what JSON can say, and tuples of it) goes as one flat row of scalars and headers, in
the order of reading, so that neither side recurses: `{"a": [1]}` is the header of an object with one member, its
key, the header of a list with one element, the element. A header is an array of its kind and its size.

What is read was written by anybody. A row that does not say one value, and says it whole, is an `Odd`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.msgpack import Ext

__all__ = ["Odd", "packed_number", "packed_text", "packed_value", "read_number", "read_text", "read_value"]

_TEXT, _NUMBER = 1, 2  # the codes of the extensions
_LIST, _TUPLE, _OBJECT = 0, 1, 2
_KINDS: Final[dict[type, int]] = {list: _LIST, tuple: _TUPLE, dict: _OBJECT}  # of headers
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
_LONGEST_NUMBER: Final = 1800  # bytes; as many digits as Python takes

Leaf = Callable[[Any], Any]


class Odd(Exception):
    """Something is not what belongs there; the message says what, and never quotes it."""


def packed_text(text: str) -> str | Ext:
    """Return the text, as an extension if it holds lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return Ext(_TEXT, text.encode("utf-8", "surrogatepass"))
    return text


def read_text(data: object) -> str:
    """Return the text that was packed.

    Raises:
        Odd: it is none.
    """
    if type(data) is str:
        return data
    if type(data) is not Ext or data.code != _TEXT:
        raise Odd("a text was expected")
    try:
        return bytes(data.data).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise Odd("a text is no text") from None


def packed_number(number: int) -> int | Ext:
    """Return the integer, as an extension if it has more than 64 bits."""
    if _LEAST <= number <= _MOST:
        return number
    return Ext(_NUMBER, number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True))


def read_number(data: object) -> int:
    """Return the integer that was packed.

    Raises:
        Odd: it is none, or one of more digits than Python takes.
    """
    if type(data) is int:
        return data
    if type(data) is not Ext or data.code != _NUMBER or len(bytes(data.data)) > _LONGEST_NUMBER:
        raise Odd("an integer was expected")
    return int.from_bytes(data.data, "big", signed=True)


def packed_value(value: Any, leaf: Leaf | None = None) -> list[Any]:
    """Return a plain value as a flat row.

    Args:
        value: what JSON can say, and tuples of it.
        leaf: how to pack the leaves; None: they are scalars.

    Raises:
        TypeError: it is no plain value.
    """
    row: list[Any] = []
    waiting = [value]
    while waiting:
        value = waiting.pop()
        kind = _KINDS.get(type(value))
        if kind is not None:
            row.append([kind, len(value)])
        if kind is None:
            row.append(_packed_scalar(value) if leaf is None or type(value) is str else leaf(value))
        elif kind == _OBJECT:
            waiting += [part for member in reversed(value.items()) for part in reversed(member)]
        else:
            waiting += reversed(value)
    return row


def read_value(row: object, leaf: Leaf | None = None) -> Any:
    """Return the plain value of a flat row.

    Raises:
        Odd: the row says no value, or more than one.
    """
    if type(row) is not list:
        raise Odd("a value was expected")
    told = [data if type(data) is list else _read_scalar(data, leaf) for data in row]
    values: list[Any] = []  # the next one last
    for said in reversed(told):
        values.append(_read_members(said, values, leaf) if type(said) is list else said)
    if len(values) != 1 or (leaf is not None and type(values[0]) is str):
        raise Odd("a value was expected")
    return values[0]


def _packed_scalar(value: Any) -> Any:
    if type(value) is str:
        return packed_text(value)
    if type(value) is int:
        return packed_number(value)
    if value is None or type(value) in (bool, float):
        return value
    raise TypeError(f"a {type(value).__name__} is no plain value")


def _read_scalar(data: Any, leaf: Leaf | None) -> Any:
    if type(data) is str or (type(data) is Ext and data.code == _TEXT):
        return read_text(data)
    if leaf is not None:
        return leaf(data)
    if data is None or type(data) in (bool, float):
        return data
    return read_number(data)


def _read_members(header: list[Any], values: list[Any], leaf: Leaf | None) -> Any:
    """Return what begins with the header, and take its members from the values."""
    if len(header) != 2 or type(header[0]) is not int or type(header[1]) is not int:
        raise Odd("a header was expected")
    kind, size = header
    count = 2 * size if kind == _OBJECT else size
    if kind not in _KINDS.values() or not 0 <= count <= len(values):
        raise Odd("a header does not fit its row")
    members = values[len(values) - count :][::-1]
    del values[len(values) - count :]
    if leaf is not None and str in map(type, members[1::2] if kind == _OBJECT else members):
        raise Odd("a text stands where a leaf was expected")
    if kind != _OBJECT:
        return members if kind == _LIST else tuple(members)
    found = dict(zip(members[::2], members[1::2], strict=True)) if _all_texts(members[::2]) else {}
    if len(found) != size:
        raise Odd("the keys of an object are not texts that differ")
    return found


def _all_texts(keys: list[Any]) -> bool:
    return all(type(key) is str for key in keys)
