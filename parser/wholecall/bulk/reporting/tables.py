"""The tables of a report: the Parquet files of `wholecall scan` or an engine, read some thousands of recordings at a time.

Theory of operation. The kind of a file is found from its columns, as engines do not keep metadata. Columns that a file
lacks are null (they were appended to the schema after it was written), a related type (large strings, views,
dictionaries) is cast to the expected type, and all other columns, arguments among them, are not read.

Recordings are read in *windows*, each with its calls. In flat tables the calls are in the order of their recordings, so
both are read once, in step: the calls of a window are the next calls, up to the first that belongs to another window.
That needs no memory for earlier rows, and notices tables that do not belong together. In an assembled table each row
holds its calls.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
from pyarrow import fs

from wholecall.bulk.addresses import address
from wholecall.bulk.schema import ASSEMBLED, CALLS, VERSION
from wholecall.bulk.storage import storage_of

_private = True

pc: Any = pyarrow.compute  # its functions are made at import
RECORDING_COLUMNS: Final = (
    *("recording_id", "source", "form", "content_hash", "provider", "model", "dialect", "bytes", "turns"),
    *("n_calls", "n_dropped", "finish", "provider_finish", "faults", "anomalies"),
    *("input_tokens", "output_tokens", "first_text_s", "first_call_s", "last_s", "trouble"),
)
CALL_COLUMNS: Final = (
    *("recording_id", "outcome", "kind", "name", "status", "reason", "flags", "edits", "n_arguments_bytes"),
)
_N_RECORDINGS: Final = 32_768  # of a window, at most; more make fewer sums to add up
_N_CALLS: Final = 131_072  # of a window, about
_OF_ROWS: Final = CALL_COLUMNS[1:]  # a call in a row of a recording has no separate id
_ADVICE = (
    "give the folder that `wholecall scan --out` wrote, or Parquet files with the columns of wholecall.bulk"
)


class Found(NamedTuple):
    """The files of each table, in order: of `RECORDINGS`, of `CALLS` and of `ASSEMBLED`."""

    recordings: list[_File]
    calls: list[_File]
    assembled: list[_File]


class _File(NamedTuple):
    path: str  # its address


def found(paths: Iterable[str]) -> Found:
    """Return the tables at some paths: folders, files, or URLs of either in an object store.

    Raises:
        ValueError: there is none, or the files are not tables of ours.
        OSError: a file or folder cannot be read.
    """
    all_of = Found([], [], [])
    for path in paths:
        files = [_File(one) for one in _addresses(path)]
        if not files:
            raise ValueError(f"{path} holds no Parquet file: {_ADVICE}")
        for file in files:
            getattr(all_of, _table_of(file)).append(file)
    _pair(all_of)
    return all_of


def _addresses(path: str) -> list[str]:
    named = address(path)
    storage = storage_of(named)
    found = storage.info(named).type
    if found == fs.FileType.NotFound:
        raise FileNotFoundError(f"there is no {named}: {_ADVICE}")
    if found != fs.FileType.Directory:
        return [named]
    inside = storage.listed(named, recursive=True)
    seen = sorted(below for below, one in inside if one.type == fs.FileType.File and _is_seen(below))
    return [f"{named.rstrip('/')}/{below}" for below in seen]


def _is_seen(path: str) -> bool:
    """Return whether readers take a file: not a hidden file, nor one that is still being written."""
    return path.endswith(".parquet") and not any(part.startswith((".", "_")) for part in path.split("/"))


def _table_of(file: _File) -> str:
    with _parquet(file) as parquet:
        schema = parquet.schema_arrow
    version = (schema.metadata or {}).get(b"wholecall.schema", b"%d" % VERSION)
    if version != b"%d" % VERSION:
        raise ValueError(
            f"{file.path} has version {version.decode()} of the schema: a newer wholecall reads it"
        )
    names = set(schema.names)
    if "calls" in names and not _is_list_of_structs(schema.field("calls").type):
        raise ValueError(f"{file.path}: calls is no list of structs: {_ADVICE}")
    for table, needed in _NEEDED.items():
        if needed <= names:
            return table
    raise ValueError(f"{file.path} is no table of calls or recordings: {_ADVICE}")


def _is_list_of_structs(kind: Any) -> bool:
    return hasattr(kind, "value_type") and pa.types.is_struct(kind.value_type)


_NEEDED: Final = {  # the columns that identify each table
    "assembled": {"recording_id", "calls"},
    "calls": {"recording_id", "outcome"},
    "recordings": {"recording_id", "trouble"},
}


def _pair(files: Found) -> None:
    """Leave out calls of an unfinished unit: its recordings are missing so far.

    Raises:
        ValueError: one of the two tables is missing.
    """
    names = {file.path for file in files.recordings}
    for file in list(files.calls):
        folder, slash, name = file.path.rpartition("/calls/")
        its_recordings = f"{folder}/recordings/"
        if (
            slash
            and any(one.startswith(its_recordings) for one in names)
            and its_recordings + name not in names
        ):
            files.calls.remove(file)
    if files.calls and not files.recordings:
        raise ValueError(f"there are calls, but not the recordings that they are of: {_ADVICE}")
    if files.recordings and not files.calls:
        raise ValueError(f"there are recordings, but not their calls: {_ADVICE}")


# Reading.


def tables(files: Sequence[_File], columns: Sequence[str], n_rows: int) -> Iterator[Any]:
    """Yield some columns of files as tables of about so many rows, in order.

    Raises:
        ValueError: a file is damaged, or a column is of another type.
        OSError: a file cannot be read.
    """
    waiting: list[Any] = []
    for batch in (batch for file in files for batch in _batches(file, columns, n_rows)):
        waiting.append(batch)
        if sum(map(len, waiting)) >= n_rows:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def _batches(file: _File, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
    with _parquet(file) as parquet:
        leaves = [leaf for leaf in _leaves(parquet) if _is_wanted(leaf, columns)]
        for batch in parquet.iter_batches(n_rows, columns=leaves):
            yield pa.table({name: _column(batch, name, file) for name in columns})


def _leaves(parquet: Any) -> list[str]:
    return [parquet.schema.column(n).path for n in range(len(parquet.schema))]


def _is_wanted(leaf: str, columns: Sequence[str]) -> bool:
    """Return whether a column of the file is needed: `faults.list.element`, or `calls.list.element.name`."""
    first, *inner = leaf.split(".")
    if first != "calls":
        return first in columns
    return first in columns and any(name in CALL_COLUMNS for name in inner)


_TYPES: Final = {field.name: field.type for schema in (ASSEMBLED, CALLS) for field in schema}


def _column(batch: Any, name: str, file: _File) -> Any:
    wanted = _TYPES[name]
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, wanted)
    column = batch.column(name)
    return column if name == "calls" else cast(column, wanted, f"{file.path}: {name}")


def cast(column: Any, wanted: Any, what: str) -> Any:
    """Cast an array to another type.

    Raises:
        ValueError: the type is not related.
    """
    if column.type == wanted:
        return column
    try:
        return column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{what} is {column.type} instead of {wanted}") from error


@contextmanager
def _parquet(file: _File) -> Generator[Any]:
    try:
        with storage_of(file.path).ranges(file.path) as source, pq.ParquetFile(source) as parquet:
            yield parquet
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{file.path} is damaged, or no Parquet file: leave it out, or write it anew"
        ) from error


# --- windows ---------------------------------------------------------------------------------------------


class Window(NamedTuple):
    """Some recordings, and all calls of them.

    Attributes:
        recordings: arrays by column.
        calls: arrays by column, without `recording_id`.
        owners: the number of each call's recording, an array of `int64`.
    """

    recordings: dict[str, Any]
    calls: dict[str, Any]
    owners: Any

    @property
    def n_recordings(self) -> int:
        """How many recordings it has."""
        return len(self.recordings["recording_id"])


def windows(files: Found) -> Iterator[Window]:
    """Yield all recordings of some files.

    Raises:
        ValueError: calls and recordings are not in the same order, or a file is damaged.
        OSError: a file cannot be read.
    """
    calls = _Calls(tables(files.calls, CALL_COLUMNS, _N_CALLS))
    for table in tables(files.recordings, RECORDING_COLUMNS, _N_RECORDINGS):
        for part in _parts(table):
            recordings = _arrays(part)
            taken, owners = calls.of(recordings["recording_id"])
            yield Window(recordings, taken, owners)
    calls.end()
    for table in tables(files.assembled, (*RECORDING_COLUMNS, "calls"), _N_RECORDINGS):
        yield _window(_arrays(table))


def _parts(recordings: Any) -> Iterator[Any]:
    """Yield recordings in parts with few calls, as far as they say how many they have."""
    said = [recordings.column(name).fill_null(0).cast(pa.int64()) for name in ("n_calls", "n_dropped")]
    part_of_each = pc.divide(pc.cumulative_sum(_whole(pc.add(*said))), pa.scalar(_N_CALLS, pa.int64()))
    start = 0
    for count in pc.value_counts(part_of_each).field(1).to_pylist():
        yield recordings.slice(start, count)
        start += count


def _arrays(table: Any) -> dict[str, Any]:
    """Return the columns of a table; columns of one batch are not copied."""
    return {name: _whole(table.column(name)) for name in table.column_names}


def _whole(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


class _Calls:
    """Calls in the order of their recordings."""

    def __init__(self, tables: Iterator[Any]) -> None:
        self._tables = tables
        self._next: Any = None  # rows that are read but not taken yet

    def of(self, ids: Any) -> tuple[dict[str, Any], Any]:
        """Return the next calls as long as they belong to these recordings, and the number of each one's recording."""
        taken, owners = [], [pa.array([], pa.int64())]
        while self._fill():
            found = pc.index_in(self._next.column("recording_id"), value_set=ids)
            n_found = pc.index(found.is_null(), value=True).as_py() if found.null_count else len(found)
            taken.append(self._next.slice(0, n_found))
            owners.append(_whole(found.slice(0, n_found)).cast(pa.int64()))
            self._next = self._next.slice(n_found)
            if len(self._next):
                break
        table = pa.concat_tables(taken) if taken else _NO_CALLS
        return _arrays(table.select(_OF_ROWS)), pa.concat_arrays(owners)

    def _fill(self) -> bool:
        """Read on if no rows wait, and return whether there are any."""
        if self._next is None or not len(self._next):
            self._next = next(self._tables, None)
        return self._next is not None

    def end(self) -> None:
        """Refuse calls that remain after all recordings.

        Raises:
            ValueError: there are such calls.
        """
        if self._fill():
            raise ValueError(
                "the calls are not in the order of their recordings: sort both tables by recording_id, or give the "
                "report what `assemble_batch` returned"
            )


_NO_CALLS: Final = CALLS.empty_table()


def _window(recordings: dict[str, Any]) -> Window:
    """Return a window of an assembled table."""
    calls = recordings.pop("calls")
    if not (pa.types.is_list(calls.type) or pa.types.is_large_list(calls.type)):
        calls = cast(calls, pa.list_(calls.type.value_type), "calls")
    rows, owners = pc.list_flatten(calls), pc.list_parent_indices(calls).cast(pa.int64())
    names = {field.name for field in rows.type}
    columns = {
        name: pc.struct_field(rows, name) if name in names else pa.nulls(len(rows), CALLS.field(name).type)
        for name in _OF_ROWS
    }
    return Window(
        recordings, {name: cast(it, CALLS.field(name).type, name) for name, it in columns.items()}, owners
    )
