"""`lint`, `replay` and `inspect` count the same files of a folder, whatever it contains."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wholecall.cli import main

PROJECT = Path(__file__).resolve().parents[2]
CALL = next((PROJECT / "corpora" / "recordings" / "anthropic").glob("*.sse")).read_bytes()
OWN = {"wholecall": "recording", "version": 1}
HTML = b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"
CUT = CALL[: len(CALL) // 2]
HAR_ENTRY = {
    "request": {"method": "POST", "url": "https://api.example/v1/chat/completions"},
    "response": {"status": 200, "content": {"text": "data: [DONE]\n\n", "mimeType": "text/event-stream"}},
}

# A file for each kind of content in a folder of logs.
FILES: dict[str, bytes] = {
    "whole.sse": CALL,
    "cut.sse": CUT,
    "below/whole.sse": CALL,
    "empty.sse": b"",
    "blank.sse": b"\n\n",
    "page.sse": HTML,
    "page.json": HTML,
    "error.json": b'{"error": {"message": "overloaded", "type": "server_error"}}',
    "other.json": b'{"a": 1}\n',
    "broken.json": b'{"choices": [tru',
    "text.sse": b"hello there\n",
    "binary.sse": bytes(range(256)) * 4,
    "no-answer.sse": b"data: [DONE]\n\n",
    "comments.sse": b": ping\n\n",
    "own-broken.jsonl": b'{"wholecall": "recording", "version": 1}\n{"t": 0, "x',
    "some.har": json.dumps({"log": {"entries": [HAR_ENTRY]}}).encode(),
    "broken.har": b'{"log": {"entries": [',
    "damaged.sse.gz": b"\x1f\x8b\x08\x00garbage",
    "notes.txt": b"nothing",
    ".hidden.sse": CALL,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of each kind, an empty folder, and a folder named like a recording."""
    for name, data in FILES.items():
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (tmp_path / "logs" / "d.sse").mkdir()
    (tmp_path / "logs" / "nothing").mkdir()
    return tmp_path / "logs"


def counted(command: str, path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return how many recordings a command counts, its exit code, and the files it names."""
    code = main([command, *(("--json",) if command == "lint" else ()), str(path)])
    out, err = capsys.readouterr()
    if command == "lint":
        recordings = json.loads(out.splitlines()[-1])["recordings"]
    else:
        recordings = int(re.findall(r"^([\d,]+) recordings?: ", out, re.MULTILINE)[-1])
    named = sorted(line.split(": ")[1] for line in err.splitlines() if line.startswith("wholecall: "))
    return {"recordings": recordings, "unreadable": code == 3, "named": named}


@pytest.mark.parametrize("command", ["replay", "inspect"])
def test_a_folder_has_as_many_recordings_for_each_command(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands count the same recordings, and complain of the same files."""
    assert counted("lint", folder, capsys) == counted(command, folder, capsys)


@pytest.mark.parametrize("name", FILES)
def test_so_for_each_kind_of_file(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A single file is counted alike, too, and so is a folder that contains nothing else."""
    counts = [counted(command, folder / name, capsys) for command in ("lint", "replay", "inspect")]

    assert [counts[0]] * 3 == counts
