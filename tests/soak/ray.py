"""Ray Data over many recordings, with deaths: `python -m tests.soak.ray --rows 20000 --kills 3`, where Ray is installed.

The recipes of docs/recipes/ray.md run unchanged: the first while workers are killed, the second until the program
itself is killed, and once more to continue. After each every recording must be there once, with the values of a plain
run. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.support.engines import Kitchen, Rows, kitchen, read, rows

_BLOCK = str(4 << 20)  # bytes: the cost of a death


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both recipes and report; the exit code is 1 if a row is lost, comes twice, or has another value."""
    options = argparse.ArgumentParser(prog="python -m tests.soak.ray", description=__doc__.partition("\n")[0])
    options.add_argument("--rows", type=int, default=20_000, help="how many recordings (20000)")
    options.add_argument("--kills", type=int, default=3, help="how many workers are killed (3)")
    given = options.parse_args(arguments)
    findings = []
    for what in (_workers, _program):
        with tempfile.TemporaryDirectory() as folder, kitchen(Path(folder), given.rows) as made:
            findings += _watched(what, made, given.kills)
    sys.stdout.write("all is well\n" if not findings else "".join(f"{found}\n" for found in findings))
    return 1 if findings else 0


def _watched(what: Callable[[Kitchen, int], str], made: Kitchen, kills: int) -> list[str]:
    """Run a recipe, print its result, and return the faults."""
    started = time.monotonic()
    told = what(made, kills)
    found = rows(read(made.folder, "assembled"), *_FURTHER.get(what, ()))
    ids = {row["recording_id"] for row in found}
    took = time.monotonic() - started
    sys.stdout.write(f"{told}: {len(found):,} rows, {len(ids):,} distinct, in {took:.0f} s\n")
    return complaints(told, made.plain()[0], found)


def complaints(told: str, expected: Rows, found: Rows) -> list[str]:
    """Return the faults of the rows that were found, all of them in the same order; `told` gives their place."""
    if len(expected) != len(found):
        return [f"{told}: {len(expected):,} rows were to come"]
    wrong = [want["recording_id"] for want, got in zip(expected, found, strict=True) if want != got]
    return [f"{told}: {len(wrong):,} rows are wrong, such as {', '.join(wrong[:5])}"] if wrong else []


def _ids(made: Kitchen, count: int) -> list[str]:
    """Return ids of some recordings, spread over all."""
    ids = made.logs.column("request_id").to_pylist()
    return [ids[(place + 1) * len(ids) // (count + 1)] for place in range(count)]


def _workers(made: Kitchen, kills: int) -> str:
    notes = made.folder / "notes"
    made.cook("ray", RAY_BLOCK=_BLOCK, DEADLY_IDS=" ".join(_ids(made, kills)), DEADLY_NOTES=str(notes))
    return f"{len(list(notes.iterdir()))} workers killed"


def _program(made: Kitchen, _kills: int) -> str:
    (id_,) = _ids(made, 1)
    told = {"DEADLY_IDS": id_, "DEADLY_FILES": str(made.folder / "assembled"), "RAY_BLOCK": _BLOCK}
    made.cook("ray", 1, ends=-signal.SIGKILL, **told)
    before = read(made.folder, "assembled").num_rows
    made.cook("ray", 1, RAY_BLOCK=_BLOCK)
    return f"the program killed after {before:,} rows"


_FURTHER = {_program: ("request_id",)}  # columns that only the recipe has


if __name__ == "__main__":
    sys.exit(main())
