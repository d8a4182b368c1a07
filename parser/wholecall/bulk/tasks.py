"""Process one unit in a worker: its rows, its parts, its marker.

Theory of operation. An input may change while it is read. Therefore sizes and times are taken before a unit is read,
and again when its parts are about to be published. If they differ, the unit is read again, and an input that changed
twice is given up: it becomes a row that says so. Inputs that are known to kill workers are given up from the beginning.
The output depends on the inputs and on the given-up inputs, and on nothing else.

A store that does not answer says nothing about an input: the unit is tried again after a while, and finally handed
back.

A *probe* reads some of a unit and writes nothing: the question is whether the worker survives it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Literal

import msgspec

from wholecall.bulk import columns, recording_files, storage, table_inputs
from wholecall.bulk.failures import StoreFailed, writing
from wholecall.bulk.options import Options
from wholecall.bulk.output_folder import Folder, Marker, Parts, PlanLine, Tally
from wholecall.bulk.rows import Judging, Row
from wholecall.bulk.units import Piece, Unit
from wholecall.recordings.finding import Opens

_private = True

Lost = dict[tuple[int, int], str]  # given-up inputs: the number of a piece, that of a row in it; the trouble
Answer = Marker | int | None

WHOLE = -1  # all rows of a piece
_BATCH_ROWS = 512  # rows that become a table at once
_BATCH_BYTES = 8_000_000  # bytes of their bodies
_CHANGED = "changed"
_PAUSES = (1.0, 5.0, 25.0)  # seconds after a store did not answer


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """The task of a worker.

    Attributes:
        kind: write a unit, read some of it, or count the rows of one of its pieces.
        place: the place of the unit in the plan.
        lost: the inputs that are given up.
        pieces: the first piece to read, and the one after the last.
        rows: for a table: the first row of the piece to read, and the row after the last; None reads all.
    """

    kind: Literal["scan", "probe", "count"]
    place: PlanLine
    lost: Lost = {}
    pieces: tuple[int, int] = (0, 0)
    rows: tuple[int, int] | None = None


class TaskRunner:
    """Does tasks.

    Args:
        folder: the output folder.
        options: the options of the scan.
    """

    def __init__(self, folder: Folder, options: Options) -> None:
        self._folder = folder
        self._options = options
        self._judging = Judging(
            policy=options.policy,
            limits=options.limits,
            arguments=options.arguments,
            hashed=options.hashed,
        )

    def do(self, task: Task) -> Answer:
        """Do a task, and return the marker of a unit, the number of rows, or that the worker survived it.

        Raises:
            CannotWriteError: the output cannot be written.
            StoreFailed: a store does not answer.
        """
        for pause in _PAUSES:
            try:
                return self._do(task)
            except StoreFailed:  # noqa: PERF203 - that is what is tried
                time.sleep(pause)
        return self._do(task)

    def _do(self, task: Task) -> Answer:
        unit = self._folder.unit(task.place)
        if task.kind == "scan":
            return self._folder.marker_of(unit) or self._scanned(unit, dict(task.lost))
        if task.kind == "count":
            return table_inputs.count_rows(unit.pieces[task.pieces[0]], self._options)
        for _ in _batches(self._rows(unit, task, Counter())):
            pass
        return None

    def _scanned(self, unit: Unit, lost: Lost) -> Marker:
        changes: Counter[int] = Counter()
        while True:
            written = self._attempt(unit, lost)
            if isinstance(written, Marker):
                return written
            changes.update(written)
            lost |= {(number, WHOLE): _CHANGED for number in written if changes[number] > 1}

    def _attempt(self, unit: Unit, lost: Lost) -> Marker | list[int]:
        """Write a unit, and return its marker; or None, and the numbers of the pieces that changed meanwhile."""
        paths = [piece.path for piece in unit.pieces]
        before = storage.states(paths)
        task = Task(kind="scan", place=_NOWHERE, lost=lost, pieces=(0, len(unit.pieces)))
        tally = Tally()
        with Parts(self._folder, unit) as parts:
            for rows in _batches(self._rows(unit, task, tally.skipped)):
                for row in rows:
                    tally.add(row)
                parts.add(*columns.flat(rows))
            changed = [
                number
                for number, (then, now) in enumerate(zip(before, storage.states(paths), strict=True))
                if (number, WHOLE) not in lost and now != then
            ]
            if changed:
                return changed
            sizes = parts.publish()
        marker = _marker(unit, sizes, tally, before)
        with writing():
            self._folder.write_marker(unit.number, marker)
        return marker

    def _rows(self, unit: Unit, task: Task, skipped: Counter[str]) -> Iterator[Row]:
        """Yield the rows of some pieces."""
        pieces = unit.pieces[slice(*task.pieces)]
        is_table = self._options.columns is not None
        sizes = [(piece.path, None if is_table or piece.trouble else piece.size) for piece in pieces]
        with closing(storage.opening(sizes)) as opened:
            for number, (piece, opens) in enumerate(zip(pieces, opened, strict=True), task.pieces[0]):
                lost = {row: trouble for (of, row), trouble in task.lost.items() if of == number}
                yield from self._rows_of(piece, opens, lost, task.rows, skipped)

    def _rows_of(
        self,
        piece: Piece,
        opens: Opens | None,
        lost: dict[int, str],
        only: tuple[int, int] | None,
        skipped: Counter[str],
    ) -> Iterator[Row]:
        if WHOLE in lost:
            yield recording_files.unread_file(piece, lost[WHOLE])
        elif self._options.columns is None:
            yield from recording_files.rows_of_file(piece, self._options, self._judging, skipped, opens)
        else:
            yield from table_inputs.rows_of_table(piece, self._options, self._judging, lost, only)


_NOWHERE = PlanLine(0, "", 0, 0, 0)


def _marker(unit: Unit, sizes: dict[str, int], tally: Tally, read: list[tuple[int, int]]) -> Marker:
    others = {
        piece.source: found
        for piece, found in zip(unit.pieces, read, strict=True)
        if piece.trouble is None and found != (piece.size, piece.mtime)
    }
    return Marker(
        unit=unit.id,
        sizes=sizes,
        counts=dict(tally.counts),
        skipped=dict(tally.skipped),
        troubles=tally.troubles,
        states=[(source, *found) for source, found in others.items()],
    )


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yield rows in lists that are large enough for a table, and small enough for memory."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += row.recording["bytes"]
        if len(batch) >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
