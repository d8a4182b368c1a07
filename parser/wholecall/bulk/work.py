"""What a worker does with a unit: its rows, its parts, its marker.

Theory of operation. An input may change while it is read. So sizes and times are taken before a unit is read, and again
when its parts are about to be published; if they differ the unit is read again, and an input that changed twice is
given up: it becomes a row that says so. What is known to kill workers is given up from the beginning. What is written
is decided by the inputs and by what is given up, and by nothing else.

A *probe* reads some of a unit and writes nothing: the question is whether the worker survives it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from wholecall.bulk.columns import flat
from wholecall.bulk.files import rows_of_file, unread_file
from wholecall.bulk.folder import Folder, Marker, PlanLine
from wholecall.bulk.options import Options
from wholecall.bulk.parts import Parts, writing
from wholecall.bulk.plan import Unit, state
from wholecall.bulk.rows import Judging, Row
from wholecall.bulk.tables import count_rows, rows_of_table
from wholecall.bulk.tally import Tally

__all__ = ["WHOLE", "Answer", "Lost", "Task", "Work"]
_private = True

Lost = dict[tuple[int, int], str]  # what is given up: the number of a piece, that of a row in it; the trouble
Answer = Marker | int | None

WHOLE = -1  # the number of all rows of a piece
_BATCH_ROWS = 512  # that become a table at once
_BATCH_BYTES = 8_000_000  # of the bodies of them
_CHANGED = "changed"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is to do.

    Attributes:
        kind: write a unit, read some of it, or count the rows of one of its pieces.
        place: where the plan says which unit.
        lost: what is given up.
        pieces: the first piece to read, and the one after the last.
        rows: of a table: the first row of the piece to read, and the one after the last; None reads all.
    """

    kind: Literal["scan", "probe", "count"]
    place: PlanLine
    lost: Lost = {}
    pieces: tuple[int, int] = (0, 0)
    rows: tuple[int, int] | None = None


class Work:
    """Does tasks.

    Args:
        folder: where it writes.
        options: of the scan.
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
        """Do a task, and return the marker of a unit, the number of rows, or that it was survived.

        Raises:
            CannotWriteError: the output cannot be written.
        """
        unit = self._folder.unit(task.place)
        if task.kind == "scan":
            return self._folder.marker_of(unit) or self._scanned(unit, dict(task.lost))
        if task.kind == "count":
            return count_rows(unit.pieces[task.pieces[0]], self._options)
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
        """Write a unit, and return its marker; or nothing, and the numbers of the pieces that changed meanwhile."""
        states = [state(piece.path) for piece in unit.pieces]
        task = Task(kind="scan", place=_NOWHERE, lost=lost, pieces=(0, len(unit.pieces)))
        tally = Tally()
        with Parts(self._folder, unit) as parts:
            for rows in _batches(self._rows(unit, task, tally.skipped)):
                for row in rows:
                    tally.add(row)
                parts.add(*flat(rows))
            changed = [
                number
                for number, piece in enumerate(unit.pieces)
                if (number, WHOLE) not in lost and state(piece.path) != states[number]
            ]
            if changed:
                return changed
            sizes = parts.publish()
        marker = _marker(unit, sizes, tally, states)
        with writing():
            self._folder.write_marker(unit.number, marker)
        return marker

    def _rows(self, unit: Unit, task: Task, skipped: Counter[str]) -> Iterator[Row]:
        """Yield the rows of some pieces."""
        for number in range(*task.pieces):
            piece = unit.pieces[number]
            lost = {row: trouble for (of, row), trouble in task.lost.items() if of == number}
            if WHOLE in lost:
                yield unread_file(piece, lost[WHOLE])
            elif self._options.columns is None:
                yield from rows_of_file(piece, self._options, self._judging, skipped)
            else:
                yield from rows_of_table(piece, self._options, self._judging, lost, task.rows)


_NOWHERE = PlanLine(0, "", 0, 0, 0)


def _marker(unit: Unit, sizes: dict[str, int], tally: Tally, states: list[tuple[int, int]]) -> Marker:
    others = {
        piece.source: found
        for piece, found in zip(unit.pieces, states, strict=True)
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
    """Yield rows in lists that are large enough to be a table, and not too large to be held."""
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
