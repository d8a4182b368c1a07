"""The recipe for datasets runs unchanged; datasets reads our tables."""

from __future__ import annotations

import pytest

from tests.support.engines import Kitchen
from wholecall.bulk import with_json_type

pytestmark = pytest.mark.engines

READS = """
import os
from datasets import load_dataset
os.mkdir("back")
for name in ("calls", "recordings"):
    table = load_dataset("parquet", data_files=f"flat/{name}.parquet", split="train")
    table.to_parquet(f"back/{name}.parquet")
"""
DECODES = """
from datasets import load_dataset
calls = load_dataset("parquet", data_files="flat/calls.parquet", split="train")
for found in calls["arguments"]:
    print(type(found).__name__)
"""


def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row is emitted once with the values of a plain run, poisoned rows included; so do the calls."""
    cook.cook("datasets")

    assert cook.plain() == cook.cooked()


def test_killed_it_keeps_nothing(cook: Kitchen) -> None:
    """When a worker is killed the program fails, and no row is written."""
    cook.cook("datasets", ends=1, DEADLY_IDS="r000300")

    assert [] == cook.parts()


def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through datasets."""
    expected = cook.write_flat()
    cook.run(READS)

    assert expected == cook.read_back()


def test_the_type_of_json_is_decoded(cook: Kitchen) -> None:
    """Datasets decodes `arrow.json`, and raises on a number of 400 digits."""
    cook.write_flat(with_json_type)

    told = cook.run(DECODES, ends=1)

    assert ("dict" in told.split(), True) == (True, "Value is too big" in told)
