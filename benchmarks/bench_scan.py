"""The claim: files become tables for little more than their bodies in memory do, and memory does not grow with them.

A unit is done in this process where times are compared, and in a separate worker where memory is compared, because a
process's peak is never reset. Planning and resuming are reported in seconds of this machine.
"""

from __future__ import annotations

import atexit
import functools
import gzip
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa

from benchmarks import workloads
from benchmarks.claims import Claim, Comparison, Contender, Figure, Ratio, Scale
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS
from wholecall.bulk import assemble_batch, scan
from wholecall.bulk.options import Options
from wholecall.bulk.output_folder import Folder, Marker
from wholecall.bulk.plan import new_plan, plan_of
from wholecall.bulk.tasks import Task, TaskRunner
from wholecall.bulk.units import Piece, found, packed

_FILES = 1_000
_SCAN, _TWO_WORKERS = 1.4, 1.15
_PLANNED_US, _RESUMED_S = 60, 2
_MEMORY_MB, _TEN_TIMES, _LARGE_MB = 200, 1.1, 64
_UNITS = 10_000
_BATCH = 64
_MIB = 2**20
# Does all units of a plan as a worker would, and prints the peak of its memory.
_WORKER = """
import sys
from tests.support.memory import peak
from wholecall.bulk.output_folder import Folder
from wholecall.bulk.options import Options
from wholecall.bulk.tasks import Task, TaskRunner
folder = Folder(sys.argv[1])
runner = TaskRunner(folder, Options())
for line in folder.read_plan():
    runner.do(Task(kind="scan", place=line))
print(peak())
"""


@functools.cache
def _temporary() -> Path:
    path = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def _bodies() -> Iterator[bytes]:
    for dialect in DIALECTS:
        for n in (1, 2, 3):
            yield workloads.parallel_calls(dialect, n).data
        yield workloads.plain_text(dialect, KIB).data


class Files(NamedTuple):
    """Files of responses, and their bodies in batches."""

    folder: Path
    tables: list[pa.Table]
    n: int


@functools.cache
def _files(n: int) -> Files:
    folder = _temporary() / f"files-{n}"
    bodies = list(islice(cycle(list(_bodies())), n))
    for number, body in enumerate(bodies):
        path = folder / f"{number % 10}" / f"{number:06}.sse"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    ids = [str(number) for number in range(n)]
    table = pa.table({"recording_id": ids, "body": bodies})
    return Files(folder, [table.slice(start, _BATCH) for start in range(0, n, _BATCH)], n)


def _planned(files: Path) -> Folder:
    """Return a new folder with the plan of a scan of files."""
    folder = Folder(tempfile.mkdtemp(dir=_temporary()))
    with folder.locked():
        folder.write_plan(plan_of(folder, found([files], folder.path), Options(), "refuse").units)
    return folder


def _scanned(files: Files) -> int:
    folder = _planned(files.folder)
    runner = TaskRunner(folder, Options())
    markers = [runner.do(Task(kind="scan", place=line)) for line in folder.read_plan()]
    shutil.rmtree(folder.path)
    return sum(marker.counts["recordings"] for marker in markers if isinstance(marker, Marker))


def _assembled(files: Files) -> int:
    return sum(assemble_batch(table).num_rows for table in files.tables)


def _is_right(files: Files, n: int) -> bool:
    return n == files.n


# --- seconds ---------------------------------------------------------------------------------------------


def _planning(scale: Scale) -> float:
    """Return the microseconds of a file."""
    files = _files(_FILES // scale.part)
    start = time.process_time()
    units = list(packed(found([files.folder], _temporary() / "none"), "key"))
    return (time.process_time() - start) * 1e6 / sum(len(unit.pieces) for unit in units)


def _resuming(scale: Scale) -> float:
    """Return the seconds until it is known that all units are done; fewer units count as if they were all."""
    n = _UNITS // scale.part
    folder = Folder(tempfile.mkdtemp(dir=_temporary()))
    pieces = [Piece(f"{number:06}", f"/{number:06}", 1, 1, weight=10**9) for number in range(n)]
    with folder.locked():
        plan = new_plan(pieces, Options())
        folder.write_plan(plan.units)
        for unit in plan.units:
            sizes = {
                table: Path(folder.part(table, unit)).write_bytes(b"PAR1")
                for table in ("calls", "recordings")
            }
            marker = Marker(unit=unit.id, sizes=sizes, counts={"recordings": 1})
            done = Path(folder.path, "_scan", "done", f"{unit.number:06}.json")
            done.write_bytes(msgspec.json.encode(marker))
    start = time.process_time()
    again = plan_of(folder, pieces, Options(), "refuse")
    taken = time.process_time() - start
    assert len(again.done) == len(again.units) == n
    return taken * _UNITS / n


def _two_workers(scale: Scale) -> float:
    """Return the processor time of two workers as a multiple of that of one."""
    files = _files(4 * _FILES // scale.part)
    times: list[float] = []
    for workers in (1, 2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in scan([files.folder], tempfile.mkdtemp(dir=_temporary()), workers=workers):
            pass
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return times[1] / times[0]


# --- memory ----------------------------------------------------------------------------------------------


@functools.cache
def _peak(files: Path) -> float:
    """Return the peak of a worker that scans files, in MiB."""
    folder = _planned(files)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", _WORKER, folder.path], check=True, capture_output=True, text=True
    )
    return int(done.stdout) / _MIB


def _ten_times(scale: Scale) -> float:
    n = 4 * _FILES // scale.part
    return _peak(_files(10 * n).folder) / _peak(_files(n).folder)


def _large(scale: Scale) -> float:
    """Return by how many MiB the peak is larger for one file of 200 MB with thousands of recordings."""
    folder = _temporary() / f"large-{scale.part}"
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / "all.sse.gz", "wb", compresslevel=1) as file:
        left = 200 * _MIB // scale.part
        for body in cycle(list(_bodies())):
            left -= file.write(body)
            if left < 0:
                break
    return max(_peak(folder) - _peak(_files(_FILES // scale.part).folder), 0)


CLAIMS: list[Claim] = [
    Comparison(
        "files to Parquet,",
        lambda part: _files(_FILES // part),
        {"scan": Contender(_scanned, _is_right), "assemble_batch": Contender(_assembled, _is_right)},
        (Ratio("scan", "assemble_batch", _SCAN),),
    ),
    Figure("planning a file, microseconds", _planning, _PLANNED_US),
    Figure("going on where 10,000 units are done, seconds", _resuming, _RESUMED_S),
    Figure("a scan by 2 workers / by 1, processor time", _two_workers, _TWO_WORKERS, checked=False),
    Figure("peak of a worker, MiB", lambda scale: _peak(_files(_FILES // scale.part).folder), _MEMORY_MB),
    Figure("peak of a worker, ten times the files / once", _ten_times, _TEN_TIMES, checked=False),
    Figure("peak of a worker, more for a file of 200 MB, MiB", _large, _LARGE_MB, checked=False),
]


def test_scan(race: Callable[[], None]) -> None:
    """Both find every recording."""
    race()
