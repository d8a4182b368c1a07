"""Rows of files of recordings.

Theory of operation. A piece is one file of any content: `wholecall.recordings` reads it, and each recording becomes a
row. A transcript, which is not a recording, becomes a row, too. An unreadable recording is also a row, so that the rows
of a file can be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from wholecall.bulk import conversations, failures, streams
from wholecall.bulk.options import Options
from wholecall.bulk.rows import Judging, Known, Row, troubled
from wholecall.bulk.units import Piece
from wholecall.recordings import Recording, Recordings
from wholecall.recordings.finding import Opens, Place

_private = True

_TRANSCRIPT = "transcript"  # the form of a file of messages, and the reason for skipping it


def rows_of_file(
    piece: Piece, options: Options, judging: Judging, skipped: Counter[str], opens: Opens | None = None
) -> Iterator[Row]:
    """Yield a row for each recording in a file.

    Args:
        piece: the file.
        options: the options of the scan.
        judging: the settings for reading recordings.
        skipped: counter of the responses that are not recordings.
        opens: a function that opens it; None where it is on a disk.
    """
    place = Place(piece.path, piece.trouble, piece.named, opens, options.max_bytes)
    recordings = Recordings([place], options.max_bytes)
    with closing(recordings):
        for recording in _guarded(recordings):
            if isinstance(recording, Recording) and recording.form == _TRANSCRIPT:
                recordings.skipped[_TRANSCRIPT] += 1
                continue
            if isinstance(recording, Recording):
                row = streams.row_of(recording.chunks, _known(recording, piece, options), judging)
            else:
                row = unread_file(piece, recording)
            yield _without_path(row, piece)
    if recordings.skipped.pop(_TRANSCRIPT, 0):
        known = Known(recording_id=piece.source, source=piece.source, name=piece.path)
        yield _without_path(conversations.row_of_session(place, known, judging), piece)
    skipped.update(recordings.skipped)


def unread_file(piece: Piece, trouble: str) -> Row:
    """Return the one row of a file that is not read at all."""
    return troubled(Known(recording_id=piece.source, source=piece.source), trouble)


def _guarded(recordings: Recordings) -> Iterator[Recording | str]:
    """Yield recordings; a fault of ours in reading a file ends it, with the exception's type as the trouble."""
    try:
        yield from recordings
    except Exception as error:
        if not failures.is_ours(error):
            raise
        yield f"internal: {type(error).__name__}"


def _known(recording: Recording, piece: Piece, options: Options) -> Known:
    """Return the known facts about a recording; `path#n` is called `source#n`."""
    number = recording.name.removeprefix(piece.path)
    return Known(
        recording_id=f"{piece.source}{number}",
        source=piece.source,
        source_index=int(number[1:]) - 1 if number else 0,
        provider=recording.provider,
        dialect=options.dialect or recording.dialect,
        form=recording.form,
        status_code=recording.status,
        name=recording.name,
    )


def _without_path(row: Row, piece: Piece) -> Row:
    """Remove the file's path on this machine from a trouble."""
    trouble = row.recording["trouble"]
    if trouble is not None:
        row.recording["trouble"] = trouble.replace(piece.path, piece.source)
    return row
