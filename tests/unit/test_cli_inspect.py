from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import threading
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wholecall import (
    Edit,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    ToolCallCancelled,
    ToolCallDropped,
    TurnFinished,
    TurnStarted,
)
from wholecall.cli import main
from wholecall.cli.show import cells, clipped
from wholecall.cli.timeline_text import Plain, TimelineText, summary
from wholecall.recordings import Recorder
from wholecall.recordings.timeline.effects import CallChange
from wholecall.timeline import Step, timeline

if TYPE_CHECKING:
    from wholecall import Event

HOSTILE = "\x1b[31m\x9b2J\u202e\x07\u2028\ud800"


def chat(*deltas: dict[str, Any], finish: str | None = "tool_calls") -> bytes:
    """Return a chat stream."""
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices += [{"index": 0, "delta": {}, "finish_reason": finish}] if finish else []
    chunks = [{"object": "chat.completion.chunk", "model": "gpt-test", "choices": [one]} for one in choices]
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"


def ring(arguments: str, **labels: Any) -> dict[str, Any]:
    """Return a delta with a piece of a call."""
    function = {"arguments": arguments, **labels.pop("function", {})}
    return {"tool_calls": [{"index": 0, "function": function, **labels}]}


FIRST = ring('{"bell"', id="call_1", function={"name": "ring"})
GOOD = chat({"content": "Hello"}, FIRST, ring(": 3}"))
CUT = chat(FIRST, ring(': "la'))
TITLE = "   offset  frame                                 effect"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with two recordings the current one, and fix the look of a line."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    Path("good.sse").write_bytes(GOOD)
    Path("cut.sse").write_bytes(CUT)
    return tmp_path


def shown(*events: Event, changes: tuple[CallChange, ...] = (), width: int = 100, **fields: Any) -> list[str]:
    """Return the lines of one step, without title and head."""
    lines: list[str] = []
    text = TimelineText(Plain(lines.append), width=width)
    text.begin("x.sse")
    facts = {"event": "", "data": "{}", "time": None, "end": False, **fields}
    text.step(Step(0, 0, 2, 0, facts["time"], facts["end"], facts["event"], facts["data"], events, changes))
    return [line.rstrip("\n") for line in lines[2:]]


def right(lines: list[str]) -> list[str]:
    """Return the second column."""
    return [line[49:] for line in lines]


def data_of(page: str) -> Any:
    """Return the data that a page holds."""
    (block,) = re.findall(
        r'<script type="application/json" id="data">(.*)</script>\n<script>', page, re.DOTALL
    )
    return json.loads(block)


class TestText:
    """Output for people."""

    def test_a_stream_frame_by_frame(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Each frame is a line: its place, its content, its effect."""
        assert main(["inspect", "good.sse"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "good.sse",
            TITLE,
            '        0  content="Hello"                       turn  chat-completions  gpt-test',
            "                                                 text  +5  Hello",
            '      145  arguments="{\\"bell\\"" name="ring"...  call 0  streaming  ring  call_1  +7  {"bell"',
            '      372  arguments=": 3}"                      call 0  +4 = 11  : 3}',
            '      562  finish_reason="tool_calls"            call 0  streaming -> ended  exact',
            "      697  [DONE]",
            "      711  (end of the stream)                   end  tool_calls",
            "",
            "1 recording: 1 call, 0 dropped, 0 faults",
        ]

    def test_a_drop_says_why(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A call that was dropped has its reason, and a sentence that is wrapped, not cut."""
        assert main(["inspect", "--calls", "cut.sse"]) == 0
        assert capsys.readouterr().out.splitlines()[4:] == [
            '      227  arguments=": \\"la"                    call 0  +5 = 12  : "la',
            "      554  [DONE]                                call 0  streaming -> ended  dropped: truncated",
            "                                                   the text ends before its object does; see",
            "                                                   character 9",
            "",
            "1 recording: 0 calls, 1 dropped (1 truncated), 0 faults",
        ]

    def test_several_recordings(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Each recording has its title, an empty line separates them, and a sum comes last."""
        assert main(["inspect", "cut.sse", "good.sse"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [1, 2] == [lines.count(line) for line in ("cut.sse", TITLE)]
        assert "good.sse" == lines[lines.index("") + 1]
        assert lines[-1] == "2 recordings: 1 call, 1 dropped (1 truncated), 0 faults"

    def test_turns_and_faults(self) -> None:
        """Each effect of a frame has its line; turns and choices are named where there are several."""
        lines = shown(
            TurnStarted(1, 0, "anthropic", "msg_1", "m"),
            TextDelta(1, 2, "four"),
            ReasoningDelta(1, 2, "nine char"),
            StreamFault(1, 0, "bad_crc", "the sum is wrong", fatal=True),
            ToolCallCancelled(0, 3, "c_1"),
            TurnFinished(1, 2, "stop", "end_turn"),
            changes=(CallChange(1, 2, 0, "pending", "pending", id="c_2"),),
        )

        assert [
            "turn  anthropic  m  msg_1  [turn 1]",
            "text  +4  four",
            "reasoning  +9  nine char",
            "fault  bad_crc  fatal  [turn 1]",
            "  the sum is wrong",
            "call 1.2.0  c_2",
            "taken back  c_1  [choice 3]",
            "end  stop  (provider: end_turn)  [turn 1 choice 2]",
        ] == right(lines)

    def test_what_became_of_a_call(self) -> None:
        """Replaced text, lost text, flags and edits are shown."""
        edits = (Edit("comment", 2), Edit("trailing_comma", 1234))
        lines = shown(
            changes=(
                CallChange(
                    0,
                    0,
                    0,
                    "ended",
                    "ended",
                    added="{}",
                    replaced=True,
                    size=2,
                    outcome="recovered",
                    edits=edits,
                ),
                CallChange(0, 0, 1, "streaming", "streaming", hole=True, flags=("id_churn", "snapshots")),
            )
        )

        assert [
            "call 0  recovered  replaced by 2  {}",
            "  edits: comment at character 2, trailing_comma at",
            "  character 1,234",
            "call 1",
            "  text that may be this call's was lost",
            "  flags: id_churn, snapshots",
        ] == right(lines)

    def test_the_detail_is_that_of_the_call(self) -> None:
        """Of several drops each call has a separate sentence."""
        drops = [
            ToolCallDropped(0, 0, n, None, None, "function", "", "nameless", f"detail {n}") for n in range(2)
        ]
        found = CallChange(0, 0, 1, "pending", "ended", outcome="dropped", reason="nameless")

        assert ["call 1  pending -> ended  dropped: nameless", "  detail 1"] == right(
            shown(*drops, changes=(found,))
        )

    def test_times(self) -> None:
        """Where chunks have times there is a column for them."""
        lines: list[str] = []
        text = TimelineText(Plain(lines.append), width=100)
        text.begin("x")
        for step in timeline([(0.25, b"data: a\n\n"), (1234.5, b"data: b\n\n")]):
            text.step(step)

        assert "   offset    seconds  frame" == lines[1][:27]
        assert ["        0      0.250  a", "        9   1234.500  b"] == [line[:23] for line in lines[2:4]]

    def test_no_line_is_wider_than_asked_for(self) -> None:
        """Long names, texts and wide letters all end inside the width, and columns stay aligned."""
        long = "潮" * 300
        lines = shown(
            TurnStarted(0, 0, long, long),
            StreamFault(0, 0, "bad_crc", "word " * 100),
            changes=(CallChange(0, 0, 0, None, "pending", id=long, name=long, added=long, size=300),),
            data=json.dumps({"k": long}),
            width=60,
        )

        assert 60 >= max(map(cells, lines))
        assert [32, 32] == [
            cells(line.partition(word)[0]) for line, word in zip(lines, ("turn", "fault"), strict=False)
        ]

    def test_cells(self) -> None:
        """Wide letters take two cells, marks none; cut text ends in three dots."""
        assert [4, 2, 1, 2] == [cells(text) for text in ("abcd", "潮", "e\u0301", "a\u200db")]
        assert ["abc", "ab...", "潮...", "\\x...", "潮潮"] == [
            clipped(text, 5) if text != "潮潮" else clipped(text, 4)
            for text in ("abc", "abcdef", "潮潮潮", "\x1b\x1b", "潮潮")
        ]

    def test_the_wire_sends_no_escapes(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Nothing that a terminal obeys or hides passes, in frames, names or texts."""
        name = {"name": HOSTILE}
        Path("bad.sse").write_bytes(chat({"content": HOSTILE}, ring(HOSTILE, id=HOSTILE, function=name)))
        for colour in ("never", "always"):
            assert main(["inspect", "--color", colour, "--width", "500", "bad.sse"]) == 0
            out = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
            assert all(line.isprintable() for line in out.splitlines())
            assert r"\x1b[31m\x9b2J\u202e\x07\u2028" in out

    def test_marks_upon_marks(self) -> None:
        """A text that is long without being wide is cut too."""
        assert "e\u0301\u0301\u0301\u0301\u0301..." == clipped("e" + "\u0301" * 40, 5)


class TestSummary:
    """A frame in a few words."""

    @pytest.mark.parametrize(
        ("event", "data", "expected"),
        [
            (
                "message",
                '{"id":"x","created":1,"a":{"b":[1,{"c":null,"d":"","index":0}],"e":"é"}}',
                ("", 'b=1 e="é"'),
            ),
            ("ping", '{"type":"ping"}', ("ping", "")),
            ("", '{"type":"x.delta","delta":"a","item_id":"i"}', ("x.delta", 'delta="a"')),
            ("message", "[DONE]", ("", "[DONE]")),
            ("", "[1,[2]]", ("", "1 2")),
            ("message", "x" * 99, ("", "x" * 21)),
            ("", '{"a":"\\ud800"}', ("", 'a="\ud800"')),
            ("", json.dumps({f"k{n}": n for n in range(1, 99)}), ("", "k1=1 k2=2 k3=3 k4=4 k5=5")),
            ("", '{"type":3}', ("", "type=3")),
            ("", "[" * 60 + "1" + "]" * 60, ("", "[" * 20 + "1" + "]" * 20)),
        ],
    )
    def test_what_a_frame_says(self, event: str, data: str, expected: tuple[str, str]) -> None:
        """Leaves with their keys, without empty values and values that repeat in every frame."""
        assert expected == summary(Step(0, 0, 0, 0, None, False, event, data), 20)

    def test_without_a_frame(self) -> None:
        """Bytes that made no frame are shown; the end of a stream is marked as such."""
        assert ("", "(no frame) <html>") == summary(Step(0, 0, 6, 0, None, False, None, "<html>"), 20)
        assert ("", "(end of the stream)") == summary(Step(0, 0, 0, 0, None, True, None, ""), 20)

    def test_long_names_keep_their_end(self) -> None:
        """In the list a long name is cut at its beginning."""
        (line,) = shown(event="response.function_call_arguments.delta", data='{"delta":"{"}')

        assert '        0  ...arguments.delta delta="{"' == line.rstrip()


class TestColour:
    """Colours: when they are used, and that they change nothing else."""

    def test_colours_change_no_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The text is the same with and without colours."""
        outs = []
        for colour in ("never", "always"):
            assert main(["inspect", "--color", colour, "cut.sse", "good.sse"]) == 0
            outs.append(capsys.readouterr().out)
        plain, colourful = outs

        assert "\x1b[1;31m" in colourful
        assert plain == re.sub(r"\x1b\[[\d;]*m", "", colourful)

    @pytest.mark.parametrize(
        ("choice", "environment", "expected"),
        [
            ("auto", {}, False),
            ("auto", {"FORCE_COLOR": "1"}, True),
            ("auto", {"FORCE_COLOR": ""}, False),
            ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
            ("always", {"NO_COLOR": "1"}, True),
            ("never", {"FORCE_COLOR": "1"}, False),
        ],
    )
    def test_who_decides(
        self,
        choice: str,
        environment: dict[str, str],
        expected: bool,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The option precedes the environment, and `NO_COLOR` precedes `FORCE_COLOR`; no colours on a pipe."""
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        main(["inspect", "--color", choice, "good.sse"])

        assert expected == ("\x1b[" in capsys.readouterr().out)

    @pytest.mark.parametrize(("choice", "complaint"), [("always", "wholecall[cli]"), ("auto", "")])
    def test_without_rich(
        self, choice: str, complaint: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without rich there are no colours; a caller that requires them gets the reason."""
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setitem(sys.modules, "rich.console", None)
        assert main(["inspect", "--color", choice, "good.sse"]) == 0
        out, err = capsys.readouterr()

        assert "\x1b" not in out
        assert (complaint in err, bool(complaint)) == (True, bool(err))


class TestJson:
    """Output for programs."""

    def test_a_line_for_each_step(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A line is the step's own JSON after the recording's name."""
        assert main(["inspect", "--json", "good.sse"]) == 0
        expected = [
            '{"recording":"good.sse",' + step.to_json().decode()[1:] for step in timeline([(None, GOOD)])
        ]

        assert expected == capsys.readouterr().out.splitlines()

    def test_only_calls(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`--calls` keeps the steps that touch a call, taking one back included."""
        Path("live.ndjson").write_bytes(b'{"toolCallCancellation":{"ids":["c_1"]}}\n')
        assert main(["inspect", "--json", "--calls", "--dialect", "gemini-live", "live.ndjson"]) == 0
        assert main(["inspect", "--json", "--calls", "good.sse"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

        assert [0, 145, 372, 562] == [line["offset"] for line in lines]

    def test_the_dialect_that_a_recording_names(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A recording may name its dialect; an unknown name is ignored and the dialect detected."""
        for dialect, expected in (("anthropic", "anthropic"), ("martian", "chat-completions")):
            with Recorder("own.jsonl", dialect=dialect) as recorder:
                recorder.write(GOOD)
            assert main(["inspect", "--json", "own.jsonl"]) == 0
            told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
            found = {event.get("dialect") for step in told for event in step["events"]} - {None}
            assert found <= {expected}


class TestFollow:
    """A stream that is still coming."""

    @pytest.mark.slow
    def test_steps_come_as_their_bytes_do(self) -> None:
        """On a pipe each frame is shown before the next one is sent, with its time."""
        program = [sys.executable, "-m", "wholecall", "inspect", "--follow"]
        frames = [frame + b"\n\n" for frame in GOOD.split(b"\n\n")[:-1]]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(program, **pipes, env=environment) as process:  # noqa: S603 - ourselves
            assert process.stdin is not None
            assert process.stdout is not None
            patience = threading.Timer(60, process.kill)  # a step that does not come fails, it does not hang
            patience.start()
            seen: list[bytes] = []
            for frame, words in zip(
                frames, (b"Hello", b"streaming", b"= 11", b"exact", b"[DONE]"), strict=True
            ):
                process.stdin.write(frame)
                process.stdin.flush()
                while not seen or words not in seen[-1]:
                    seen.append(process.stdout.readline())
                    assert seen[-1], "the program ended"
            process.stdin.close()
            seen += process.stdout.readlines()
            patience.cancel()

        assert b"   offset    seconds  frame" == seen[1][:27]
        assert b"        0      0.000  " == seen[2][:22]
        assert b"1 recording: 1 call" == seen[-1][:19]

    def test_json_too(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """`--follow` is for lists and for programs."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD)))
        assert main(["inspect", "--follow", "--json", "-"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

        assert (6, "-", {0.0}) == (len(lines), lines[0]["recording"], {line["time"] for line in lines})


class TestPage:
    """The page, as a file; its behaviour is tested in a browser."""

    def test_it_stands_alone(self) -> None:
        """The page names no other address, and allows its own style and script only."""
        assert main(["inspect", "--html", "out.html", "good.sse", "cut.sse"]) == 0
        page = Path("out.html").read_text("utf-8")
        script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        hashes = [b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in style + script]

        assert [] == re.findall(r"(?:src|href)=|https?://|@import|url\(", page)
        assert [1, 1] == [len(style), len(script)]
        assert (
            f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
            "base-uri 'none'; form-action 'none'"
        ) in page

    def test_it_holds_the_steps(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The data are the steps of all recordings, each with its summary."""
        assert main(["inspect", "--html", "out.html", "good.sse", "cut.sse"]) == 0
        held = data_of(Path("out.html").read_text("utf-8"))
        steps = [json.loads(step.to_json()) for step in timeline([(None, CUT)])]

        assert ["good.sse", "cut.sse"] == [one["name"] for one in held["recordings"]]
        assert steps == [
            {name: step[name] for name in step if name not in {"name", "summary"}}
            for step in held["recordings"][1]["steps"]
        ]
        assert 'arguments=": \\"la"' == held["recordings"][1]["steps"][1]["summary"]
        assert ("", "") == capsys.readouterr()

    def test_what_the_wire_sent_is_no_markup(self) -> None:
        """No input can end the block of data, or be markup to a browser."""
        evil = "</script><!--<img src=x onerror=alert(1)>&amp;\0\u2028\ud800"
        Path(f"{'<b>'}.sse").write_bytes(
            chat({"content": evil}, ring(evil, id=evil, function={"name": evil}))
        )
        assert main(["inspect", "--html", "out.html", "<b>.sse"]) == 0
        page = Path("out.html").read_text("utf-8")
        (block,) = re.findall(
            r'<script type="application/json" id="data">(.*)</script>\n<script>', page, re.DOTALL
        )

        assert not set(block) & set("<>&\0")
        assert {evil} == {
            event["text"]
            for step in data_of(page)["recordings"][0]["steps"]
            for event in step["events"]
            if event["type"] == "text_delta"
        }

    def test_standard_output(self, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
        """`-` writes the page to standard output."""
        assert main(["inspect", "--html", "-", "good.sse"]) == 0
        assert capsysbinary.readouterr().out.startswith(b"<!DOCTYPE html>\n")

    def test_nothing_to_show(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Without readable input no page is written."""
        assert main(["inspect", "--html", "out.html", "missing.sse"]) == 3
        assert not Path("out.html").exists()
        assert "no page was written" in capsys.readouterr().err

    def test_what_could_be_read_is_shown(self) -> None:
        """A recording that cannot be read stops no page."""
        assert main(["inspect", "--html", "out.html", "missing.sse", "good.sse"]) == 3
        assert ["good.sse"] == [
            one["name"] for one in data_of(Path("out.html").read_text("utf-8"))["recordings"]
        ]

    @pytest.mark.slow
    def test_a_place_that_cannot_be_written(self, capfd: pytest.CaptureFixture[str]) -> None:
        """A missing folder is reported as for any output."""
        program = [sys.executable, "-m", "wholecall", "inspect", "--html", "none/out.html", "good.sse"]
        done = subprocess.run(program, check=False)  # noqa: S603 - ourselves

        assert 3 == done.returncode
        assert "wholecall: cannot write: No such file or directory\n" == capfd.readouterr().err


class TestExit:
    """Exit codes."""

    def test_the_unreadable_is_named_and_the_rest_is_read(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A missing file stops nothing; the complaint names it on standard error."""
        assert main(["inspect", "missing.sse", "good.sse"]) == 3
        out, err = capsys.readouterr()

        assert err.startswith("wholecall: missing.sse: ")
        assert out.endswith("1 recording: 1 call, 0 dropped, 0 faults; 1 could not be read\n")

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            ([], "PATH"),
            (["--follow", "good.sse"], "standard input"),
            (["--follow", "--html", "x"], "whole stream"),
            (["--calls", "--html", "x", "good.sse"], "--calls"),
            (["--json", "--html", "x", "good.sse"], "not allowed"),
            (["--width", "59", "good.sse"], "from 60"),
            (["--width", "wide", "good.sse"], "from 60"),
            (["--color", "pink", "good.sse"], "always"),
            (["--dialect", "esperanto", "good.sse"], "chat-completions"),
        ],
    )
    def test_a_wrong_command_line(
        self, argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A wrong command line ends with 2 and a hint at a valid one."""
        with pytest.raises(SystemExit) as leaving:
            main(["inspect", *argv])

        assert (2, True) == (leaving.value.code, message in capsys.readouterr().err)

    def test_the_help_teaches(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The help shows examples, how to read a line, and the meaning of the exit codes."""
        with pytest.raises(SystemExit):
            main(["inspect", "--help"])
        out = capsys.readouterr().out

        assert [] == [
            word
            for word in ("examples:", "how to read a line:", "exit status:", "--follow", "--html")
            if word not in out
        ]
