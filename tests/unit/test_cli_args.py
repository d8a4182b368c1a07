"""The command `wholecall args`: its output, its messages, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wholecall.cli import main

SECRET = "hunter2"


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command on standard input, and returns its exit code and its outputs."""

    def run(text: str, *options: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code = main(["args", *options, "-"])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("text", "code", "out", "err"),
    [
        ('{"a": [1, "\u00e9"]}\n', 0, '{"a":[1,"\u00e9"]}\n', ""),
        ('{"a": 1,}', 0, '{"a":1}\n', "-: recovered\n~ trailing_comma at character 7\n"),
        ("\ufeff{}", 0, "{}\n", "-: normalised\n~ bom at character 0\n"),
        ('{"a": 1, "a": 1}', 0, '{"a":1}\n', "-: exact\n! duplicate_key\n"),
        ("", 0, "{}\n", "-: empty\n"),
        (
            '{"a": "' + SECRET,
            1,
            "",
            "-: dropped, truncated\n! the text ends before its object does; see character 6\n",
        ),
        (
            f"[{SECRET!r}]",
            1,
            "",
            "-: dropped, not_an_object\n! the text is JSON but no object; see character 0\n",
        ),
    ],
)
def test_arguments_are_repaired(run: Run, text: str, code: int, out: str, err: str) -> None:
    """The value goes to standard output; changes, or the reason why there is none, to standard error."""
    assert (code, out, err) == run(text)


@pytest.mark.parametrize(
    ("text", "code", "out", "err"),
    [
        ('{"a": [1, {"b": "x', 1, '{"a":[1,{"b":"x"}]}\n', "-: incomplete\n"),
        ('["x", 12', 1, '["x"]\n', "-: incomplete\n"),
        ("12", 0, "12\n", ""),
        ("null", 0, "null\n", ""),
        ("", 1, "", "-: incomplete\n"),
        (f'"{SECRET}\n', 1, f'"{SECRET}"\n', "-: invalid\n! invalid_json at character 8\n"),
        ('["\\ud83d", 1]', 0, '["\\ud83d",1]\n', ""),
    ],
)
def test_partial_values_are_shown(run: Run, text: str, code: int, out: str, err: str) -> None:
    """With `--partial` the known part goes to standard output, and a note that it is partial to standard error."""
    assert (code, out, err) == run(text, "--partial")


def test_files_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An absent file, a folder or invalid UTF-8 is named, without its contents; and so is a closed input."""
    (tmp_path / "latin").write_bytes(SECRET.encode() + b"\xe9")
    codes = [main(["args", str(tmp_path / name)]) for name in ("absent", ".", "latin")]
    monkeypatch.setattr(sys, "stdin", None)
    codes.append(main(["args", "-"]))
    out, err = capsys.readouterr()

    assert ([3] * 4, "") == (codes, out)
    assert [line.rpartition(": ")[2] for line in err.splitlines()] == [
        "No such file or directory",
        "Is a directory",
        "byte 7 is not UTF-8",
        "there is no standard input",
    ]


def test_a_name_that_a_terminal_would_obey(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a file is shown with escapes."""
    file = tmp_path / "\x1b[2J"
    file.write_text("{")

    assert main(["args", str(file)]) == 1
    assert "\x1b" not in capsys.readouterr().err


def test_the_value_means_the_same_in_every_encoding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the output is ASCII, other characters are escapes of JSON."""
    file = tmp_path / "text"
    file.write_text('{"a": "\u00e9\U0001f600"}', "utf-8")
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", out)

    assert main(["args", str(file)]) == 0
    out.seek(0)
    assert json.loads(out.read()) == {"a": "\u00e9\U0001f600"}
