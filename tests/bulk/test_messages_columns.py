"""Conversations in columns of tables, and in files: whatever holds the messages, the rows are the same."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import make_transcripts, tables
from tests.support.scanning import Inline, rows, table
from tests.support.together import together
from wholecall.bulk import assemble_messages, calls_of
from wholecall.bulk.options import Options
from wholecall.bulk.recording_files import rows_of_file
from wholecall.bulk.rows import Judging
from wholecall.bulk.scanning import scan
from wholecall.bulk.units import found

JSON = dict[str, Any]
FILES = [entry["file"] for entry in make_transcripts.entries()]
TEXTS = {file: json.dumps(make_transcripts.read(make_transcripts.FOLDER / file)) for file in FILES}
# Transcripts that Arrow can hold as structs, and whose arguments are texts.
NESTED = [
    file
    for file in FILES
    if file.startswith(("chat", "responses", "codex")) and file != "chat-completions/trimmed.json"
]
CHAT: list[JSON] = [
    {"role": "user", "content": "x"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.0}'}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "ok"},
]


def batch(column: Any, **more: Any) -> pa.Table:
    """Return a table with a column of conversations."""
    return pa.table({"recording_id": [str(n) for n in range(len(column))], "messages": column, **more})


def shown(out: Any, *but: str) -> list[JSON]:
    """Return rows without some columns."""
    return [tables.shown(row, *but) for row in tables.rows(out)]


# --- columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type_",
    [
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pytest.param(None, id="arrow.json"),
    ],
    ids=str,
)
def test_types_of_text_do_not_matter(type_: pa.DataType | None) -> None:
    """Law 96: texts of JSON may have any type of Arrow for texts."""
    texts = pa.array(TEXTS.values(), pa.string())
    if type_ is None:
        type_ = pa.json_() if hasattr(pa, "json_") else pa.string()
        column: Any = pa.ExtensionArray.from_storage(type_, texts) if hasattr(pa, "json_") else texts
    else:
        column = texts.cast(pa.binary()).cast(type_) if "binary" in str(type_) else texts.cast(type_)

    assert assemble_messages(batch(texts)).equals(assemble_messages(batch(column)))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_do_not_matter(size: int) -> None:
    """Law 96: a batch of any size gives the rows that a table gives, and is the given batch."""
    whole = assemble_messages(batch(list(TEXTS.values())))
    pieces = [assemble_messages(part) for part in batch(list(TEXTS.values())).to_batches(max_chunksize=size)]

    assert all(isinstance(piece, pa.RecordBatch) for piece in pieces)
    assert whole.equals(pa.Table.from_batches(pieces))


@together("file", NESTED)
def test_structs_say_what_their_text_says(file: str) -> None:
    """Law 96: lists of structs whose arguments are text give the rows of the same messages as JSON."""
    messages = json.loads(TEXTS[file])
    nested = assemble_messages(batch(pa.array([messages, messages[:2]])))
    plain = assemble_messages(batch([TEXTS[file], json.dumps(messages[:2])]))

    assert shown(plain, "bytes", "content_hash") == shown(nested, "bytes", "content_hash")


def test_what_arrow_added_is_left_out() -> None:
    """Null members of a struct count as absent: Arrow states absence so."""
    said = [{"path": "/x", "n": 1}, {}, {"n": None, "sub": {"a": 1}}, {"sub": {"b": [None]}}]
    block = [{"type": "tool_use", "id": str(n), "name": "f", "input": one} for n, one in enumerate(said)]
    out = assemble_messages(batch(pa.array([[{"role": "assistant", "content": block}]])))
    found = [(call["arguments"], call["status"]) for call in tables.rows(calls_of(out))]

    assert ['{"path":"/x","n":1}', "{}", '{"sub":{"a":1}}', '{"sub":{"b":[null]}}'] == [
        text for text, _ in found
    ]
    assert {None} == {status for _, status in found}


def test_maps_and_odd_types_become_json() -> None:
    """A map keeps its nulls; times, decimals and bytes become text."""
    fields = {
        "m": (pa.map_(pa.string(), pa.int32()), [("a", 1), ("b", None)]),
        "t": (pa.timestamp("s"), dt.datetime(2026, 11, 1)),  # noqa: DTZ001 - a column without a zone
        "d": (pa.decimal128(5, 2), Decimal("1.50")),
        "b": (pa.binary(), b"\xc3\xa9"),
        "w": (pa.dictionary(pa.int8(), pa.string()), "word"),
        "f": (pa.list_(pa.float32(), 2), [0.5, None]),
    }
    arguments = pa.struct([(name, type_) for name, (type_, _) in fields.items()])
    block = pa.struct(
        [("type", pa.string()), ("id", pa.string()), ("name", pa.string()), ("input", arguments)]
    )
    messages = pa.list_(pa.struct([("role", pa.string()), ("content", pa.list_(block))]))
    value = {
        "type": "tool_use",
        "id": "c",
        "name": "f",
        "input": {name: one for name, (_, one) in fields.items()},
    }
    out = assemble_messages(batch(pa.array([[{"role": "assistant", "content": [value]}]], messages)))
    (text,) = calls_of(out)["arguments"].to_pylist()

    assert {
        "m": {"a": 1, "b": None},
        "t": "2026-11-01 00:00:00",
        "d": "1.50",
        "b": "\u00e9",
        "w": "word",
        "f": [0.5, None],
    } == json.loads(text)


def test_structs_that_cannot_be_read_are_rows() -> None:
    """Law 95: text in a struct that is not UTF-8 is the trouble of its row, and of no other."""
    bad = pa.array([b"\xff", b"user"], pa.binary()).view(pa.string())
    column = pa.ListArray.from_arrays(
        [0, 1, 2], pa.StructArray.from_arrays([bad, bad.take([1, 1])], ["role", "content"])
    )
    out = assemble_messages(batch(column))

    assert ["its messages are of values that cannot be read", None] == out["trouble"].to_pylist()


def test_what_is_known_beside_the_messages() -> None:
    """Columns set their values; a model that the messages name, and a time that they state, outrank the columns."""
    when = dt.datetime(2026, 11, 1, tzinfo=dt.timezone.utc)
    named = [{"role": "assistant", "content": "x", "model": "m-2"}]
    given = batch(
        [json.dumps(CHAT), json.dumps(named)],
        by=["acme", None],
        asked=["m-1", "m-1"],
        at=[when, None],
    )
    out = assemble_messages(given, provider="by", model="asked", recorded_at="at")

    assert [("acme", "m-1", when), (None, "m-2", None)] == [
        (row["provider"], row["model"], row["recorded_at"]) for row in tables.rows(out)
    ]


def test_mistakes_raise() -> None:
    """A column that is missing or of another type is the caller's mistake; a row without an id has a null id."""
    with pytest.raises(ValueError, match="no column 'chat'"):
        assemble_messages(batch(["[]"]), messages="chat")
    with pytest.raises(TypeError, match="it has to hold texts of JSON, lists of structs, or structs"):
        assemble_messages(batch([1]))
    out = assemble_messages(pa.table({"recording_id": pa.array([None], pa.string()), "messages": ["[]"]}))

    assert ["it has no id"] == out["trouble"].to_pylist()


# --- scans -------------------------------------------------------------------------------------------------


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are done in this process."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)


def scanned(out: Path, *paths: Path, **options: Any) -> Any:
    """Scan, and return how far it came."""
    *_, end = scan(paths, out, **options)
    return end


def _written(path: Path, texts: list[str]) -> None:
    if path.suffix == ".parquet":
        nested = [{"m": text} for text in texts]
        pq.write_table(
            pa.table({"id": [str(n) for n in range(len(texts))], "x": nested}), path, row_group_size=3
        )
        return
    lines = [{"id": n, "x": {"m": text if n % 2 else json.loads(text)}} for n, text in enumerate(texts)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl"])
def test_scans_of_tables_are_batches(name: str, tmp_path: Path) -> None:
    """Law 96: a scan of a column of conversations writes what `assemble_messages` returns."""
    _written(tmp_path / name, list(TEXTS.values()))
    scanned(tmp_path / "out", tmp_path / name, messages="x.m", id="id")
    expected = calls_of(assemble_messages(batch(list(TEXTS.values()))))
    order = [("recording_id", "ascending"), ("turn", "ascending"), ("index", "ascending")]

    assert expected.sort_by(order).equals(table(tmp_path / "out", "calls").sort_by(order))


@pytest.mark.usefixtures("inline")
def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    """An integer that is not a float, and half a surrogate pair, come through the lines of a table as they are."""
    use = {"type": "tool_use", "id": "c", "name": "f", "input": {"n": 2**70}}
    half = [{"role": "assistant", "content": "\ud83d"}, {"role": "assistant", "content": [use]}]
    lines = [{"m": [{"role": "assistant", "content": [use]}]}, {"m": half}, {"m": None}, {"m": 5}, {}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    scanned(tmp_path / "out", tmp_path / "t.jsonl", messages="m")

    assert (len(json.dumps(lines[0]["m"])),) == rows(tmp_path / "out", "bytes")[0]
    assert [f'{{"n":{2**70}}}'] * 2 == table(tmp_path / "out", "calls")["arguments"].to_pylist()
    assert [
        None,
        None,
        "its messages are null",
        "it holds no list of messages, each an object",
        "its messages are null",
    ] == [trouble for (trouble,) in rows(tmp_path / "out", "trouble")]


def test_what_does_not_fit_together(tmp_path: Path) -> None:
    """A table has one main column; messages have no dialect; a column needs a table."""
    file = tmp_path / "t.jsonl"
    file.write_text("{}\n", "utf-8")
    for wrong, said in (
        ({"body": "b", "messages": "m"}, "name one of them"),
        ({"messages": "m", "dialect": "anthropic"}, "a dialect is of raw bodies"),
        ({"id": "i"}, "or the messages"),
    ):
        with pytest.raises(ValueError, match=said):
            scanned(tmp_path / "out", file, **wrong)


# --- files -------------------------------------------------------------------------------------------------


def of_file(path: Path) -> list[Any]:
    """Return the rows of a file."""
    skipped: Counter[str] = Counter()
    (piece,) = found([path], path.parent / "out")
    made = list(rows_of_file(piece, Options(), Judging(), skipped))
    assert not skipped
    return made


@together("file", FILES)
def test_files_say_what_columns_say(file: str) -> None:
    """Law 96: a session file, or a list of messages in one, is one row: that of its messages."""
    (row,) = of_file(make_transcripts.FOLDER / file)
    (expected,) = tables.rows(assemble_messages(batch([TEXTS[file]])))
    own = {"recording_id", "source", "bytes", "content_hash", "calls"}

    assert tables.shown(expected, *own) == tables.shown(row.recording, *own)
    assert [tuple(call.values()) for call in expected["calls"]] == [
        tuple(list(value) if isinstance(value, tuple) else value for value in call.values())
        for call in row.calls
    ]
    data = (make_transcripts.FOLDER / file).read_bytes()
    assert (len(data), Path(file).name) == (row.recording["bytes"], row.recording["source"])


@pytest.mark.usefixtures("inline")
def test_folders_of_sessions_beside_recordings(tmp_path: Path) -> None:
    """A scan of a folder reads transcripts next to recordings, compressed ones too, and skips none."""
    session = (make_transcripts.FOLDER / "pi/crashed.jsonl").read_bytes()
    (tmp_path / "a.jsonl").write_bytes(session)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(session))
    (tmp_path / "c.sse").write_bytes(b"data: [DONE]\n\n")
    end = scanned(tmp_path / "out", tmp_path)

    assert [
        ("a.jsonl", "pi", len(session), 3),
        ("b.jsonl.gz", "pi", len(session), 3),
        ("c.sse", "raw", 14, 0),
    ] == rows(tmp_path / "out", "recording_id", "form", "bytes", "n_calls")
    assert ({}, 0) == (end.skipped, end.troubles)


@pytest.mark.parametrize("n", range(1, 11))
def test_sessions_that_break_off(n: int, tmp_path: Path) -> None:
    """The messages before an unreadable line are in the row, next to the trouble."""
    lines = (make_transcripts.FOLDER / "claude-code/crashed.jsonl").read_bytes().splitlines(keepends=True)
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"".join(lines[:n]) + lines[n][:-20])
    (row,) = of_file(file)
    (whole,) = tables.rows(assemble_messages(batch([json.dumps([json.loads(line) for line in lines[:n]])])))

    assert f"line {n + 1} is not JSON; a transcript is JSON or JSON lines" == row.recording["trouble"]
    assert (whole["turns"], whole["form"]) == (row.recording["turns"], row.recording["form"])
    assert [call["call_id"] for call in whole["calls"]] == [call["call_id"] for call in row.calls]


def test_large_trajectories(tmp_path: Path) -> None:
    """A trajectory of which no step is whole in the beginning of its file is one all the same."""
    steps = [{"step_id": 1, "source": "user", "message": "x" * 200_000}]
    trajectory = {"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": steps}
    (tmp_path / "t.json").write_text(json.dumps(trajectory, indent=1), "utf-8")
    (row,) = of_file(tmp_path / "t.json")

    assert ("atif", None) == (row.recording["form"], row.recording["trouble"])


@pytest.mark.parametrize(
    ("data", "form"),
    [
        ({"model": "m", "messages": CHAT}, "chat-completions"),
        (
            {
                "schema_version": "ATIF-v1.4",
                "session_id": "s",
                "agent": {"name": "a"},
                "steps": [{"step_id": 1, "source": "user", "message": "x"}],
            },
            "atif",
        ),
        (
            [{"role": "assistant", "parts": [{"type": "text", "content": "x"}], "finish_reason": "stop"}],
            "otel",
        ),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_other_files_of_messages(data: Any, form: str, indent: int | None, tmp_path: Path) -> None:
    """Requests, trajectories and records are known as such, on one line or on many."""
    file = tmp_path / "one.json"
    file.write_text(json.dumps(data, indent=indent), "utf-8")
    (row,) = of_file(file)

    assert (form, None) == (row.recording["form"], row.recording["trouble"])


def test_lines_of_conversations_are_a_table(tmp_path: Path) -> None:
    """A file with a conversation in each line says that it is a table, and is not read as one conversation."""
    file = tmp_path / "train.jsonl"
    file.write_text(f"{json.dumps({'messages': CHAT})}\n" * 2, "utf-8")
    (row,) = of_file(file)

    assert "a table of conversations needs the column that holds them" in row.recording["trouble"]
    assert [] == row.calls
