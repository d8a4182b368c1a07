"""The plan of a scan: its inputs, their names and its units."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.scanning import make_recordings
from wholecall.bulk import units
from wholecall.bulk.options import Columns, Options
from wholecall.bulk.plan import inputs
from wholecall.bulk.units import Piece, found, packed, unit_of

HERE = Path()
BODY = Options(columns=Columns(body="raw"))


def sources(*paths: str | Path, out: Path = Path("out")) -> list[str]:
    """Return the sources found at some paths."""
    return [piece.source for piece in found(paths, out)]


def pieces(*weights: int) -> list[Piece]:
    """Return inputs of some weights."""
    return [
        Piece(f"{n:03}.sse", f"/d/{n:03}.sse", weight, 1, weight=weight) for n, weight in enumerate(weights)
    ]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files, in which the tests run."""
    monkeypatch.chdir(tmp_path)
    for name in ("logs/b.sse", "logs/a/x.sse", "logs/a/y.jsonl.gz", "logs/a-b.sse", "logs/none.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"data: [DONE]\n\n")
    return tmp_path


# --- sources ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["logs"], ["a-b.sse", "a/x.sse", "a/y.jsonl.gz", "b.sse"]),
        (["logs/"], ["a-b.sse", "a/x.sse", "a/y.jsonl.gz", "b.sse"]),
        (["."], ["logs/a-b.sse", "logs/a/x.sse", "logs/a/y.jsonl.gz", "logs/b.sse"]),
        (["logs/../logs/a"], ["x.sse", "y.jsonl.gz"]),
        (["logs/b.sse"], ["b.sse"]),
        (["logs/none.txt", "logs/a/x.sse"], ["none.txt", "x.sse"]),
        (["logs/**/*.sse"], ["a-b.sse", "a/x.sse", "b.sse"]),
        (["l*/a"], ["logs/a/x.sse", "logs/a/y.jsonl.gz"]),
        (["logs/missing.sse"], ["missing.sse"]),
    ],
)
def test_a_source_is_the_path_below_what_was_named(logs: Path, paths: list[str], expected: list[str]) -> None:
    """Sources are sorted, have slashes, and are the same wherever the folder is."""
    assert expected == sources(*paths)
    if not any("*" in path for path in paths):
        assert expected == sources(*(logs / path for path in paths))


def test_an_empty_folder_is_an_input_with_trouble(logs: Path) -> None:
    """A named path that holds nothing is not forgotten: it becomes a row."""
    (logs / "empty").mkdir()
    (piece,) = found(["empty"], HERE / "out")

    assert "empty" == piece.source
    assert "no recording" in str(piece.trouble)


def test_what_is_written_is_not_read(logs: Path) -> None:
    """A folder of tables within the inputs is left out."""
    (logs / "logs/out/_scan").mkdir(parents=True)
    (logs / "logs/out/_scan/plan.jsonl").write_bytes(b"{}\n")

    assert sources("logs") != sources("logs", out=logs / "logs/out")
    assert ["a-b.sse", "a/x.sse", "a/y.jsonl.gz", "b.sse"] == sources("logs", out=logs / "logs/out")


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["logs/b.sse", "logs/b.sse"], "named twice"),
        (["logs", "logs/a"], "found twice"),
        (["logs", "other"], "would both be called b.sse"),
        (["logs", "-"], "standard input"),
    ],
)
def test_no_input_comes_twice(logs: Path, paths: list[str], message: str) -> None:
    """Two inputs that are one file, or have one source, are refused."""
    (logs / "other").mkdir()
    (logs / "other/b.sse").touch()

    with pytest.raises(ValueError, match=message):
        sources(*paths)


def test_a_table_needs_the_name_of_a_column(logs: Path) -> None:
    """A file that can only be a table is not read as a recording."""
    (logs / "t.parquet").touch()

    with pytest.raises(ValueError, match="--body"):
        inputs(["t.parquet"], logs / "out", Options())


# --- units -----------------------------------------------------------------------------------------------


def test_units_are_filled_in_order() -> None:
    """A unit takes the inputs that fit; an input larger than a unit is a unit alone, and nothing is left out."""
    mega = 1_000_000
    weights = [30 * mega, 30 * mega, 10 * mega, 200 * mega, 1, 2]
    units = list(packed(pieces(*weights), "key"))

    assert [[0, 1], [2], [3], [4, 5]] == [[int(p.source[:3]) for p in unit.pieces] for unit in units]
    assert [60 * mega, 10 * mega, 200 * mega, 3] == [unit.weight for unit in units]
    assert [0, 1, 2, 3] == [unit.number for unit in units]


def test_a_unit_has_so_many_inputs_at_most() -> None:
    """Small inputs are counted, too."""
    units = list(packed(pieces(*[1] * 4_001), "key"))

    assert [2_000, 2_000, 1] == [len(unit.pieces) for unit in units]


def test_an_id_is_of_sources_and_options() -> None:
    """Size and time have no part in it: a repeated unit replaces the former result."""
    (one,) = packed(pieces(5, 6), "key")
    (touched,) = packed([Piece(p.source, "/elsewhere", 99, 99, weight=p.weight) for p in one.pieces], "key")
    (otherwise,) = packed(pieces(5, 6), "other key")
    (fewer,) = packed(pieces(5), "key")

    assert one.id == touched.id
    assert 3 == len({one.id, otherwise.id, fewer.id})


def test_a_line_says_all_of_a_unit() -> None:
    """Also a name that is not UTF-8."""
    name = os.fsdecode(b"caf\xe9.sse")
    (unit,) = packed([Piece(name, f"/d/{name}", 3, 4, True, "broken", 5, 6, 7, 8, 9)], "key", 12)

    assert unit == unit_of(unit.line())
    assert unit.line().endswith(b"\n")


# --- pieces of tables ------------------------------------------------------------------------------------


def cuts(
    path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> list[tuple[int | None, int | None, int, int | None]]:
    """Return where a table is cut if units have such a size."""
    monkeypatch.setattr(units, "MOST_BYTES", size)
    found = inputs([str(path)], path.parent / "out", BODY)
    return [(piece.start, piece.stop, piece.row, piece.n_rows) for piece in found]


@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_lines_are_cut_behind_line_feeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: bytes
) -> None:
    """Pieces have whole lines, which are counted, whatever the last one ends in."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\n".join(b"%06d" % n for n in range(10)) + ending)  # 7 bytes each

    assert [(0, 21, 0, 3), (21, 42, 3, 3), (42, 63, 6, 3), (63, 69 + len(ending), 9, 1)] == cuts(
        path, monkeypatch, 16
    )


@pytest.mark.parametrize("n_bytes", [1, 2, 3, 7, 1 << 20])
def test_lines_are_cut_alike_however_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_bytes: int
) -> None:
    """The blocks in which a file is read do not matter."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"a\n\nbb\nccc\n\n\ndddddddd\ne")
    expected = cuts(path, monkeypatch, 4)
    monkeypatch.setattr("wholecall.bulk.table_inputs._BLOCK", n_bytes)

    assert expected == cuts(path, monkeypatch, 4)
    assert 8 == sum(n or 0 for *_, n in expected)
    assert [row for _, _, row, _ in expected] == [0, 3, 5, 7]


def test_an_empty_table_is_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table without rows is planned, or a scan would find it new each time."""
    path = tmp_path / "t.jsonl"
    path.touch()
    empty = tmp_path / "u.parquet"
    pq.write_table(pa.table({"raw": pa.array([], pa.string())}), empty)

    assert [(0, 0, 0, 0)] == cuts(path, monkeypatch, 4)
    assert 1 == len(cuts(empty, monkeypatch, 4))


def test_a_compressed_table_is_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The positions of its lines are unknown."""
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"raw":""}\n' * 9))

    assert [(None, None, 0, None)] == cuts(path, monkeypatch, 4)


def test_row_groups_are_cut_by_the_bytes_of_their_bodies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size before compression counts: that much is parsed; other columns do not count."""
    path = tmp_path / "t.parquet"
    table = pa.table({"raw": [f"{n:05}" * 1000 for n in range(10)], "other": ["x" * 90_000] * 10})
    pq.write_table(table, path, row_group_size=2, use_dictionary=False)

    assert [(0, 2, 0, 4), (2, 4, 4, 4), (4, 5, 8, 2)] == cuts(path, monkeypatch, 22_000)


def test_record_batches_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An Arrow file by its batches; a stream of Arrow, which has no directory, not at all."""
    batch = pa.record_batch({"raw": ["x" * 100, "y" * 100]})
    for name, new in (("file.arrow", pa.ipc.new_file), ("stream.arrow", pa.ipc.new_stream)):
        with new(tmp_path / name, batch.schema) as writer:
            for _ in range(3):
                writer.write_batch(batch)

    assert [(0, 1, 0, 2), (1, 2, 2, 2), (2, 3, 4, 2)] == cuts(tmp_path / "file.arrow", monkeypatch, 250)
    assert [(None, None, 0, None)] == cuts(tmp_path / "stream.arrow", monkeypatch, 250)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (Columns(body="text"), "no column 'text'"),
        (Columns(body="n"), "the column 'n' holds int64"),
        (Columns(body="raw", id="at.none"), "no column 'at.none'"),
        (Columns(body="raw", recorded_at="raw"), "has to hold timestamps"),
    ],
)
def test_columns_are_checked_before_anything_is_read(tmp_path: Path, columns: Columns, message: str) -> None:
    """A column that is missing or of another type is refused, with the file and the column."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"raw": ["a"], "n": [1], "at": [{"id": "x"}]}), path)

    with pytest.raises(ValueError, match=message) as caught:
        inputs([str(path)], tmp_path / "out", Options(columns=columns))
    assert str(path) in str(caught.value)


def test_a_table_that_is_none_is_a_piece_with_trouble(tmp_path: Path) -> None:
    """It becomes a row, as a recording would that cannot be read."""
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 secret")
    (piece,) = inputs([str(path)], tmp_path / "out", BODY)

    assert "it cannot be read (ArrowInvalid)" == piece.trouble


def test_planning_reads_no_recording(tmp_path: Path) -> None:
    """Files are listed, not opened: one that cannot be read is planned as well."""
    folder = make_recordings(tmp_path / "logs", 3)
    os.mkfifo(folder / "pipe.sse")  # opening it would block

    assert 4 == len(found([folder], tmp_path / "out"))
    assert json.loads(next(packed(found([folder], tmp_path / "out"), "key")).line())
