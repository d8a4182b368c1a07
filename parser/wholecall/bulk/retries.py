"""Retry a unit whose worker died, then halve it until the input that kills workers is isolated.

Theory of operation. One death says little: the machine may be short of memory, or the process was killed from outside.
Therefore the unit is tried once more. If its worker dies again, an input in it is to blame. Both halves of its pieces
are probed, and the halves of each half that kills, down to a single file, or a single row of a table. The input found
that way is given up: it becomes a row that says so, and the rest of the unit is written. For a unit of 41 files with
one that kills, this takes 11 probes. A fault of ours that ends a task instead of a process is handled the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from wholecall.bulk.output_folder import Marker, PlanLine
from wholecall.bulk.pool import Broke, Died
from wholecall.bulk.tasks import WHOLE, Answer, Lost, Task

_private = True

_PATIENCE = 2  # deaths of a unit before it is searched
_MOST_DEATHS = 6  # of a unit in which no input kills alone
_DIED = "worker_died"

Result = Answer | Broke | Died


class HopelessError(Exception):
    """A unit cannot be finished; the message says which."""


class _Case(msgspec.Struct):
    """A unit whose worker died.

    Attributes:
        lost: the inputs that are given up.
        n_deaths: deaths of its workers since the last find.
        n_open: tasks of the search that have not ended.
        found: the finds of the search so far.
    """

    lost: Lost = {}
    n_deaths: int = 0
    n_open: int = 0
    found: Lost = {}


class Retries:
    """Decides the tasks that follow a task.

    Args:
        n_pieces: returns how many pieces a unit has.
        has_rows: whether pieces are tables, of which rows can be given up.
    """

    def __init__(self, n_pieces: Callable[[PlanLine], int], *, has_rows: bool) -> None:
        self.n_probes: Counter[int] = Counter()  # by unit
        self._n_pieces = n_pieces
        self._has_rows = has_rows
        self._cases: dict[int, _Case] = {}

    def after(self, task: Task, result: Result) -> list[Task]:
        """Return the tasks that come next, none if the unit is done or other tasks of it are still open.

        Raises:
            HopelessError: workers die over a unit, but over none of its inputs.
        """
        if isinstance(result, Marker):
            self._cases.pop(task.place.number, None)
            return []
        case = self._cases.setdefault(task.place.number, _Case())
        if task.kind == "scan":
            return self._died(case, task, result)
        case.n_open -= 1
        following = list(self._searched(case, task, result))
        case.n_open += len(following)
        self.n_probes[task.place.number] += sum(one.kind == "probe" for one in following)
        return following if case.n_open else self._again(case, task)

    def _died(self, case: _Case, task: Task, result: Result) -> list[Task]:
        case.n_deaths += 1
        if case.n_deaths > _MOST_DEATHS:
            place = task.place
            raise HopelessError(f"workers die over unit {place.number}, but over nothing in it alone")
        if case.n_deaths < _PATIENCE:
            return [task]
        case.n_open = 1
        everything = msgspec.structs.replace(task, kind="probe", pieces=(0, self._n_pieces(task.place)))
        return self.after(everything, result)  # for the whole unit, twice

    def _again(self, case: _Case, task: Task) -> list[Task]:
        if case.found:
            case.lost, case.found, case.n_deaths = case.lost | case.found, {}, 0
        return [Task(kind="scan", place=task.place, lost=case.lost)]

    def _searched(self, case: _Case, task: Task, result: Result) -> Iterator[Task]:
        """Yield the next tasks of the search, and note its finds."""
        piece = task.pieces[0]
        if task.kind == "count" and isinstance(result, int):
            yield from _narrowed(case, task, piece, (0, result), result)
        elif not isinstance(result, (Broke, Died)):
            return  # the worker survived it
        elif task.kind == "count":
            case.found[piece, WHOLE] = _trouble(result)
        elif task.rows is not None:
            yield from _narrowed(case, task, piece, task.rows, result)
        elif task.pieces[1] - piece > 1:
            yield from (msgspec.structs.replace(task, pieces=half) for half in _halves(task.pieces))
        elif self._has_rows:
            yield msgspec.structs.replace(task, kind="count")
        else:
            case.found[piece, WHOLE] = _trouble(result)


def _narrowed(case: _Case, task: Task, piece: int, rows: tuple[int, int], result: Result) -> Iterator[Task]:
    """Yield the halves of a range of rows that kills; note a single row."""
    if rows[1] - rows[0] > 1:
        for half in _halves(rows):
            yield msgspec.structs.replace(task, kind="probe", rows=half)
    else:
        case.found[piece, rows[0] if rows[1] > rows[0] else WHOLE] = _trouble(result)


def _halves(whole: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = sum(whole) // 2
    return (whole[0], middle), (middle, whole[1])


def _trouble(result: Result) -> str:
    return f"internal: {result.name}" if isinstance(result, Broke) else _DIED
