"""The command `wholecall history` for many files, for large ones, and for programs."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.hygiene.source_tree import PROJECT
from wholecall.cli import main
from wholecall.history import TranscriptReport

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPORA = PROJECT / "corpora" / "transcripts"
SOUND = b'{"role":"user","content":"Hi"}\n{"role":"assistant","content":"Hello"}\n'
CALL = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": "{}"}}
BROKEN = json.dumps({"role": "assistant", "tool_calls": [CALL]}).encode() + b"\n"
MADE = b'"tool_call_id":"c1"'


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**files: bytes) -> None:
    """Write files into `logs`, the folder of which is made; `__` in a name is a slash, `_` a dot."""
    for name, data in files.items():
        path = Path("logs", name.replace("__", "/").replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def written(folder: str) -> dict[str, bytes]:
    """Return the files in a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the message of a refused command."""
    with pytest.raises(SystemExit) as leaving:
        main(["history", *argv])
    assert 2 == leaving.value.code
    return capsys.readouterr().err


class TestManyFiles:
    """Files, folders and globs."""

    def test_all_are_checked(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Each file has its list, the last line counts, and the exit code is 1 if one needs a repair."""
        write(a_jsonl=SOUND, b__c_json=BROKEN, notes_txt=b"no")

        assert 1 == main(["history", "check", "logs", "logs/*.jsonl"])
        assert [
            "logs/a.jsonl: 2 messages, nothing to change",
            "--- logs/b/c.json (1 messages)",
            "+ result for c1 made: there was none",
            "logs/a.jsonl: 2 messages, nothing to change",
            "3 transcripts, 1 would be changed",
        ] == capsys.readouterr().err.splitlines()
        assert 0 == main(["history", "check", "logs/a.jsonl", "logs/a.jsonl"])

    def test_a_folder_holds_other_things(self, capsys: pytest.CaptureFixture[str]) -> None:
        """JSON that is not a transcript is left out of a folder, and counted; a damaged file is named."""
        write(a_jsonl=SOUND, package_json=b'"x"', z_jsonl=SOUND + b'{"role":\n')

        assert 3 == main(["history", "check", "logs"])
        assert [
            "logs/a.jsonl: 2 messages, nothing to change",
            "wholecall: logs/z.jsonl: line 3 is not JSON; a transcript is JSON or JSON lines",
            "1 transcripts, 0 would be changed, 1 not read or not written, 1 other files left out",
        ] == capsys.readouterr().err.splitlines()

    @pytest.mark.parametrize("path", ["logs", "logs/*.jsonl"])
    def test_nothing_is_there(self, path: str, capsys: pytest.CaptureFixture[str]) -> None:
        """A folder or glob without a transcript is an error, as a missing file is."""
        write(a_sse=b"data: {}\n\n")

        assert 3 == main(["history", "check", path])
        assert f"wholecall: {path}: no transcript (.jsonl .ndjson .json) there\n" == capsys.readouterr().err

    def test_they_are_written_into_a_folder(self) -> None:
        """Each file keeps its place in its folder; files that need no repair go with them, byte for byte."""
        write(a_jsonl=SOUND, b__c_jsonl=BROKEN)

        assert 0 == main(["history", "repair", "logs", "-o", "mended/"])
        assert {"a.jsonl": SOUND} == {k: v for k, v in written("mended").items() if v == SOUND}
        assert MADE in written("mended")["b/c.jsonl"]
        assert {"a.jsonl": SOUND, "b/c.jsonl": BROKEN} == written("logs")
        assert 0 == main(["history", "check", "mended"])

    def test_several_need_a_folder(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Two transcripts in one file, or on one output, would not be a transcript."""
        write(a_jsonl=SOUND, b_jsonl=BROKEN)

        for output in ([], ["-o", "one.jsonl"]):
            assert "need a folder" in refused(["repair", "logs", *output], capsys)
        assert [] == list(Path().glob("one*"))

    @pytest.mark.parametrize("output", ["logs", "logs/mended/", "./logs/../logs"])
    def test_a_folder_that_is_read_is_not_written(
        self, output: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The next run would mistake the output of this run for transcripts."""
        write(a_jsonl=SOUND, b_jsonl=BROKEN)

        assert "is read, too" in refused(["repair", "logs", "-o", output], capsys)
        assert {"a.jsonl": SOUND, "b.jsonl": BROKEN} == written("logs")

    def test_two_of_one_name(self, capsys: pytest.CaptureFixture[str]) -> None:
        """One file would be lost."""
        write(a__s_jsonl=SOUND, b__s_jsonl=BROKEN)
        Path("out").mkdir()

        said = refused(["repair", "logs/a/s.jsonl", "logs/b/s.jsonl", "-o", "out"], capsys)
        assert "several transcripts would be written to out/s.jsonl" in said
        assert {} == written("out")

    def test_one_that_cannot_be_written(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The file is named, and the others are written."""
        write(a_jsonl=SOUND, b_jsonl=BROKEN)
        Path("out/a.jsonl").mkdir(parents=True)

        assert 3 == main(["history", "repair", "logs", "-o", "out"])
        assert "wholecall: out/a.jsonl: Is a directory\n" in capsys.readouterr().err
        assert ["b.jsonl"] == list(written("out"))


class TestReplacing:
    """A file can take its own place."""

    @pytest.mark.parametrize("data", [SOUND, BROKEN, SOUND + BROKEN, b"[" + BROKEN.strip() + b"]"])
    def test_a_file_is_mended_where_it_is(self, data: bytes) -> None:
        """The file is replaced when the new one is whole."""
        write(a_jsonl=data)

        assert 0 == main(["history", "repair", "logs/a.jsonl", "-o", "logs/a.jsonl"])
        ((name, mended),) = written("logs").items()
        assert ("a.jsonl", data == SOUND) == (name, mended == data)
        assert 0 == main(["history", "check", "logs/a.jsonl"])

    def test_standard_input_into_its_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`repair - < a -o a` reads everything before it writes."""
        write(a_jsonl=SOUND + BROKEN)
        with Path("logs/a.jsonl").open(encoding="utf-8") as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert 0 == main(["history", "repair", "-", "-o", "logs/a.jsonl"])
        assert MADE in written("logs")["a.jsonl"]

    def test_a_failure_leaves_the_old_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Half a transcript is not a transcript."""

        def fail(_lines: object, pages: Iterator[Any]) -> Iterator[bytes]:
            next(pages)
            yield b"half"
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("wholecall.recordings.transcripts._joined", fail)
        write(a_jsonl=SOUND + BROKEN)

        assert 3 == main(["history", "repair", "logs/a.jsonl", "-o", "logs/a.jsonl"])
        assert {"a.jsonl": SOUND + BROKEN} == written("logs")

    def test_a_line_without_its_end(self) -> None:
        """Text appended to a last line without an end is a separate line."""
        write(a_jsonl=BROKEN.rstrip())

        assert 0 == main(["history", "repair", "logs/a.jsonl", "-o", "out"])
        first, made = Path("out").read_bytes().splitlines(keepends=True)
        assert BROKEN == first
        assert MADE in made


class TestExitCode:
    """A successful repair is not a failure."""

    @pytest.mark.parametrize(("action", "extra"), [("repair", []), ("shrink", ["--max-leaf", "1"])])
    def test_zero_unless_asked(self, action: str, extra: list[str]) -> None:
        """`--exit-code` reports whether something was changed."""
        long = {"role": "assistant", "tool_calls": [json.loads(json.dumps(CALL))]}
        long["tool_calls"][0]["function"]["arguments"] = json.dumps({"a": "x" * 900})
        write(a_json=json.dumps([long]).encode())
        argv = ["history", action, "logs/a.json", *extra, "-o", "out"]

        assert [0, 1] == [main(argv), main([*argv, "--exit-code"])]
        again = ["history", action, "out", *extra, "-o", "again", "--exit-code"]
        assert 0 == main(again)


class TestJson:
    """Reports for programs."""

    def test_a_check(self, capsys: pytest.CaptureFixture[str]) -> None:
        """One object per file, with the members of a report; nothing else is written."""
        write(a_jsonl=SOUND, b_jsonl=BROKEN)

        assert 1 == main(["history", "check", "--json", "logs"])
        out, err = capsys.readouterr()
        sound, broken = (json.loads(line) for line in out.splitlines())
        facts = [field for field in TranscriptReport.__struct_fields__ if field != "changed"]
        assert ["file", "messages", "changed", *facts, "written"] == list(sound)
        assert ("logs/a.jsonl", 2, False, [], None) == (
            sound["file"],
            sound["messages"],
            sound["changed"],
            sound["synthesised"],
            sound["written"],
        )
        assert ("logs/b.jsonl", True, ["c1"]) == (broken["file"], broken["changed"], broken["synthesised"])
        assert "" == err

    def test_a_repair(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The report names the output file, and requires one."""
        write(b_jsonl=BROKEN)

        assert 0 == main(["history", "repair", "--json", "logs", "-o", "out/"])
        assert "out/b.jsonl" == json.loads(capsys.readouterr().out)["written"]
        assert "needs -o OUT" in refused(["repair", "--json", "logs/b.jsonl"], capsys)


@pytest.mark.parametrize(
    ("data", "said"), [(b'[{"role":"user","content":[1]}]', "a content block"), (b"", "")]
)
def test_what_is_no_transcript_is_named(data: bytes, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A block that is not an object, or an empty file: a sentence, no traceback."""
    write(a_json=data)

    assert 3 == main(["history", "check", "logs/a.json"])
    assert capsys.readouterr().err.startswith(f"wholecall: logs/a.json: {said}")


def session(size: int, contents: int) -> Iterator[bytes]:
    """Yield the lines of a session of about so many bytes, with contents of a size, in which some calls are open."""
    number = total = 0
    while total < size:
        number += 1
        block = {"type": "tool_use", "id": f"t{number}", "name": "write", "input": {"text": "x" * contents}}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "y" * contents}
        said = [("assistant", block)] + [("user", answer)] * (number % 50 != 0)
        for role, content in said:
            entry = {"type": role, "uuid": f"{role}{number}", "message": {"role": role, "content": [content]}}
            line = json.dumps(entry).encode() + b"\n"
            total += len(line)
            yield line


def peak_of(argv: list[str]) -> int:
    """Return the peak memory of a command in bytes."""
    tracemalloc.start()
    try:
        main(argv)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("action", ["check", "repair", "shrink"])
def test_memory_holds_no_contents(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory for a session does not depend on the size of its contents."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Path("s.jsonl").open("wb") as file:
        file.writelines(session(8_000_000, 40_000))
    argv = ["history", action, "s.jsonl", *([] if action == "check" else ["-o", "out"])]
    main(argv)  # the modules and patterns loaded once

    # The peak includes memory that a thread of another test takes in the meantime.
    assert any(peak_of(argv) < 2_000_000 for _ in range(3))
    assert action == "check" or Path("out").stat().st_size > 0


@pytest.mark.slow
def test_a_large_session_in_little_memory() -> None:
    """A session of 64 MB is repaired in 100 MB, the interpreter and its modules included."""
    with Path("s.jsonl").open("wb") as file:
        file.writelines(session(64_000_000, 500))
    program = (
        "import sys; from tests.support.memory import peak; from wholecall.cli import main; "
        "code = main(['history', 'repair', sys.argv[1], '-o', sys.argv[2]]); print(code, peak())"
    )
    command = [sys.executable, "-c", program, *(str(Path(name).absolute()) for name in ("s.jsonl", "out"))]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, check=True)  # noqa: S603 - ours
    code, most = map(int, done.stdout.split())

    assert 0 == code
    assert most < 100_000_000


def test_the_corpora_as_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """All transcripts of the corpora are repaired in one run, and need no repair then."""
    shutil.copytree(CORPORA, "logs")
    Path("logs/manifest.json").unlink()

    assert 0 == main(["history", "repair", "logs", "-o", "mended/"])
    assert list(written("logs")) == list(written("mended"))
    assert 0 == main(["history", "check", "mended"])
    assert " transcripts, 0 would be changed\n" in capsys.readouterr().err
