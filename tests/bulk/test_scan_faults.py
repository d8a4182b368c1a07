"""Scans under dying processes, signals and full disks: with real ones.

A file in the form of a pipe holds a worker up where a test wants it: it continues when the other end is opened and
closed, which changes neither its size nor its time.
"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.hygiene.source_tree import DOCS, PROJECT
from tests.support.dying import STEPS
from tests.support.scanning import Inline, begun, make_recordings, parts, rows, stream
from wholecall.bulk import units
from wholecall.bulk.scanning import ScanFailed, scan
from wholecall.cli import main

PATIENCE = 60.0  # seconds for a process that must end


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of 35 recordings."""
    return make_recordings(tmp_path / "logs", 35)


@pytest.fixture
def expected(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The parts of these recordings, ten files a unit, made where nothing happens."""
    with monkeypatch.context() as patch:
        patch.setattr("wholecall.bulk.scanning.Pool", Inline)
        patch.setattr(units, "MOST_PIECES", 10)
        list(scan([logs], tmp_path / "expected"))
    return parts(tmp_path / "expected")


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end of a process, and return its exit code and its output."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # a separate session: for all its descendants
    return process.returncode, out, err


def gate(path: Path) -> Path:
    """Make a file that holds up its readers."""
    os.mkfifo(path)
    return path


def arrive(path: Path) -> int:
    """Wait until a process reads a gate, and hold it; closing the returned object opens it."""
    return os.open(path, os.O_WRONLY)


def is_left(held: int) -> bool:
    """Wait until no process is at a gate that is held any more."""
    poll = select.poll()
    poll.register(held, select.POLLERR)
    return bool(poll.poll(PATIENCE * 1000))


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the workers of a scan."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def hidden(out: Path) -> list[Path]:
    """Return the units that were begun and not finished."""
    return [path for path in out.rglob(".*") if path.is_file()]


# --- who dies --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_that_is_killed(logs: Path, tmp_path: Path) -> None:
    """Another worker does its unit; the result is the same."""
    wait = gate(tmp_path / "z.sse")
    process = begun(logs, wait, "--out", tmp_path / "out", "--workers", "1", "--json")
    held = arrive(wait)
    (worker,) = workers_of(process)
    os.kill(worker, signal.SIGKILL)
    assert is_left(held)
    os.close(held)
    os.close(arrive(wait))
    code, _, err = ended(process)

    assert (0, 36) == (code, json.loads(err)["recordings"])
    assert [] == hidden(tmp_path / "out")
    assert 36 == len({id_ for (id_,) in rows(tmp_path / "out", "recording_id")})


@pytest.mark.slow
def test_a_parent_that_is_killed(logs: Path, tmp_path: Path) -> None:
    """Its workers end with it, only whole files are visible, and the next scan does the rest."""
    wait = gate(tmp_path / "z.sse")
    out = tmp_path / "out"
    small = {"DYING_UNIT_PIECES": "6"}
    process = begun(logs, wait, "--out", out, "--workers", "1", dying=small)
    held = arrive(wait)
    (worker,) = workers_of(process)
    process.kill()
    assert is_left(held)
    os.close(held)
    assert -signal.SIGKILL == ended(process)[0]
    assert not Path(f"/proc/{worker}").exists() or b"Z" in Path(f"/proc/{worker}/stat").read_bytes()
    seen = parts(out)
    assert {name for name in seen if not Path(name).name.startswith(".")} <= parts_said(out)

    again = begun(logs, wait, "--out", out, "--workers", "2", "--resume", dying=small)
    os.close(arrive(wait))
    assert 0 == ended(again)[0]
    fresh = begun(logs, wait, "--out", tmp_path / "fresh", "--workers", "1", dying=small)
    os.close(arrive(wait))
    assert 0 == ended(fresh)[0]
    assert parts(tmp_path / "fresh") == parts(out)
    assert hidden(out) == []


def parts_said(out: Path) -> set[str]:
    """Return the parts of units that have a marker."""
    units = [json.loads(line)[:2] for line in (out / "_scan/plan.jsonl").read_bytes().splitlines()]
    done = {int(path.stem) for path in (out / "_scan/done").glob("*.json")}
    return {
        f"{table}/part-{number:06}-{id_}.parquet"
        for number, id_ in units
        if number in done
        for table in ("calls", "recordings")
    }


@pytest.mark.slow
def test_an_interrupt(logs: Path, tmp_path: Path) -> None:
    """A terminal's SIGINT goes to all processes: they end, nothing is half written, and it says how to continue."""
    wait = gate(tmp_path / "z.sse")
    process = begun(logs, wait, "--out", tmp_path / "out", "--workers", "1", "--no-hash")
    held = arrive(wait)
    os.killpg(process.pid, signal.SIGINT)
    assert is_left(held)
    code, out, err = ended(process)
    os.close(held)

    assert (130, "") == (code, out)
    assert (
        f"wholecall: interrupted; to go on: wholecall scan {logs} {wait} --out {tmp_path / 'out'} --resume --workers 1 --no-hash\n"
        == err
    )
    assert {} == parts(tmp_path / "out")


def test_two_scans_of_one_folder(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is refused, also with `resume`, and the first does not notice."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    first = scan([logs], tmp_path / "out")
    next(first)
    for choice in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(ValueError, match="another scan writes into"):
            list(scan([logs], tmp_path / "out", **choice))

    assert 35 == [*first][-1].recordings


@pytest.mark.slow
def test_every_step_of_a_commit_by_a_worker(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers are killed before each step in which a unit is published, a unit each: the parts are the same."""
    with monkeypatch.context() as patch:
        patch.setattr("wholecall.bulk.scanning.Pool", Inline)
        patch.setattr(units, "MOST_PIECES", 3)
        list(scan([logs], tmp_path / "expected"))
    notes, out = tmp_path / "notes", tmp_path / "out"
    notes.mkdir()
    dying = {"DYING_STEPS": str(notes), "DYING_UNIT_PIECES": "3"}
    code = ended(begun(logs, "--out", out, "--workers", "1", dying=dying))[0]

    assert 0 == code
    assert [(step, step) for step in range(STEPS)] == sorted(
        tuple(map(int, note.name.split("-"))) for note in notes.iterdir()
    )
    assert parts(tmp_path / "expected") == parts(out)
    assert [] == hidden(out)


@pytest.mark.slow
def test_every_step_of_a_commit_with_the_parent(
    logs: Path, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    """All are killed before each step, one scan after the other; the visible files are whole each time."""
    notes, out = tmp_path / "notes", tmp_path / "out"
    notes.mkdir()
    dying = {"DYING_STEPS": str(notes), "DYING_UNIT_PIECES": "10", "DYING_PARENT": "1"}
    for _ in range(STEPS):
        assert (
            -signal.SIGKILL == ended(begun(logs, "--out", out, "--workers", "1", "--resume", dying=dying))[0]
        )
        visible = {name: data for name, data in parts(out).items() if not Path(name).name.startswith(".")}
        assert visible.items() <= expected.items()
    assert 0 == ended(begun(logs, "--out", out, "--workers", "1", "--resume", dying=dying))[0]
    assert expected == parts(out)


# --- ways to kill ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "trouble"), [("poison", "worker_died"), ("raises", "internal: TypeError")])
def test_a_file_that_kills_its_worker(logs: Path, tmp_path: Path, name: str, trouble: str) -> None:
    """It is found, and becomes a row; the others of its unit are there."""
    (logs / "day-2" / f"{name}.sse").write_bytes(stream(1))
    process = begun(logs, "--out", tmp_path / "out", "--workers", "2", dying={"DYING_NAMES": name})
    code, _, err = ended(process)
    found = dict(rows(tmp_path / "out", "recording_id", "trouble"))

    assert (3, 36, trouble) == (code, len(found), found.pop(f"day-2/{name}.sse"))
    assert {None} == set(found.values())
    assert f"wholecall: day-2/{name}.sse: {trouble}\n" in err
    assert "secretly" not in err


@pytest.mark.slow
def test_a_row_that_kills_its_worker(tmp_path: Path) -> None:
    """In a table the row is found, by its id."""
    ids = [f"r{n}" for n in range(30)] + ["poison"] + [f"s{n}" for n in range(30)]
    table = pa.table({"id": ids, "raw": [stream(n) for n in range(61)]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=8)
    arguments = [
        tmp_path / "t.parquet",
        "--body",
        "raw",
        "--id",
        "id",
        "--out",
        tmp_path / "out",
        "--workers",
        "1",
    ]
    code = ended(begun(*arguments, dying={"DYING_NAMES": "poison"}))[0]
    found = rows(tmp_path / "out", "recording_id", "trouble")

    assert 3 == code
    assert [(f"t.parquet#{n}" if id_ == "poison" else id_) for n, id_ in enumerate(ids)] == [
        id_ for id_, _ in found
    ]
    assert {30: "worker_died"} == {n: trouble for n, (_, trouble) in enumerate(found) if trouble}


@pytest.mark.slow
def test_a_program_that_scans_as_it_is_imported(logs: Path, tmp_path: Path) -> None:
    """Workers import the program: without a guard they would scan themselves. The error says how to fix this."""
    program = tmp_path / "program.py"
    program.write_text(
        f"from wholecall.bulk import scan\nlist(scan([{str(logs)!r}], {str(tmp_path / 'out')!r}, workers=1))\n",
        "utf-8",
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )

    assert "ScanFailed" in done.stderr
    assert "needs `if __name__ == '__main__':`" in done.stderr
    assert {} == parts(tmp_path / "out")


@pytest.mark.slow
def test_the_program_of_the_page(tmp_path: Path) -> None:
    """The program in docs/bulk.md runs as a program, in which workers are spawned."""
    (code,) = re.findall(
        r"```python\n([^`]*import scan\n.*?)```", (DOCS / "bulk.md").read_text("utf-8"), re.DOTALL
    )
    (tmp_path / "program.py").write_text(code, "utf-8")
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, tmp_path / "program.py"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=PROJECT,
    )

    assert (0, "", "0 of 1 units, 0 recordings") == (
        done.returncode,
        done.stderr,
        done.stdout.splitlines()[0],
    )
    assert done.stdout.splitlines()[1].startswith("1 of 1 units, ")


# --- where it is written ---------------------------------------------------------------------------------


@contextmanager
def small_files(_: Path) -> Iterator[None]:
    """No file may have more than 2 KiB: processes inherit this limit, and it needs no rights."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def small_disk(out: Path) -> Iterator[None]:
    """A separate disk that is too small for a part: only root may mount it."""
    out.mkdir()
    mount("-t", "tmpfs", "-o", "size=16k,nr_inodes=100", "tmpfs", str(out))
    try:
        yield
    finally:
        mount("-o", "remount,size=16m", str(out))


def mount(*arguments: str) -> bool:
    """Mount something, and return whether that is allowed here."""
    return 0 == subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode  # noqa: S603, S607


def unmounted(path: Path) -> bool:
    """Unmount the disk, and return whether that was possible."""
    return 0 == subprocess.run(["umount", path], capture_output=True, check=False).returncode  # noqa: S603, S607


def may_mount() -> bool:
    """Return whether separate disks are possible here."""
    with tempfile.TemporaryDirectory() as folder:
        return mount("-t", "tmpfs", "tmpfs", folder) and unmounted(Path(folder))


FULL = {
    "files": (small_files, "File too large"),
    **({"disk": (small_disk, "No space left on device")} if may_mount() else {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("full", FULL)
def test_a_disk_that_is_full(logs: Path, tmp_path: Path, expected: dict[str, bytes], full: str) -> None:
    """The failure is reported, no marker is set, nothing half written is visible; and with more room the scan
    continues.
    """
    out = tmp_path / "out"
    until, said = FULL[full]
    dying = {"DYING_UNIT_PIECES": "10"}
    try:
        with until(out):
            code, _, err = ended(begun(logs, "--out", out, "--workers", "1", dying=dying))
            assert (3, {}, []) == (code, parts(out), hidden(out))
            assert f"wholecall: cannot write: {said}\nwholecall: to go on: wholecall scan" in err
        assert [] == list((out / "_scan/done").iterdir())
        assert 0 == ended(begun(logs, "--out", out, "--workers", "1", "--resume", dying=dying))[0]
        assert expected == parts(out)
    finally:
        unmounted(out)


def test_a_folder_that_cannot_be_made(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The output cannot be written: no user can make a folder below a file."""
    (tmp_path / "file").touch()

    assert 3 == main(["scan", str(logs), "--out", str(tmp_path / "file" / "out")])
    assert "cannot write: Not a directory" in capsys.readouterr().err


def test_a_failure_at_the_end(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk may also be full when a part is closed, or named: there is no part, and the error has its own words."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    out = tmp_path / "out"

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            steps = scan([logs], out, resume=True)
            next(steps)
            patch.setattr(os, step, refuse)
            with pytest.raises(ScanFailed, match="cannot write: No space left on device"):
                list(steps)
        assert ({}, []) == (parts(out), hidden(out))
