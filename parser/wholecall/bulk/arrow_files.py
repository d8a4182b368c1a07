"""Tables in Parquet, and in the file and stream formats of Arrow.

Theory of operation. A column is found by its name, or by a path of names that goes into structs; a member of a null
struct is null. Of Parquet only the requested columns are read, 64 rows at a time; an Arrow file is mapped into memory;
from a store both are read in ranges.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wholecall.bulk import plan
from wholecall.bulk.inputs import BODY, ID, MOMENT, TEXT, Kind, reader
from wholecall.bulk.nested import MESSAGES
from wholecall.bulk.options import Columns
from wholecall.bulk.plan import Piece
from wholecall.bulk.storage import storage_of
from wholecall.bulk.table_rows import Found, Rows, Table

__all__ = ["ARROW", "PARQUET"]
_private = True

_BATCH = 64  # rows
_KINDS: dict[str, Kind] = {
    "body": BODY,
    "messages": MESSAGES,
    "id": ID,
    "provider": TEXT,
    "model": TEXT,
    "dialect": TEXT,
    "recorded_at": MOMENT,
}
_COMPUTE: Any = pc  # its functions are made at import, which no type checker sees
_DAMAGE = (OSError, pa.ArrowException)


def _why(error: BaseException) -> str:
    """Return why something cannot be read; Arrow's messages may quote the input, so they are left out."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else f"it cannot be read ({type(error).__name__})"


# --- columns ---------------------------------------------------------------------------------------------


def _flat(batch: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """Return the requested columns, under the requested names.

    Raises:
        ValueError: a column is missing.
    """
    names = list(dict.fromkeys(columns.named().values()))
    return pa.RecordBatch.from_arrays([_column(batch, name) for name in names], names=names)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name in batch.schema.names:
        return batch.column(batch.schema.get_field_index(name))
    first, *below = name.split(".")
    if below and first in batch.schema.names:
        try:
            return _COMPUTE.struct_field(batch.column(batch.schema.get_field_index(first)), below)
        except (KeyError, pa.ArrowException):
            pass  # reported below, with a more precise message
    there = ", ".join(batch.schema.names)
    raise ValueError(f"the table has no column {name!r}; its columns are: {there}")


def _checked(piece: Piece, schema: pa.Schema, columns: Columns) -> None:
    """Check that the columns exist and have the right types.

    Raises:
        ValueError: a column is missing or has the wrong type.
    """
    try:
        _read(pa.RecordBatch.from_pylist([], schema), columns)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{piece.path}: {error}") from None


def _read(batch: pa.RecordBatch, columns: Columns) -> Iterator[Found]:
    """Return the content of each row of a batch; the columns are checked at once."""
    flat, named = _flat(batch, columns), columns.named()
    reads = [reader(flat.schema, name, _KINDS[what]) for what, name in named.items()]
    values = [read(flat.column(name)) for read, name in zip(reads, named.values(), strict=True)]
    return (dict(zip(named, row, strict=True)) for row in zip(*values, strict=True))


def _rows_of(batches: Iterator[pa.RecordBatch], n_rows: int | None, columns: Columns) -> Rows:
    """Yield the content of the rows of batches; where they break off, each missing row is an unreadable row.

    Args:
        batches: the rows.
        n_rows: the number of rows, None where it is unknown.
        columns: the requested columns.
    """
    number = 0
    try:
        for batch in batches:
            for found in _read(batch, columns):
                yield found
                number += 1
    except (
        *_DAMAGE,
        ValueError,
        TypeError,
    ) as error:  # also of columns that have changed since they were checked
        why = _why(error)
        yield from repeat(why, 1 if n_rows is None else n_rows - number)


# --- Parquet ---------------------------------------------------------------------------------------------


def _cut_parquet(piece: Piece, columns: Columns) -> Iterator[Piece]:
    try:
        with (
            storage_of(piece.path).ranges(piece.path) as source,
            pq.ParquetFile(source, pre_buffer=False) as file,
        ):
            schema, metadata = file.schema_arrow, file.metadata
    except _DAMAGE as error:
        yield msgspec.structs.replace(piece, trouble=_why(error))
        return
    _checked(piece, schema, columns)
    sizes = [
        _group_size(metadata.row_group(number), columns.main) for number in range(metadata.num_row_groups)
    ]
    yield from _runs(piece, sizes)


def _group_size(group: Any, column: str) -> tuple[int, int]:
    """Return the bytes of a column in a row group, before compression, and its rows."""
    chunks = [group.column(number) for number in range(group.num_columns)]
    size = sum(
        chunk.total_uncompressed_size
        for chunk in chunks
        if f"{chunk.path_in_schema}.".startswith(f"{column}.")
    )
    return size or group.total_byte_size, group.num_rows


def _runs(piece: Piece, sizes: list[tuple[int, int]]) -> Iterator[Piece]:
    """Yield pieces of neighbouring groups, each small enough to be a unit."""
    start = weight = row = n_rows = 0
    for number, (size, rows) in enumerate(sizes):
        if number > start and weight + size > plan.MOST_BYTES:
            yield _run(piece, start, number, weight, row, n_rows)
            start, row, weight, n_rows = number, row + n_rows, 0, 0
        weight, n_rows = weight + size, n_rows + rows
    yield _run(piece, start, len(sizes), weight, row, n_rows)


def _run(piece: Piece, start: int, stop: int, weight: int, row: int, n_rows: int) -> Piece:
    return msgspec.structs.replace(piece, start=start, stop=stop, weight=weight, row=row, n_rows=n_rows)


def _rows_of_parquet(piece: Piece, columns: Columns, _max_bytes: int | None) -> Rows:
    """Yield the rows of row groups, each read separately: a damaged group costs no other group."""
    names = list(columns.named().values())
    try:
        source = storage_of(piece.path).ranges(piece.path)
        file = pq.ParquetFile(source, pre_buffer=False)
    except _DAMAGE as error:
        yield from repeat(_why(error), 1 if piece.n_rows is None else piece.n_rows)
        return
    with source, file:
        for group in range(piece.start or 0, piece.stop or 0):
            batches = file.iter_batches(_BATCH, row_groups=[group], columns=names)
            yield from _rows_of(batches, file.metadata.row_group(group).num_rows, columns)


# --- Arrow -----------------------------------------------------------------------------------------------


def _cut_arrow(piece: Piece, columns: Columns) -> Iterator[Piece]:
    try:
        with storage_of(piece.path).mapped(piece.path) as mapped:
            opened = _opened(mapped)
            schema = opened.schema
            sizes = _batch_sizes(opened)
    except _DAMAGE as error:
        yield msgspec.structs.replace(piece, trouble=_why(error))
        return
    _checked(piece, schema, columns)
    yield from [piece] if sizes is None else _runs(piece, sizes)


def _opened(mapped: Any) -> Any:
    """Return the reader of a file, or of a stream in a file."""
    try:
        return pa.ipc.open_file(mapped)
    except pa.ArrowInvalid:
        mapped.seek(0)
        return pa.ipc.open_stream(mapped)


def _batch_sizes(opened: Any) -> list[tuple[int, int]] | None:
    """Return the bytes and rows of each batch; None for a stream, which has no directory."""
    if isinstance(opened, pa.RecordBatchStreamReader):
        return None
    batches = map(opened.get_batch, range(opened.num_record_batches))
    return [(batch.nbytes, batch.num_rows) for batch in batches]


def _rows_of_arrow(piece: Piece, columns: Columns, _max_bytes: int | None) -> Rows:
    return _rows_of(_arrow_batches(piece), piece.n_rows, columns)


def _arrow_batches(piece: Piece) -> Iterator[pa.RecordBatch]:
    with storage_of(piece.path).mapped(piece.path) as mapped:
        opened = _opened(mapped)
        if piece.start is None or piece.stop is None:
            yield from opened
        else:
            yield from map(opened.get_batch, range(piece.start, piece.stop))


PARQUET = Table(_cut_parquet, _rows_of_parquet)
ARROW = Table(_cut_arrow, _rows_of_arrow)
