"""The recipe for Daft runs unchanged; Daft reads our tables."""

from __future__ import annotations

import signal

import pytest

from tests.support.engines import Kitchen, read

pytestmark = pytest.mark.engines

# Seldom Daft 0.7 crashes when a program ends and all is written: its threads outlive the interpreter.
CRASHES = (-signal.SIGABRT, -signal.SIGSEGV)
ENDS = (0, *CRASHES)
READS = """
import daft
for name in ("calls", "recordings"):
    daft.read_parquet(f"flat/{name}.parquet").write_parquet(f"back/{name}")
"""


def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row is emitted once with the values of a plain run, poisoned rows included; so do the calls."""
    cook.cook("daft", ends=ENDS)

    assert cook.plain() == cook.cooked()


@pytest.mark.parametrize("use_process", [True, False])
def test_threads_and_processes_give_the_same(cook: Kitchen, use_process: bool) -> None:
    """The rows are those of a plain run, independent of Daft's choices."""
    cook.run(
        cook.recipe("daft").replace("batch_size=64", f"batch_size=64, use_process={use_process}"), ends=ENDS
    )

    assert cook.plain() == cook.cooked()


def test_killed_it_fails(cook: Kitchen) -> None:
    """When one of its processes is killed the program fails; the folder may then hold a part of the rows."""
    recipe = cook.recipe("daft").replace("batch_size=64", "batch_size=64, use_process=True")
    told = cook.run(recipe, ends=(1, *CRASHES), DEADLY_IDS="r000300")

    assert "closed the connection unexpectedly" in told
    assert not (cook.folder / "calls").exists()


def test_without_its_filter_there_are_rows_of_nulls(cook: Kitchen) -> None:
    """A recording without calls becomes a row of nulls, if it is not left out before."""
    recipe, where = cook.recipe("daft"), 'where(daft.col("calls").list_count() > 0).'
    cook.run(recipe.replace(where, ""), ends=ENDS)
    without = [row for row in cook.plain()[0] if not row["calls"]]

    assert where in recipe
    assert len(without) == read(cook.folder, "calls").column("turn").null_count > 0


def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through Daft."""
    expected = cook.write_flat()
    cook.run(READS, ends=ENDS)

    assert expected == cook.read_back()
