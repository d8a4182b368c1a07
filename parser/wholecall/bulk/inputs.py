"""What a table brings for its recordings: columns by name, and their values as Python has them.

Theory of operation. A column that is missing, or of a type that cannot be meant, is the caller's mistake and raises
before anything is read. What is in a row never raises: null is None, text that is no UTF-8 keeps its bytes as half
surrogates, which is repaired where it is written down again, and a time of no calendar is None. Bodies are not copied,
and dictionaries not written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
from pyarrow import types

__all__ = ["BODY", "ID", "MOMENT", "TEXT", "TIMES", "Kind", "Read", "reader", "rows_in"]
_private = True

Read = Callable[[Any], Any]  # from a scalar of Arrow, which may be null, to a value of Python
Kind = tuple[str, dict[Callable[[pa.DataType], bool], Read]]  # what may be in a column, in words and by type

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}  # a nanosecond is less than one


def reader(schema: pa.Schema, name: str, kind: Kind) -> Read:
    """Return what reads the values of a column.

    Raises:
        ValueError: there is no such column, or several.
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
    """Yield what is found in each row; `reads` says in which column what is, and how it is read."""
    for table in tables:
        columns = [map(read, table.column(name)) for name, read in reads.values()]
        for values in zip(*columns, strict=True):
            yield dict(zip(reads, values, strict=True))


def _through(read: Read) -> Read:
    """Return what reads a value of a dictionary."""
    return lambda scalar: read(scalar.value) if scalar.is_valid else None


def _nothing(_: Any) -> None:
    return None


def _bytes(scalar: Any) -> memoryview | None:
    return memoryview(scalar.as_buffer()) if scalar.is_valid else None


def _text(scalar: Any) -> str | None:
    return bytes(scalar.as_buffer()).decode("utf-8", "surrogateescape") if scalar.is_valid else None


def _number(scalar: Any) -> str | None:
    return str(scalar.as_py()) if scalar.is_valid else None


def _moment(scalar: Any) -> datetime | None:
    """Return a time of whatever unit; one without a zone is in UTC."""
    if not scalar.is_valid:
        return None
    unit = scalar.type.unit
    count = scalar.value // 1000 if unit == "ns" else scalar.value * _MICROSECONDS[unit]
    try:
        return _EPOCH + timedelta(microseconds=count)
    except OverflowError:
        return None


def _times(scalar: Any) -> list[dict[str, Any] | None] | None:
    return scalar.as_py() if scalar.is_valid else None


def _are_times(type_: pa.DataType) -> bool:
    if not (types.is_list(type_) or types.is_large_list(type_)) or not types.is_struct(type_.value_type):
        return False
    fields = {field.name: field.type for field in type_.value_type}
    offset, seconds = fields.get("offset", pa.null()), fields.get("seconds", pa.null())
    return bool(types.is_integer(offset) and types.is_floating(seconds))


_TEXTS: dict[Callable[[pa.DataType], bool], Read] = dict.fromkeys(
    (types.is_string, types.is_large_string, types.is_string_view), _text
)
_BYTES: dict[Callable[[pa.DataType], bool], Read] = dict.fromkeys(
    (types.is_binary, types.is_large_binary, types.is_binary_view, *_TEXTS), _bytes
)
TEXT: Kind = ("text", {**_TEXTS, types.is_null: _nothing})
BODY: Kind = ("bytes or text", {**_BYTES, types.is_null: _nothing})
ID: Kind = ("text or integers", {**_TEXTS, types.is_integer: _number, types.is_null: _nothing})
MOMENT: Kind = ("timestamps", {types.is_timestamp: _moment, types.is_null: _nothing})
TIMES: Kind = (
    "lists of structs with an integer `offset` and a float `seconds`",
    {_are_times: _times, types.is_null: _nothing},
)
