"""Retries of a unit whose worker dies, without processes: the search for the input that kills."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any

import pytest

from tests.support.together import together
from wholecall.bulk.output_folder import Marker, PlanLine
from wholecall.bulk.pool import Broke, Died
from wholecall.bulk.retries import HopelessError, Retries
from wholecall.bulk.tasks import WHOLE, Lost, Task

LINE = PlanLine(7, "abc", 1, 0, 9)
MARKER = Marker(unit="abc", sizes={}, counts={})
Item = tuple[int, int]


class Workers:
    """Workers who die over some items: files (their second number is WHOLE), or rows of tables."""

    def __init__(
        self, deadly: Collection[Item], n_pieces: int, n_rows: int | None = None, death: Any = None
    ) -> None:
        self.deadly, self.n_pieces, self.n_rows, self.death = deadly, n_pieces, n_rows, death or Died()
        self.retries = Retries(lambda _: n_pieces, has_rows=n_rows is not None)
        self.tasks: list[Task] = []

    def kills(self, item: Item, task: Task) -> bool:
        """The rule of whether an item is met in a task, and ends it."""
        piece, row = item
        lo, hi = (0, self.n_pieces) if task.kind == "scan" else task.pieces
        is_given_up = {(piece, row), (piece, WHOLE)} & task.lost.keys()
        is_met = lo <= piece < hi and (task.rows is None or task.rows[0] <= row < task.rows[1])
        return is_met and not is_given_up

    def do(self, task: Task) -> Any:
        """Return the result of a task."""
        self.tasks.append(task)
        if task.kind == "count":
            return self.death if (task.pieces[0], WHOLE) in self.deadly else self.n_rows
        if any(self.kills(item, task) for item in self.deadly):
            return self.death
        return MARKER if task.kind == "scan" else None

    def run(self) -> Lost:
        """Do a unit with all that follows, and return the recordings that were given up."""
        waiting = deque([Task(kind="scan", place=LINE)])
        while waiting:
            waiting.extend(self.retries.after(waiting[0], self.do(waiting.popleft())))
        return self.tasks[-1].lost


def kinds(workers: Workers) -> list[str]:
    """Return the kinds of the tasks that were done."""
    return [task.kind for task in workers.tasks]


def test_one_death_says_nothing() -> None:
    """A unit whose worker died once is tried again, as it is."""
    retries, task = Retries(lambda _: 9, has_rows=False), Task(kind="scan", place=LINE)

    assert [task] == retries.after(task, Died())
    assert [] == retries.after(task, MARKER)


@together("deadly", range(41))
def test_one_file_of_41(deadly: int) -> None:
    """It is found with at most 12 probes, and nothing else is given up."""
    workers = Workers({(deadly, WHOLE)}, 41)

    assert {(deadly, WHOLE): "worker_died"} == workers.run()
    assert kinds(workers).count("probe") == workers.retries.n_probes[7] <= 12
    assert 3 == kinds(workers).count("scan")


@pytest.mark.parametrize("deadly", [{0}, {0, 1}, {3, 4}, {0, 8, 40}, set(range(9))])
def test_several_files(deadly: set[int]) -> None:
    """All of them are found at once."""
    workers = Workers({(number, WHOLE) for number in deadly}, 41)

    assert deadly == {piece for piece, _ in workers.run()}
    assert 3 == kinds(workers).count("scan")


def test_a_unit_of_one_file() -> None:
    """There is nothing to search: it died over it twice."""
    workers = Workers({(0, WHOLE)}, 1)

    assert {(0, WHOLE): "worker_died"} == workers.run()
    assert ["scan"] * 3 == kinds(workers)


@pytest.mark.parametrize("rows", [{(1, 0)}, {(1, 99)}, {(0, 5), (2, 7)}, {(2, 50), (2, 51)}])
def test_rows_of_tables(rows: set[Item]) -> None:
    """In a table the rows are found, which the parent has not counted."""
    workers = Workers(rows, 3, n_rows=100)

    assert dict.fromkeys(rows, "worker_died") == workers.run()


def test_a_table_that_kills_whoever_reads_it() -> None:
    """A piece that kills while its rows are counted is given up as a whole."""
    workers = Workers({(1, WHOLE)}, 3, n_rows=100)

    assert {(1, WHOLE): "worker_died"} == workers.run()


def test_a_table_of_one_row_or_none() -> None:
    """A single row is the culprit; where there is no row the piece is."""
    assert {(0, 0): "worker_died"} == Workers({(0, 0)}, 1, n_rows=1).run()
    none = Workers([], 1, n_rows=0)
    retries, task = none.retries, Task(kind="scan", place=LINE)
    retries.after(task, Died())
    (count,) = retries.after(task, Died())

    assert {(0, WHOLE): "worker_died"} == retries.after(count, 0)[0].lost


def test_a_fault_of_ours_has_its_name() -> None:
    """A failure that ends the task without ending the worker is searched for in the same way."""
    assert {(3, WHOLE): "internal: TypeError"} == Workers({(3, WHOLE)}, 9, death=Broke("TypeError")).run()


def test_what_is_found_later_adds_to_what_was_found() -> None:
    """A unit that dies again after a search is searched again, without the recordings already given up."""
    workers = Workers({(3, WHOLE)}, 9)
    workers.run()
    workers.retries = Retries(lambda _: 9, has_rows=False)
    workers.deadly = {(3, WHOLE)}
    waiting = deque([Task(kind="scan", place=LINE)])
    while waiting:
        task = waiting.popleft()
        if task.lost:
            workers.deadly = {(3, WHOLE), (5, WHOLE)}
        waiting.extend(workers.retries.after(task, workers.do(task)))

    assert {3, 5} == {piece for piece, _ in workers.tasks[-1].lost}


def test_deaths_without_a_reason_end_the_scan() -> None:
    """If workers die over a unit and over nothing in it, it is not tried for ever."""

    class Unlucky(Workers):
        def do(self, task: Task) -> Any:
            self.tasks.append(task)
            return Died() if task.kind == "scan" else None

    workers = Unlucky([], 9)
    with pytest.raises(HopelessError, match="unit 7"):
        workers.run()
    assert 7 == kinds(workers).count("scan")
