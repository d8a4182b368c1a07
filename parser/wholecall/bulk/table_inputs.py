"""Tables as inputs of a scan: Parquet, Arrow and JSON lines that hold raw bodies, or conversations, in a column.

Theory of operation. A table is cut into pieces when it is planned: runs of row groups, of record batches, or of lines.
Its columns are checked then, so that a scan that could not end does not begin. Only the requested columns are read, few
rows at a time. An unreadable row is a row with `trouble`; in an unreadable row group, each row is one.

A column is found by its name, or by a path of names that goes into structs; a member of a null struct is null. Of
Parquet 64 rows are read at a time; an Arrow file is mapped into memory; from a store both are read in ranges. An
uncompressed file of JSON lines is cut at line feeds, and its lines are counted while it is planned: rows are called by
their numbers, from 0, blank lines counted. Only the requested members of a line are decoded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from itertools import repeat
from pathlib import PurePath
from typing import Any, Optional, Union

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wholecall import BadRecording
from wholecall.bulk import column_values, conversations, recording_files, storage, streams, units
from wholecall.bulk.options import Columns, Options
from wholecall.bulk.rows import Judging, Known, Row, troubled
from wholecall.bulk.units import Piece
from wholecall.recordings.finding import COMPRESSED, Place
from wholecall.recordings.source import opened

_private = True

# Values by member of `Columns`: texts, bytes, a time. `trouble` is why there is no body.
Found = dict[str, Any]
Rows = Iterator[Optional[Union[Found, str]]]  # a text says why a row cannot be read; None is no row at all
SUFFIXES = (".parquet", ".arrow", ".jsonl")


class Table(msgspec.Struct, frozen=True):
    """The reader of tables in one format.

    Attributes:
        cut: yields the pieces of a table; raises ValueError for columns that are missing or of other types.
        rows: yields the content of each row of a piece; the last argument bounds compressed content, None for the usual
            bound.
    """

    cut: Callable[[Piece, Columns], Iterator[Piece]]
    rows: Callable[[Piece, Columns, Optional[int]], Rows]


def is_table(path: str) -> bool:
    """Return whether a file is certainly a table, by its name."""
    return PurePath(path).suffix.lower() in _BINARY


def _table(piece: Piece) -> Table:
    return _BINARY.get(PurePath(piece.path).suffix.lower(), LINES)


def _columns(options: Options) -> Columns:
    assert options.columns is not None
    return options.columns


def cut(piece: Piece, options: Options) -> Iterator[Piece]:
    """Yield the pieces of a table, at least one; an unreadable table is a piece with trouble.

    Raises:
        ValueError: it lacks a requested column, or a column has the wrong type.
    """
    if piece.trouble is not None:
        yield piece
        return
    yield from _table(piece).cut(piece, _columns(options))


def rows_of_table(
    piece: Piece, options: Options, judging: Judging, lost: Mapping[int, str], only: tuple[int, int] | None
) -> Iterator[Row]:
    """Yield the rows of a piece.

    Args:
        piece: a piece of a table.
        options: the options of the scan.
        judging: the settings for reading recordings.
        lost: rows that are given up, by their number in the piece, and why.
        only: the number of the first row to read, and of the row after the last; None reads all.
    """
    if piece.trouble is not None:
        yield recording_files.unread_file(piece, piece.trouble)
        return
    for number, found in enumerate(_table(piece).rows(piece, _columns(options), options.max_bytes)):
        if found is not None and (only is None or only[0] <= number < only[1]):
            said = lost.get(number, found) if lost else found
            yield _row(said, piece, piece.row + number, options, judging)


def count_rows(piece: Piece, options: Options) -> int:
    """Return how many rows a piece has, after each was read, but not parsed."""
    return (
        0
        if piece.trouble
        else sum(1 for _ in _table(piece).rows(piece, _columns(options), options.max_bytes))
    )


def _row(found: Found | str, piece: Piece, number: int, options: Options, judging: Judging) -> Row:
    """Return the row of one row of a table, or of the reason for its absence."""
    known = Known(recording_id=f"{piece.source}#{number}", source=piece.source, source_index=number)
    if isinstance(found, str):
        return troubled(known, found)
    known = msgspec.structs.replace(
        known,
        recording_id=found.get("id") or known.recording_id,
        provider=found.get("provider"),
        model=found.get("model"),
        dialect=found.get("dialect") or options.dialect,
        recorded_at=found.get("recorded_at"),
    )
    row = _row_of_found(found, known, judging)
    if _columns(options).id is not None and found.get("id") is None:
        row.recording["trouble"] = row.recording["trouble"] or "it has no id"
    return row


def _row_of_found(found: Found, known: Known, judging: Judging) -> Row:
    if "messages" in found:
        return conversations.row_of_messages(found["messages"], known, judging)
    body = found["body"]
    if body is None:
        return troubled(known, found.get("trouble", "its body is null"))
    return streams.row_of([(None, body)], known, judging)


_BATCH = 64  # rows
_KINDS: dict[str, column_values.Kind] = {
    "body": column_values.BODY,
    "messages": column_values.MESSAGES,
    "id": column_values.ID,
    "provider": column_values.TEXT,
    "model": column_values.TEXT,
    "dialect": column_values.TEXT,
    "recorded_at": column_values.MOMENT,
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
    reads = [column_values.reader(flat.schema, name, _KINDS[role]) for role, name in named.items()]
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
            storage.storage_of(piece.path).ranges(piece.path) as source,
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
        if number > start and weight + size > units.MOST_BYTES:
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
        source = storage.storage_of(piece.path).ranges(piece.path)
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
        with storage.storage_of(piece.path).mapped(piece.path) as mapped:
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
    with storage.storage_of(piece.path).mapped(piece.path) as mapped:
        opened = _opened(mapped)
        if piece.start is None or piece.stop is None:
            yield from opened
        else:
            yield from map(opened.get_batch, range(piece.start, piece.stop))


PARQUET = Table(_cut_parquet, _rows_of_parquet)
ARROW = Table(_cut_arrow, _rows_of_arrow)
_BLOCK = 1 << 20
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NO_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


# --- JSON lines: planning --------------------------------------------------------------------------------


def _cut_lines(piece: Piece, _: Columns) -> Iterator[Piece]:
    if piece.path.lower().endswith(COMPRESSED):
        yield piece
        return
    start = row = 0
    try:
        for stop, n_rows in _ends(piece.path):
            yield msgspec.structs.replace(
                piece, weight=stop - start, start=start, stop=stop, row=row, n_rows=n_rows
            )
            start, row = stop, row + n_rows
    except OSError as error:
        yield msgspec.structs.replace(piece, trouble=error.strerror or type(error).__name__)


def _ends(path: str) -> Iterator[tuple[int, int]]:
    """Yield where the pieces of a file end, after line feeds, and how many lines each has."""
    position = start = n_lines = 0
    is_open = False
    with storage.storage_of(path).open(path) as file:
        while block := file.read(_BLOCK):
            begun = 0
            while (end := block.find(b"\n", max(begun, start + units.MOST_BYTES - position))) >= 0:
                yield position + end + 1, n_lines + block.count(b"\n", begun, end + 1)
                n_lines, begun = 0, end + 1
                start = position + begun
            n_lines += block.count(b"\n", begun)
            position += len(block)
            is_open = not block.endswith(b"\n")  # the last line has no end yet
        if position == 0 or position > start:
            yield position, n_lines + is_open


# --- JSON lines: reading ---------------------------------------------------------------------------------


def _rows_of_lines(piece: Piece, columns: Columns, max_bytes: int | None) -> Rows:
    names = columns.named()
    try:
        for line in _lines(piece, max_bytes):
            yield _found_in(line, names) if line.strip() else None
    except (BadRecording, OSError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error).removeprefix(f"{piece.path}: ")
        yield said or type(error).__name__


def _lines(piece: Piece, max_bytes: int | None) -> Iterator[bytes]:
    if piece.start is None or piece.stop is None:
        opens = partial(storage.storage_of(piece.path).open, piece.path)
        with opened(Place(piece.path, named=True, opens=opens, max_bytes=max_bytes)) as source:
            yield from source.lines()
        return
    with storage.storage_of(piece.path).open(piece.path, piece.start) as file:
        left = piece.stop - piece.start
        while left > 0 and (line := file.readline()):
            left -= len(line)
            yield line


def _found_in(line: bytes, names: dict[str, str]) -> Found | str:
    members = _object(line)
    if members is None:
        return "the line cannot be read as a JSON object"
    found = {role: _READS[role](_member(members, name)) for role, name in names.items() if role in _READS}
    if "messages" in names:
        found["messages"] = _messages(_undecoded(members, names["messages"]))
    elif found["body"] is None and _member(members, names["body"]) is not None:
        found["trouble"] = "its body is no text"
    return found


def _object(data: Any) -> dict[str, Any] | None:
    """Return the members of an object, undecoded where possible; None if the line is not an object.

    Half surrogate pairs are refused by the first decoder, and read by the second.
    """
    if not isinstance(data, (bytes, msgspec.Raw)):
        return data if isinstance(data, dict) else None
    with suppress(*_NO_JSON):
        return _MEMBERS.decode(data)
    value = _lenient(bytes(data))
    return value if isinstance(value, dict) else None


def _lenient(data: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(data)
    return None


def _member(members: dict[str, Any], name: str) -> Any:
    """Return a member by its name, or by a path of names; None if it is missing."""
    return _value(_undecoded(members, name))


def _undecoded(members: dict[str, Any], name: str) -> Any:
    """Return a member as the decoder of the line left it."""
    if name in members:
        return members[name]
    first, _, rest = name.partition(".")
    below = _object(members[first]) if rest and first in members else None
    return None if below is None else _undecoded(below, rest)


def _value(value: Any) -> Any:
    """Return a value, which may have to be decoded first."""
    if not isinstance(value, msgspec.Raw):
        return value
    with suppress(*_NO_JSON):
        return msgspec.json.decode(value)
    return _lenient(bytes(value))


def _messages(value: Any) -> Any:
    """Return a conversation as the bytes of its JSON where possible: a text that is JSON, or a value."""
    data = bytes(value) if isinstance(value, msgspec.Raw) else b'"'
    if not data.startswith(b'"'):
        return None if data == b"null" else data
    text = _bytes(_value(value))
    return _value(value) if text is None else text


def _bytes(value: Any) -> bytes | None:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _moment(value: Any) -> datetime | None:
    """Return the time in a text (RFC 3339) or of seconds since 1970; a time without a zone is in UTC."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        found: datetime = msgspec.convert(value, datetime, strict=False)
    except msgspec.ValidationError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


_READS: dict[str, Callable[[Any], Any]] = {
    "body": _bytes,
    "id": _id,
    "provider": _text,
    "model": _text,
    "dialect": _text,
    "recorded_at": _moment,
}
LINES = Table(_cut_lines, _rows_of_lines)
_BINARY: dict[str, Table] = {".parquet": PARQUET, ".arrow": ARROW}
