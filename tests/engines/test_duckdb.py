"""The recipe for DuckDB runs unchanged; DuckDB and pandas read our tables."""

from __future__ import annotations

import signal

import pytest

from tests.support.engines import Kitchen, read
from wholecall.bulk import with_json_type

pytestmark = pytest.mark.engines

READS = """
import os
import duckdb
os.mkdir("back")
for name in ("calls", "recordings"):
    duckdb.sql(f"COPY (FROM 'flat/{name}.parquet') TO 'back/{name}.parquet'")
print(duckdb.sql("SELECT DISTINCT typeof(arguments) FROM 'flat/calls.parquet'").fetchall())
"""
PANDAS_READS = """
import os
import pandas as pd
os.mkdir("back")
for name in ("calls", "recordings"):
    pd.read_parquet(f"flat/{name}.parquet", dtype_backend="pyarrow").to_parquet(f"back/{name}.parquet")
"""


def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row is emitted once with the values of a plain run, poisoned rows included; so do the calls."""
    cook.cook("duckdb")

    assert cook.plain() == cook.cooked()


def test_killed_it_leaves_no_file(cook: Kitchen) -> None:
    """A file under the name of the output is whole: a killed program has left nothing there."""
    cook.cook("duckdb", ends=-signal.SIGKILL, DEADLY_IDS="r000300")

    assert [] == cook.parts()


def test_without_its_option_ids_are_lost(cook: Kitchen) -> None:
    """DuckDB answers for a null body itself if it may: a row of nulls."""
    recipe = cook.recipe("duckdb")
    cook.run(recipe.replace(', null_handling="special"', ""))

    assert 'null_handling="special"' in recipe
    assert 1 == read(cook.folder, "assembled").column("recording_id").null_count


def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through DuckDB."""
    expected = cook.write_flat()
    cook.run(READS)

    assert expected == cook.read_back()


def test_the_type_of_json_is_its_own(cook: Kitchen) -> None:
    """DuckDB knows `arrow.json` as JSON, and keeps the texts."""
    expected = cook.write_flat(with_json_type)

    assert "JSON" in cook.run(READS)
    assert expected == cook.read_back()


def test_pandas_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through pandas."""
    expected = cook.write_flat()
    cook.run(PANDAS_READS)

    assert expected == cook.read_back()
