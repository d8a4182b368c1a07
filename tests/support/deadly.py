"""A program whose batch function may kill: `python -m tests.support.deadly PROGRAM`.

The environment says how. `DEADLY_IDS` names recordings by words of their ids: who reads one is killed. `DEADLY_NOTES` is
a folder for notes, so that each of them kills once; without it they kill always. `DEADLY_FILES` is a folder: then the
program itself is killed, as soon as something whole is in that folder. `RAY_BLOCK` makes the blocks of Ray Data smaller
than they are, in bytes.
"""

from __future__ import annotations

import functools
import os
import runpy
import signal
import sys
import time
from pathlib import Path
from typing import Any

import wholecall.bulk

_assemble_batch = wholecall.bulk.assemble_batch
_PATIENCE = 60.0  # seconds in which whole output must appear


@functools.wraps(_assemble_batch)
def assemble_batch(batch: Any, **options: Any) -> Any:
    """Return the batch function's result, if this process lives that long."""
    for id_ in batch.column(options["id"]).to_pylist():
        if id_ in os.environ.get("DEADLY_IDS", "").split() and _is_first(id_):
            _kill()
    return _assemble_batch(batch, **options)


assemble_batch.__module__ = __name__  # where the workers of an engine find it


def _is_first(id_: str) -> bool:
    """Return whether a recording has killed no process before, if deaths are recorded."""
    notes = os.environ.get("DEADLY_NOTES")
    if notes is None:
        return True
    try:
        (Path(notes) / id_).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _kill() -> None:
    """Kill this process, or the program that it works for."""
    files = os.environ.get("DEADLY_FILES")
    if files is None:
        os.kill(os.getpid(), signal.SIGKILL)
        return
    until = time.monotonic() + _PATIENCE
    while not any(Path(files).glob("*.parquet")) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(int(os.environ["DEADLY_PROGRAM"]), signal.SIGKILL)


def main(program: str) -> None:
    """Run a program with a deadly batch function."""
    os.environ["DEADLY_PROGRAM"] = str(os.getpid())
    wholecall.bulk.assemble_batch = assemble_batch
    block = os.environ.get("RAY_BLOCK")
    if block is not None:
        from ray.data import DataContext  # noqa: PLC0415 - only where there is Ray

        DataContext.get_current().target_max_block_size = int(block)
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    from tests.support import deadly  # the workers of an engine find it by this name

    deadly.main(sys.argv[1])
