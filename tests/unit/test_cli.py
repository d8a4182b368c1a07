from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wholecall import (
    BuiltinToolCall,
    CustomToolCall,
    Edit,
    ReasoningDelta,
    ServerToolCall,
    StreamFault,
    TextDelta,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
    events,
)
from wholecall.cli import main
from wholecall.cli.batch import Tally
from wholecall.cli.listing import Listing
from wholecall.cli.show import printable, printable_json

if TYPE_CHECKING:
    from wholecall import Event

ESC, CSI, RLO = "\x1b", "\x9b", "\u202e"
HOSTILE = f"{ESC}[31m{CSI}2J{RLO}\x07\x7f\u2028\ud800"


def chat(name: str, arguments: str, finish: str | None = "tool_calls") -> bytes:
    """Return a chat stream with one call."""
    call = {"index": 0, "id": "call_1", "function": {"name": name, "arguments": arguments}}
    choices: list[dict[str, Any]] = [{"index": 0, "delta": {"content": "Hello", "tool_calls": [call]}}]
    if finish is not None:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks = [{"object": "chat.completion.chunk", "model": "gpt-test", "choices": [one]} for one in choices]
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"


GOOD = chat("ring", '{"bell": 3}')
CUT = chat("ring", '{"bell": "la', "length")
FAULTY = b'data: {"error": {"message": "overloaded"}}\n\n'


class Terminal(io.TextIOWrapper):
    """An output that claims to be a terminal."""

    def __init__(self, encoding: str = "utf-8", *, tty: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")
        self.tty = tty

    def isatty(self) -> bool:
        """Return the constructor's argument."""
        return self.tty

    def text(self) -> str:
        """Return the written text."""
        self.flush()
        written = self.buffer.getvalue()  # type: ignore[attr-defined]
        return str(written, self.encoding)


class Full(io.StringIO):
    """An output that refuses all writes; its descriptor is a file's."""

    def __init__(self, error: OSError, descriptor: int) -> None:
        super().__init__()
        self.error = error
        self.descriptor = descriptor

    def write(self, _text: str) -> int:
        """Fail."""
        raise self.error

    def fileno(self) -> int:
        """Return the file's descriptor."""
        return self.descriptor


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one, and fix the width of a line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def write(**files: bytes) -> None:
    """Write recordings into the current folder."""
    for name, data in files.items():
        Path(f"{name}.sse").write_bytes(data)


def listed(*items: Event, **options: Any) -> str:
    """Return the list of some events, without the title."""
    lines: list[str] = []
    listing = Listing(lines.append, **options)
    listing.begin("x.sse")
    for event in items:
        listing.add(event)
    listing.flush()
    return "".join(lines).partition("\n")[2]


def call(arguments: dict[str, Any], **fields: Any) -> ToolCall:
    """Return a call with the arguments."""
    return ToolCall(0, 0, 0, "call_1", "ring", arguments, json.dumps(arguments), "exact", **fields)


def dropped(raw: str, **fields: Any) -> ToolCallDropped:
    """Return a dropped call with the raw text."""
    fields = {"id": "call_1", "name": "ring", "detail": "", **fields}
    return ToolCallDropped(0, 0, 0, kind="function", raw_arguments=raw, reason="truncated", **fields)


class TestList:
    """Output for people."""

    def test_a_recording_is_a_title_and_its_calls(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Path, dialect and model; each call with name, id, status and arguments; the end; the sum."""
        write(good=GOOD)
        assert main(["replay", "good.sse"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "good.sse  chat-completions  gpt-test",
            "  call       ring  call_1  exact",
            '             {"bell": 3}',
            "  end        tool_calls  5 characters of text",
            "",
            "1 recording: 1 call, 0 dropped, 0 faults",
        ]

    def test_a_dropped_call_shows_reason_and_raw_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A dropped call is named with its reason and the beginning of its text."""
        write(cut=CUT)
        assert main(["replay", "."]) == 0
        out = capsys.readouterr().out
        assert "  dropped    ring  call_1  truncated\n" in out
        assert '             | {"bell": "la\n' in out
        assert "1 recording: 0 calls, 1 dropped (1 truncated), 0 faults\n" in out

    def test_a_fault_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A fault is shown with its kind; a stream without a dialect says so."""
        write(error=FAULTY)
        assert main(["replay", "."]) == 0
        out = capsys.readouterr().out
        assert out.startswith("error.sse  unknown dialect\n  fault      provider_error  fatal\n")
        assert "1 fault (1 provider_error)\n" in out

    def test_only_calls(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`--calls` leaves out everything but calls, and recordings without calls."""
        write(a=FAULTY, b=GOOD, c=CUT)
        assert main(["replay", "--calls", "."]) == 0
        out = capsys.readouterr().out
        words = [line.split()[0] for line in out.splitlines() if line[:3].strip()]
        assert words == ["b.sse", "call", "c.sse", "dropped", "3"]

    def test_each_kind_of_call(self) -> None:
        """Custom, builtin and server calls have their word, and a cancelled one."""
        out = listed(
            ToolCallStarted(0, 0, 0, None, "query"),
            CustomToolCall(0, 0, 0, "c_1", "query", "one\ntwo", "db", ("id_churn",)),
            BuiltinToolCall(0, 0, 1, "c_2", "shell", {"command": "ls"}),
            ServerToolCall(0, 0, 2, "c_3", "search", {}, "{}", ("needs_approval",)),
            ToolCallCancelled(0, 0, "c_1"),
        )
        assert out.splitlines() == [
            "  custom     query (namespace db)  c_1",
            "             | one",
            "             | two",
            "             flags: id_churn",
            "  builtin    shell  c_2",
            '             {"command": "ls"}',
            "  server     search  c_3",
            "             {}",
            "             flags: needs_approval",
            "  cancelled  c_1",
        ]

    def test_edits_and_flags(self) -> None:
        """Changes are listed by kind, with the first place; then oddities."""
        edits = (Edit("comment", 2), Edit("trailing_comma", 9), Edit("comment", 1234))
        out = listed(call({}, edits=edits, flags=("id_churn", "snapshots")))
        assert "             edits: comment at character 2 and 1 more, trailing_comma at character 9\n" in out
        assert "             flags: id_churn, snapshots\n" in out

    def test_the_end_of_a_turn(self) -> None:
        """The reason, the provider's word for it, the amount of other content, anomalies; the turn and choice."""
        out = listed(
            TurnStarted(1, 2, "anthropic"),
            TextDelta(1, 2, "four"),
            ReasoningDelta(1, 2, "nine char"),
            TurnFinished(1, 2, "stop", "x", anomalies=("late_fragment",)),
            StreamFault(0, 0, "bad_crc", "the sum is wrong", raw="\x00"),
            width=120,
        )
        assert out.splitlines() == [
            "  end        stop  (provider: x)  4 characters of text  9 characters of reasoning  [turn 1, choice 2]",
            "             anomalies: late_fragment",
            "  fault      bad_crc",
            "             the sum is wrong",
            "             | \\x00",
        ]

    def test_many_faults_are_counted(self) -> None:
        """The first faults of a kind are shown, the others counted when their turn ends."""
        faults = [StreamFault(0, 0, "bad_crc", "the sum is wrong")] * 1005
        end = TurnFinished(0, 0, "stop")
        out = listed(*faults, end, end)
        assert out.count("bad_crc\n             the sum is wrong\n") == 3
        assert out.endswith("stop\n             further faults: 1,002 bad_crc\n  end        stop\n")

    def test_large_arguments_are_indented_where_they_must_be(self) -> None:
        """Text that fits a line stays on it; a long string is cut at the width, with its size."""
        out = listed(call({"path": "a.py", "text": "x" * 10_000, "list": [1, [2]], "none": {}}), width=60)
        assert out.splitlines()[1:] == [
            "             {",
            '               "path": "a.py",',
            '               "text": "xxxxxxxxxxxxx... (10,013 characters)',
            '               "list": [1, [2]],',
            '               "none": {}',
            "             }",
        ]

    def test_many_arguments_are_cut(self) -> None:
        """Only the first lines are shown, with the size of all."""
        out = listed(call({"names": [f"name {n:03}" for n in range(1000)]}))
        lines = out.splitlines()
        assert lines[2:4] == ['               "names": [', '                 "name 000",']
        assert len(lines) == 1 + 12
        assert lines[-1] == "             ... (12,011 characters in all)"

    def test_long_raw_text_is_cut(self) -> None:
        """Only the first lines of a text are shown, with the size of all; a missing name or id is reported."""
        out = listed(dropped("line\n" * 1000, name=None, id=None, detail="cut"))
        assert out.splitlines() == [
            "  dropped    (no name)  (no id)  truncated",
            "             cut",
            *["             | line"] * 6,
            "             ... (5,000 characters in all)",
        ]

    def test_what_is_unknown_takes_no_line(self) -> None:
        """A drop without a detail and without text is one line."""
        assert listed(dropped("")) == "  dropped    ring  call_1  truncated\n"

    def test_no_line_is_wider_than_the_terminal(self) -> None:
        """Names, ids, texts and escapes all end inside the width."""
        long = "\x1b" * 500
        out = listed(dropped(long, name=long, detail=long), call({long: long, "b": [long]}), width=50)
        assert max(map(len, out.splitlines())) <= 50

    def test_the_titles_stand_apart(self, capsys: pytest.CaptureFixture[str]) -> None:
        """An empty line is between recordings, none before the first."""
        write(a=GOOD, b=GOOD)
        main(["replay", "-v", "."])
        assert [0, 5, 10] == [
            n for n, line in enumerate(["", *capsys.readouterr().out.splitlines()]) if not line
        ]


class TestTerminal:
    """Output to a terminal."""

    def test_the_wire_sends_no_escapes(self) -> None:
        """No character that a terminal obeys or hides passes, wherever it came from."""
        out = listed(
            TurnStarted(0, 0, "x", model=HOSTILE),
            call({HOSTILE: HOSTILE}, namespace=HOSTILE),
            dropped(HOSTILE, name=HOSTILE, id=HOSTILE, detail=HOSTILE),
            CustomToolCall(0, 0, 0, HOSTILE, HOSTILE, HOSTILE + "\r\n"),
            StreamFault(0, 0, "bad_crc", HOSTILE, raw=HOSTILE),
            TurnFinished(0, 0, "stop", HOSTILE),
        )
        assert printable(out.replace("\n", "")) == out.replace("\n", "")
        assert r"\x1b[31m\x9b2J\u202e\x07\x7f\u2028\ud800" in out

    @pytest.mark.parametrize(
        "hidden", [*"\u3164\u115f\u1160\uffa0\u2800\u034f\ufe00\ufe0d\ufe0f\U000e0100\U000e01ef\U000e0041"]
    )
    def test_what_is_drawn_as_nothing_is_shown(self, hidden: str) -> None:
        """Nothing hides between the letters of a name, and the JSON of a value stays the same value."""
        name, label = f"rm{hidden}", json.dumps([f"rm{hidden}"], ensure_ascii=False)

        assert rf"rm{hidden.encode('unicode_escape').decode()}" == printable(name)
        assert (True, [name]) == (printable_json(label).isascii(), json.loads(printable_json(label)))
        assert printable("☎\ufe0f\ufe0f") == r"☎\ufe0f".replace("☎", "☎\ufe0f")

    def test_what_people_write_stays(self) -> None:
        """Letters of all scripts, emoji with joiners and wide spaces are not control characters."""
        text = "ægte\u3000潮 \u00a0ن\u200cم 👩\u200d🚀 ☎\ufe0f 1\ufe0f\u20e3 ©\ufe0e"
        assert text == printable(text) == printable_json(text)
        assert printable("plain") == printable_json("plain") == "plain"

    def test_colours_on_a_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A terminal gets colours unless `NO_COLOR` is set; they change no text."""
        write(a=GOOD, b=CUT)
        outputs = []
        for no_colour in ("", "1"):
            monkeypatch.setenv("NO_COLOR", no_colour)
            monkeypatch.setattr(sys, "stdout", terminal := Terminal())
            main(["replay", "-v", "."])
            outputs.append(terminal.text())
        colourful, plain = outputs
        assert "\x1b[32mcall\x1b[0m" in colourful
        assert "\x1b[31mdropped\x1b[0m" in colourful
        assert ESC not in plain
        for code in (0, 1, 2, 31, 32):
            colourful = colourful.replace(f"\x1b[{code}m", "")
        assert colourful == plain

    def test_an_encoding_without_the_letters(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Characters that the output cannot encode become escapes."""
        write(a=chat("ring", '{"bell": "ø 潮"}'))
        monkeypatch.setattr(sys, "stdout", terminal := Terminal("ascii"))
        assert main(["replay", "."]) == 0
        assert r'{"bell": "\xf8 \u6f6e"}' in terminal.text()

    @pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252"])
    @pytest.mark.parametrize("tty", [True, False])
    def test_json_means_the_same_everywhere(
        self, encoding: str, tty: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On a terminal and in any encoding a line is JSON of the same event; a terminal hides nothing of it."""
        text = "潮 🌊 \x9b2J \x7f é \u200b"
        write(a=chat("ring", json.dumps({"bell": text}, ensure_ascii=False)))
        monkeypatch.setattr(sys, "stdout", terminal := Terminal(encoding, tty=tty))
        assert main(["replay", "--json", "--calls", "a.sse"]) == 0
        line = terminal.text()
        assert json.loads(line)["arguments"] == {"bell": text}
        assert tty == line.rstrip("\n").isprintable() or encoding != "utf-8"
        assert encoding == "utf-8" or line.isascii()


class TestJson:
    """Output for programs."""

    def test_a_line_for_each_event(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A line is the event's own JSON after the recording's path; nothing else is on the output."""
        write(good=GOOD)
        assert main(["replay", "--json", "good.sse"]) == 0
        out, err = capsys.readouterr()
        expected = ['{"recording":"good.sse",' + event.to_json().decode()[1:] for event in events([GOOD])]
        assert expected == out.splitlines()
        assert not err

    def test_only_calls(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`--calls` keeps the terminal events of calls."""
        write(a=GOOD, b=CUT, c=FAULTY)
        assert main(["replay", "--json", "--calls", "."]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [("a.sse", "tool_call"), ("b.sse", "tool_call_dropped")] == [
            (line["recording"], line["type"]) for line in lines
        ]

    def test_a_path_that_is_no_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A name of bytes that are not UTF-8 is still JSON, and printable in a complaint."""
        name = os.fsdecode(b"\xff.sse")
        try:
            Path(name).write_bytes(GOOD)
        except OSError:
            return  # this file system takes no such name
        assert main(["replay", "--json", "--calls", ".", "\x1b.sse"]) == 3
        out, err = capsys.readouterr()
        assert json.loads(out)["recording"] == name
        assert r"\x1b.sse: " in err


class TestExit:
    """Exit codes."""

    @pytest.mark.parametrize(
        ("paths", "code"),
        [
            (["good.sse"], 0),
            (["cut.sse"], 1),
            (["error.sse"], 1),
            (["good.sse", "missing.sse", "cut.sse"], 3),
            (["*.txt"], 3),
            (["empty"], 3),
        ],
    )
    @pytest.mark.parametrize("form", [[], ["--json"], ["--calls"]])
    def test_check(
        self, paths: list[str], code: int, form: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """`--check` makes drops and faults an error; unreadable input is an error anyway."""
        write(good=GOOD, cut=CUT, error=FAULTY)
        Path("empty").mkdir()
        assert main(["replay", "--check", *form, *paths]) == code
        assert main(["replay", *form, *paths]) == (3 if code == 3 else 0)
        assert (code == 3) == bool(capsys.readouterr().err)

    def test_the_unreadable_is_named_and_the_rest_is_read(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A missing file stops nothing; the complaint names it on standard error."""
        write(good=GOOD)
        assert main(["replay", "missing.sse", "good.sse"]) == 3
        out, err = capsys.readouterr()
        assert err.startswith("wholecall: missing.sse: ")
        assert out.endswith("1 recording: 1 call, 0 dropped, 0 faults; 1 could not be read\n")

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            ([], "COMMAND"),
            (["replay"], "PATH"),
            (["replay", "--dialect", "esperanto", "x"], "chat-completions"),
            (["replay", "--chunk", "0", "x"], "random:SEED"),
            (["rewind"], "replay"),
        ],
    )
    def test_a_wrong_command_line(
        self, argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A wrong command line ends with 2 and a hint at a valid one."""
        with pytest.raises(SystemExit) as leaving:
            main(argv)
        assert leaving.value.code == 2
        assert message in capsys.readouterr().err

    @pytest.mark.parametrize("installed", [True, False])
    def test_the_version(
        self, installed: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`--version` names the installed version, if there is one."""
        program = sys.modules["wholecall.cli.main"]

        def version(name: str) -> str:
            if installed:
                return "1.2.3"
            raise program.PackageNotFoundError(name)

        monkeypatch.setattr(program, "version", version)
        with pytest.raises(SystemExit) as leaving:
            main(["--version"])
        assert leaving.value.code == 0
        assert capsys.readouterr().out == f"wholecall {'1.2.3' if installed else '(not installed)'}\n"

    def test_the_help_teaches(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The help of `replay` shows examples, the dialects and the meaning of the exit codes."""
        with pytest.raises(SystemExit):
            main(["replay", "--help"])
        out = capsys.readouterr().out
        assert all(word in out for word in ("examples:", "exit status:", "chat-completions", "--check"))

    @pytest.mark.parametrize(
        ("error", "code", "complaint"),
        [
            (BrokenPipeError(32, "Broken pipe"), 141, ""),
            (OSError(28, "No space left on device"), 3, "wholecall: cannot write: No space left on device\n"),
        ],
    )
    def test_an_output_that_fails(
        self,
        error: OSError,
        code: int,
        complaint: str,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A reader that left is not an error, a full disk is."""
        write(good=GOOD)
        with Path("out").open("wb") as file:
            monkeypatch.setattr(sys, "stdout", Full(error, file.fileno()))
            assert main(["replay", "good.sse"]) == code
        assert capsys.readouterr().err == complaint

    def test_no_output(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """A process without standard output reports that."""
        monkeypatch.setattr(sys, "stdout", None)
        assert main(["replay", "good.sse"]) == 3
        assert capsys.readouterr().err == "wholecall: there is no standard output\n"

    def test_an_interrupt(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ctrl-C ends quietly."""

        def interrupt(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(sys.modules["wholecall.cli.batch"], "read", interrupt)
        assert main(["replay", "."]) == 130

    def test_the_sum_of_nothing(self) -> None:
        """Without recordings nothing was dropped."""
        assert Tally().clean
        assert Tally().summary() == "0 recordings: 0 calls, 0 dropped, 0 faults"


class TestProgram:
    """The whole program."""

    def test_the_package_runs(self) -> None:
        """Running the package as a module is running the program; importing that module is not."""
        write(good=GOOD)
        importlib.import_module("wholecall.__main__")
        command = [sys.executable, "-m", "wholecall", "replay", "good.sse"]
        done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - ours
        assert "1 recording: 1 call" in done.stdout

    def test_standard_input(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`-` reads a stream from standard input."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD)))
        assert main(["replay", "--chunk", "random:1", "-"]) == 0
        assert capsys.readouterr().out.startswith("-  chat-completions")

    @pytest.mark.slow
    def test_from_end_to_end(self) -> None:
        """A separate process reads its standard input, and ends quietly when its reader leaves."""
        write(good=GOOD)
        program = [sys.executable, "-m", "wholecall", "replay"]
        done = subprocess.run(  # noqa: S603 - ourselves
            [*program, "--json", "--calls", "-"], input=GOOD, capture_output=True, check=True
        )
        assert json.loads(done.stdout)["arguments"] == {"bell": 3}
        many = [*program, "--json", *["good.sse"] * 400]
        with subprocess.Popen(many, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() in {0, 141}
