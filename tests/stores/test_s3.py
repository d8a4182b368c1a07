"""Scans from and to S3, over the wire and by processes: output is whole or absent, whichever step fails."""

from __future__ import annotations

import gc
import gzip
import json
import os
import signal
import subprocess
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.scanning import Inline, begun, make_recordings, parts, stream
from tests.support.stores import copied, objects, put
from wholecall.bulk import report, units
from wholecall.bulk.failures import StoreFailed
from wholecall.bulk.output_folder import Parts
from wholecall.bulk.scanning import scan
from wholecall.bulk.storage import Store
from wholecall.cli import main

if TYPE_CHECKING:
    from tests.support.s3 import Asked, Server

pytestmark = pytest.mark.stores

PATIENCE = 60.0  # seconds for a process that must end
N, UNIT, UNITS = 14, 5, 3
SMALL = {"DYING_UNIT_PIECES": str(UNIT)}
SECRET = "secretly"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of recordings."""
    return make_recordings(tmp_path / "logs", N)


@pytest.fixture
def expected(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The parts of these, from disk to disk."""
    monkeypatch.setattr(units, "MOST_PIECES", UNIT)
    with monkeypatch.context() as patch:
        patch.setattr("wholecall.bulk.scanning.Pool", Inline)
        list(scan([logs], tmp_path / "expected"))
    return parts(tmp_path / "expected")


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end of a process, and return its exit code and output."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out, err


def parts_in(url: str) -> dict[str, bytes]:
    """Return the parts of a scan in a bucket."""
    return {name: data for name, data in objects(url).items() if not name.startswith("_scan/")}


# --- whole output ----------------------------------------------------------------------------------------


def test_a_bucket_is_scanned_as_a_disk_is(bucket: str, logs: Path, corpora_dir: Path, tmp_path: Path) -> None:
    """Every form of recordings, by several processes: the same bytes, and no trace of the credentials."""
    (logs / "cut.sse.gz").write_bytes(gzip.compress(stream(3) * 200, mtime=0)[:-900])
    (logs / "large.sse").write_bytes(stream(4) * 3_000)  # several ranges
    tools = corpora_dir / "tools"
    local = ended(begun(logs, tools, "--out", tmp_path / "out", "--workers", "1"))
    urls = [copied(logs, f"{bucket}/logs"), copied(tools, f"{bucket}/tools")]
    code, out, err = ended(begun(*urls, "--out", f"{bucket}/a/out", "--workers", "2"))

    assert local[0] == code == 3
    assert local[2].replace(str(tmp_path), "") == err
    assert f"wholecall report {bucket}/a/out" == out.splitlines()[-1]
    assert parts(tmp_path / "out") == parts_in(f"{bucket}/a/out")
    assert list(report(tmp_path / "out").to_dicts()) == list(report(f"{bucket}/a/out").to_dicts())
    assert SECRET not in out + err + repr(objects(f"{bucket}/a/out"))


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.jsonl.gz"])
def test_tables_in_a_bucket(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The same bytes again; of Parquet only the needed ranges are read."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    monkeypatch.setattr(units, "MOST_BYTES", 20_000)
    table = pa.table(
        {"raw": [stream(n).decode("utf-8", "replace") for n in range(25)], "n": [os.urandom(9999)] * 25}
    )
    path = tmp_path / "tables" / name
    path.parent.mkdir()
    if name == "t.parquet":
        pq.write_table(table, path, row_group_size=4, use_dictionary=False)
    elif name == "t.arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
    else:
        rows = table.select(["raw"]).to_pylist()
        path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode()))
    list(scan([path], tmp_path / "out", body="raw"))
    list(scan([copied(path.parent, bucket)], f"{bucket}/out", body="raw"))

    assert parts(tmp_path / "out") == parts_in(f"{bucket}/out")


def test_an_object_costs_four_requests(bucket: str, s3: Server, logs: Path, tmp_path: Path) -> None:
    """Its state before and after, its size, its bytes; the rest belongs to the whole scan."""
    url = copied(logs, bucket)
    s3.clear()
    code = ended(begun(url, "--out", tmp_path / "out", "--workers", "1"))[0]

    assert 0 == code
    assert {"HEAD": 3 * N, "GET": N} == {
        method: count // N * N for method, count in s3.counts.items() if count >= N
    }
    assert sum(s3.counts.values()) < 4 * N + 10


# --- failures --------------------------------------------------------------------------------------------


STEPS: dict[str, tuple[str, str]] = {  # of an upload in parts: method, and part of the query
    "begin": ("POST", "uploads"),
    "first part": ("PUT", "partNumber=1"),
    "second part": ("PUT", "partNumber=2"),
    "last part": ("PUT", "partNumber=3"),
    "end": ("POST", "uploadId="),
}


@pytest.mark.parametrize("step", STEPS)
def test_an_upload_that_fails_leaves_nothing(bucket: str, s3: Server, step: str) -> None:
    """At any step: there is no object, not even after the stream is forgotten."""
    method, said = STEPS[step]
    s3.refused = lambda asked: (
        "ServiceFault"
        if asked.method == method and said in asked.query and "x.parquet" in asked.path
        else None
    )
    with pytest.raises(StoreFailed, match=r"^s3://bucket-\d+: the store answers \w+$"):
        Store(bucket).upload(f"{bucket}/out/x.parquet", bytes(25_000_000))
    gc.collect()
    s3.clear()

    assert {} == objects(bucket)
    Store(bucket).upload(f"{bucket}/out/x.parquet", bytes(25_000_000))
    assert {"out/x.parquet": bytes(25_000_000)} == objects(bucket)


def test_a_fault_in_the_middle_leaves_nothing(
    bucket: str, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that is half written at an exception does not exist."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    monkeypatch.setattr("wholecall.bulk.output_folder._GROUP_ROWS", 2)
    monkeypatch.setattr("wholecall.bulk.tasks._BATCH_ROWS", 4)
    added = count()
    add = Parts.add

    def add_some(*arguments: Any) -> None:
        if next(added) == 2:
            raise RuntimeError
        add(*arguments)

    monkeypatch.setattr(Parts, "add", add_some)
    with pytest.raises(RuntimeError):
        list(scan([logs], f"{bucket}/out"))
    gc.collect()

    assert ["_scan/plan.jsonl", "_scan/scan.json"] == list(objects(f"{bucket}/out"))


def test_a_scan_that_is_killed_goes_on(
    bucket: str, s3: Server, logs: Path, expected: dict[str, bytes]
) -> None:
    """When a parent is killed within a unit or an upload, existing objects are whole; the next scan does the rest."""
    from tests.support.s3 import Gate  # noqa: PLC0415 - an extra

    url, out = copied(logs, f"{bucket}/logs"), f"{bucket}/out"

    def reads(asked: Asked) -> bool:
        return asked.method == "GET" and asked.path.endswith("day-6/000013.sse")

    def uploads(asked: Asked) -> bool:
        return asked.method in {"PUT", "POST"} and "recordings/part-000001" in asked.path

    for is_there, begins in ((uploads, []), (reads, ["--resume"])):
        gate = Gate()
        s3.gate = lambda asked, is_there=is_there, gate=gate: gate if is_there(asked) else None  # type: ignore[misc]
        process = begun(url, "--out", out, "--workers", "1", *begins, dying=SMALL)
        gate.arrive()
        process.kill()
        assert -signal.SIGKILL == ended(process)[0]
        gate.open()
        s3.clear()
        assert parts_in(out).items() < expected.items()
    code, _, err = ended(begun(url, "--out", out, "--workers", "2", "--resume", dying=SMALL))

    assert (0, "") == (code, err)
    assert expected == parts_in(out)


def test_an_object_that_changes_meanwhile(
    bucket: str, s3: Server, logs: Path, expected: dict[str, bytes]
) -> None:
    """Its unit is read again, and holds the current content."""
    from tests.support.s3 import Gate  # noqa: PLC0415 - an extra

    changing = logs / "day-6" / "000013.sse"
    now = changing.read_bytes()
    changing.write_bytes(b"data: {}\n\n")
    url = copied(logs, f"{bucket}/logs")
    gate = Gate()
    s3.gate = lambda asked: gate if asked.method == "GET" and asked.path.endswith("000013.sse") else None
    process = begun(url, "--out", f"{bucket}/out", "--workers", "1", dying=SMALL)
    gate.arrive()
    s3.gate = lambda _: None
    put(f"{url}/day-6/000013.sse", now)
    gate.open()
    code = ended(process)[0]

    assert 0 == code
    assert expected == parts_in(f"{bucket}/out")


@pytest.mark.parametrize("is_out", [False, True])
def test_a_bucket_that_is_not_there(
    s3: Server, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_out: bool
) -> None:
    """One line reports it; nothing is written."""
    assert s3.port
    out = "s3://none/out" if is_out else str(tmp_path / "out")
    code = main(["scan", str(logs) if is_out else "s3://none/logs", "--out", out])
    err = capsys.readouterr().err

    assert 2 <= code <= 3
    assert "s3://none: the store answers NO_SUCH_BUCKET" in err.splitlines()[0]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("is_out", [False, True])
def test_credentials_that_are_refused(
    bucket: str, s3: Server, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_out: bool
) -> None:
    """One line says that, and neither the credentials nor the server's words."""
    url = copied(logs, f"{bucket}/logs")
    s3.refused = lambda _: "InvalidAccessKeyId"
    code = main(
        ["scan", str(logs) if is_out else url, "--out", f"{bucket}/out" if is_out else str(tmp_path / "out")]
    )
    err = capsys.readouterr().err

    assert (2, 1) == (code, len(err.splitlines()))
    assert f"wholecall: {bucket}" in err
    assert "the store answers" in err
    assert SECRET not in err
    assert not (tmp_path / "out").exists()


def test_one_object_may_not_be_read(bucket: str, s3: Server, logs: Path) -> None:
    """It is a row, and the others remain."""
    url = copied(logs, f"{bucket}/logs")
    s3.refused = lambda asked: (
        "AccessDenied" if asked.path.endswith("000003.sse") and asked.method != "PUT" else None
    )
    code, _, err = ended(begun(url, "--out", f"{bucket}/out", "--workers", "1"))

    assert 3 == code
    assert "wholecall: day-3/000003.sse: the store answers ACCESS_DENIED\n" == err
