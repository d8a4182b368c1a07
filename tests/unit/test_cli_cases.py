from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import corpora
from tests.support.loopback import serve
from tests.unit.test_cli_recordings import Pipe
from wholecall.cli import main
from wholecall.cli.record import NewCase
from wholecall.serving import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

CHAT = (corpora.RECORDINGS / "chat-completions/arguments-unicode.sse").read_bytes()
PIECES = [CHAT[start : start + 100] for start in range(0, len(CHAT), 100)]
RECORD = ["record", "-q", "--into", "corpora", "--case", "new-one"]
STREAM = "corpora/recordings/chat-completions/new-one.sse"
SIDECAR = "corpora/recordings/chat-completions/new-one.case.json"
UNFINISHED = "corpora/recordings/new-one.part"
# Several documents, each of many lines; a single line, which could be a whole response.
OTHERWISE = {
    f"recordings/{name}.{suffix}": f"recordings/{name}.{other}"
    for name, suffix, other in (
        ("gemini-live/pretty-printed-two-channels", "json", "ndjson"),
        ("langchain-events/cut", "ndjson", "json"),
        ("pi/only-the-end", "ndjson", "json"),
    )
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with corpora the current one."""
    monkeypatch.chdir(tmp_path)
    Path("corpora/recordings").mkdir(parents=True)
    return tmp_path


def piped(monkeypatch: pytest.MonkeyPatch, pieces: Sequence[bytes], error: OSError | None = None) -> None:
    """Let pieces come on standard input."""
    monkeypatch.setattr(sys, "stdin", Pipe(pieces, error))


def files() -> dict[str, bytes]:
    """Return the files that there are."""
    return {path.as_posix(): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


class TestWhatIsWritten:
    """The bytes, and next to them a sidecar to fill in."""

    def test_bytes_and_sidecar(
        self, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The bytes are in the folder of their dialect unchanged; the sidecar waits for facts that people know."""
        piped(monkeypatch, PIECES)
        assert main([*RECORD[:1], *RECORD[2:]]) == 0
        found = files()
        assert [SIDECAR, STREAM] == list(found)
        assert (CHAT, CHAT) == (found[STREAM], capfdbinary.readouterr().out)
        expected = '{\n  "about": "",\n  "origin": "recorded",\n  "quirks": [],\n  "expect": null\n}\n'
        assert expected == found[SIDECAR].decode()

    def test_what_was_written_is_told(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The files are named, and so are the next steps: fill in the sidecar, and replace secrets."""
        piped(monkeypatch, PIECES)
        assert main([*RECORD, "--json"]) == 0
        out, err = capsys.readouterr()
        told = {
            "recording": STREAM,
            "status": None,
            "chunks": len(PIECES),
            "bytes": len(CHAT),
            "complete": True,
        }
        assert told == json.loads(out)
        wrote, secrets = err.splitlines()
        assert f"wholecall: wrote {STREAM} and new-one.case.json: say there what" in wrote
        assert secrets.endswith(f"wholecall redact {STREAM} --to raw -o OTHER")

    def test_a_folder_of_dialects(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A folder without one called `recordings` is the folder of the dialects' folders itself."""
        piped(monkeypatch, PIECES)
        assert main(["record", "-q", "--into", "corpora/recordings", "--case", "new-one"]) == 0
        assert [SIDECAR, STREAM] == list(files())

    def test_a_url(self) -> None:
        """The body of a response is saved; its address is not, and an error still counts as an error."""
        with serve(Answer(PIECES, status=500)) as server:
            assert main([*RECORD, f"{server.url}/?key=secret"]) == 1
        assert files()[STREAM] == CHAT
        assert b"".join(files().values()).find(b"127.0.0.1") == -1

    @pytest.mark.slow
    def test_every_recording_finds_its_place(self, folder: Path) -> None:
        """Each recording of the corpora, recorded again, gets the place that it has there, but for three suffixes."""
        moved = {}
        for case in corpora.cases():
            with NewCase(folder / "corpora", case["name"].partition("/")[2]) as written:
                assert list(written.through([data := corpora.recorded(case)])) == [data]
            place = written.path.relative_to(folder / "corpora").as_posix()
            moved |= {} if place == case["file"] else {case["file"]: place}
        assert moved == OTHERWISE


class TestWhatIsKept:
    """No byte is lost, and no file overwritten."""

    def test_an_unknown_stream(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Bytes of no known dialect are kept, and their place is reported."""
        piped(monkeypatch, [b"hello"])
        assert main(RECORD) == 0
        unknown = "corpora/recordings/unknown/new-one"
        assert {f"{unknown}.case.json", f"{unknown}.sse"} == files().keys()
        first, second, _ = capsys.readouterr().err.splitlines()
        assert first == "wholecall: no dialect knows the stream"
        assert f"wrote {unknown}.sse" in second

    @pytest.mark.parametrize("suffix", ["sse", "json", "case.json", "events.jsonl"])
    def test_a_case_that_is_there(
        self, suffix: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file of such a case stays unchanged, no other is added to it, and the bytes are next to the folder."""
        there = Path("corpora/recordings/chat-completions", f"new-one.{suffix}")
        there.parent.mkdir()
        there.write_bytes(b"precious")
        piped(monkeypatch, PIECES)
        assert main(RECORD) == 3
        assert {there.as_posix(): b"precious", UNFINISHED: CHAT} == files()
        assert f"{there}: File exists; nothing there was changed, and what came is in {UNFINISHED}" in (
            capsys.readouterr().err
        )

    def test_what_an_earlier_one_left(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Bytes that found no place, or are being written, are not overwritten either; then nothing is read."""
        Path(UNFINISHED).write_bytes(b"precious")
        piped(monkeypatch, PIECES)
        assert main(RECORD) == 3
        assert {UNFINISHED: b"precious"} == files()
        assert f"wholecall: {UNFINISHED}: File exists\n" == capsys.readouterr().err

    def test_a_stream_that_breaks_off(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Input before the error is a case like any other."""
        piped(monkeypatch, PIECES[:3], OSError(5, "Input/output error"))
        assert main(RECORD) == 3
        assert b"".join(PIECES[:3]) == files()[STREAM]
        assert f"what came is in {STREAM}" in capsys.readouterr().err

    def test_bytes_are_on_the_disk_before_the_next_come(self, folder: Path) -> None:
        """After the program is killed, the input so far is still there."""
        with NewCase(folder / "corpora", "new-one") as case:
            seen = [files()[UNFINISHED] for _ in case.through(PIECES)]
        assert [b"".join(PIECES[: n + 1]) for n in range(len(PIECES))] == seen

    def test_a_program_that_is_stopped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """After an interruption the case is in its place."""
        monkeypatch.setattr(sys, "stdin", Pipe(PIECES[:3], KeyboardInterrupt()))  # type: ignore[arg-type]
        assert main(RECORD) == 130
        assert files()[STREAM] == b"".join(PIECES[:3])

    @pytest.mark.parametrize("into", ["missing", "file"])
    def test_a_folder_that_is_none(
        self, into: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The folder of the corpora is not made: a mistyped name is reported."""
        Path("file").write_bytes(b"")
        piped(monkeypatch, PIECES)
        assert main(["record", "--into", into, "--case", "new-one"]) == 3
        assert capsys.readouterr().err.startswith(f"wholecall: {into}: ")
        assert {"file": b""} == files()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--into", "corpora"], "--into DIR and --case NAME go together"),
        (["--case", "x", "-o", "y"], "--into DIR and --case NAME go together"),
        (["--into", "corpora", "--case", "x", "-o", "y"], "not allowed with"),
        (["--into", "corpora", "--case", "x", "--append"], "needs -o OUT"),
        (["--into", "corpora", "--case", "../x"], "lower-case words"),
        (["--into", "corpora", "--case", "X"], "lower-case words"),
        (["--case", "x"], "--into"),
    ],
)
def test_a_wrong_command_line(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong command line ends with 2, hints at a valid one, and writes nothing."""
    with pytest.raises(SystemExit) as leaving:
        main(["record", *argv])
    assert told in capsys.readouterr().err
    assert (2, {}) == (leaving.value.code, files())
