"""Recordings with their calls, some thousands at a time.

Theory of operation. In flat tables the calls are in the order of their recordings, so both are read once, in step: the
calls of a window of recordings are the next calls, up to the first that belongs to another window. That needs no memory
for earlier rows, and notices tables that do not belong together. In an assembled table each row holds its calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute

from wholecall.bulk.reporting.files import CALL_COLUMNS, RECORDING_COLUMNS, Found, cast, tables
from wholecall.bulk.schema import CALLS

__all__ = ["Window", "windows"]
_private = True

pc: Any = pyarrow.compute  # its functions are made at import

_N_RECORDINGS: Final = 32_768  # of a window, at most; more make fewer sums to add up
_N_CALLS: Final = 131_072  # of a window, about
_OF_ROWS: Final = CALL_COLUMNS[1:]  # a call in a row of a recording has no separate id


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
        yield _opened(_arrays(table))


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


def _opened(recordings: dict[str, Any]) -> Window:
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
