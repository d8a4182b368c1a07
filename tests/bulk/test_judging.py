from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from tests.support import tables
from wholecall import Limits, Policy, parse_arguments
from wholecall.bulk import JUDGED, judge_batch

TEXTS = [
    '{"a": 1}',
    "{'a': 1,}",
    "",
    '{"a":',
    "[1]",
    '{"a":"\\ud800"}',
    '{"n":12345678901234567890}',
    None,
    '```json\n{"a":1}\n```',
]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"policy": Policy(recovery="none")},
        {"limits": Limits(max_arguments_bytes=8)},
        {"policy": Policy(json_safe_ints=True)},
    ],
    ids=str,
)
def test_each_text_has_its_verdict(options: dict[str, Any]) -> None:
    """Every row is the verdict of `parse_arguments` on its text; a null has none."""
    found = tables.rows(judge_batch(pa.table({"arguments": TEXTS}), **options))
    verdicts = [None if text is None else parse_arguments(text, **options) for text in TEXTS]

    assert [
        None
        if verdict is None
        else (
            verdict.status,
            verdict.reason,
            verdict.arguments,
            [edit.kind for edit in verdict.edits],
            list(verdict.flags),
        )
        for verdict in verdicts
    ] == [
        None
        if row["status"] is None
        else (
            row["status"],
            row["reason"],
            row["arguments"] and json.loads(row["arguments"]),
            row["edits"],
            row["flags"],
        )
        for row in found
    ]


def test_exact_texts_are_kept() -> None:
    """A text that is strict JSON stays byte for byte; one that was repaired is written anew."""
    found = judge_batch(pa.table({"said": TEXTS[:2]}), arguments="said").column("arguments").to_pylist()

    assert ['{"a": 1}', '{"a":1}'] == found


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
def test_types_do_not_matter(kind: pa.DataType) -> None:
    """Texts of any type, or a dictionary of them, give the same verdicts; a RecordBatch gives a RecordBatch."""
    plain = pa.table({"arguments": TEXTS})
    column = plain.column(0).combine_chunks()
    other = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
    out = judge_batch(pa.record_batch({"arguments": other}))

    assert pa.RecordBatch is type(out)
    assert out.schema.equals(JUDGED, check_metadata=True)
    assert tables.rows(judge_batch(plain)) == tables.rows(out)


@pytest.mark.parametrize(
    ("error", "message", "given"),
    [
        (ValueError, "the table has no column 'arguments'", pa.table({"args": TEXTS})),
        (TypeError, "holds int64; it has to hold text", pa.table({"arguments": [1]})),
        (TypeError, "holds binary; it has to hold text", pa.table({"arguments": [b"{}"]})),
        (TypeError, "not a list", TEXTS),
    ],
)
def test_mistakes_raise(error: type[Exception], message: str, given: Any) -> None:
    """A missing column and a wrong type raise."""
    with pytest.raises(error, match=message):
        judge_batch(given)
