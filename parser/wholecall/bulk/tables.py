"""Rows of tables that hold raw bodies, or conversations, in a column: Parquet, Arrow files, JSON lines.

Theory of operation. A table is cut into pieces when it is planned: runs of row groups, of record batches, or of lines.
Its columns are checked then, so that a scan that could not end does not begin. Only the requested columns are read, few
rows at a time. An unreadable row is a row with `trouble`; in an unreadable row group, each row is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

import msgspec

from wholecall.bulk import arrow_files, json_lines
from wholecall.bulk.conversations import row_of_messages
from wholecall.bulk.files import unread_file
from wholecall.bulk.options import Columns, Options
from wholecall.bulk.plan import Piece
from wholecall.bulk.rows import Judging, Known, Row, troubled
from wholecall.bulk.streams import row_of
from wholecall.bulk.table_rows import Found, Table

__all__ = ["SUFFIXES", "count_rows", "cut", "is_table", "rows_of_table"]
_private = True

SUFFIXES = (".parquet", ".arrow", ".jsonl")
_BINARY: dict[str, Table] = {".parquet": arrow_files.PARQUET, ".arrow": arrow_files.ARROW}


def is_table(path: str) -> bool:
    """Return whether a file is certainly a table, by its name."""
    return PurePath(path).suffix.lower() in _BINARY


def _table(piece: Piece) -> Table:
    return _BINARY.get(PurePath(piece.path).suffix.lower(), json_lines.LINES)


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
        yield unread_file(piece, piece.trouble)
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
        return row_of_messages(found["messages"], known, judging)
    body = found["body"]
    if body is None:
        return troubled(known, found.get("trouble", "its body is null"))
    return row_of([(None, body)], known, judging)
