"""Output of `wholecall replay` for many recordings, for one, and for files that are not recordings."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.hygiene.source_tree import CORPORA
from tests.unit.test_cli import CUT, FAULTY, GOOD, Terminal, call, chat, dropped, listed
from wholecall import StreamFault, ToolCall, TurnFinished
from wholecall.cli import main
from wholecall.cli.show import cells

RECORDINGS = str(CORPORA / "recordings")
HEAD = "recordings  calls  dropped  faults"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one, and fix the width of a line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def write(files: dict[str, bytes]) -> None:
    """Write recordings below the current folder."""
    for name, data in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, lines: int, *argv: str) -> list[str]:
    """Return the output on a terminal of a size."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    assert main(["replay", *argv]) == 0
    return terminal.text().splitlines()


class TestTable:
    """Several recordings."""

    def test_a_row_for_each_folder(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Recordings of several folders are counted by folder, below the folder that has them all; then the sum."""
        write({"logs/a/1.sse": GOOD, "logs/a/2.sse": CUT, "logs/b/c/3.sse": FAULTY, "logs/4.sse": GOOD})
        assert main(["replay", "logs"]) == 0
        assert [
            f"logs{os.sep}  {HEAD}",
            ".               1      1        0       0",
            "a               2      1        1       0",
            f"b{os.sep}c             1      0        0       1",
            "",
            "4 recordings: 2 calls, 1 dropped (1 truncated), 1 fault (1 provider_error)",
        ] == capsys.readouterr().out.splitlines()

    def test_a_row_for_each_dialect(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Recordings of one folder are counted by dialect."""
        ollama = json.dumps({"model": "m", "created_at": "x", "message": {"content": "a"}, "done": True})
        write({"1.sse": GOOD, "2.sse": CUT, "3.ndjson": ollama.encode() + b"\n"})
        assert main(["replay", "."]) == 0
        assert [
            f"dialect           {HEAD}",
            "chat-completions           2      1        1       0",
            "ollama                     1      0        0       0",
        ] == capsys.readouterr().out.splitlines()[:3]

    @pytest.mark.parametrize("option", ["-v", "--calls", "--full"])
    def test_their_calls_on_request(self, option: str, capsys: pytest.CaptureFixture[str]) -> None:
        """`-v`, `--calls` and `--full` list each recording instead; only `--calls` leaves out the ends."""
        write({"1.sse": GOOD, "2.sse": GOOD})
        assert main(["replay", option, "."]) == 0
        out = capsys.readouterr().out
        words = [line.split()[0] for line in out.splitlines() if line[:3].strip()]

        end = [] if option == "--calls" else ["end"]
        assert ["1.sse", "call", *end, "2.sse", "call", *end, "2"] == words

    def test_one_file_with_several(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A file that holds several recordings has a table, too."""
        assert main(["replay", str(CORPORA / "tools" / "vcrpy.yaml")]) == 0
        assert HEAD in capsys.readouterr().out

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize(("columns", "lines"), [(40, 24), (80, 24), (120, 50), (200, 100)])
    def test_it_fits_a_screen(self, columns: int, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """From 40 columns on no line is wider than the terminal, and everything is on one screen; rows add up."""
        shown = on_terminal(monkeypatch, columns, lines, RECORDINGS)
        table = shown[1 : shown.index("")]
        totals = [sum(int(row.split()[n].replace(",", "")) for row in table) for n in (-3, -2, -1)]
        summary = " ".join(shown[next(n for n, line in enumerate(shown) if " recordings: " in line) :])
        said = [summary.split(word)[0].split()[-1] for word in (" call", " dropped", " fault")]

        assert max(map(cells, shown)) <= columns
        assert len(shown) < lines
        assert [str(total) for total in totals] == said

    def test_rows_of_groups_that_do_not_fit_share_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The groups with the fewest recordings are summed up in the last row."""
        write({f"{n}/{m}.sse": GOOD for n in range(30) for m in range(1 + (n == 17))})
        shown = on_terminal(monkeypatch, 80, 11, ".")

        assert shown[0].startswith("folder")
        assert "17                    2      2        0       0" in shown
        assert [row for row in shown if "others" in row] == [
            "(26 others)          26     26        0       0"
        ]

    def test_folders_are_counted_with_those_that_they_are_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where not every folder has room, the upper ones are shown."""
        write({f"logs/{month}/{day}/x.sse": GOOD for month in "ab" for day in range(20)})
        many, few = (on_terminal(monkeypatch, 80, lines, "logs") for lines in (60, 20))

        assert 40 == sum(line.startswith((f"a{os.sep}", f"b{os.sep}")) for line in many)
        assert ["a", "b"] == [line.split()[0] for line in few[1 : few.index("")]]
        assert few[1].split()[1:] == ["20", "20", "0", "0"]

    def test_a_long_name_keeps_both_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The distinguishing parts of names are at their ends more often than in the middle."""
        write({f"a{'x' * 90}{n}/1.sse": GOOD for n in (1, 2)})
        names = [line.split()[0] for line in on_terminal(monkeypatch, 40, 24, ".")[1:3]]

        assert ["axxxxx...xxxxxx1", "axxxxx...xxxxxx2"] == names


class TestOne:
    """One recording."""

    @pytest.mark.parametrize("columns", [40, 59, 60, 80])
    def test_no_line_is_wider_than_the_terminal(self, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """A path is broken after slashes, facts fill further lines, our own words are wrapped, the wire's are cut."""
        name = "a-folder-with-a-name/another-folder/parallel-calls.sse"
        arguments = json.dumps({"text": "潮" * 200, "more": ["x" * 90]})
        write({name: chat("a_tool_with_quite_a_long_name", arguments) + FAULTY})
        shown = on_terminal(monkeypatch, columns, 24, name)

        assert max(map(cells, shown)) <= columns
        assert "".join(line.strip() for line in shown[:3]).startswith(name)

    def test_full_shows_everything(self) -> None:
        """With `full` every line and every character of arguments and raw texts is there."""
        long, lines = "x" * 500, "line\n" * 100
        out = listed(
            call({"a": long, "b": list(range(300))}),
            dropped(lines),
            StreamFault(0, 0, "bad_crc", "x", raw=long),
            width=60,
            full=True,
        )

        assert (1, 100, 1) == (out.count(f'"a": "{long}"'), out.count("| line\n"), out.count(f"| {long}\n"))
        assert "characters" not in out
        assert "299" in out

    def test_full_arguments_are_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The text shown in full is the JSON of the arguments, whatever its size."""
        arguments = {"path": "a.py", "text": "x" * 5000, "lines": [{"n": n} for n in range(50)]}
        write({"1.sse": chat("ring", json.dumps(arguments))})
        assert main(["replay", "--full", "--calls", "1.sse"]) == 0
        lines = capsys.readouterr().out.split("\n\n")[0].splitlines()

        assert arguments == json.loads("\n".join(lines[2:]))

    def test_a_long_complaint_of_a_provider_is_cut(self) -> None:
        """A sentence as long as a page is wrapped and cut, with its size."""
        out = listed(StreamFault(0, 0, "provider_error", "word " * 1000))

        assert [8, "             ... (5,000 characters in all)"] == [
            len(out.splitlines()),
            out.splitlines()[-1],
        ]

    @pytest.mark.parametrize(
        ("environment", "option", "is_coloured"),
        [
            ({}, [], False),
            ({"FORCE_COLOR": "1"}, [], True),
            ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
            ({"NO_COLOR": "1"}, ["--color=always"], True),
            ({}, ["--color=never"], False),
        ],
    )
    def test_colours_elsewhere(
        self,
        environment: dict[str, str],
        option: list[str],
        is_coloured: bool,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """An output that is not a terminal gets colours only through `--color` or `FORCE_COLOR`; the option decides."""
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        write({"1.sse": GOOD, "2.sse": CUT})
        main(["replay", *option, "."])
        assert is_coloured == ("\x1b[" in capsys.readouterr().out)


class TestNonsense:
    """Files that are not recordings."""

    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (b"", "it is empty"),
            (b" \n\n", "it begins with nothing but blanks"),
            (b"Dear diary,\ntoday nothing came.\n", "it is text; expected are server-sent events"),
            (b"[tool]\nname = 1\n", "it is text; expected are server-sent events"),
            ("潮".encode() * 400, "it is text; expected are server-sent events"),
            (bytes(range(256)) * 8, "it is binary data"),
            (b"\x89PNG\r\n\x1a\n" + bytes(64), "it is binary data"),
            (b"<!doctype html><title>Sign in</title>", "it is a page of HTML"),
            (b'{"messages": [{"role": "user", "content": "x"}]}', "`wholecall history check`"),
            (b'[{"a": 1}]', "it is JSON of another kind"),
            (b'data: {"a": 1}\n\n', "of no known dialect (--dialect names one)"),
        ],
    )
    @pytest.mark.parametrize("options", [[], ["-v"], ["--chunk", "1"]])
    def test_it_is_named_with_what_it_is(
        self, data: bytes, sentence: str, options: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Nonsense exits with 1 and one sentence for people; it is not a recording, and none of it is listed."""
        write({"x.sse": data})
        assert main(["replay", *options, "x.sse"]) == 1
        out, err = capsys.readouterr()
        assert "0 recordings: 0 calls, 0 dropped, 0 faults; 1 no answer of a model\n" == out
        assert err.startswith("wholecall: x.sse: no answer of a model: ")
        assert (1, True) == (err.count("\n"), sentence in err)

    def test_the_rest_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Nonsense among recordings does not affect those before or after it."""
        write({"a.sse": b"text", "b.sse": GOOD, "c.sse": b"text"})
        assert main(["replay", "."]) == 1
        assert [f"dialect           {HEAD}", "chat-completions           1      1        0       0"] == (
            capsys.readouterr().out.splitlines()[:2]
        )
        assert main(["replay", "-v", "."]) == 1
        assert capsys.readouterr().out.startswith("b.sse  chat-completions")

    def test_programs_get_the_same_lines(self, capsys: pytest.CaptureFixture[str]) -> None:
        """With `--json` the events are written as usual; the exit code and standard error report the rest."""
        write({"a.sse": b"text"})
        assert main(["replay", "--json", "a.sse"]) == 1
        out, err = capsys.readouterr()
        assert ["stream_fault", "turn_finished"] == [json.loads(line)["type"] for line in out.splitlines()]
        assert "it is text" in err

    def test_an_answer_that_only_failed_is_one(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A provider's error is an answer, and so is a turn without a word."""
        write({"a.sse": FAULTY})
        assert main(["replay", "a.sse"]) == 0
        out, err = capsys.readouterr()
        assert ("", True) == (err, "provider_error" in out)

    def test_what_came_before_damage_counts(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A recording that breaks off keeps its calls in the sum; it could not be read."""
        chunk = json.dumps({"data": GOOD.decode()}).encode()
        write({"a.jsonl": b'{"wholecall":"recording","version":1}\n' + chunk + b"\n{oops\n"})
        assert main(["replay", "-v", "a.jsonl"]) == 3
        out, err = capsys.readouterr()
        assert "  call       ring  call_1  exact\n" in out
        assert out.endswith(
            "0 recordings: 1 call, 0 dropped, 1 fault (1 source_failed); 1 could not be read\n"
        )
        assert "a.jsonl" in err


def test_each_kind_of_event_is_one_line_at_least() -> None:
    """A list of nothing but an end is the end."""
    assert "  end        stop\n" == listed(TurnFinished(0, 0, "stop"))
    assert listed(ToolCall(0, 0, 0, "c", "f", {}, "{}", "exact")).startswith("  call       f  c  exact\n")
