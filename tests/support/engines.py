"""Recipes of docs/recipes, run unchanged: each block of a page is a program, in a folder that holds `logs/`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hygiene.source_tree import PROJECT
from tests.hygiene.test_readme import blocks
from tests.support import generated
from wholecall.bulk import assemble_batch, calls_of, recordings_of

Rows = list[dict[str, Any]]

_PATIENCE = 280.0  # seconds for a program
# Engines send no telemetry, look for nothing outside, and find the interpreter of the tests.
_QUIET = {
    "DAFT_ANALYTICS_ENABLED": "0",
    "DO_NOT_TRACK": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "PYSPARK_PYTHON": sys.executable,
    "RAY_USAGE_STATS_ENABLED": "0",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
_TABLES = ("calls", "recordings")
_PLACE = ("recording_id", "turn", "choice", "index")
_MOMENT = datetime(2026, 11, 1, 12, 30, 0, 123456, tzinfo=timezone.utc)


class Kitchen:
    """A folder in which recipes are cooked; engines keep their files in another, whose name is short."""

    def __init__(self, folder: Path, home: Path, count: int) -> None:
        """Write recordings, as many as wanted and the poisoned ones, into `logs`."""
        self.folder = folder
        self.logs = generated.recordings(count)
        self._home = home
        generated.write(self.logs, folder / "logs")
        (folder / "notes").mkdir()

    def plain(self) -> tuple[Rows, Rows]:
        """Return the recordings' result without any engine: the assembled rows, and the calls."""
        made = assemble_batch(self.logs, body="raw", id="request_id")
        return rows(made), rows(calls_of(made))

    def cooked(self) -> tuple[Rows, Rows]:
        """Return the output of a recipe: the assembled rows, and the calls."""
        assembled, calls = (read(self.folder, name) for name in ("assembled", "calls"))
        return rows(assembled), rows(calls)

    def parts(self) -> list[str]:
        """Return the names of the whole files there, except the logs."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("[!.]*.parquet"))
        return sorted(str(path) for path in found if path.parts[0] != "logs")

    def cook(self, page: str, number: int = 0, *, ends: int | tuple[int, ...] = 0, **deadly: str) -> str:
        """Run a block of a page, and return the program's output.

        Args:
            page: the name of the page and of the engine.
            number: the index among the blocks that need the engine.
            ends: the expected exit code, or several permitted exit codes.
            deadly: the setting for `tests.support.deadly`; without it the block runs as it is.

        Raises:
            AssertionError: it ended otherwise; the message holds its output.
        """
        return self.run(self.recipe(page, number), ends=ends, **deadly)

    def recipe(self, page: str, number: int = 0) -> str:
        """Return a block of a page."""
        return blocks("python", page=f"docs/recipes/{page}.md", needs=page)[number][1]

    def run(self, code: str, *, ends: int | tuple[int, ...] = 0, **deadly: str) -> str:
        """Run a program as `cook` runs a block."""
        program = self.folder / "program.py"
        program.write_text(code, "utf-8")
        words = ["-m", "tests.support.deadly"] if deadly else []
        paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
        homes = {"HOME": str(self._home), "RAY_TMPDIR": str(self._home), "PYTHONPATH": os.pathsep.join(paths)}
        found = subprocess.run(  # noqa: S603
            [sys.executable, *words, str(program)],
            cwd=self.folder,
            env={**os.environ, **_QUIET, **homes, **deadly},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
        assert found.returncode in (ends if isinstance(ends, tuple) else (ends,)), found.stdout[-6000:]
        return found.stdout

    def write_flat(self, change: Any = None) -> dict[str, Rows]:
        """Write flat tables as Parquet into `flat`, with times, and return their rows.

        Args:
            change: applied to each table before it is written.
        """
        times = pa.array([_MOMENT] * self.logs.num_rows, pa.timestamp("us", "UTC"))
        given = self.logs.append_column("at", times)
        made = assemble_batch(given, body="raw", id="request_id", recorded_at="at")
        flat = {"calls": calls_of(made), "recordings": recordings_of(made)}
        (self.folder / "flat").mkdir()
        for name, table in flat.items():
            written = table if change is None else change(table)
            pq.write_table(written, self.folder / "flat" / f"{name}.parquet", compression="zstd")
        return {name: rows(table) for name, table in flat.items()}

    def read_back(self) -> dict[str, Rows]:
        """Return the rows of flat tables that an engine read from `flat` and wrote into `back`."""
        return {name: rows(read(self.folder / "back", name)) for name in _TABLES}


@contextmanager
def kitchen(folder: Path, count: int) -> Iterator[Kitchen]:
    """Yield a kitchen with so many recordings; sockets of engines need a home with a short name."""
    with tempfile.TemporaryDirectory(prefix="w", ignore_cleanup_errors=True) as home:
        yield Kitchen(folder, Path(home), count)


def read(folder: Path, name: str) -> pa.Table:
    """Return a table that an engine wrote, as a file or as a folder of files."""
    paths = sorted((folder / name).rglob("[!.]*.parquet")) or [folder / f"{name}.parquet"]
    parts = [pq.ParquetFile(path).read() for path in paths]
    return pa.concat_tables(parts, promote_options="permissive")


def rows(table: pa.Table, *but: str) -> Rows:
    """Return rows by value, in the order of their places, without some columns."""
    found: Rows = table.drop_columns(list(but)).to_pylist()
    return sorted(found, key=lambda row: [row[name] for name in _PLACE if name in row])
