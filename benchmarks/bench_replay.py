"""The claim: `wholecall replay` of a folder of recordings costs little more than parsing its content.

Both begin at the files. The command detects the kind of each file, counts its events and prints a table.
"""

from __future__ import annotations

import contextlib
import functools
import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import baselines, workloads
from benchmarks.claims import Comparison, Contender, Ratio
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS, Workload
from wholecall.cli.main import main

_BUDGET = 1.5
_CHUNK = 64 * KIB


class Folder(NamedTuple):
    """A folder of recordings, which is removed with the program's last reference to it."""

    kept: tempfile.TemporaryDirectory[str]
    n_calls: int

    @property
    def paths(self) -> list[Path]:
        """The recordings."""
        return sorted(Path(self.kept.name).iterdir())


@functools.lru_cache(maxsize=1)
def _folder(part: int) -> Folder:
    made = [workload for dialect in DIALECTS for workload in _recorded(dialect, part)]
    kept = tempfile.TemporaryDirectory()
    for number, workload in enumerate(made):
        Path(kept.name, f"{number:02}.sse").write_bytes(workload.data)
    return Folder(kept, sum(len(workload.calls) for workload in made))


def _recorded(dialect: str, part: int) -> Iterator[Workload]:
    yield workloads.w1(dialect)
    yield workloads.w2(dialect, 128 * KIB // part, 4)
    yield workloads.plain_text(dialect, 64 * KIB // part)


def _replayed(folder: Folder) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["replay", "--color", "never", folder.kept.name])
    return out.getvalue()


def _parsed(folder: Folder) -> int:
    streams = (path.read_bytes() for path in folder.paths)
    return sum(len(baselines.parse(workloads.cut(data, _CHUNK)).turn.calls) for data in streams)


CLAIMS = [
    Comparison(
        "recordings of three dialects",
        _folder,
        {
            "replay": Contender(_replayed, lambda folder, shown: str(folder.n_calls) in shown.split()),
            "parse": Contender(_parsed, lambda folder, n_calls: bool(folder.n_calls == n_calls)),
        },
        (Ratio("replay", "parse", _BUDGET),),
    )
]


def test_replay(race: Callable[[], None]) -> None:
    """Both find all calls."""
    race()
