"""`wholecall` with workers that die: `python -m tests.support.dying scan ...`.

The environment says how. `DYING_UNIT_PIECES` makes small units. `DYING_NAMES` is a word: a process that reads a file,
or a row of a table, with it in its name is killed; with `raises` in it, a fault is raised. `DYING_STEPS` is a folder
for notes: the n-th worker that publishes a unit is killed before the n-th step of that, over each unit once; with
`DYING_PARENT` the parent is killed, too, over any unit.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partialmethod
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from wholecall import cli
from wholecall.bulk import pool, recording_files, streams, tasks, units
from wholecall.bulk.options import Options

STEPS = 9  # two parts are synced, then renamed, then their folders synced; the marker is synced, renamed, its folder synced

_main = pool.main


def main(pipe: Connection, path: str, options: Options) -> None:
    """Be a worker that may die."""
    name = os.environ.get("DYING_NAMES")
    if name:
        recording_files.rows_of_file = _deadly(
            recording_files.rows_of_file, name, lambda piece, *_: piece.source
        )
        streams.row_of = _deadly(streams.row_of, name, lambda _, known, *__: known.recording_id)
    if "DYING_STEPS" in os.environ:
        steps = _Steps(Path(os.environ["DYING_STEPS"]))
        tasks.TaskRunner._attempt = partialmethod(_attempt, steps)
    _main(pipe, path, options)


def _attempt(worker: tasks.TaskRunner, steps: _Steps, unit: Any, lost: tasks.Lost) -> Any:
    return steps.attempt(worker, unit, lost)


def _deadly(function: Callable[..., Any], name: str, named: Callable[..., str]) -> Callable[..., Any]:
    def deadly(*arguments: Any) -> Any:
        if name in named(*arguments):
            if "raises" in name:
                raise TypeError("said secretly")
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments)

    return deadly


class _Steps:
    """Kills this process before one of the steps in which it publishes a unit: each time before the next one."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes
        self._unit = -1
        self._left: int | None = None  # steps until the end
        self._attempt = tasks.TaskRunner._attempt
        os.fsync, os.replace = self._or_die(os.fsync), self._or_die(os.replace)

    def attempt(self, worker: tasks.TaskRunner, unit: Any, lost: tasks.Lost) -> Any:
        """Write a unit, and perhaps die over it; over each unit once, unless the parent dies, too."""
        notes = [note.name.split("-") for note in self._notes.iterdir()]
        is_spared = "DYING_PARENT" not in os.environ and str(unit.number) in {number for _, number in notes}
        self._unit, self._step = unit.number, len(notes)
        self._left = None if is_spared or self._step == STEPS else self._step
        return self._attempt(worker, unit, lost)

    def _or_die(self, function: Callable[..., None]) -> Callable[..., None]:
        def stepped(*arguments: Any) -> None:
            if self._left == 0:
                (self._notes / f"{self._step}-{self._unit}").touch()
                self._die()
            self._left = None if self._left is None else self._left - 1
            function(*arguments)

        return stepped

    def _die(self) -> None:
        if "DYING_PARENT" in os.environ:
            os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    from tests.support import dying  # workers find it by this name

    pool.main = dying.main
    units.MOST_PIECES = int(os.environ.get("DYING_UNIT_PIECES", units.MOST_PIECES))
    sys.exit(cli.main())
