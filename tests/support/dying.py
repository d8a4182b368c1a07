"""`wholecall` with workers that die: `python -m tests.support.dying scan ...`.

The environment says how. `DYING_UNIT_PIECES` makes small units. `DYING_NAMES` is a word: whoever reads a file, or a row
of a table, with it in its name is killed; with `raises` in it, a fault is raised. `DYING_STEPS` is a folder: the n-th
worker that comes to publish a unit is killed before the n-th of its steps, and leaves a note there; with `DYING_PARENT`
the parent is killed, too.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from wholecall import cli
from wholecall.bulk import plan, tables, work, workers
from wholecall.bulk.options import Options

__all__ = ["STEPS", "main"]

STEPS = 9  # two parts are synced, then renamed, then their folders synced; the marker is synced, renamed, its folder synced

_main = workers.main


def main(pipe: Connection, path: str, options: Options) -> None:
    """Be a worker that may die."""
    name = os.environ.get("DYING_NAMES")
    if name:
        work.rows_of_file = _deadly(work.rows_of_file, name, lambda piece, *_: piece.source)
        tables.row_of = _deadly(tables.row_of, name, lambda _, known, *__: known.recording_id)
    if "DYING_STEPS" in os.environ:
        _die_at_steps(Path(os.environ["DYING_STEPS"]))
    _main(pipe, path, options)


def _deadly(function: Callable[..., Any], name: str, named: Callable[..., str]) -> Callable[..., Any]:
    def deadly(*arguments: Any) -> Any:
        if name in named(*arguments):
            if "raises" in name:
                raise TypeError("said secretly")
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments)

    return deadly


def _die_at_steps(notes: Path) -> None:
    """Have this process die before one of the steps in which it publishes its first unit."""
    step = len(list(notes.iterdir()))
    if step >= STEPS:
        return
    left = iter(range(step))

    def or_die(function: Callable[..., None]) -> Callable[..., None]:
        def stepped(*arguments: Any) -> None:
            if next(left, None) is None:
                (notes / str(step)).touch()
                _end()
            function(*arguments)

        return stepped

    os.fsync, os.replace = or_die(os.fsync), or_die(os.replace)


def _end() -> None:
    if "DYING_PARENT" in os.environ:
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    from tests.support import dying  # workers find it by this name

    workers.main = dying.main
    plan.MOST_PIECES = int(os.environ.get("DYING_UNIT_PIECES", plan.MOST_PIECES))
    sys.exit(cli.main())
