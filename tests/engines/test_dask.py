"""The recipe for Dask runs unchanged, and continues after a death; Dask reads our tables."""

from __future__ import annotations

import pytest

from tests.support.engines import Kitchen

pytestmark = pytest.mark.engines

READS = """
import os
import dask.dataframe as dd
os.mkdir("back")
for name in ("calls", "recordings"):
    dd.read_parquet(f"flat/{name}.parquet", dtype_backend="pyarrow").to_parquet(f"back/{name}", write_index=False)
"""


def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row is emitted once with the values of a plain run, poisoned rows included; so do the calls."""
    cook.cook("dask")
    cook.cook("dask", 1)

    assert cook.plain() == cook.cooked()


def test_after_a_death_it_does_the_files_that_are_left(cook: Kitchen) -> None:
    """When a worker is killed the program fails; the next run keeps whole parts, and every row is there once."""
    told = cook.cook("dask", ends=1, DEADLY_IDS="r000350")
    before = {name: (cook.folder / name).stat().st_mtime_ns for name in cook.parts()}
    cook.cook("dask")
    cook.cook("dask", 1)

    assert "BrokenProcessPool" in told
    assert "assembled/006.parquet" not in before
    assert before == {name: (cook.folder / name).stat().st_mtime_ns for name in before}
    assert cook.plain() == cook.cooked()


def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through Dask."""
    expected = cook.write_flat()
    cook.run(READS)

    assert expected == cook.read_back()
