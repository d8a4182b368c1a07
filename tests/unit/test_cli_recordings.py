from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import bless
from tests.support.loopback import Answer, serve
from tests.support.make_tool_files import CASES, TOOLS
from wholecall.cli import main, progress
from wholecall.recordings import read

if TYPE_CHECKING:
    from collections.abc import Sequence

CHAT = (bless.CORPORA / "recordings/chat-completions/arguments-unicode.sse").read_bytes()
PIECES = [CHAT[start : start + 100] for start in range(0, len(CHAT), 100)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Pipe:
    """Standard input that comes in pieces, and perhaps breaks off."""

    def __init__(self, pieces: Sequence[bytes], error: OSError | None = None) -> None:
        self.pieces = iter(pieces)
        self.error = error
        self.buffer = self

    def read1(self, _size: int) -> bytes:
        """Return the next piece."""
        for piece in self.pieces:
            return piece
        if self.error is not None:
            raise self.error
        return b""


def kept(path: str = "x.jsonl") -> list[bytes]:
    """Return the chunks of the recordings in a file."""
    return [chunk for recording in read(path) for _, chunk in recording.chunks]


class TestReplay:
    """Files that hold many recordings."""

    def test_each_recording_is_shown_by_its_name(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Names carry the number, and what was no answer of a model is counted."""
        assert main(["replay", "--calls", str(TOOLS / "vcrpy.yaml")]) == 0
        out = capsys.readouterr().out
        assert f"{TOOLS / 'vcrpy.yaml'}#2  chat-completions" in out
        assert out.endswith("; 3 other responses skipped\n")

    def test_a_damaged_recording_is_named_and_the_rest_is_read(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The complaint names the file and the place."""
        Path("cut.har").write_bytes((TOOLS / "mitmproxy.har").read_bytes()[:30_000])
        assert main(["replay", "--json", "--calls", "cut.har"]) == 3
        out, err = capsys.readouterr()
        assert {json.loads(line)["recording"] for line in out.splitlines()} >= {"cut.har#2", "cut.har#3"}
        assert err == "wholecall: cut.har: the JSON is cut (between byte 30000 and 30000)\n"


class TestRecord:
    """What is saved while it passes."""

    def test_standard_input_passes_through(
        self, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Every chunk is passed on and saved with its boundaries and a time."""
        monkeypatch.setattr(sys, "stdin", Pipe(PIECES))
        assert main(["record", "-o", "x.jsonl"]) == 0
        assert capfdbinary.readouterr() == (CHAT, b"")
        assert PIECES == kept()
        times = [at for recording in read("x.jsonl") for at, _ in recording.chunks]
        assert sorted(times) == times  # type: ignore[type-var]

    def test_more_can_be_added(
        self, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`--append` keeps what the file holds, `-q` passes nothing on, and a name can ask for gzip."""
        for option in ([], ["--append"]):
            monkeypatch.setattr(sys, "stdin", Pipe([b"a", b"b"]))
            assert main(["record", "-q", *option, "-o", "x.jsonl.gz"]) == 0
        assert ["x.jsonl.gz", "x.jsonl.gz#2"] == [one.name for one in read("x.jsonl.gz")]
        assert [b"a", b"b"] * 2 == kept("x.jsonl.gz")
        assert capfdbinary.readouterr() == (b"", b"")

    def test_a_url(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        """The response of a URL is saved with what is known, and nothing that may hold a key."""
        Path("body.json").write_bytes(b'{"stream":true}')
        with serve(Answer(PIECES)) as server:
            url = f"{server.url}/v1/answer?key=secret"
            assert main(["record", "-o", "x.jsonl", url, "-H", "x-api-key: secret", "-d", "@body.json"]) == 0
            (request,) = server.requests
        assert (request.method, request.headers["x-api-key"], request.body) == (
            "POST",
            "secret",
            b'{"stream":true}',
        )
        (recording,) = read("x.jsonl")
        assert recording.request is not None
        assert (recording.request.method, recording.request.url) == ("POST", url.partition("?")[0])
        assert (recording.status, recording.content_type) == (200, "text/event-stream")
        assert CHAT == b"".join(kept()) == capfdbinary.readouterr().out
        assert b"secret" not in Path("x.jsonl").read_bytes()

    def test_a_stream_that_breaks_off_is_kept(self, capsys: pytest.CaptureFixture[str]) -> None:
        """What came before the connection was lost is in the file, and the exit code says so."""
        with serve(Answer(PIECES[:3], ending="cut")) as server:
            assert main(["record", "-q", "-o", "x.jsonl", server.url]) == 3
        assert b"".join(PIECES[:3]).startswith(b"".join(kept()))
        assert "the stream broke off: " in capsys.readouterr().err

    def test_a_pipe_that_breaks_off(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An error of standard input ends the recording, not the program."""
        monkeypatch.setattr(sys, "stdin", Pipe([b"a"], OSError(5, "Input/output error")))
        assert main(["record", "-q", "-o", "x.jsonl"]) == 3
        assert [b"a"] == kept()
        assert "what came is in x.jsonl" in capsys.readouterr().err

    def test_an_error_of_the_server_is_saved_too(self) -> None:
        """The body of an error is a recording; the exit code tells that it is one."""
        with serve(Answer([b'{"error":{"message":"x"}}'], "application/json", status=429)) as server:
            assert main(["record", "-q", "-o", "x.jsonl", server.url]) == 1
        assert [b'{"error":{"message":"x"}}'] == kept()
        assert [429] == [one.status for one in read("x.jsonl")]

    @pytest.mark.parametrize("argv", [["http://127.0.0.1:1/"], ["-d", "@missing", "http://127.0.0.1:1/"]])
    def test_what_cannot_be_asked(self, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """A server that is not there, or a body that is not."""
        assert main(["record", "-o", "x.jsonl", *argv]) == 3
        assert capsys.readouterr().err.startswith("wholecall: cannot reach the server: ")

    def test_a_file_that_cannot_be_written(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The trouble is named."""
        monkeypatch.setattr(sys, "stdin", Pipe([]))
        assert main(["record", "-o", "no/x.jsonl"]) == 3
        assert capsys.readouterr().err.startswith("wholecall: no/x.jsonl: ")

    @pytest.mark.parametrize(
        ("argv", "told"), [(["ftp://x"], "no http"), (["-H", "x"], "name: value"), ([], "-o/--output")]
    )
    def test_a_wrong_command_line(
        self, argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A wrong command line ends with 2 and says what would do."""
        with pytest.raises(SystemExit) as leaving:
            main(["record", *(["-o", "x"] if argv else []), *argv])
        assert leaving.value.code == 2
        assert told in capsys.readouterr().err


class TestConvert:
    """One form into another."""

    @pytest.mark.parametrize("form", ["recording", "har"])
    @pytest.mark.parametrize("file", ["vcrpy.yaml", "mitmproxy.har", "vcrpy.json"])
    def test_the_bytes_survive(self, form: str, file: str) -> None:
        """What is converted and read again is the same, with what is known about it."""
        assert main(["convert", str(TOOLS / file), "--to", form, "-o", "out"]) == 0
        there, back = (
            [
                (b"".join(chunk for _, chunk in one.chunks), one.status, one.request, one.content_type)
                for one in read(path)
            ]
            for path in (TOOLS / file, "out")
        )
        assert there
        assert there == back

    def test_chunks_and_times_survive(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Our own form keeps them, and standard output is as good as a file."""
        stdout = io.TextIOWrapper(io.BytesIO())
        monkeypatch.setattr(sys, "stdin", Pipe(PIECES))
        main(["record", "-q", "-o", "x.jsonl"])
        monkeypatch.setattr(sys, "stdout", stdout)
        assert main(["convert", "x.jsonl"]) == 0
        assert Path("x.jsonl").read_bytes() == stdout.buffer.getvalue()  # type: ignore[attr-defined]

    def test_one_of_many_as_it_was_sent(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        """`--only` chooses a recording by its place; `raw` is the body."""
        assert main(["convert", str(TOOLS / "vcrpy.yaml"), "--only", "1", "--to", "raw"]) == 0
        assert CASES[1].body == capfdbinary.readouterr().out

    def test_a_session(self) -> None:
        """A header and a message for each turn, with arguments as JSON text."""
        names = ["chat-completions/arguments-recovered", "anthropic/text-and-thinking-parallel"]
        paths = [str(bless.CORPORA / "recordings" / f"{name}.sse") for name in names]
        assert main(["convert", *paths, "--to", "session", "-o", "out"]) == 0
        header, *messages = (json.loads(line) for line in Path("out").read_text("utf-8").splitlines())
        assert header == {"type": "session", "harness": "wholecall", "id": paths[0]}
        assert {"message"} == {line["type"] for line in messages}
        calls = [call for line in messages for call in line["message"].get("toolCalls", [])]
        golden = [json.loads(line) for name in names for line in _log(name)]
        expected = [
            (one["id"], one["name"], one["arguments"]) for one in golden if one["type"] == "tool_call"
        ]
        assert len(expected) > 2
        assert expected == [
            (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in calls
        ]
        assert any(line["message"].get("reasoningContent") for line in messages)

    def test_the_unreadable_is_left_out(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A recording that cannot be read is named; the others are written."""
        Path("a.sse").write_bytes(b"a")
        assert main(["convert", "missing.sse", "a.sse", "-o", "out"]) == 3
        assert [b"a"] == kept("out")
        assert "missing.sse: " in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("argv", "told"),
        [(["a.sse", "--only", "2"], "no such recording"), (["a.sse", "-o", "no/out"], "wholecall: no/out: ")],
    )
    def test_nothing_to_write_or_nowhere(
        self, argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Both end with 3 and say why."""
        Path("a.sse").write_bytes(b"a")
        assert main(["convert", *argv]) == 3
        assert told in capsys.readouterr().err


def _log(name: str) -> list[str]:
    return (bless.CORPORA / "recordings" / f"{name}.events.jsonl").read_text("utf-8").splitlines()


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


class TestProgress:
    """What is shown on the way."""

    @pytest.mark.parametrize("has_rich", [True, False])
    def test_it_is_drawn_on_a_terminal_and_taken_away(
        self, has_rich: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The count and the name of the recording are shown, made printable; nothing stays."""
        if not has_rich:
            monkeypatch.setitem(sys.modules, "rich.console", None)
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        times = iter([0.0, 0.0, 0.0, 0.05, 0.2, 0.2])
        with progress.Progress(clock=lambda: next(times)) as shown:
            for name in ("a.sse", "second.sse", "[red]\x1b.sse"):
                shown.step(name)
        drawn = terminal.getvalue()
        assert "1 recordings  a.sse" in drawn
        assert "second" not in drawn
        assert r"3 recordings  [red]\x1b.sse" in drawn
        assert drawn.endswith(("\r", "\x1b[2K"))

    @pytest.mark.parametrize(("err", "out"), [(io.StringIO(), io.StringIO()), (Terminal(), Terminal())])
    def test_nobody_sees_it_or_something_else_tells(
        self, err: Any, out: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a terminal, or with the list on one, nothing is drawn."""
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setattr(sys, "stdout", out)
        with progress.Progress() as shown:
            shown.step("a.sse")
        assert err.getvalue() == ""
