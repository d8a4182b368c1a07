"""Bounds on a compressed input of a scan."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import wholecall.recordings.source as inflating
from tests.support.scanning import Inline, rows, stream
from wholecall.bulk.scanning import scan

TEXT = stream(1) + b": " + b"x" * 150_000 + b"\n\n"


@pytest.mark.parametrize("is_table", [False, True])
def test_a_scan_has_the_bound_of_recordings(
    is_table: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A larger input is a row with its trouble; with another bound it is read."""
    monkeypatch.setattr(inflating, "_ANYWAY", 1000)
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    line = json.dumps({"body": TEXT.decode()}).encode() + b"\n"
    path = tmp_path / ("a.jsonl.gz" if is_table else "a.sse.gz")
    path.write_bytes(gzip.compress(line if is_table else TEXT))
    options: dict[str, Any] = {"body": "body"} if is_table else {}
    troubles: list[Any] = []
    for name, most in (("usual", None), ("larger", 1_000_000)):
        for _ in scan([path], tmp_path / name, max_bytes=most, **options):
            pass
        troubles += [trouble for (trouble,) in rows(tmp_path / name, "trouble")]

    assert [True, None] == [trouble and "its gzip data holds more than" in trouble for trouble in troubles]


# --- large inputs -----------------------------------------------------------------------------------------

LARGE = 200_000_000


def scanned(path: Path, out: Path, **options: Any) -> list[tuple[Any, ...]]:
    """Return calls, faults and trouble of each recording of a file."""
    for _ in scan([path], out, **options):
        pass
    return rows(out, "n_calls", "faults", "trouble")


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are done in this process."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)


@pytest.mark.slow
@pytest.mark.usefixtures("inline")
def test_a_line_of_200_mb_is_a_fault(tmp_path: Path) -> None:
    """For a line beyond the limit a file has a fault; the calls before it are kept."""
    path = tmp_path / "a.sse"
    path.write_bytes(stream(1) + b"data: " + b"x" * LARGE + b"\n\n")

    assert [(1, ["line_too_long"], None)] == scanned(path, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_row_of_200_mb_is_read(form: str, tmp_path: Path) -> None:
    """A body of 200 MB in a column is read like any other, and so are the rows around it."""
    bodies = [stream(1), b": " + b"x" * LARGE + b"\n\n" + stream(3), stream(3)]
    path = tmp_path / f"a.{form}"
    if form == "jsonl":
        path.write_text("".join(f"{json.dumps({'body': body.decode()})}\n" for body in bodies), "utf-8")
    else:
        pq.write_table(pa.table({"body": bodies}), path)

    assert [(1, [], None)] * 3 == scanned(path, tmp_path / "out", body="body")
