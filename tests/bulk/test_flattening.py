from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from tests.support import tables
from tests.support.together import together
from wholecall.bulk import (
    ASSEMBLED,
    CALLS,
    RECORDINGS,
    assemble_batch,
    calls_of,
    recordings_of,
    with_json_type,
)


@cache
def out() -> pa.Table:
    """Return the rows of the project's recordings."""
    return assemble_batch(tables.bodies())


def as_engines_have_it(type_: pa.DataType, text: pa.DataType) -> pa.DataType:
    """Return a type as an engine makes it that has one type of text, and large lists."""
    if pa.types.is_string(type_):
        return text
    if pa.types.is_struct(type_):
        return pa.struct([(field.name, as_engines_have_it(field.type, text)) for field in type_])
    if pa.types.is_list(type_):
        return pa.large_list(as_engines_have_it(type_.value_type, text))
    return type_


def changed(table: pa.Table, text: pa.DataType) -> pa.Table:
    """Return a table with other types, and without metadata."""
    schema = pa.schema([(field.name, as_engines_have_it(field.type, text)) for field in table.schema])
    return pa.Table.from_pylist(table.to_pylist(), schema)


def test_flat_tables_are_the_assembled_one() -> None:
    """The flat tables hold the rows of the assembled one: each call with the id of its recording, in order."""
    given = tables.rows(out())
    calls = [{"recording_id": row["recording_id"], **call} for row in given for call in row["calls"]]

    assert calls == tables.rows(calls_of(out()))
    assert [tables.shown(row, "calls") for row in given] == tables.rows(recordings_of(out()))


@pytest.mark.parametrize("text", [pa.large_string(), pa.string_view()], ids=str)
def test_types_that_engines_change(text: pa.DataType) -> None:
    """A table whose texts and lists came back as others gives the same flat tables, of the declared types."""
    given = changed(out(), text)

    assert calls_of(out()).equals(calls_of(given).combine_chunks(), check_metadata=True)
    assert recordings_of(out()).equals(recordings_of(given).combine_chunks(), check_metadata=True)


def test_words_that_became_a_dictionary() -> None:
    """A column of words that an engine made a dictionary of is a column of words again."""
    place = out().schema.get_field_index("dialect")
    given = out().set_column(place, "dialect", out().column("dialect").dictionary_encode())

    assert recordings_of(out()).equals(recordings_of(given), check_metadata=True)


@pytest.mark.parametrize("made", [calls_of, recordings_of])
def test_parts_of_tables(made: Any) -> None:
    """A part of a table, cut anywhere, gives its part of the flat table; a RecordBatch gives a RecordBatch."""
    first = next(place for place, row in enumerate(tables.rows(out())) if row["calls"])
    whole, part = out().slice(first, 100), out().combine_chunks().to_batches()[0].slice(first, 100)
    flat = made(part)

    assert pa.RecordBatch is type(flat)
    assert tables.rows(flat) == tables.rows(made(whole))
    assert made(whole).column("recording_id")[0] == out().column("recording_id")[first]


def test_a_recording_whose_calls_are_null_has_none() -> None:
    """Where an engine turned an empty list into null, the recording has no calls."""
    place = out().schema.get_field_index("calls")
    calls = [row["calls"] or None for row in tables.rows(out())]
    given = out().set_column(
        place, out().schema.field(place), [pa.array(calls, out().schema.field(place).type)]
    )

    assert None in calls
    assert calls_of(out()).equals(calls_of(given), check_metadata=True)
    assert calls == [row["calls"] for row in tables.rows(with_json_type(given))]


def test_other_columns_are_left_out() -> None:
    """Other content of a table is not in the flat tables, at any position."""
    given = out().add_column(0, "split", [["train"] * out().num_rows])

    assert (CALLS, RECORDINGS) == (calls_of(given).schema, recordings_of(given).schema)


@pytest.mark.parametrize(
    ("error", "message", "made", "given"),
    [
        (ValueError, "no column 'calls'", calls_of, lambda: recordings_of(out())),
        (ValueError, "no column 'recording_id'", calls_of, lambda: out().drop_columns(["recording_id"])),
        (ValueError, "no column 'usage'", recordings_of, lambda: out().drop_columns(["usage"])),
        (
            TypeError,
            "calls is no list of structs but string",
            calls_of,
            lambda: pa.table({"recording_id": ["a"], "calls": ["b"]}),
        ),
        (
            ValueError,
            "the calls have no choice, index",
            calls_of,
            lambda: pa.table({"recording_id": ["a"], "calls": [[{"turn": 1}]]}),
        ),
        (TypeError, "give a Table or a RecordBatch of pyarrow, not a list", calls_of, list),
        (TypeError, "give a Table or a RecordBatch of pyarrow, not a list", with_json_type, list),
    ],
)
def test_mistakes_raise(error: type[Exception], message: str, made: Any, given: Callable[[], Any]) -> None:
    """A foreign table raises, and the error lists its missing columns."""
    with pytest.raises(error, match=message):
        made(given())


# The type of JSON.


@together(
    "given",
    [out, lambda: calls_of(out()), lambda: recordings_of(out()), lambda: out().slice(3, 50)],
    ids=["assembled", "calls", "recordings", "part"],
)
@together("as_batch", [False, True])
def test_with_json_type(given: Callable[[], pa.Table], as_batch: bool) -> None:
    """Texts of JSON have the type of JSON, also below; everything else is the same, and so are the values."""
    table = given()
    one = table.combine_chunks().to_batches()[0] if as_batch else table
    typed = with_json_type(one)
    typed.validate(full=True)
    names = {field.name for field in typed.schema if field.type == pa.json_()}
    below = (
        typed.schema.field("calls").type.value_type.field("arguments").type
        if "calls" in typed.schema.names
        else None
    )

    assert type(one) is type(typed)
    assert names == {"arguments", "usage"} & set(table.schema.names)
    assert below in (None, pa.json_())
    assert table.schema.metadata == typed.schema.metadata
    assert [row.get("calls", row.get("arguments", row.get("usage"))) for row in table.to_pylist()] == [
        row.get("calls", row.get("arguments", row.get("usage"))) for row in typed.to_pylist()
    ]


def test_a_pyarrow_without_the_type_of_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pyarrow that has no type of JSON is named, with the one that has."""
    monkeypatch.delattr(pa, "json_")

    with pytest.raises(ValueError, match="pip install 'pyarrow>=19'"):
        with_json_type(out())


def test_the_assembled_schema_holds_the_flat_ones() -> None:
    """`ASSEMBLED` is `RECORDINGS`, and in `calls` the columns of `CALLS` without the id; all name themselves."""
    below = ASSEMBLED.field("calls").type.value_type

    assert [*RECORDINGS, ASSEMBLED.field("calls")] == list(ASSEMBLED)
    assert list(CALLS)[1:] == list(below)
    assert [b"calls", b"recordings", b"assembled"] == [
        schema.metadata[b"wholecall.table"] for schema in (CALLS, RECORDINGS, ASSEMBLED)
    ]
