"""Conversations in a column: texts of JSON, or lists of structs, as Python values.

Theory of operation. A text is passed on as it is. Structs are unified over their column: each has every member that any
has, and Arrow marks a missing member by a null. Therefore a null member of a struct counts as missing, whatever its
writer meant; in a map it is a member. Types without a JSON equivalent (times, decimals) become text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyarrow import types

from wholecall.bulk.inputs import BODY, Kind

__all__ = ["MESSAGES"]
_private = True

Told = Callable[[Any], Any]  # from Arrow's Python values to JSON values

_UNREADABLE = "its messages are of values that cannot be read"
_PLAIN = (types.is_string, types.is_large_string, types.is_string_view, types.is_boolean, types.is_integer)
_BINARY = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)


def _values(column: pa.Array) -> Iterator[Any]:
    """Yield values of nested types; a text says why a value cannot be read."""
    told = _told(column.type)
    return (None if not scalar.is_valid else _value(scalar, told) for scalar in column)


def _value(scalar: Any, told: Told) -> Any:
    try:
        return told(scalar.as_py())
    except (ValueError, OverflowError):  # text that is not valid UTF-8, a repeated member, an impossible time
        return _UNREADABLE


def _told(type_: pa.DataType) -> Told:
    """Return a function that turns values of a type into JSON values."""
    if types.is_struct(type_):
        return _struct({field.name: _told(field.type) for field in type_})
    if types.is_map(type_):
        item = _told(type_.item_type)
        return lambda pairs: {str(key): None if one is None else item(one) for key, one in pairs}
    if _is_list(type_):
        element = _told(type_.value_type)
        return lambda values: [None if one is None else element(one) for one in values]
    if types.is_dictionary(type_):
        return _told(type_.value_type)
    if any(is_so(type_) for is_so in _BINARY):
        return lambda data: data.decode("utf-8", "surrogateescape")
    if any(is_so(type_) for is_so in _PLAIN) or types.is_floating(type_) or types.is_null(type_):
        return lambda value: value
    return str


def _struct(told: dict[str, Told]) -> Told:
    return lambda members: {name: told[name](value) for name, value in members.items() if value is not None}


def _is_list(type_: pa.DataType) -> bool:
    return bool(types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_))


def _is_json(type_: pa.DataType) -> bool:
    """Return whether a type is text that is marked as JSON."""
    return isinstance(type_, pa.BaseExtensionType) and any(is_so(type_.storage_type) for is_so in _PLAIN[:3])


def _stored(column: pa.Array) -> Iterable[Any]:
    read = next(read for is_so, read in BODY[1].items() if is_so(column.type.storage_type))
    return read(column.storage)


MESSAGES: Kind = (
    "texts of JSON, lists of structs, or structs",
    {**BODY[1], _is_json: _stored, _is_list: _values, types.is_struct: _values},
)
