"""The recipes for Ray Data run unchanged, with workers and programs that are killed; Ray reads our tables."""

from __future__ import annotations

import signal

import pytest

from tests.support.engines import Kitchen, Rows, read, rows

pytestmark = pytest.mark.engines

BLOCK = "200000"  # bytes: several tasks for a few hundred recordings
READS = """
import ray
for name in ("calls", "recordings"):
    ray.data.read_parquet(f"flat/{name}.parquet").write_parquet(f"back/{name}")
"""


def test_workers_are_killed(cook: Kitchen) -> None:
    """Three workers are killed; every row is emitted once with the values of a plain run, poisoned rows included."""
    ids = "r000050 r000200 r000350"
    cook.cook("ray", RAY_BLOCK=BLOCK, DEADLY_IDS=ids, DEADLY_NOTES=str(cook.folder / "notes"))

    assert ids.split() == sorted(path.name for path in (cook.folder / "notes").iterdir())
    assert cook.plain() == cook.cooked()


def test_the_program_is_killed(cook: Kitchen) -> None:
    """When the program is killed the next run does the remaining work, and another run does nothing."""
    out = cook.folder / "assembled"
    told = {"DEADLY_IDS": "r000399", "DEADLY_FILES": str(out)}
    cook.cook("ray", 1, ends=-signal.SIGKILL, RAY_BLOCK=BLOCK, **told)
    before = cook.parts()
    cook.cook("ray", 1, RAY_BLOCK=BLOCK)

    assert 0 < sum(name.startswith("assembled") for name in before)
    assert cook.plain()[0] == _assembled(cook)


@pytest.mark.slow
def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row is emitted once with the values of a plain run, poisoned rows included; so do the calls."""
    cook.cook("ray")

    assert cook.plain() == cook.cooked()


@pytest.mark.slow
def test_done_it_does_nothing(cook: Kitchen) -> None:
    """With a checkpoint a further run adds no row."""
    cook.cook("ray", 1)
    before = cook.parts()
    cook.cook("ray", 1)

    assert before == cook.parts()
    assert cook.plain()[0] == _assembled(cook)


@pytest.mark.slow
def test_it_does_not_try_without_end(cook: Kitchen) -> None:
    """A recording that kills every worker fails the program when nothing has moved for the time that is set."""
    patience = {"RAY_DATA_EXECUTION_NO_PROGRESS_TIMEOUT_S": "10"}
    told = cook.cook("ray", ends=1, RAY_BLOCK=BLOCK, DEADLY_IDS="r000200", **patience)

    assert "ExecutionTimeoutError" in told


@pytest.mark.slow
def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through Ray Data."""
    expected = cook.write_flat()
    cook.run(READS)

    assert expected == cook.read_back()


def _assembled(cook: Kitchen) -> Rows:
    return rows(read(cook.folder, "assembled"), "request_id")
