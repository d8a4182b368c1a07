from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.support import tables
from wholecall.bulk import ASSEMBLED, CALLS, RECORDINGS, assemble_batch, columns
from wholecall.bulk.columns import assembled, batches, flat
from wholecall.bulk.rows import Judging, Known, Row
from wholecall.bulk.streams import row_of


def some_rows() -> list[Row]:
    """Return the rows of a few recordings."""
    given = tables.rows(tables.bodies().slice(0, 30))
    return [
        row_of([(None, row["body"])], Known(row["recording_id"], row["recording_id"]), Judging())
        for row in given
    ]


def test_rows_become_both_tables() -> None:
    """Rows give the flat tables, and the assembled one, by their schemas."""
    rows = some_rows()
    calls, recordings = flat(rows)

    assert assemble_batch(tables.bodies().slice(0, 30)).equals(assembled(rows), check_metadata=True)
    assert (CALLS, RECORDINGS) == (calls.schema, recordings.schema)
    assert (sum(len(row.calls) for row in rows), len(rows)) == (calls.num_rows, recordings.num_rows)


@pytest.mark.parametrize(("most_rows", "most_characters"), [(7, 2**28), (1024, 1000), (1024, 1)])
def test_few_rows_are_held(most_rows: int, most_characters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows, or much text, become several batches, which are made before the next row is asked for."""
    rows = some_rows()
    whole = assembled(rows)
    asked: list[Row] = []
    monkeypatch.setattr(columns, "_MOST_ROWS", most_rows)
    monkeypatch.setattr(columns, "MOST_CHARACTERS", most_characters)
    found: list[Any] = []
    for batch in batches(asked.append(row) or row for row in rows):
        found.append(batch)
        assert sum(part.num_rows for part in found) + 1 >= len(asked)

    assert len(found) > 3
    assert max(part.num_rows for part in found) <= most_rows
    assert whole.equals(pa.Table.from_batches(found).combine_chunks(), check_metadata=True)


def test_a_record_batch_is_one_however_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A RecordBatch comes back as one, also where its rows became several batches."""
    given = tables.bodies().slice(0, 30).combine_chunks().to_batches()[0]
    whole = assemble_batch(given)
    monkeypatch.setattr(columns, "_MOST_ROWS", 7)

    assert whole.equals(assemble_batch(given), check_metadata=True)


def test_a_record_batch_holds_so_much() -> None:
    """Where one RecordBatch cannot hold the text of all rows, the caller is notified."""

    class Full:
        """A table whose texts are too much for one batch."""

        @staticmethod
        def from_batches(_made: object, _schema: object) -> Full:
            return Full()

        def combine_chunks(self) -> Full:
            return self

        def to_batches(self) -> list[int]:
            return [1, 2]

    given = tables.bodies().slice(0, 2).combine_chunks().to_batches()[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns.pa, "Table", Full)
        with pytest.raises(ValueError, match="more text than one RecordBatch holds"):
            columns.like(given, [given, given], ASSEMBLED)
