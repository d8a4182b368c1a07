"""Rows as columns of Arrow, and assembled tables as flat ones.

Theory of operation. A batch has a column for each field of its schema; the calls of all its rows are in separate
columns below it. Texts that are not valid UTF-8 (half a surrogate pair in a name, an id, a drop) make Arrow refuse a
whole column. Therefore each column is tried as it is; only if that fails, its texts are repaired one by one: U+FFFD
replaces the invalid part, and the row is `lossy`. Rows are put into several batches where they are many, or have more
text than a column of Arrow holds.

Tables that came back from an engine have its types: texts and lists become large ones or views, words become
dictionaries, metadata is lost. Therefore their columns are found by name and cast to the types of the schema; a table
with the original types is only split. A Table gives a Table, a RecordBatch gives a RecordBatch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute

from wholecall.bulk.rows import MOST_CHARACTERS, SURROGATE, Row
from wholecall.bulk.schema import ASSEMBLED, CALLS, RECORDINGS

_private = True

pc: Any = pyarrow.compute  # its functions are made at import
TableT = TypeVar("TableT", pa.Table, pa.RecordBatch)
ItemT = TypeVar("ItemT")
_MOST_ROWS = 1024  # of a batch: until it is made they are Python objects
_TEXT, _WORDS = pa.string(), pa.list_(pa.string())
_CALL_FIELDS = list(CALLS)[1:]  # without the id of the recording
_JSON = ("arguments", "usage")  # the columns whose texts are JSON


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


# --- flat tables -----------------------------------------------------------------------------------------


def calls_of(table: TableT) -> TableT:
    """Return the calls of assembled rows as a flat table, one row for each call.

    Args:
        table: the result of `assemble_batch`, a Table or a RecordBatch; also after an engine changed its types. Other
            columns are ignored.

    Returns:
        A Table for a Table, a RecordBatch for a RecordBatch, with the schema `CALLS`.

    Raises:
        ValueError: a column is missing.
        TypeError: it is neither a Table nor a RecordBatch, or `calls` is not a list of structs.
    """
    return _each(table, _calls, CALLS)


def recordings_of(table: TableT) -> TableT:
    """Return assembled rows without their calls; see `calls_of`.

    Returns:
        A Table for a Table, a RecordBatch for a RecordBatch, with the schema `RECORDINGS`.

    Raises:
        ValueError: a column is missing.
        TypeError: it is neither a Table nor a RecordBatch.
    """
    return _each(table, _recordings, RECORDINGS)


def with_json_type(table: TableT) -> TableT:
    """Return a table whose JSON texts (`arguments`, also of `calls`, and `usage`) have the type `arrow.json`.

    For engines that make use of it. Others decode such columns, or refuse them, so it is only done on request.

    Args:
        table: one of the tables of this module, a Table or a RecordBatch.

    Raises:
        TypeError: it is neither a Table nor a RecordBatch.
        ValueError: the installed pyarrow has no such type (it came with 19).
    """
    given = checked(table).schema
    if not hasattr(pa, "json_"):
        raise ValueError(f"pyarrow {pa.__version__} has no type arrow.json; pip install 'pyarrow>=19'")
    fields = [field.with_type(_typed(field)) for field in given]
    schema = pa.schema(fields, given.metadata)
    return _each(table, lambda batch: list(map(_as, batch.columns, fields)), schema)


def _each(table: TableT, made: Callable[[pa.RecordBatch], list[pa.Array]], schema: pa.Schema) -> TableT:
    """Return a table of the results for each batch of another."""
    found = [made(part) for part in parts(checked(table))]
    return like(table, [pa.RecordBatch.from_arrays(columns, schema=schema) for columns in found], schema)


def _recordings(batch: pa.RecordBatch) -> list[pa.Array]:
    return [_cast(_named(batch, field.name), field.type) for field in RECORDINGS]


def _calls(batch: pa.RecordBatch) -> list[pa.Array]:
    ids, lists = _named(batch, "recording_id"), _named(batch, "calls")
    if not hasattr(lists.type, "value_type") or not pa.types.is_struct(lists.type.value_type):
        raise TypeError(f"calls is no list of structs but {lists.type}")
    calls, of_rows = pc.list_flatten(lists), pc.list_parent_indices(lists)
    known = {field.name for field in calls.type}
    first, *fields = CALLS
    missing = [field.name for field in fields if field.name not in known]
    if missing:
        raise ValueError(f"the calls have no {', '.join(missing)}")
    found = [_cast(pc.struct_field(calls, field.name), field.type) for field in fields]
    return [_cast(ids, first.type).take(of_rows), *found]


def _named(batch: pa.RecordBatch, name: str) -> pa.Array:
    if batch.schema.get_field_index(name) < 0:
        raise ValueError(f"there is no column {name!r}, or several; give what assemble_batch returned")
    return batch.column(name)


def _cast(column: pa.Array, type_: pa.DataType) -> pa.Array:
    return column if column.type == type_ else column.cast(type_)


# The type of JSON.


def _typed(field: pa.Field) -> pa.DataType:
    """Return the type of a field with JSON text typed as JSON."""
    if field.name in _JSON and field.type == pa.string():
        return pa.json_()
    if field.name == "calls" and pa.types.is_list(field.type):
        inner = [one.with_type(_typed(one)) for one in field.type.value_type]
        return pa.list_(field.type.value_field.with_type(pa.struct(inner)))
    return field.type


def _as(column: pa.Array, field: pa.Field) -> pa.Array:
    """Return a column with the type of a field, which only adds meaning to its values."""
    if column.type == field.type:
        return column
    if not pa.types.is_list(column.type):
        return pa.ExtensionArray.from_storage(field.type, column)
    inner = list(field.type.value_type)
    below = pa.StructArray.from_arrays(list(map(_as, column.flatten().flatten(), inner)), fields=inner)
    ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(column), 0))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends.cast(pa.int32())])
    return pa.ListArray.from_arrays(offsets, below, type=field.type, mask=column.is_null())


# --- the type of the result ------------------------------------------------------------------------------


def checked(table: TableT) -> TableT:
    """Return the argument if it is a Table or a RecordBatch.

    Raises:
        TypeError: it is neither a Table nor a RecordBatch.
    """
    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        raise TypeError(f"give a Table or a RecordBatch of pyarrow, not a {type(table).__name__}")
    return table


def parts(table: TableT) -> list[pa.RecordBatch]:
    """Return a table in batches: each column of a batch is in one piece."""
    return cast("list[pa.RecordBatch]", table.to_batches()) if isinstance(table, pa.Table) else [table]


def like(table: TableT, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> TableT:
    """Return batches as an object of the input's type.

    Raises:
        ValueError: the input was a RecordBatch, and they have more text than one holds.
    """
    made: Any = list(batches)
    whole = pa.Table.from_batches(made, schema)
    if isinstance(table, pa.Table):
        return cast("TableT", whole)
    if len(made) != 1:
        made = whole.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema)]
    if len(made) > 1:
        raise ValueError("its rows have more text than one RecordBatch holds; give fewer at once, or a Table")
    return cast("TableT", made[0])
