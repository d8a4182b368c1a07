"""`wholecall scan`: its output, its exit codes, and its requirements."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.scanning import Inline, make_recordings, parts, rows, stream
from wholecall.bulk import units
from wholecall.cli import main
from wholecall.cli import progress as shown
from wholecall.cli.scan import _clock

SECONDS = re.compile(r"in [\d.]+ s \([^)]*\)")


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small units, in this process; the tests run in a folder with 35 recordings."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    monkeypatch.setattr(units, "MOST_PIECES", 10)
    monkeypatch.chdir(tmp_path)
    make_recordings(Path("logs"), 35)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command, and return its exit code and its output, without times."""
    code = main(["scan", *arguments])
    out, err = capsys.readouterr()
    return code, SECONDS.sub("in N s", out), err


def test_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    """One screen, which ends with the command that shows more."""
    code, out, err = run(capsys, "logs", "--out", "out")

    assert (0, "") == (code, err)
    assert [
        "35 recordings in 4 units",
        "4 units of 96.4 kB in N s",
        "",
        "calls                44",
        "dropped               8  (15.4%)",
        "unreadable            0",
        "",
        "wholecall report out",
    ] == out.splitlines()


def test_what_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The first 20 are shown; all are counted, and the exit code reports it."""
    missing = [f"gone-{n:02}.sse" for n in range(23)]
    code, out, err = run(capsys, "logs", *missing, "--out", "out")

    assert 3 == code
    assert [f"wholecall: {name}: No such file or directory" for name in missing[:20]] == err.splitlines()
    assert "unreadable           23\n" in out


def test_what_is_no_recording_is_counted(capsys: pytest.CaptureFixture[str], corpora_dir: Path) -> None:
    """By the reason."""
    _, out, _ = run(capsys, str(corpora_dir / "tools" / "mitmproxy.har"), "--out", "out")

    assert re.search(r"^skipped +\d+  \(\d+ \w+", out, re.MULTILINE)


def test_a_line_for_each_unit(capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error, where it does not mix with the summary; unreadable files are in it."""
    _, out, err = run(capsys, "logs", "gone.sse", "--out", "out", "--json")
    lines = [json.loads(line) for line in err.splitlines()]

    assert [(0, 1), (1, 2), (2, 3), (3, 4)] == [(line["unit"], line["done"]) for line in lines]
    assert [["gone.sse", "No such file or directory"]] == [one for line in lines for one in line["named"]]
    assert out.endswith("wholecall report out\n")


def test_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    """An existing scan is refused, continued, or begun anew."""
    run(capsys, "logs", "--out", "out")
    assert 2 == run(capsys, "logs", "--out", "out")[0]
    make_recordings(Path("logs"), 5, first=35)
    code, out, _ = run(capsys, "logs", "--out", "out", "--resume")
    assert (0, ["40 recordings in 5 units", "4 units done before"]) == (code, out.splitlines()[:2])
    assert "40 recordings in 4 units" == run(capsys, "logs", "--out", "out", "--overwrite")[1].splitlines()[0]


def test_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    """The next step is named, and nothing is written."""
    assert (0, "4 units: 35 inputs, 96.4 kB\n", "") == run(capsys, "logs", "--out", "out", "--plan")
    assert not Path("out").exists()
    run(capsys, "logs", "--out", "out")
    make_recordings(Path("logs"), 5, first=35)
    _, out, _ = run(capsys, "logs", "--out", "out", "--plan", "--resume")
    assert "4 units done, 1 unit left: 5 inputs" in out
    assert 8 == len(parts(Path("out")))
    _, out, _ = run(capsys, "logs", "--out", "out", "--plan", "--resume", "--json")
    assert [True] * 4 + [False] == [json.loads(line)["done"] for line in out.splitlines()]
    assert "4 units: 40 inputs" in run(capsys, "logs", "--out", "out", "--plan", "--overwrite")[1]


def test_columns_of_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """Each option of a column reaches the tables."""
    said = {"id": "r1", "by": "acme", "asked": "m", "wire": "gemini", "raw": stream(1).decode()}
    Path("t.jsonl").write_text(json.dumps(said | {"at": "2026-11-01T00:00:00Z"}) + "\n", "utf-8")
    columns = [
        "--id",
        "id",
        "--provider",
        "by",
        "--model",
        "asked",
        "--dialect",
        "wire",
        "--recorded-at",
        "at",
    ]
    assert 0 == run(capsys, "t.jsonl", "--body", "raw", *columns, "--out", "out")[0]
    (row,) = rows(Path("out"), "recording_id", "provider", "model", "dialect", "recorded_at")

    assert ("r1", "acme", "m", "gemini") == row[:4]
    assert 2026 == row[4].year


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "standard input can be read but once"),
        (["logs", "--id", "x"], "--body"),
        (["logs", "--dialect", "klingon"], "use one of"),
        (["logs", "--errors", "some"], "percentage"),
        (["logs", "--workers", "0"], "at least one worker"),
        (["logs", "logs"], "named twice"),
        (["t.parquet"], "t.parquet is a table"),
        (["t.parquet", "--body", "text"], "no column 'text'"),
    ],
)
def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """The remedy is named, and nothing is written."""
    pq.write_table(pa.table({"raw": [stream(1)]}), "t.parquet")
    code, out, err = run(capsys, *arguments, "--out", "out")

    assert (2, "") == (code, out)
    assert message in err
    assert not Path("out").exists()


def test_the_command_to_go_on_says_all_that_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    """The command is complete: a scan that stops names it, and it finishes the rest."""
    options = ["--limits", "gateway", "--no-arguments", "--no-hash", "--workers", "2", "--changed", "keep"]
    code, _, err = run(capsys, "logs", "gone.sse", "--out", "an out", "--errors", "0", *options)
    (command,) = re.findall(r"to go on: wholecall (.*)\n", err)

    assert 3 == code
    assert command == (
        "scan logs gone.sse --out 'an out' --resume --workers 2 --errors 0 --changed keep --limits gateway"
        " --no-arguments --no-hash"
    )


def test_an_interrupt(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """130, as in a shell, and the command to continue."""

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wholecall.bulk.scanning.run", interrupted)
    code, _, err = run(capsys, "logs", "--out", "out")

    assert (130, "wholecall: interrupted; to go on: wholecall scan logs --out out --resume\n") == (code, err)


def test_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal units, speed, drops and the remaining time are drawn, and none of it stays."""
    drawn: list[tuple[str, str]] = []

    class Bar:
        def draw(self, count: str, name: str) -> None:
            drawn.append((count, name))

        def clear(self) -> None:
            drawn.append(("", ""))

    monkeypatch.setattr(shown, "_bar", Bar)
    monkeypatch.setattr(shown, "_is_seen", lambda quiet: quiet)
    monkeypatch.setattr(shown, "_PAUSE", 0)
    run(capsys, "logs", "gone.sse", "--out", "out")

    assert ("", "") == drawn[-1]
    assert any(
        re.fullmatch(r"4 of 4 units, [\d,]+ recordings/s, [\d.]+ [kM]?B/s, \d dropped, 1 unreadable", c)
        for c, _ in drawn
    )
    assert any(re.fullmatch(r"\d+:\d\d left", name) for _, name in drawn)


def test_times_are_told_as_people_read_them() -> None:
    """Minutes and seconds, with hours where there are any."""
    assert ["0:07", "12:00", "3:05:09"] == [_clock(seconds) for seconds in (7.2, 720, 11_109)]


def test_without_the_extra(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command names the package to install."""
    for name in [name for name in sys.modules if name.startswith("wholecall.bulk")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("wholecall.bulk")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert (2, "", "wholecall: scan needs pyarrow: pip install 'wholecall[bulk]'\n") == run(
        capsys, "logs", "--out", "o"
    )


@pytest.mark.slow
def test_other_commands_do_without() -> None:
    """Nothing imports the extra before it is needed."""
    program = "import sys\nimport wholecall.cli.main\nprint(*{'pyarrow', 'multiprocessing'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)  # noqa: S603

    assert "\n" == done.stdout
