"""Writes the parts of a unit: each Parquet file is either whole or absent.

Theory of operation. Tables are gathered until a row group is large enough, then it is written, so that memory holds one
row group of each table. Both parts are drafts until they are finished; then they get their names, and last comes the
marker. If anything fails before the marker is written, the unit is done again, and writes the same bytes to the same
names.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from wholecall.bulk.folder import TABLES, Folder
from wholecall.bulk.plan import Unit
from wholecall.bulk.schema import CALLS, RECORDINGS
from wholecall.bulk.storage import Draft

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CannotWriteError", "Parts", "writing"]
_private = True

_GROUP_ROWS = 64 * 1024
_GROUP_BYTES = 32 * 1024 * 1024
# Nearly every value of these columns differs, so that a dictionary of them is only larger.
_DIVERSE = frozenset({"arguments", "raw_arguments", "call_id", "recording_id", "content_hash"})
_SCHEMAS: Mapping[str, pa.Schema] = {"calls": CALLS, "recordings": RECORDINGS}


class CannotWriteError(Exception):
    """The output cannot be written; the message says why."""


@contextmanager
def writing() -> Generator[None]:
    """Distinguish errors of the output from those of the input.

    Raises:
        CannotWriteError: instead of OSError.
    """
    try:
        yield
    except OSError as error:
        raise CannotWriteError(error.strerror or str(error)) from error


class Parts:
    """The parts of a unit. Leaving the context without `publish` removes the files.

    Raises:
        CannotWriteError: from each method: the output cannot be written.
    """

    @writing()
    def __init__(self, folder: Folder, unit: Unit) -> None:
        self._folder = folder
        self._parts = {table: _Part(folder.draft(table, unit), _SCHEMAS[table]) for table in TABLES}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for part in self._parts.values():
            part.abandon()

    @writing()
    def add(self, calls: pa.Table, recordings: pa.Table) -> None:
        """Add rows to both tables."""
        self._parts["calls"].add(calls)
        self._parts["recordings"].add(recordings)

    @writing()
    def publish(self) -> dict[str, int]:
        """Make both parts durable, give them their names, and return their sizes."""
        sizes = {table: part.finish() for table, part in self._parts.items()}
        for part in self._parts.values():
            part.draft.publish()
        self._folder.settle()
        return sizes


class _Part:
    """One Parquet file."""

    def __init__(self, draft: Draft, schema: pa.Schema) -> None:
        self.draft = draft
        self._schema = schema
        self._writer = pq.ParquetWriter(
            draft.file,
            schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=_repeating(schema),
            write_statistics=True,
        )
        self._gathered: list[pa.Table] = []
        self._n_rows = self._n_bytes = 0

    def add(self, table: pa.Table) -> None:
        self._gathered.append(table)
        self._n_rows += table.num_rows
        self._n_bytes += table.nbytes
        if self._n_rows >= _GROUP_ROWS or self._n_bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._n_rows:
            table = pa.concat_tables(self._gathered).cast(self._schema)
            self._writer.write_table(table, row_group_size=self._n_rows)
        self._gathered, self._n_rows, self._n_bytes = [], 0, 0

    def finish(self) -> int:
        self._flush()
        self._writer.close()
        return self.draft.finish()

    def abandon(self) -> None:
        """Remove an unpublished file; an open writer complains when it is deleted."""
        with suppress(OSError, ValueError, pa.ArrowException):
            self._writer.close()
        self.draft.abandon()


def _repeating(schema: pa.Schema) -> Any:
    """Return the columns that have a dictionary, as Parquet names them: a list is the column of its elements."""
    return [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
        if field.name not in _DIVERSE
    ]
