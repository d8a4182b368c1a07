from __future__ import annotations

import functools
import pickle
import tracemalloc
from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest

from tests.support import tables
from tests.support.together import together
from wholecall import Limits, Policy, UnknownDialect
from wholecall.bulk import ASSEMBLED, CALLS, RECORDINGS, assemble_batch, calls_of, recordings_of

CALL = (
    b'data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1",'
    b'"type":"function","function":{"name":"f","arguments":"{\\"n\\": 1}"}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],'
    b'"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\ndata: [DONE]\n\n'
)


def table(**columns: Any) -> pa.Table:
    """Return a table of one response in each row, unless others are given."""
    n = max((len(column) for column in columns.values()), default=1)
    return pa.table({"recording_id": [f"r{number}" for number in range(n)], "body": [CALL] * n} | columns)


def test_rows_say_what_events_say() -> None:
    """Law 89: every recording of the project has the calls of its events, by value and in order."""
    given = tables.bodies()
    out = assemble_batch(given)
    expected = {row["recording_id"]: tables.by_events(row["body"]) for row in tables.rows(given)}
    found = {
        row["recording_id"]: (row["calls"], {name: row[name] for name in expected[row["recording_id"]][1]})
        for row in tables.rows(out)
    }

    assert expected == found
    assert len(found) > 400
    assert calls_of(out).num_rows > 700


@pytest.mark.parametrize("size", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 64, 1000))])
def test_batches_do_not_matter(size: int) -> None:
    """Law 90: however a table is cut into batches, its rows are the same."""
    given = tables.bodies()
    parts = given.to_batches(max_chunksize=size)
    whole = pa.Table.from_batches([assemble_batch(part) for part in parts])

    assert tables.rows(assemble_batch(given)) == tables.rows(whole)
    assert tables.rows(whole) == tables.rows(assemble_batch(pa.Table.from_batches(parts)))


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "kind",
    [
        pa.large_binary(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.binary()),
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
    ],
    ids=str,
)
def test_types_do_not_matter(kind: pa.DataType) -> None:
    """Law 90: bodies and ids of any type of Arrow for bytes and texts give the same rows, and plain types."""
    texts = [row for row in tables.rows(tables.bodies()) if _is_text(row["body"])][:100]
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_text = "string" in str(inner)
    ids = [row["recording_id"] for row in texts]
    bodies = pa.array([row["body"].decode() if is_text else row["body"] for row in texts], inner)
    given = {"recording_id": pa.array(ids, inner if is_text else pa.string()), "body": bodies}
    if pa.types.is_dictionary(kind):
        given = {name: column.dictionary_encode() for name, column in given.items()}
    out = assemble_batch(pa.table(given))

    assert len(texts) == 100
    assert out.schema.equals(ASSEMBLED, check_metadata=True)
    assert tables.rows(
        assemble_batch(pa.table({"recording_id": ids, "body": [row["body"] for row in texts]}))
    ) == tables.rows(out)


def _is_text(data: bytes) -> bool:
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


def test_a_table_for_a_table() -> None:
    """The result is of the given kind, with a row for each row and just the declared schema."""
    given = table(body=[CALL, b"", None])
    whole, part = assemble_batch(given), assemble_batch(given.to_batches()[0])

    assert (pa.Table, pa.RecordBatch) == (type(whole), type(part))
    assert tables.rows(whole) == tables.rows(part)
    for made, schema in ((ASSEMBLED, ASSEMBLED), (calls_of, CALLS), (recordings_of, RECORDINGS)):
        for out in (whole, part):
            flat = out if made is ASSEMBLED else made(out)
            assert type(out) is type(flat)
            assert flat.schema.equals(schema, check_metadata=True)
            flat.validate(full=True)


@pytest.mark.parametrize("given", [table(), table().to_batches()[0]], ids=["Table", "RecordBatch"])
def test_nothing_in_nothing_out(given: Any) -> None:
    """No rows give no rows, by the same schema."""
    out = assemble_batch(given.slice(0, 0))

    assert (type(given), 0) == (type(out), out.num_rows)
    assert out.schema.equals(ASSEMBLED, check_metadata=True)


def test_what_is_given_beside_the_body() -> None:
    """Provider, model, dialect and time come from columns; the response's own model outranks the column's."""
    columns = {
        "who": ["openai", None],
        "asked": ["gpt", "gpt"],
        "body": [CALL, CALL.replace(b'"model":"m",', b"")],
        "spoke": ["chat-completions", "no dialect of ours"],
        "at": pa.array([1_700_000_000_123_456_789, -1], pa.timestamp("ns")),
    }
    names = {"provider": "who", "model": "asked", "dialect": "spoke", "recorded_at": "at"}
    first, second = tables.rows(assemble_batch(table(**columns), **names))
    said = ("provider", "model", "dialect", "response_id", "input_tokens", "output_tokens", "usage")

    assert ["openai", "m", "chat-completions", "r1", 7, 3, '{"prompt_tokens":7,"completion_tokens":3}'] == [
        first[name] for name in said
    ]
    assert [None, "gpt", "chat-completions", "r1"] == [second[name] for name in said[:4]]
    assert datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=timezone.utc) == first["recorded_at"]
    assert datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc) == second["recorded_at"]


@together("unit", ["s", "ms", "us", "ns"])
@together("count", [0, 2**62, -(2**62)])
def test_times_of_no_calendar_are_null(unit: str, count: int) -> None:
    """A timestamp that no calendar has is null, whatever its unit."""
    given = table(at=pa.array([count], pa.timestamp(unit, "Europe/Paris")))
    (row,) = tables.rows(assemble_batch(given, recorded_at="at"))

    assert (None if count and unit != "ns" else datetime.fromtimestamp(count // 10**9, timezone.utc)) == (
        row["recorded_at"] and row["recorded_at"].replace(microsecond=0)
    )
    assert row["n_calls"] == 1


def test_one_dialect_for_all() -> None:
    """A dialect is that of all rows, where no column has its name; a column says that of each row."""
    found = [assemble_batch(table(), dialect=dialect) for dialect in (None, "chat-completions", "anthropic")]
    column = table(anthropic=["chat-completions", "anthropic", None])
    found.append(assemble_batch(column, dialect="anthropic"))

    assert [1, 1, 0, 1, 0, 1] == [row["n_calls"] for out in found for row in tables.rows(out)]


def test_a_framing_for_all() -> None:
    """The caller can set how bytes are cut into events."""
    found = [assemble_batch(table(), framing=framing) for framing in (None, "sse", "jsonl")]

    assert [1, 1, 0] == [row["n_calls"] for out in found for row in tables.rows(out)]


def test_large_choices_stand_as_the_largest() -> None:
    """A choice's number that its column does not hold becomes the column's largest number."""
    bodies = [CALL.replace(b'"index":0,"delta"', b'"index":%d,"delta"' % number) for number in (3, 2**40)]
    found = calls_of(assemble_batch(table(body=bodies)))

    assert [3, 2**31 - 1] == found.column("choice").to_pylist()


KINDS = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string(), pa.string_view()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_parts_of_columns(kind: pa.DataType) -> None:
    """Of a cut column only the visible part is read: short values, long ones, none, and nothing at all."""
    given = pa.array([value and value.decode() for value in (CALL, b"short", None, CALL, b"", CALL)]).cast(
        kind
    )
    ids = [str(number) for number in range(6)]
    whole = pa.record_batch({"recording_id": ids, "body": given})
    found = [assemble_batch(whole.slice(begin, 3)).column("bytes").to_pylist() for begin in (0, 1, 3)]

    assert [[len(CALL), 5, 0], [5, 0, len(CALL)], [len(CALL), 0, len(CALL)]] == found


AT = CALL.index(b"\n\n") + 2  # where the second event begins


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ([{"offset": 0, "seconds": 0.5}, {"offset": AT, "seconds": 2.0}], (2, 0.5, 2.0, None)),
        ([{"offset": 0, "seconds": None}, {"offset": AT, "seconds": 2.0}], (2, None, None, None)),
        (None, (1, None, None, None)),
    ],
)
def test_times_of_chunks(times: Any, found: tuple[Any, ...]) -> None:
    """Where a table has times of bytes, rows have times of calls."""
    (row,) = tables.rows(assemble_batch(table(t=pa.array([times], TIMES)), chunk_times="t"))

    assert found == (row["chunks"], row["first_call_s"], row["last_s"], row["trouble"])


TIMES = pa.large_list(pa.struct([("seconds", pa.float32()), ("offset", pa.uint64())]))


@pytest.mark.parametrize(
    "times",
    [
        [],
        [None],
        [{"offset": None, "seconds": 0.5}],
        [{"offset": 1, "seconds": 0.5}],
        [{"offset": 0, "seconds": 0.5}, {"offset": 0, "seconds": 0.5}],
        [{"offset": 0, "seconds": 0.5}, {"offset": 9, "seconds": 0.5}, {"offset": 8, "seconds": 0.5}],
        [{"offset": 0, "seconds": 0.5}, {"offset": len(CALL), "seconds": 0.5}],
    ],
)
def test_times_that_cannot_be(times: Any) -> None:
    """Times that do not fit the body are ignored, and the row says so; its calls are there."""
    (row,) = tables.rows(assemble_batch(table(t=pa.array([times], TIMES)), chunk_times="t"))

    assert "its chunk times do not fit its body" == row["trouble"]
    assert (1, 1, None) == (row["n_calls"], row["chunks"], row["last_s"])


def test_ids_may_be_integers() -> None:
    """An id that is a number is its digits; a row without one says so, and has its calls all the same."""
    found = tables.rows(assemble_batch(table(recording_id=pa.array([2**63, None], pa.uint64()))))

    assert [("9223372036854775808", None), ("", "it has no id")] == [
        (row["recording_id"], row["trouble"]) for row in found
    ]
    assert [1, 1] == [row["n_calls"] for row in found]


def test_a_null_is_a_row() -> None:
    """A row without a body is a row with a trouble; also where a whole column is null."""
    given = table(body=pa.nulls(2), recording_id=["a", "b"])
    found = [
        (row["recording_id"], row["trouble"], row["calls"]) for row in tables.rows(assemble_batch(given))
    ]

    assert [("a", "its body is null", []), ("b", "its body is null", [])] == found


@pytest.mark.slow
def test_arguments_can_stay_away() -> None:
    """Without arguments a row holds none of their text, but their size, and all else is the same."""
    hidden = ("arguments", "raw_arguments")
    given = tables.bodies()
    whole, bare = calls_of(assemble_batch(given)), calls_of(assemble_batch(given, arguments=False))

    assert [None] == bare.group_by(list(hidden)).aggregate([]).column("arguments").to_pylist()
    assert [tables.shown(row, *hidden) for row in tables.rows(whole)] == [
        tables.shown(row, *hidden) for row in tables.rows(bare)
    ]


def test_policy_and_limits_are_those_of_the_parser() -> None:
    """The options judge calls as they do in a parser."""
    wrong = CALL.replace(b'{\\"n\\": 1}', b'{\\"n\\": 1,}')
    given = table(body=[wrong])
    options: list[dict[str, Any]] = [
        {},
        {"policy": Policy(recovery="none")},
        {"limits": Limits(max_name_chars=0)},
    ]
    found = [tables.rows(calls_of(assemble_batch(given, **option)))[0] for option in options]

    assert [("recovered", None), (None, "invalid_json"), (None, "name_too_long")] == [
        (call["status"], call["reason"]) for call in found
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_a_large_body_costs_nothing_beside_itself(kind: pa.DataType) -> None:
    """A body of megabytes is fed in slices, and nothing of it is kept: neither by Python nor by Arrow."""
    text = b'data: {"choices":[{"index":0,"delta":{"content":"So it goes on and on, for a long time."}}]}\n\n'
    given = table(body=pa.array([text * 50_000 + CALL], kind))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        (row,) = tables.rows(assemble_batch(given))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (1, 50_000 * len(text) + len(CALL)) == (row["n_calls"], row["bytes"])
    assert peak < row["bytes"] / 4
    assert pa.total_allocated_bytes() - before < 100_000


def test_it_can_be_pickled() -> None:
    """The function can be sent to other processes, with its options too."""
    one = functools.partial(assemble_batch, body="b", id="i", policy=Policy.strict(), limits=Limits.gateway())
    given = table().rename_columns(["i", "b"])

    assert assemble_batch is pickle.loads(pickle.dumps(assemble_batch))  # noqa: S301 - our own
    assert tables.rows(one(given)) == tables.rows(pickle.loads(pickle.dumps(one))(given))  # noqa: S301 - our own


@together(
    ("error", "message", "given", "options"),
    [
        (
            ValueError,
            "no column 'raw', or several; its columns are: recording_id, body",
            table(),
            {"body": "raw"},
        ),
        (ValueError, "no column 'n', or several", table(), {"id": "n"}),
        (ValueError, "no column 'n', or several", table(), {"model": "n"}),
        (TypeError, "'body' holds double; it has to hold bytes or text", table(body=[0.5]), {}),
        (TypeError, "'body' holds list<item: binary>", table(body=[[b""]]), {}),
        (
            TypeError,
            "'recording_id' holds double; it has to hold text or integers",
            table(recording_id=[0.5]),
            {},
        ),
        (TypeError, "'m' holds int64; it has to hold text", table(m=[1]), {"provider": "m"}),
        (TypeError, "'m' holds int64; it has to hold text", table(m=[1]), {"dialect": "m"}),
        (TypeError, "'m' holds string; it has to hold timestamps", table(m=["now"]), {"recorded_at": "m"}),
        (
            TypeError,
            "'m' holds string; it has to hold lists of structs",
            table(m=["now"]),
            {"chunk_times": "m"},
        ),
        (UnknownDialect, "there is no dialect 'caht'; did you mean 'chat", table(), {"dialect": "caht"}),
        (UnknownDialect, "there is no framing 'sss'", table(), {"framing": "sss"}),
        (TypeError, "give a Table or a RecordBatch of pyarrow, not a dict", {"body": [b""]}, {}),
    ],
)
def test_mistakes_raise(error: type[Exception], message: str, given: Any, options: dict[str, Any]) -> None:
    """A missing column, one of a wrong type and a word that is not known raise, before anything is read."""
    with pytest.raises(error) as caught:
        assemble_batch(given, **options)

    assert message in str(caught.value)


def test_two_columns_of_a_name_are_a_mistake() -> None:
    """A name that two columns have names none."""
    given = pa.table([["a"], [CALL], [CALL]], names=["recording_id", "body", "body"])

    with pytest.raises(ValueError, match="no column 'body', or several"):
        assemble_batch(given)
