"""The recipe for Daft runs as it stands; Daft reads our tables."""

from __future__ import annotations

import pytest

from tests.support.engines import Kitchen

pytestmark = pytest.mark.engines

READS = """
import daft
for name in ("calls", "recordings"):
    daft.read_parquet(f"flat/{name}.parquet").write_parquet(f"back/{name}")
"""


def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row comes out once with the values of a plain run, also poisoned ones; so do the calls."""
    cook.cook("daft")

    assert cook.plain() == cook.cooked()


def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through Daft."""
    expected = cook.write_flat()
    cook.run(READS)

    assert expected == cook.read_back()
