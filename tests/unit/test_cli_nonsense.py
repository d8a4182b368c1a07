"""Files that are not answers of a model, before each command that reads recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from wholecall.cli import main

NONSENSE = {
    "nothing": b"",
    "HTML": b"<!doctype html><title>Sign in</title>",
    "XML": b'<?xml version="1.0"?><error/>',
    "text": b"Dear diary,\ntoday nothing came.\n",
    "JSON": b'[{"a": 1}]',
    "transcript": b'{"messages": [{"role": "user", "content": "x"}]}',
    "events": b'data: {"a": 1}\n\n',
    "binary": bytes(range(256)) * 8,
}


@pytest.mark.parametrize("what", NONSENSE)
def test_each_command_says_the_same(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is not a model's answer is named in one sentence, the same by every command; the exit code is 1."""
    monkeypatch.chdir(tmp_path)
    Path("x.sse").write_bytes(NONSENSE[what])
    found = {
        command: (main([command, "x.sse"]), capsys.readouterr().err)
        for command in ("replay", "lint", "inspect")
    }
    code, said = found["replay"]

    assert (1, True, 1) == (
        code,
        said.startswith("wholecall: x.sse: no answer of a model: "),
        said.count("\n"),
    )
    assert dict.fromkeys(found, (code, said)) == found


def test_nonsense_counts_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The totals of `lint` and `inspect` count answers only: faults of an HTML page are not findings."""
    monkeypatch.chdir(tmp_path)
    Path("x.sse").write_bytes(NONSENSE["HTML"])
    assert 1 == main(["lint", "--json", "x.sse"])
    total = capsys.readouterr().out.splitlines()[-1]
    assert 1 == main(["inspect", "x.sse"])
    summary = capsys.readouterr().out.splitlines()[-1]

    assert (True, True) == ('"recordings": 0' in total, '"findings"' not in total)
    assert "0 recordings: 0 calls, 0 dropped, 0 faults; 1 no answer of a model" == summary


def test_a_call_that_is_taken_back_is_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Messages of a live connection between two turns are not nonsense, whichever command reads them."""
    monkeypatch.chdir(tmp_path)
    Path("live.ndjson").write_bytes(b'{"toolCallCancellation":{"ids":["c_1"]}}\n')
    for command in ("replay", "lint", "inspect"):
        main([command, "--dialect", "gemini-live", "live.ndjson"])

    assert "" == capsys.readouterr().err
