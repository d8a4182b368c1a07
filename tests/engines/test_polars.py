"""The recipe for Polars runs unchanged; Polars reads our tables."""

from __future__ import annotations

import signal

import pytest

from tests.support.engines import Kitchen
from wholecall.bulk import with_json_type

pytestmark = pytest.mark.engines

READS = """
import os
import polars as pl
os.mkdir("back")
for name in ("calls", "recordings"):
    pl.scan_parquet(f"flat/{name}.parquet").sink_parquet(f"back/{name}.parquet")
"""
CASTS = """
import polars as pl
pl.read_parquet("flat/calls.parquet")["arguments"].cast(pl.String)
"""
COUNTS = """
import polars as pl
def counted(frame):
    print(f"{frame.height}\\n", end="", flush=True)  # threads print
    return frame
pl.Config.set_streaming_chunk_size(64)
for streamable in (True, False):
    print("streamable", streamable)
    pl.scan_parquet("logs").map_batches(counted, streamable=streamable).sink_parquet("copy")
"""


def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row is emitted once with the values of a plain run, poisoned rows included; so do the calls."""
    cook.cook("polars")

    assert cook.plain() == cook.cooked()


def test_killed_it_leaves_no_file(cook: Kitchen) -> None:
    """A file under the name of the output is whole: a killed program has left nothing there."""
    cook.cook("polars", ends=-signal.SIGKILL, DEADLY_IDS="r000300")

    assert [] == cook.parts()


def test_only_what_is_streamable_comes_in_batches(cook: Kitchen) -> None:
    """Without `streamable` all rows come at once; with it some dozens at most."""
    _, batches, whole = cook.run(COUNTS).split("streamable ")
    (n, *_), sizes = map(int, whole.split()[1:]), [int(size) for size in batches.split()[1:]]

    assert cook.logs.num_rows == n == sum(sizes)
    assert max(sizes) <= 65


def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through Polars."""
    expected = cook.write_flat()
    cook.run(READS)

    assert expected == cook.read_back()


def test_the_type_of_json_is_no_text(cook: Kitchen) -> None:
    """Polars keeps `arrow.json` as an extension, and does not cast it to text."""
    cook.write_flat(with_json_type)

    assert "cannot cast extension types" in cook.run(CASTS, ends=1)
