"""Rows to the columns of Arrow.

Theory of operation. A batch has a column for each field of its schema; the calls of all its rows are in separate
columns below it. Texts that are not valid UTF-8 (half a surrogate pair in a name, an id, a drop) make Arrow refuse a
whole column. Therefore each column is tried as it is; only if that fails, its texts are repaired one by one: U+FFFD
replaces the invalid part, and the row is `lossy`. Rows are put into several batches where they are many, or have more
text than a column of Arrow holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar

import pyarrow as pa

from wholecall.bulk.flattening import calls_of, recordings_of
from wholecall.bulk.rows import MOST_CHARACTERS, SURROGATE, Row
from wholecall.bulk.schema import ASSEMBLED, CALLS, RECORDINGS

__all__ = ["assembled", "batches", "columns", "flat", "grouped"]
_private = True

ItemT = TypeVar("ItemT")

_MOST_ROWS = 1024  # of a batch: until it is made they are Python objects
_TEXT, _WORDS = pa.string(), pa.list_(pa.string())
_CALL_FIELDS = list(CALLS)[1:]  # without the id of the recording


def flat(rows: Iterable[Row]) -> tuple[pa.Table, pa.Table]:
    """Return the calls and the recordings of some rows, by the schemas `CALLS` and `RECORDINGS`."""
    table = assembled(rows)
    return calls_of(table), recordings_of(table)


def assembled(rows: Iterable[Row]) -> pa.Table:
    """Return some rows as a table by the schema `ASSEMBLED`, in their order."""
    return pa.Table.from_batches(list(batches(rows)), ASSEMBLED)


def batches(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Yield rows in batches by the schema `ASSEMBLED`, in order; few are held at once."""
    return map(_batch, grouped(rows, _size))


def grouped(items: Iterable[ItemT], size: Callable[[ItemT], int]) -> Iterator[list[ItemT]]:
    """Yield items in groups that fit a batch; `size` returns the characters of text of an item."""
    held: list[ItemT] = []
    n_characters = 0
    for item in items:
        n_characters += size(item)
        if held and (len(held) == _MOST_ROWS or n_characters > MOST_CHARACTERS):
            yield held
            held, n_characters = [], size(item)
        held.append(item)
    if held:
        yield held


def columns(fields: Sequence[pa.Field], rows: Sequence[dict[str, Any]]) -> list[pa.Array]:
    """Return the columns of these fields from rows by column; the column `lossy` shows repaired rows."""
    lossy = [row["lossy"] for row in rows]
    made = {field.name: _column(field, rows, lossy) for field in fields}
    return [pa.array(lossy, field.type) if field.name == "lossy" else made[field.name] for field in fields]


def _size(row: Row) -> int:
    """Return how many characters of text a row has, without its lists of words."""
    said = (row.recording, *row.calls)
    return sum(len(value) for columns in said for value in columns.values() if type(value) is str)


def _batch(rows: Sequence[Row]) -> pa.RecordBatch:
    recordings = columns(list(RECORDINGS), [row.recording for row in rows])
    calls = columns(_CALL_FIELDS, [call for row in rows for call in row.calls])
    below = pa.StructArray.from_arrays(calls, fields=_CALL_FIELDS)
    lists = pa.ListArray.from_arrays(_offsets(row.calls for row in rows), below)
    return pa.RecordBatch.from_arrays([*recordings, lists], schema=ASSEMBLED)


def _column(field: pa.Field, rows: Sequence[dict[str, Any]], lossy: list[bool]) -> pa.Array:
    values = [row[field.name] for row in rows]
    if field.type == _TEXT:
        return _texts(values, range(len(values)), lossy)
    if field.type == _WORDS:
        words = [word for said in values for word in said]
        of_rows = [number for number, said in enumerate(values) for _ in said]
        return pa.ListArray.from_arrays(_offsets(values), _texts(words, of_rows, lossy))
    return pa.array(values, field.type)


def _texts(values: list[str | None], of_rows: Sequence[int], lossy: list[bool]) -> pa.Array:
    """Return a column of texts; a row whose text is repaired becomes lossy."""
    try:
        return pa.array(values, _TEXT)
    except UnicodeEncodeError:
        repaired = [None if value is None else SURROGATE.sub("\ufffd", value) for value in values]
    for number, before, after in zip(of_rows, values, repaired, strict=True):
        lossy[number] = lossy[number] or before != after
    return pa.array(repaired, _TEXT)


def _offsets(lists: Iterable[Sequence[Any]]) -> pa.Array:
    """Return where lists begin and end when they are concatenated."""
    return pa.array([0, *accumulate(map(len, lists))], pa.int32())
