from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support import corpora
from tests.support.loopback import serve
from tests.support.make_tool_files import CASES, TOOLS
from wholecall.cli import main, progress
from wholecall.cli.show import cells
from wholecall.recordings import Recorder, Recording, read
from wholecall.serving import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

CHAT = (corpora.CORPORA / "recordings/chat-completions/arguments-unicode.sse").read_bytes()
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

    def test_each_recording_is_shown_by_its_name(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Names carry the number, and bodies that were not answers of a model are counted."""
        monkeypatch.setenv("COLUMNS", "300")  # so that no line breaks, wherever the checkout is
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
    """Saving in passing."""

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
        """`--append` keeps the file's content, `-q` passes nothing on, and a name can request gzip."""
        for option in ([], ["--append"]):
            monkeypatch.setattr(sys, "stdin", Pipe([b"a", b"b"]))
            assert main(["record", "-q", *option, "-o", "x.jsonl.gz"]) == 0
        assert ["x.jsonl.gz", "x.jsonl.gz#2"] == [one.name for one in read("x.jsonl.gz")]
        assert [b"a", b"b"] * 2 == kept("x.jsonl.gz")
        assert capfdbinary.readouterr() == (b"", b"")

    def test_a_url(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        """The response of a URL is saved with its known facts, and nothing that may hold a key."""
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

    def test_what_was_saved_is_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        """With `--json` an object takes the place of the stream on standard output."""
        with serve(Answer(PIECES, status=201)) as server:
            assert main(["record", "--json", "-o", "x.jsonl", server.url]) == 0
        told = json.loads(capsys.readouterr().out)
        assert {"recording": "x.jsonl", "status": 201, "bytes": len(CHAT), "complete": True} == {
            key: value for key, value in told.items() if key != "chunks"
        }
        assert len(kept()) == told["chunks"]

    def test_a_stream_that_breaks_off_is_kept(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Input before the connection was lost is in the file, and the exit code reports the loss."""
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
        """The body of an error is a recording; the exit code marks it as an error."""
        with serve(Answer([b'{"error":{"message":"x"}}'], "application/json", status=429)) as server:
            assert main(["record", "-q", "-o", "x.jsonl", server.url]) == 1
        assert [b'{"error":{"message":"x"}}'] == kept()
        assert [429] == [one.status for one in read("x.jsonl")]

    @pytest.mark.parametrize("argv", [["http://127.0.0.1:1/"], ["-d", "@missing", "http://127.0.0.1:1/"]])
    def test_what_cannot_be_asked(self, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """A missing server or body."""
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
        ("argv", "told"), [(["ftp://x"], "not an http"), (["-H", "x"], "name: value"), ([], "-o/--output")]
    )
    def test_a_wrong_command_line(
        self, argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A wrong command line ends with 2 and a hint at a valid one."""
        with pytest.raises(SystemExit) as leaving:
            main(["record", *(["-o", "x"] if argv else []), *argv])
        assert leaving.value.code == 2
        assert told in capsys.readouterr().err


class TestConvert:
    """One form into another."""

    @pytest.mark.parametrize("form", ["recording", "har", "cassette"])
    @pytest.mark.parametrize("file", ["vcrpy.yaml", "mitmproxy.har", "vcrpy.json"])
    def test_the_bytes_survive(self, form: str, file: str) -> None:
        """A converted recording that is read again is the same, with its known facts."""
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

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"data: \xff\x00\n\n",
            'data: {"a": "\x7f\x85\u2028\ufeff\U0001f600 \\ud83d # - ! é"}\r\n\t: x\n\n'.encode(),
        ],
    )
    def test_a_cassette_holds_any_bytes(self, body: bytes) -> None:
        """YAML reads every body unchanged, text or not."""
        with Recorder("a.jsonl", content_type="text/event-stream") as recorder:
            recorder.write(body)
        assert main(["convert", "a.jsonl", "--to", "cassette", "-o", "out"]) == 0
        (interaction,) = yaml.safe_load(Path("out").read_bytes())["interactions"]
        found = interaction["response"]["body"]["string"]
        assert body == (found if isinstance(found, bytes) else found.encode())
        assert body == b"".join(kept("out"))

    def test_a_cassette_of_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Without a recording the file is still a cassette."""
        Path("none.har").write_bytes(b'{"log": {"entries": []}}')
        assert main(["convert", "none.har", "--to", "cassette"]) == 3
        assert {"interactions": [], "version": 1} == yaml.safe_load(capsys.readouterr().out)

    @pytest.mark.parametrize("command", ["convert", "redact"])
    def test_what_was_written_is_told(self, command: str, capsys: pytest.CaptureFixture[str]) -> None:
        """With `--json`, an object for each recording that is in the output."""
        for name, data in (("a.sse", CHAT), ("b.sse", b"data: {}\n\n")):
            Path(name).write_bytes(data)
        argv = [command, "a.sse", "no.sse", "b.sse", "--to", "raw"]
        assert main([*argv, "-o", "out", "--json"]) == 3
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert told == [
            {"recording": "a.sse", "form": "raw", "chunks": 1, "bytes": len(CHAT)},
            {"recording": "b.sse", "form": "raw", "chunks": 1, "bytes": 10},
        ]
        assert len(CHAT) + 10 == len(Path("out").read_bytes())
        with pytest.raises(SystemExit) as leaving:
            main([*argv, "--json"])
        assert leaving.value.code == 2

    @pytest.mark.parametrize("command", ["convert", "redact"])
    @pytest.mark.parametrize("path", ["a.sse", ".", "*.sse", "./a.sse"])
    def test_what_is_read_is_not_overwritten(
        self, command: str, path: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A recording that would be overwritten before it is read stays unchanged."""
        Path("a.sse").write_bytes(CHAT)
        with pytest.raises(SystemExit) as leaving:
            main([command, path, "--to", "raw", "-o", "a.sse"])
        assert "a.sse is read, too; write to another file" in capsys.readouterr().err
        assert (2, CHAT) == (leaving.value.code, Path("a.sse").read_bytes())

    def test_chunks_and_times_survive(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Our own form keeps them, and standard output works like a file."""
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
        paths = [str(corpora.CORPORA / "recordings" / f"{name}.sse") for name in names]
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
        """Nothing to write and nowhere to write both end with 3 and give the reason."""
        Path("a.sse").write_bytes(b"a")
        assert main(["convert", *argv]) == 3
        assert told in capsys.readouterr().err


def _log(name: str) -> list[str]:
    return (corpora.CORPORA / "recordings" / f"{name}.events.jsonl").read_text("utf-8").splitlines()


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


class TestProgress:
    """Output in progress."""

    @pytest.mark.parametrize("has_rich", [True, False])
    def test_it_is_drawn_on_a_terminal_and_taken_away(
        self, has_rich: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Count, bytes and name are shown, made printable; nothing stays, and data goes to standard output only."""
        if not has_rich:
            monkeypatch.setitem(sys.modules, "rich.console", None)
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        monkeypatch.setattr(sys, "stdout", data := io.StringIO())
        times = iter([0.0, 0.0, 0.0, 0.05, 0.05, 0.06, 0.2, 0.2, 0.5, 0.5])
        with progress.Progress(clock=lambda: next(times)) as shown:
            for name in ("a.sse", "second.sse", "[red]\x1b.sse"):
                recording = Recording(name=name, chunks=iter([(None, b"x" * 2_345_000)]))
                shown.step(recording)
                assert [(None, b"x" * 2_345_000)] == list(recording.chunks)
                sys.stdout.write(f"{name}\n")
        drawn = terminal.getvalue()
        assert "1 recording, 0 B  a.sse" in drawn
        assert "second" not in drawn
        assert r"3 recordings, 4.7 MB  [red]\x1b.sse" in drawn
        assert r"3 recordings, 7.0 MB  [red]\x1b.sse" in drawn
        assert drawn.endswith(("\r", "\x1b[2K"))
        assert data.getvalue().split() == ["a.sse", "second.sse", "[red]\x1b.sse"]

    def test_a_pipe_may_lead_to_the_same_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is drawn while data goes to a pipe, whose reader may write in between; with a file it may be."""
        drawn = []
        reading, writing = os.pipe()
        for target in (writing, os.devnull):
            monkeypatch.setattr(sys, "stderr", terminal := Terminal())
            with open(target, "w") as output, monkeypatch.context() as patch:  # noqa: PTH123 - a descriptor, too
                patch.setattr(sys, "stdout", output)
                with progress.Progress(quiet=True) as shown:
                    shown.step(Recording(name="a.sse", chunks=iter([])))
            drawn.append("a.sse" in terminal.getvalue())
        os.close(reading)
        assert [False, True] == drawn

    def test_a_quiet_command_shows_it_beside_its_output(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A command that writes only at its end shows progress on the terminal of its output, and clears it first."""
        monkeypatch.setattr(sys, "stdout", terminal := Terminal())
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setitem(sys.modules, "rich.console", None)
        with progress.Progress(quiet=True) as shown:
            shown.step(Recording(name="a.sse", chunks=iter([])))
        assert ["1 recording, 0 B  a.sse", ""] == [
            line.rstrip() for line in terminal.getvalue().split("\r") if line
        ]

    def test_no_line_is_wider_than_the_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Letters of two cells count twice, so that the line is never wrapped and can be rewritten."""
        monkeypatch.setenv("COLUMNS", "40")
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        monkeypatch.setitem(sys.modules, "rich.console", None)
        with progress.Progress() as shown:
            shown.step(Recording(name="潮" * 100, chunks=iter([])))
        assert 39 >= max(cells(line) for line in terminal.getvalue().split("\r"))

    @pytest.mark.parametrize(("err", "out"), [(io.StringIO(), io.StringIO()), (Terminal(), Terminal())])
    def test_nobody_sees_it_or_something_else_tells(
        self, err: Any, out: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a terminal, or with the list on one, nothing is drawn."""
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setattr(sys, "stdout", out)
        with progress.Progress() as shown:
            shown.step(Recording(name="a.sse", chunks=iter([])))
        assert err.getvalue() == ""
