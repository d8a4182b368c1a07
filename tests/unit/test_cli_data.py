"""No command loses data: input and existing files stay whole until the new file is whole."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import corpora
from tests.support.loopback import serve
from wholecall.cli import main, saving
from wholecall.recordings import read
from wholecall.serving import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO

    from wholecall.recordings import Recording

CHAT = (corpora.CORPORA / "recordings/chat-completions/arguments-unicode.sse").read_bytes()
OLD = b"what was there before\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.sse").write_bytes(CHAT)


def refusal(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the message of a refused command."""
    with pytest.raises(SystemExit) as leaving:
        main(argv)
    assert 2 == leaving.value.code
    return capsys.readouterr().err


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Let standard input be these bytes."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def contents() -> dict[str, bytes]:
    """Return the files of the folder."""
    return {path.name: path.read_bytes() for path in sorted(Path().iterdir())}


class TestInputs:
    """A file that is read is not written."""

    @pytest.mark.parametrize("command", ["convert", "redact"])
    @pytest.mark.parametrize("link", [os.symlink, os.link])
    def test_links_are_the_file(self, command: str, link: object, capsys: pytest.CaptureFixture[str]) -> None:
        """A link to an input, symbolic or hard, is that input."""
        assert callable(link)
        link("a.sse", "b.sse")

        assert "b.sse is read, too" in refusal([command, "a.sse", "-o", "b.sse"], capsys)
        assert {"a.sse": CHAT, "b.sse": CHAT} == contents()

    @pytest.mark.parametrize("command", ["convert", "redact"])
    def test_an_output_in_a_folder_that_is_read(
        self, command: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Files written there are not read; the next time they are among the recordings, and refused."""
        assert 0 == main([command, ".", "-o", "all.jsonl"])
        assert ["all.jsonl"] == [recording.name for recording in read("all.jsonl")]
        written = contents()

        assert "all.jsonl is read, too" in refusal([command, ".", "-o", "all.jsonl"], capsys)
        assert written == contents()

    def test_standard_output_into_an_input(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """`convert a.sse >> a.sse` would read its own output, and is refused."""
        with Path("a.sse").open("a", encoding="utf-8") as file, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", file)
            said = refusal(["convert", "a.sse"], capsys)

        assert "the file that standard output goes to is read, too" in said
        assert CHAT == Path("a.sse").read_bytes()

    @pytest.mark.parametrize("argv", [[], ["--append"], ["http://127.0.0.1:1/", "-d", "@a.sse"]])
    def test_a_recording_of_itself(
        self, argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """`record` takes no file as its input and as its output."""
        with Path("a.sse").open(encoding="utf-8") as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert "a.sse is read, too" in refusal(["record", *argv, "-q", "-o", "a.sse"], capsys)
        assert CHAT == Path("a.sse").read_bytes()

    @pytest.mark.parametrize("paths", [["a.sse"], ["b.sse"], ["."]])
    def test_a_page_takes_the_place_of_pages_only(
        self, paths: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """`inspect --html a.sse b.sse` lacks its OUT: a.sse is not a page, and stays."""
        Path("b.sse").write_bytes(CHAT)

        assert "a.sse is no page" in refusal(["inspect", "--html", "a.sse", *paths], capsys)
        assert CHAT == Path("a.sse").read_bytes()
        for _ in range(2):
            assert 0 == main(["inspect", "--html", "page.html", "b.sse"])


class TestFailures:
    """A failure in the middle leaves the old file, and nothing else."""

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_the_old_file_stays(
        self, error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Half a file is not a file."""

        def write(file: IO[bytes], _recording: Recording) -> None:
            file.write(b"half")
            raise error

        monkeypatch.setattr(saving, "write", write)
        Path("out").write_bytes(OLD)

        assert {OSError: 3, KeyboardInterrupt: 130}[type(error)] == main(["convert", "a.sse", "-o", "out"])
        assert {"a.sse": CHAT, "out": OLD} == contents()
        assert ("No space left" in capsys.readouterr().err) == isinstance(error, OSError)

    @pytest.mark.parametrize("argv", [["missing.sse"], ["a.sse", "--only", "2"]])
    def test_nothing_replaces_nothing(self, argv: list[str]) -> None:
        """Where there is no recording to write, the file stays unchanged."""
        Path("out").write_bytes(OLD)

        assert 3 == main(["convert", *argv, "-o", "out"])
        assert {"a.sse": CHAT, "out": OLD} == contents()

    def test_a_file_that_must_not_be_written(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A file that is write-protected is not replaced either."""
        Path("out").write_bytes(OLD)
        monkeypatch.setattr(os, "access", lambda _path, _mode: False)  # root may write everything

        assert 3 == main(["convert", "a.sse", "-o", "out"])
        assert "wholecall: out: Permission denied\n" == capsys.readouterr().err
        assert OLD == Path("out").read_bytes()

    def test_links_and_modes_stay(self) -> None:
        """The target of a link is replaced, with its previous rights."""
        Path("real").write_bytes(OLD)
        Path("real").chmod(0o640)
        Path("out").symlink_to("real")

        assert 0 == main(["convert", "a.sse", "--to", "raw", "-o", "out"])
        assert Path("out").is_symlink()
        assert (CHAT, 0o640) == (Path("real").read_bytes(), stat.S_IMODE(Path("real").stat().st_mode))

    def test_what_is_no_file_is_written_as_it_is(self) -> None:
        """A pipe, a terminal or `/dev/null` is not replaced by a file."""
        assert 0 == main(["convert", "a.sse", "-o", os.devnull])
        assert not Path(os.devnull).is_file()


class TestRecord:
    """A recording takes the place of another one when it is whole."""

    def test_a_whole_stream_takes_the_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The old recording is replaced at the end."""
        Path("x.jsonl.gz").write_bytes(gzip.compress(OLD))
        stdin(monkeypatch, CHAT)

        assert 0 == main(["record", "-q", "-o", "x.jsonl.gz"])
        assert ["a.sse", "x.jsonl.gz"] == list(contents())
        assert [CHAT] == [chunk for one in read("x.jsonl.gz") for _, chunk in one.chunks]

    def test_a_stream_that_breaks_off(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The input is next to the old recording, which stays; the next run does not overwrite either."""
        Path("x.jsonl").write_bytes(OLD)
        with serve(Answer([CHAT], ending="cut")) as server:
            assert 3 == main(["record", "-q", "-o", "x.jsonl", server.url])
            assert "what came is in " in capsys.readouterr().err
            found = contents()
            assert (OLD, [b"".join(chunk for _, chunk in one.chunks) for one in read("x.part.jsonl")]) == (
                found["x.jsonl"],
                [CHAT],
            )
            assert 3 == main(["record", "-q", "-o", "x.jsonl", server.url])
        assert "x.part.jsonl: File exists" in capsys.readouterr().err
        assert found == contents()

    def test_nothing_came(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """A program before us that failed leaves the old recording."""
        Path("x.jsonl").write_bytes(OLD)
        stdin(monkeypatch, b"")

        assert 3 == main(["record", "-q", "-o", "x.jsonl"])
        assert {"a.sse": CHAT, "x.jsonl": OLD} == contents()
        assert "wholecall: nothing came, and x.jsonl is as it was\n" == capsys.readouterr().err

    def test_whoever_read_has_seen_enough(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """If standard output is closed before the stream is over, the old recording stays, and so does the input."""

        def stop(chunks: Iterable[bytes]) -> Iterator[bytes]:
            yield from chunks
            raise BrokenPipeError

        Path("x.jsonl").write_bytes(OLD)
        stdin(monkeypatch, CHAT)
        recorder = "wholecall.cli.record.Recorder.through"
        monkeypatch.setattr(recorder, lambda _self, chunks: stop(chunks))
        monkeypatch.setattr(sys.modules["wholecall.cli.main"], "silence", lambda: None)

        assert 141 == main(["record", "-q", "-o", "x.jsonl"])
        assert OLD == Path("x.jsonl").read_bytes()
        assert "x.jsonl is as it was; what came is in " in capsys.readouterr().err
