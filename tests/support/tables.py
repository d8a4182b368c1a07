"""Tables of recordings, as `wholecall scan` and engines write them, made one recording at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from wholecall import BadRecording
from wholecall.bulk.columns import assembled, flat
from wholecall.bulk.rows import Judging, Known, Row, row_of, troubled
from wholecall.recordings import Recording, read

__all__ = ["rows_of", "write_assembled", "write_parts"]


def rows_of(*paths: str | Path) -> list[Row]:
    """Return the row of each recording at some paths."""
    return [_row(recording) for recording in read(*paths)]


def _row(recording: Recording) -> Row:
    known = Known(
        recording.name,
        recording.name.partition("#")[0],
        provider=recording.provider,
        dialect=recording.dialect,
        form=recording.form,
        name=recording.name,
    )
    if recording.trouble:
        return troubled(known, "unreadable")
    return row_of(recording.chunks, known, Judging())


def write_parts(folder: Path, rows: Sequence[Row], size: int = 100) -> Path:
    """Write rows as the parts of a scan, so many in each, and return the folder."""
    for table in ("calls", "recordings"):
        (folder / table).mkdir(parents=True)
    for number, start in enumerate(range(0, len(rows), size)):
        name = f"part-{number:06}-abc.parquet"
        calls, recordings = flat(rows[start : start + size])
        pq.write_table(calls, folder / "calls" / name)
        pq.write_table(recordings, folder / "recordings" / name)
    return folder


def write_assembled(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows as a table of an engine, and return its path."""
    pq.write_table(assembled(rows), path)
    return path
