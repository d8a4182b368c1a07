"""Scans of tables: a row for each row, in Parquet, Arrow files and JSON lines."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.scanning import Inline, make_recordings, parts, rows, stream, table
from wholecall.bulk import units
from wholecall.bulk.scanning import Progress, scan

WHEN = dt.datetime(2026, 11, 1, 12, 30, tzinfo=dt.timezone.utc)
N = 25
SAID = {
    "meta": [{"id": f"r{n}", "by": "acme" if n % 2 else None} for n in range(N)],
    "raw": [stream(n).decode("utf-8", "replace") for n in range(N)],
    "asked": ["m"] * N,
    "at": [WHEN] * N,
}
COLUMNS = {"body": "raw", "id": "meta.id", "provider": "meta.by", "model": "asked", "recorded_at": "at"}


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are done in this process."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)


def _parquet(path: Path, said: dict[str, list[Any]]) -> None:
    pq.write_table(pa.table(said), path, row_group_size=4)


def _arrow(path: Path, said: dict[str, list[Any]]) -> None:
    made = pa.table(said)
    with pa.ipc.new_file(path, made.schema) as writer:
        writer.write_table(made, max_chunksize=4)


def _lines(path: Path, said: dict[str, list[Any]]) -> None:
    objects = [dict(zip(said, values, strict=True)) for values in zip(*said.values(), strict=True)]
    path.write_text(
        "".join(json.dumps(one, default=dt.datetime.isoformat) + "\n" for one in objects), "utf-8"
    )


def _compressed(path: Path, said: dict[str, list[Any]]) -> None:
    _lines(path, said)
    path.write_bytes(gzip.compress(path.read_bytes()))


WRITERS: dict[str, Callable[[Path, dict[str, list[Any]]], None]] = {
    "t.parquet": _parquet,
    "t.arrow": _arrow,
    "t.jsonl": _lines,
    "t.jsonl.gz": _compressed,
}


def last(*arguments: Any, **options: Any) -> Progress:
    """Scan, and return how far it came."""
    *_, end = scan(*arguments, **options)
    return end


@pytest.fixture
def expected(tmp_path: Path) -> pa.Table:
    """The calls of the same streams, read as files."""
    folder = tmp_path / "files"
    folder.mkdir()
    for n, text in enumerate(SAID["raw"]):
        (folder / f"{n:03}.sse").write_text(text, "utf-8")
    last([folder], tmp_path / "out-of-files")
    return table(tmp_path / "out-of-files", "calls")


@pytest.mark.parametrize("size", [None, 5_000])
@pytest.mark.parametrize("name", WRITERS)
def test_a_row_for_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: pa.Table, name: str, size: int | None
) -> None:
    """Whatever holds the bodies, and however it is cut: the calls are those of the bodies, and ids lead back."""
    if size is not None:
        monkeypatch.setattr(units, "MOST_BYTES", size)
    WRITERS[name](tmp_path / name, SAID)
    end = last([tmp_path / name], tmp_path / "out", **COLUMNS)
    found = rows(
        tmp_path / "out", "recording_id", "source", "source_index", "provider", "recorded_at", "trouble"
    )

    assert [(f"r{n}", name, n, "acme" if n % 2 else None, WHEN, None) for n in range(N)] == found
    assert expected.drop_columns(["recording_id"]).equals(
        table(tmp_path / "out", "calls").drop_columns(["recording_id"])
    )
    assert (end.total > 1) == (size is not None and not name.endswith(".gz"))


@pytest.mark.parametrize("name", WRITERS)
def test_without_an_id_rows_are_called_by_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Numbers continue from piece to piece."""
    monkeypatch.setattr(units, "MOST_BYTES", 5_000)
    folder = tmp_path / "tables"
    (folder / "a").mkdir(parents=True)
    WRITERS[name](folder / "a" / name, SAID)
    last([folder], tmp_path / "out", body="raw")

    assert [(f"a/{name}#{n}",) for n in range(N)] == rows(tmp_path / "out", "recording_id")


def test_models_and_dialects_come_from_columns(tmp_path: Path) -> None:
    """The response's model outranks the column; a dialect may be a name, or a column."""
    said = {
        "raw": [stream(1).decode(), "{}", "{}"],
        "m": ["asked"] * 3,
        "d": ["chat-completions", "anthropic", None],
    }
    _parquet(tmp_path / "t.parquet", said)
    last([tmp_path / "t.parquet"], tmp_path / "out", body="raw", model="m", dialect="d")
    last([tmp_path / "t.parquet"], tmp_path / "out-2", body="raw", dialect="gemini")
    found = rows(tmp_path / "out", "dialect", "model")

    assert "chat-completions" == found[0][0]
    assert str(found[0][1]).startswith("m-")
    assert ["asked", "asked"] == [model for _, model in found[1:]]
    assert ("gemini",) == rows(tmp_path / "out-2", "dialect")[0]


def test_bytes_and_dictionaries_hold_bodies_too(tmp_path: Path, expected: pa.Table) -> None:
    """A body is bytes or text, of any width, and may be in a dictionary."""
    bodies = pa.array(SAID["raw"])
    for number, column in enumerate(
        (bodies.cast(pa.binary()), bodies.cast(pa.large_string()), bodies.dictionary_encode())
    ):
        pq.write_table(pa.table({"raw": column}), tmp_path / "t.parquet")
        last([tmp_path / "t.parquet"], tmp_path / f"out-{number}", body="raw")

        assert expected.num_rows == table(tmp_path / f"out-{number}", "calls").num_rows > 0


# --- unreadable input ---------------------------------------------------------------------------------


def test_odd_rows_are_rows(tmp_path: Path) -> None:
    """A null, a body of another type, a line that is not an object: each is a row; blank lines are counted and are
    none.
    """
    lines = [
        json.dumps({"id": 7, "raw": stream(1).decode()}),
        json.dumps({"id": "b", "raw": None}),
        json.dumps({"id": "c", "raw": 5}),
        "",
        '{"id": "d", "raw": "secr',
        "[]",
        json.dumps({"raw": "x"}),
        json.dumps({"id": True, "raw": "x"}),
        '{"id": "s\\ud800", "raw": "data: \\udfff"}',
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), "utf-8")
    end = last([tmp_path / "t.jsonl"], tmp_path / "out", body="raw", id="id")
    found = rows(tmp_path / "out", "recording_id", "source_index", "trouble")

    assert [
        ("7", 0, None),
        ("b", 1, "its body is null"),
        ("c", 2, "its body is no text"),
        ("t.jsonl#4", 4, "the line cannot be read as a JSON object"),
        ("t.jsonl#5", 5, "the line cannot be read as a JSON object"),
        ("t.jsonl#6", 6, "it has no id"),
        ("t.jsonl#7", 7, "it has no id"),
        ("s�", 8, None),
    ] == found
    assert 6 == end.troubles
    assert (True,) == rows(tmp_path / "out", "lossy")[-1]


def test_nulls_are_rows(tmp_path: Path) -> None:
    """Below a struct that is null, too."""
    said = [{"body": stream(1).decode(), "id": "a"}, {"body": None, "id": "b"}, None]
    _parquet(tmp_path / "t.parquet", {"r": said})
    last([tmp_path / "t.parquet"], tmp_path / "out", body="r.body", id="r.id")

    assert [("a", None), ("b", "its body is null"), ("t.parquet#2", "its body is null")] == rows(
        tmp_path / "out", "recording_id", "trouble"
    )


def test_a_row_group_that_is_damaged(tmp_path: Path) -> None:
    """Each of its rows is an unreadable row, and all others are kept."""
    path = tmp_path / "t.parquet"
    _parquet(path, {"raw": SAID["raw"]})
    data = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(3).column(0).data_page_offset
    data[start : start + 300] = bytes(300)
    path.write_bytes(data)
    end = last([path], tmp_path / "out", body="raw")
    found = rows(tmp_path / "out", "recording_id", "trouble")

    assert [f"t.parquet#{n}" for n in range(N)] == [id_ for id_, _ in found]
    assert ["it cannot be read (OSError)"] * 4 == [trouble for _, trouble in found[12:16]]
    assert {None} == {trouble for _, trouble in found[:12] + found[16:]}
    assert 4 == end.troubles


def test_compressed_lines_that_are_cut(tmp_path: Path) -> None:
    """The readable part is read, and a row says that there was more."""
    path = tmp_path / "t.jsonl.gz"
    _compressed(path, {"raw": SAID["raw"]})
    path.write_bytes(path.read_bytes()[:-500])
    last([path], tmp_path / "out", body="raw")
    troubles = [trouble for (trouble,) in rows(tmp_path / "out", "trouble")]

    assert [None] * (len(troubles) - 1) == troubles[:-1]
    assert "ends in the middle" in str(troubles[-1]) or "after byte" in str(troubles[-1])


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_that_vanishes(tmp_path: Path, name: str) -> None:
    """After it was planned: there is a row at least, and all of them where their number is known."""
    path = tmp_path / name
    WRITERS[name](path, SAID)
    steps = scan([path], tmp_path / "out", body="raw")
    next(steps)
    path.unlink()
    *_, end = steps

    assert end.recordings == end.troubles == (N if name in {"t.parquet", "t.arrow"} else 1)
    assert {"No such file or directory"} == {trouble for (trouble,) in rows(tmp_path / "out", "trouble")}


# --- going on --------------------------------------------------------------------------------------------


def test_a_table_that_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its rows are unchanged its units are done again; where they are not, the scan begins anew."""
    monkeypatch.setattr(units, "MOST_BYTES", 5_000)
    path, out = tmp_path / "t.jsonl", tmp_path / "out"
    _lines(path, SAID)
    last([path], out, body="raw")
    text = path.read_text("utf-8")
    path.write_text(text.replace("call_", "LLAC_"), "utf-8")
    last([path], out, body="raw", resume=True, changed="redo")
    last([path], tmp_path / "fresh", body="raw")
    assert parts(tmp_path / "fresh") == parts(out)

    path.write_text("{}\n" + text, "utf-8")
    with pytest.raises(ValueError, match="stand elsewhere now"):
        last([path], out, body="raw", resume=True, changed="redo")
    assert parts(tmp_path / "fresh") == parts(out)


def test_tables_and_recordings_are_not_mixed(tmp_path: Path) -> None:
    """With a column all inputs are tables, and a folder's other files are left alone."""
    folder = make_recordings(tmp_path / "logs", 3)
    _parquet(folder / "t.parquet", {"raw": SAID["raw"]})

    assert N == last([folder], tmp_path / "out", body="raw").recordings
    assert 3 == last([folder], tmp_path / "out-2").recordings
