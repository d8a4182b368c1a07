"""Values of a caller's columns, as Python objects.

Theory of operation. A column that is missing, or of an unsuitable type, is the caller's mistake and raises before
anything is read. The content of a row never raises: null is None, text that is not valid UTF-8 keeps its bytes as half
surrogates, which are repaired when it is written again, and a time outside the calendar is None.

Bytes are not copied: an Arrow scalar is a copy, so they are found in the buffers of the column, and a dictionary is not
expanded.

Conversations are texts of JSON, which pass as they are, or lists of structs. Structs are unified over their column:
each has every member that any has, and Arrow marks a missing member by a null. Therefore a null member of a struct
counts as missing, whatever its writer meant; in a map it is a member. Types without a JSON equivalent (times, decimals)
become text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

import pyarrow as pa
from pyarrow import types

_private = True

Read = Callable[[pa.Array], Iterable[Any]]  # from a column to its values, a null is None
Kind = tuple[str, dict[Callable[[pa.DataType], bool], Read]]  # what a column may hold, in words and by type
Told = Callable[[Any], Any]  # from Arrow's Python values to JSON values
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}  # a nanosecond is less than one
_INLINE = 12  # bytes: up to this length a value is in the view itself
_UNREADABLE = "its messages are of values that cannot be read"


def reader(schema: pa.Schema, name: str, kind: Kind) -> Read:
    """Return a function that reads the values of a column.

    Raises:
        ValueError: there is no such column, or there are several.
        TypeError: the column has another type.
    """
    place = schema.get_field_index(name)
    if place < 0:
        there = ", ".join(schema.names)
        raise ValueError(f"the table has no column {name!r}, or several; its columns are: {there}")
    type_ = schema.field(place).type
    inner = type_.value_type if types.is_dictionary(type_) else type_
    words, by_type = kind
    read = next((read for is_so, read in by_type.items() if is_so(inner)), None)
    if read is None:
        raise TypeError(f"the column {name!r} holds {type_}; it has to hold {words}")
    return _through(read) if types.is_dictionary(type_) else read


def rows_in(tables: list[pa.RecordBatch], reads: Mapping[str, tuple[str, Read]]) -> Iterator[dict[str, Any]]:
    """Yield the content of each row; `reads` gives the column and the reader of each member."""
    for table in tables:
        columns = [read(table.column(name)) for name, read in reads.values()]
        for values in zip(*columns, strict=True):
            yield dict(zip(reads, values, strict=True))


def _through(read: Read) -> Read:
    """Return a function that reads the values of a dictionary."""

    def values(column: pa.Array) -> Iterator[Any]:
        known = list(read(column.dictionary))
        return (None if place is None else known[place] for place in column.indices.to_pylist())

    return values


def _plain(column: pa.Array) -> Iterator[Any]:
    return (scalar.as_py() for scalar in column)


# Bytes and texts.


def _bytes_by(width: Literal["i", "q"]) -> Read:
    """Return a function that reads concatenated values; their offsets are numbers of this format."""

    def values(column: pa.Array) -> Iterator[memoryview | None]:
        _, places, octets = map(_octets, column.buffers())
        offsets = places.cast(width)
        for number, is_there in enumerate(column.is_valid().to_pylist(), column.offset):
            yield octets[offsets[number] : offsets[number + 1]] if is_there else None

    return values


def _views(column: pa.Array) -> Iterator[memoryview | None]:
    """Yield the values of a column of views: short values are in the view, others are found by buffer and place."""
    _, views, *data = map(_octets, column.buffers())
    numbers = views.cast("i")
    for number, is_there in enumerate(column.is_valid().to_pylist(), column.offset):
        size, _, buffer, begin = numbers[4 * number : 4 * number + 4]
        if not is_there:
            yield None
        elif size <= _INLINE:
            yield views[16 * number + 4 : 16 * number + 4 + size]
        else:
            yield data[buffer][begin : begin + size]


def _octets(buffer: pa.Buffer | None) -> memoryview:
    """Return the bytes of a buffer; a column without values may have no buffer."""
    return memoryview(buffer or b"")


def _texts_by(read: Read) -> Read:
    def values(column: pa.Array) -> Iterator[str | None]:
        for octets in read(column):
            yield None if octets is None else bytes(octets).decode("utf-8", "surrogateescape")

    return values


# Other types.


def _digits(column: pa.Array) -> Iterator[str | None]:
    return (None if number is None else str(number) for number in column.to_pylist())


def _moments(column: pa.Array) -> Iterator[datetime | None]:
    """Return times of any unit; times without a zone are in UTC."""
    unit = column.type.unit
    for count in column.view(pa.int64()).to_pylist():
        yield None if count is None else _moment(count, unit)


def _moment(count: int, unit: str) -> datetime | None:
    microseconds = count // 1000 if unit == "ns" else count * _MICROSECONDS[unit]
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _are_times(type_: pa.DataType) -> bool:
    if not (types.is_list(type_) or types.is_large_list(type_)) or not types.is_struct(type_.value_type):
        return False
    fields = {field.name: field.type for field in type_.value_type}
    offset, seconds = fields.get("offset", pa.null()), fields.get("seconds", pa.null())
    return bool(types.is_integer(offset) and types.is_floating(seconds))


_32, _64 = _bytes_by("i"), _bytes_by("q")
_STRINGS: dict[Callable[[pa.DataType], bool], Read] = {
    types.is_string: _32,
    types.is_large_string: _64,
    types.is_string_view: _views,
}
_BINARIES: dict[Callable[[pa.DataType], bool], Read] = {
    types.is_binary: _32,
    types.is_large_binary: _64,
    types.is_binary_view: _views,
}
_TEXTS = {is_so: _texts_by(read) for is_so, read in _STRINGS.items()} | {types.is_null: _plain}
BODY: Kind = ("bytes or text", {**_BINARIES, **_STRINGS, types.is_null: _plain})
TEXT: Kind = ("text", _TEXTS)
ID: Kind = ("text or integers", {**_TEXTS, types.is_integer: _digits})
MOMENT: Kind = ("timestamps", {types.is_timestamp: _moments, types.is_null: _plain})
TIMES: Kind = (
    "lists of structs with an integer `offset` and a float `seconds`",
    {_are_times: _plain, types.is_null: _plain},
)
_PLAIN = (types.is_string, types.is_large_string, types.is_string_view, types.is_boolean, types.is_integer)
_BINARY = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)


# --- conversations ---------------------------------------------------------------------------------------


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
