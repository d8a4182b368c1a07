"""A Table for a Table, a RecordBatch for a RecordBatch: engines expect the type that they passed in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

import pyarrow as pa

__all__ = ["TableT", "checked", "like", "parts"]
_private = True

TableT = TypeVar("TableT", pa.Table, pa.RecordBatch)


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
