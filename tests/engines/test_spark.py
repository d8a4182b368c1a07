"""The recipe for Spark runs unchanged, with workers that are killed; Spark reads our tables."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.support.engines import Kitchen, read
from wholecall.bulk import RECORDINGS

pytestmark = pytest.mark.engines

READS = """
from pyspark.sql import SparkSession
micros = ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
spark = SparkSession.builder.master("local[1]").config(*micros).getOrCreate()
for name in ("calls", "recordings"):
    spark.read.parquet(f"flat/{name}.parquet").write.parquet(f"back/{name}")
"""
ODD = """
import pyarrow as pa
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").getOrCreate()
def words(batches):
    for batch in batches:
        yield pa.record_batch([pa.array(["x"] * batch.num_rows).dictionary_encode()], ["a"])
def fixed(batches):
    for batch in batches:
        yield pa.record_batch([pa.array([b"x"] * batch.num_rows, pa.binary(1))], ["a"])
for function, schema in ((words, "a string"), (fixed, "a binary")):
    try:
        spark.range(3).mapInArrow(function, schema).collect()
    except Exception as error:
        print("refused", function.__name__, type(error).__name__)
"""


def test_the_recipe_gives_the_rows(cook: Kitchen) -> None:
    """Every row is emitted once with the values of a plain run, poisoned rows included; so do the calls."""
    cook.cook("spark")

    assert cook.plain() == cook.cooked()
    assert RECORDINGS.field("recorded_at") == read(cook.folder, "assembled").schema.field("recorded_at")


def test_workers_are_killed(cook: Kitchen) -> None:
    """Three workers are killed, and every row is emitted once."""
    ids = "r000050 r000200 r000350"
    cook.cook("spark", DEADLY_IDS=ids, DEADLY_NOTES=str(cook.folder / "notes"))

    assert ids.split() == sorted(path.name for path in (cook.folder / "notes").iterdir())
    assert cook.plain() == cook.cooked()


def test_one_death_is_too_much_for_one_machine_by_itself(cook: Kitchen) -> None:
    """With `local[*]` a program fails when a worker is killed, and no row is published."""
    recipe = cook.recipe("spark")
    notes = str(cook.folder / "notes")
    cook.run(recipe.replace("local[*, 4]", "local[*]"), ends=1, DEADLY_IDS="r000200", DEADLY_NOTES=notes)

    assert "local[*, 4]" in recipe
    assert [] == cook.parts()


def test_it_reads_our_tables(cook: Kitchen) -> None:
    """Flat tables keep their values through Spark."""
    expected = cook.write_flat()
    cook.run(READS)

    assert expected == cook.read_back()
    assert (
        pa.timestamp("us", "UTC") == read(cook.folder / "back", "recordings").schema.field("recorded_at").type
    )


def test_what_it_refuses(cook: Kitchen) -> None:
    """Spark takes back no dictionaries and no binary of a fixed size; no table of ours has them."""
    told = cook.run(ODD)

    assert ["words", "fixed"] == [line.split()[1] for line in told.splitlines() if line.startswith("refused")]
