"""From assembled rows to the flat tables, also of tables that came back from an engine.

Theory of operation. Engines keep values and change types: texts and lists become large ones or views, words become
dictionaries, metadata is lost. Therefore columns are found by their names and cast to the types of the schema; a table
with the original types is only split.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute

from wholecall.bulk.schema import CALLS, RECORDINGS
from wholecall.bulk.shape import TableT, checked, like, parts

__all__ = ["calls_of", "recordings_of", "with_json_type"]
_private = True

pc: Any = pyarrow.compute  # its functions are made at import
_JSON = ("arguments", "usage")  # the columns whose texts are JSON


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
