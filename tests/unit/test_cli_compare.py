"""The commands `lint`, `diff` and `fuzz`: oddities, differences, and forbidden differences."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wholecall import Dialect
from wholecall.cli import main
from wholecall.cli.lint import Ledger
from wholecall.deltas import Delta, TextFragment
from wholecall.dialects import Translator, table
from wholecall.replay import replay

if TYPE_CHECKING:
    from wholecall.framing import Frame


def chat(
    arguments: str, *, id: str | None = "c1", finish: str = "tool_calls", text: tuple[str, ...] = ()
) -> bytes:
    """Return a chat stream with text and one call."""
    call = {"index": 0, "id": id, "function": {"name": "ring", "arguments": arguments}}
    deltas: list[dict[str, Any]] = [*({"content": piece} for piece in text), {"tool_calls": [call]}]
    chunks = [{"id": "r1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"id": "r1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"


GOOD, CUT, MINTED, EDITED = (
    chat('{"bell": 3}'),
    chat('{"bell": "la'),
    chat("{}", id=None),
    chat('{"bell": 3,}'),
)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder with recordings of each kind."""
    for name, data in {"good": GOOD, "cut": CUT, "minted": MINTED, "edited": EDITED}.items():
        (tmp_path / f"{name}.sse").write_bytes(data)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str]]:
    """Return the exit code and the lines of a command's output."""
    try:
        code = main([str(one) for one in arguments])
    except SystemExit as left:
        code = int(left.code or 0)
    return code, capsys.readouterr().out.splitlines()


# lint


def test_lint_tells_each_recording_with_a_finding(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recordings without a finding have no line; then the sums follow with their shares."""
    code, lines = run(capsys, "lint", logs)

    assert (1, [f"{logs}/cut.sse: dropped truncated", f"{logs}/edited.sse: edits trailing_comma"]) == (
        code,
        lines[:2],
    )
    assert [f"{logs}/minted.sse: flags id_generated", ""] == lines[2:4]
    assert ["all", "4", "3", "(75%)", "3", "0", "1", "(25%)", "0"] == lines[6].split()
    assert ["dropped", "1", "truncated"] in [line.split() for line in lines[8:]]


def test_lint_of_a_clean_recording_succeeds(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a finding the exit code is 0, also if all findings are to be ignored."""
    assert 0 == run(capsys, "lint", logs / "good.sse")[0]
    assert 0 == run(capsys, "lint", "--ignore", "id_generated", logs / "minted.sse")[0]
    assert 2 == run(capsys, "lint", "--ignore", "no such word", logs)[0]


def test_lint_writes_json(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An object a recording, one a provider, and one for all."""
    _, lines = run(capsys, "lint", "--json", logs / "minted.sse")
    counts = {"recordings": 1, "odd": 1, "turns": 1, "calls": 1, "empty": 0, "flags": {"id_generated": 1}}

    assert [
        {"recording": f"{logs}/minted.sse", "dialect": "chat-completions"} | counts,
        {"provider": "chat-completions"} | counts,
        {"total": True} | counts,
    ] == [json.loads(line) for line in lines]


def test_lint_goes_on_behind_what_cannot_be_read(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file is named, and the others are counted."""
    code, lines = run(capsys, "lint", logs / "none.sse", logs / "cut.sse")

    assert (3, f"{logs}/cut.sse: dropped truncated") == (code, lines[0])


def test_ledgers_add_up(logs: Path) -> None:
    """The sum of two ledgers is the ledger of both, faults and anomalies included."""
    (logs / "fault.sse").write_bytes(
        GOOD[: GOOD.rindex(b"data: {")] + b'data: {"error": {"message": "busy"}}\n\n'
    )
    total = Ledger()
    for name in ("cut", "fault"):
        one = Ledger()
        for event in replay(logs / f"{name}.sse"):
            one.count(event)
        one.end()
        total.merge(one)

    assert (2, 2, {"truncated": 1, "aborted": 1}) == (total.recordings, total.odd, total.findings["dropped"])
    assert {"provider_error": 1} == total.findings["faults"]


# diff


def test_diff_of_the_same_says_nothing(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two recordings that differ in the pieces of their texts only are the same."""
    (logs / "a.sse").write_bytes(chat("{}", text=("He", "llo")))
    (logs / "b.sse").write_bytes(chat("{}", text=("Hello",)))

    assert (0, []) == run(capsys, "diff", logs / "a.sse", logs / "b.sse")


def test_diff_shows_each_member_that_differs(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A unified diff with a member a line."""
    code, lines = run(capsys, "diff", logs / "good.sse", logs / "edited.sse")

    assert (1, [f"--- {logs}/good.sse", f"+++ {logs}/edited.sse"]) == (code, lines[:2])
    assert ['-  raw_arguments: "{\\"bell\\": 3}"', '-  status: "exact"'] == [
        line for line in lines[2:] if line.startswith("-") and "edits" not in line
    ]


def test_diff_can_ignore_members(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Members that differ in any case are left out."""
    ignored = [word for member in ("raw_arguments", "status", "edits") for word in ("--ignore", member)]

    assert (0, []) == run(capsys, "diff", *ignored, logs / "good.sse", logs / "edited.sse")


def test_diff_reads_a_log_of_events(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The output of `replay --json` can be one side of the comparison."""
    main(["replay", "--json", str(logs / "good.sse")])
    log = logs / "before.jsonl"
    log.write_text(capsys.readouterr().out)

    assert (0, []) == run(capsys, "diff", log, logs / "good.sse")
    code, lines = run(capsys, "diff", "--json", log, logs / "cut.sse")
    assert (1, {"A", "B"}) == (code, {json.loads(line)["side"] for line in lines})


def test_diff_of_what_cannot_be_read(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing side, and a damaged log, are named; there is no comparison."""
    damaged = logs / "log.jsonl"
    damaged.write_bytes(b'{"type":"turn_started","turn":0}\n{"type":\n')

    assert (3, []) == run(capsys, "diff", logs / "none.sse", logs / "good.sse")
    assert (3, []) == run(capsys, "diff", damaged, logs / "good.sse")


# fuzz


class Forgetful(Translator):
    """A translator with different output at each start."""

    n_started = 0

    def __init__(self) -> None:
        type(self).n_started += 1

    def translate(self, _frame: Frame) -> list[Delta]:
        """Emit the number of starts."""
        return [TextFragment(0, str(self.n_started))]


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the dialect of a module that `--import` finds."""
    monkeypatch.setattr(table, "_registered", {})
    table.register(Dialect("forgetful", ("sse",), lambda *_: False, Forgetful))
    monkeypatch.setitem(sys.modules, "forgetful_dialect", types.ModuleType("forgetful_dialect"))


def test_fuzz_finds_no_difference(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The events of our own dialects do not depend on the cuts."""
    assert (0, ["4 recordings, each under 4 splits: 0 differences"]) == run(
        capsys, "fuzz", "--splits", 3, logs
    )


@pytest.mark.usefixtures("forgetful")
def test_fuzz_names_the_split_that_differs(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dialect that breaks the promise is detected, with the seed that shows it."""
    options = ("--import", "forgetful_dialect", "--dialect", "forgetful", "--splits", 1, "--seed", "s")
    code, lines = run(capsys, "fuzz", *options, logs / "good.sse")

    assert 1 == code
    assert f"{logs}/good.sse: --chunk 1: event 1 differs" == lines[0]
    assert f"{logs}/good.sse: --chunk random:s-1: event 1 differs" == lines[3]
    assert "1 recordings, each under 2 splits: 2 differences" == lines[-1]


def test_fuzz_writes_json(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each split is a line, whether it differs or not."""
    _, lines = run(capsys, "fuzz", "--json", "--splits", 1, "--seed", "x", logs / "cut.sse")

    assert [("1", True, None), ("random:x-1", True, None)] == [
        (told["split"], told["same"], told["event"]) for told in map(json.loads, lines)
    ]


@pytest.mark.parametrize(
    "options",
    [("--import", "no_such_module"), ("--dialect", "none"), ("--splits", "many"), ("--splits", "-1")],
)
def test_fuzz_refuses_what_it_cannot_do(
    logs: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, str]
) -> None:
    """A wrong command line exits with 2."""
    assert 2 == run(capsys, "fuzz", *options, logs)[0]


def test_fuzz_of_what_cannot_be_read(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file is named, and the others are tried."""
    code, lines = run(capsys, "fuzz", "--splits", 1, logs / "none.sse", logs / "good.sse")

    assert (3, ["1 recordings, each under 2 splits: 0 differences"]) == (code, lines)
