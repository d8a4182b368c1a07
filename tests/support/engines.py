"""Recipes of docs/recipes, run as they stand: each block of a page is a program, in a folder that holds `logs/`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hygiene.source_tree import PROJECT
from tests.hygiene.test_readme import blocks
from wholecall.bulk import assemble_batch

__all__ = ["Kitchen", "kitchen", "plain", "read", "rows"]

_PATIENCE = 280.0  # seconds for a program
# Engines tell nobody that they ran, and find no network.
_QUIET = {
    "DO_NOT_TRACK": "1",
    "DAFT_ANALYTICS_ENABLED": "0",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "SPARK_LOCAL_IP": "127.0.0.1",
}


class Kitchen:
    """A folder in which recipes are cooked."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self._home = home

    def cook(self, page: str, number: int = 0, **environment: str) -> int:
        """Run a block of a page of docs/recipes, and return its exit code.

        Args:
            page: the name of the page and of the engine.
            number: which of the blocks that need the engine.
            environment: what `tests.support.deadly` is told.

        Raises:
            AssertionError: it failed; the message says what it told. A program that was killed has not failed.
        """
        program = self.folder / f"{page}_{number}.py"
        program.write_text(blocks("python", page=f"docs/recipes/{page}.md", needs=page)[number][1], "utf-8")
        words = ["-m", "tests.support.deadly", str(program)] if environment else [str(program)]
        paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
        found = subprocess.run(  # noqa: S603
            [sys.executable, *words],
            cwd=self.folder,
            env={
                **os.environ,
                **_QUIET,
                "PYTHONPATH": os.pathsep.join(paths),
                "HOME": str(self._home),
                "RAY_TMPDIR": str(self._home),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
        assert found.returncode in {0, -signal.SIGKILL}, found.stdout[-6000:]
        return found.returncode


@contextmanager
def kitchen(folder: Path) -> Iterator[Kitchen]:
    """Give a folder for recipes; engines keep what is theirs in a folder with a short name, as sockets need it."""
    with tempfile.TemporaryDirectory(prefix="w", ignore_cleanup_errors=True) as home:
        yield Kitchen(folder, Path(home))


def plain(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows that recordings become without any engine, in the order of their ids."""
    return rows(assemble_batch(table, body="raw", id="request_id"))


def read(folder: Path) -> pa.Table:
    """Return what an engine wrote."""
    parts = [pq.ParquetFile(path).read() for path in sorted(folder.rglob("*.parquet"))]
    return pa.concat_tables(parts, promote_options="permissive")


def rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows by value in the order of their ids, and of their calls."""
    found: list[dict[str, Any]] = table.to_pylist()
    return sorted(found, key=lambda row: [row[name] for name in ("recording_id", *_PLACE) if name in row])


_PLACE = ("turn", "choice", "index")
