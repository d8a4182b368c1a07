"""The command `wholecall history`: its input, output, messages and exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hygiene.source_tree import PROJECT
from wholecall.cli import main

TRANSCRIPTS = PROJECT / "corpora" / "transcripts"
POISONED = sorted(
    path
    for path in TRANSCRIPTS.rglob("*.json*")
    if path.parent != TRANSCRIPTS and ".repaired" not in path.name
)
LONG = "x" * 900


def mended(path: Path) -> Path:
    """Return the repaired file for a poisoned one."""
    return path.with_name(path.stem + ".repaired" + path.suffix)


def name(path: Path) -> str:
    """Return a short name for a file of the corpora."""
    return f"{path.parent.name}/{path.stem}"


def chat(arguments: str = "{}", *, answered: bool = True) -> list[dict[str, Any]]:
    """Return a conversation with one call."""
    call = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": arguments}}
    result = [{"role": "tool", "tool_call_id": "c1", "content": "done"}] if answered else []
    return [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [call]}, *result]


def decoded(data: bytes) -> list[Any]:
    """Return the messages of a file, of JSON or of JSON lines."""
    try:
        return list(json.loads(data))
    except ValueError:
        return [json.loads(line) for line in data.splitlines()]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_there_are_transcripts() -> None:
    """The tests below see the poisoned transcripts of every shape."""
    assert 7 <= len({path.parent for path in POISONED}) <= len(POISONED)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", POISONED, ids=name)
def test_a_poisoned_file_is_repaired(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check` exits with 1 and describes the work of `repair`; the output file is the expected one, and sound."""
    assert 1 == main(["history", "check", str(path)])
    said = capsys.readouterr()
    assert 0 == main(["history", "repair", str(path), "-o", "out"])
    assert said.err == capsys.readouterr().err
    assert "" == said.out
    assert decoded(mended(path).read_bytes()) == decoded(Path("out").read_bytes())
    assert 0 == main(["history", "check", "out"])


@pytest.mark.parametrize("path", POISONED, ids=name)
def test_a_sound_file_stays_byte_for_byte(path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A file that needs no repair is written unchanged, and the exit code is 0."""
    assert 0 == main(["history", "repair", str(mended(path))])
    assert mended(path).read_bytes() == capfdbinary.readouterr().out


def test_unchanged_lines_keep_their_bytes() -> None:
    """In a session file only changed messages are rewritten; the spelling of the others stays."""
    user, assistant = (json.dumps(message).encode() for message in chat(answered=False))
    Path("s.jsonl").write_bytes(user.replace(b'"Hi"', b'"\\u0048i"  ') + b"\r\n" + assistant + b"\n")

    assert 0 == main(["history", "repair", "s.jsonl", "-o", "out"])
    lines = Path("out").read_bytes().splitlines(keepends=True)
    assert [b'\\u0048i"  }\r\n', b"\n"] == [lines[0][-13:], lines[1][-1:]]
    assert ["tool"] == [json.loads(line)["role"] for line in lines[2:]]


@pytest.mark.parametrize(("key", "indent"), [("messages", None), ("input", 2)])
def test_a_request_keeps_what_is_round_the_messages(key: str, indent: int | None) -> None:
    """A whole request body is read too; its other members stay, and so does the way it was written."""
    body = {"model": "m", key: chat(answered=False), "temperature": 0.5}
    Path("r.json").write_text(json.dumps(body, indent=indent), "utf-8")

    assert 0 == main(["history", "repair", "r.json", "-o", "out"])
    out = Path("out").read_text("utf-8")
    assert (["model", key, "temperature"], 4) == (list(json.loads(out)), len(json.loads(out)[key]) + 1)
    assert (indent is None) == (out.count("\n") == 1)


def test_long_strings_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """`shrink` cuts the strings of old calls, and names the calls; `--keep-recent` leaves the last calls alone."""
    Path("t.json").write_text(json.dumps(chat(json.dumps({"path": "a.py", "content": LONG}))), "utf-8")

    assert 0 == main(["history", "shrink", "t.json", "--max-leaf", "30", "-o", "out"])
    call = json.loads(Path("out").read_bytes())[1]["tool_calls"][0]
    kept = json.loads(call["function"]["arguments"])
    assert ("c1", "a.py", "x" * 30 + "...[truncated]") == (call["id"], kept["path"], kept["content"])
    assert "~ arguments of c1 shortened\n" in capsys.readouterr().err
    assert 0 == main(["history", "shrink", "t.json", "--keep-recent", "1", "-o", "same"])
    assert Path("t.json").read_bytes() == Path("same").read_bytes()


def test_what_cannot_be_shrunk_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Arguments that are not JSON are for `repair`: they stay, and are named."""
    Path("t.json").write_text(json.dumps(chat('{"a": ' + LONG)), "utf-8")

    assert 0 == main(["history", "shrink", "t.json", "-o", "out"])
    assert "! arguments of c1 are not JSON and stay as they are\n" in capsys.readouterr().err


def test_standard_input_and_output(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """`-` is standard input, and without `-o` the file goes to standard output: it works in a pipe."""
    source = json.dumps(chat()).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source)))

    assert 0 == main(["history", "repair", "-"])
    said = capfdbinary.readouterr()
    assert (source, b"-: 3 messages, nothing to change\n") == (said.out, said.err)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b'{"role": "user"}\n{"role": \n', "line 2 is not JSON; a transcript is JSON or JSON lines"),
        (b"[1, 2]", "it holds no list of messages, each an object"),
        (b'"text"', "it holds no list of messages, each an object"),
        (b'[{"role": "user", "content": NaN}]', "line 1 is not JSON; a transcript is JSON or JSON lines"),
        (b"\xff\xfe\x00", "line 1 is not JSON; a transcript is JSON or JSON lines"),
        (b"[" * 100_000, "line 1 is not JSON; a transcript is JSON or JSON lines"),
        (None, "No such file or directory"),
    ],
)
@pytest.mark.parametrize("action", ["check", "repair", "shrink"])
def test_a_file_that_cannot_be_read(
    action: str, data: bytes | None, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is named with its fault, nothing is written, and the exit code is 3."""
    if data is not None:
        Path("bad").write_bytes(data)

    assert 3 == main(["history", action, "bad"])
    assert ("", f"wholecall: bad: {complaint}\n") == capsys.readouterr()


@pytest.mark.parametrize("action", ["repair", "shrink"])
def test_an_output_that_cannot_be_written(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The output is named, and the exit code is 3."""
    Path("t.json").write_text(json.dumps(chat()), "utf-8")

    assert 3 == main(["history", action, "t.json", "-o", "no/such/folder"])
    assert "wholecall: no/such/folder: No such file or directory\n" in capsys.readouterr().err


def test_counts_are_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """A `--max-leaf` that is not a count is a wrong command line."""
    with pytest.raises(SystemExit) as leaving:
        main(["history", "shrink", "t.json", "--max-leaf", "-1"])
    assert 2 == leaving.value.code
    assert "is not a count" in capsys.readouterr().err


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    """The help shows examples and the meaning of the exit codes."""
    with pytest.raises(SystemExit):
        main(["history", "--help"])
    out = capsys.readouterr().out

    assert all(word in out for word in ("examples:", "exit status:", "check", "repair", "shrink"))


def test_check_for_a_provider_says_what_it_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check --for` judges as `check_transcript`: 0 if nothing is refused, else 1 and the text of the refusal."""
    sound, unsound = tmp_path / "a.json", tmp_path / "b.json"
    sound.write_text(json.dumps(chat()))
    unsound.write_text(json.dumps(chat(answered=False)))
    codes = [
        main(["history", "check", "--for", name, str(path)])
        for name in ("chat-completions", "ollama", "mistral")
        for path in (sound, unsound)
    ]
    said = capsys.readouterr().err
    codes.append(main(["history", "check", "--for", "chat-completions", "--json", str(unsound)]))
    told = json.loads(capsys.readouterr().out)

    assert [0, 1, 1, 1, 1, 1, 1] == codes
    assert (True, True) == ("did not have response messages" in said, "nothing that chat-completions" in said)
    assert ["unanswered_tool_call"] == [finding["kind"] for finding in told["findings"]]


@pytest.mark.parametrize("words", [["--for", "nobody"], ["--thinking"]])
def test_check_for_nobody_is_a_wrong_command_line(words: list[str]) -> None:
    """A provider without rules, or `--thinking` without one, exits with 2."""
    with pytest.raises(SystemExit) as error:
        main(["history", "check", *words, "-"])

    assert 2 == error.value.code
