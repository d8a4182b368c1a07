"""The option `--text`: calls that a model wrote as text, in the commands that read streams."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.leaking import HERMES, QUOTED, QWEN, chat, leaked
from wholecall.cli import main

CALL = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "ring", "arguments": '{"bell": 3}'}}]}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    Path("hermes.sse").write_bytes(leaked(HERMES, size=20))
    Path("qwen.sse").write_bytes(leaked(QWEN))
    Path("quoted.sse").write_bytes(leaked(QUOTED))
    Path("structured.sse").write_bytes(chat(CALL, finish="tool_calls"))
    Path("cut.sse").write_bytes(leaked(HERMES[:40], size=20, finish="length"))


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    """Return the exit code of a command and its output."""
    code = main(list(argv))
    return code, capsys.readouterr().out


# All commands


@pytest.mark.parametrize(
    "argv", [["replay", "hermes.sse"], ["inspect", "hermes.sse"], ["lint", "hermes.sse"], ["diff", "a", "b"]]
)
def test_a_wrong_name(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown format is a wrong command line, and the intended one is suggested."""
    with pytest.raises(SystemExit) as leaving:
        main([*argv, "--text", "Hermez"])

    assert 2 == leaving.value.code
    assert "there is no format 'Hermez' of calls in text; did you mean 'hermes'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("mistrl", "mistral"),
        ("qwen-xml", "qwen_xml"),
        ("autom", "auto"),
        ("Qwen/Qwen2.5-7B-Instruct", "hermes"),
    ],
)
def test_a_format_that_is_also_a_provider(asked: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest name of a format is suggested, whatever else it names, or the format of the named model."""
    with pytest.raises(SystemExit):
        main(["replay", "--text", asked, "hermes.sse"])

    assert f"did you mean {meant!r}?" in capsys.readouterr().err


# replay


@pytest.mark.parametrize("name", ["auto", "hermes", "qwen_xml"])
def test_replay(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With `--text` the calls are calls, without it they are text."""
    out = run(capsys, "replay", "--json", "--calls", "--text", name, "hermes.sse", "qwen.sse")[1]
    calls = [json.loads(line) for line in out.splitlines()]

    assert [{"bell": 3}, {"bell": 4}] == [call["arguments"] for call in calls]
    assert [{"text_format": name}] * 2 == [call["extra"] for call in calls]
    assert "" == run(capsys, "replay", "--json", "--calls", "hermes.sse", "qwen.sse")[1]


def test_replay_of_a_cut_call(capsys: pytest.CaptureFixture[str]) -> None:
    """A call that is cut in the text is a drop, which `--check` reports."""
    code, out = run(capsys, "replay", "--check", "--text", "auto", "cut.sse")

    assert (1, True) == (code, "truncated" in out)


# inspect


def test_inspect_tells_text_markup_and_calls(capsys: pytest.CaptureFixture[str]) -> None:
    """Each part of the text is at the step where it was decided, and a call that came from text is marked."""
    Path("qwen.sse").write_bytes(leaked("Hi\n" + QWEN + "\n" + QWEN.replace("4", "5") + " Done.", size=1000))
    code, out = run(capsys, "inspect", "--text", "qwen_xml", "--width", "120", "qwen.sse")

    assert 0 == code
    assert [
        "turn  chat-completions  gpt-test  c",
        "text  +3  Hi\\n",
        "markup  +12  <tool_call>\\n",
        "written call  +59  <function=ring>\\n<parameter=bell>\\n4\\n</p...",
        "markup  +26  \\n</tool_call>\\n<tool_call>\\n",
        "written call  +59  <function=ring>\\n<parameter=bell>\\n5\\n</p...",
        "markup  +13  \\n</tool_call>",
        "text  +6   Done.",
        'call 0  settled  ring  +10  {"bell":4}',
        "  flags: from_text (qwen_xml)",
        'call 1  settled  ring  +10  {"bell":5}',
        "  flags: from_text (qwen_xml)",
        "call 0  settled -> ended  normalised  call_0_0_0",
    ] == [re.sub(r"^.{57}", "", line) for line in out.splitlines()[2:15]]


def test_inspect_tells_a_drop(capsys: pytest.CaptureFixture[str]) -> None:
    """The model's text of a call that is cut is shown with its reason."""
    out = run(capsys, "inspect", "--text", "auto", "cut.sse")[1]

    assert "written call  +28  <tool_call>" in out
    assert "dropped: truncated" in out


def test_inspect_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get the parts of texts, and the format of calls."""
    lines = run(capsys, "inspect", "--json", "--text", "hermes", "hermes.sse")[1].splitlines()
    steps = [json.loads(line) for line in lines]
    kinds = [span["kind"] for step in steps for span in step["spans"]]
    formats = [change["text_format"] for step in steps for change in step["changes"]]

    assert HERMES == "".join(span["text"] for step in steps for span in step["spans"])
    assert (["text", "call"], ["hermes", None]) == (list(dict.fromkeys(kinds)), formats)
    assert [] == [
        span
        for line in run(capsys, "inspect", "--json", "hermes.sse")[1].splitlines()
        for span in json.loads(line)["spans"]
    ]


def test_inspect_as_a_page() -> None:
    """A page holds the same steps; its display of them is tested in a browser."""
    assert main(["inspect", "--html", "out.html", "--text", "hermes", "hermes.sse"]) == 0
    (block,) = re.findall(
        r'id="data">(.*)</script>\n<script>', Path("out.html").read_text("utf-8"), re.DOTALL
    )
    steps = json.loads(block)["recordings"][0]["steps"]

    assert HERMES == "".join(span["text"] for step in steps for span in step["spans"])


# lint


def test_lint_finds_calls_in_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Each recording whose text holds calls has a line with the format, and the sum names the option for them."""
    Path("twice.sse").write_bytes(leaked(HERMES + HERMES))
    code, out = run(capsys, "lint", ".")
    lines = out.splitlines()

    assert 1 == code
    assert [
        "cut.sse: calls_in_text hermes",
        "hermes.sse: calls_in_text hermes",
        "qwen.sse: calls_in_text qwen_xml",
        "twice.sse: calls_in_text hermes x2",
        "",
    ] == lines[:5]
    assert [
        "calls_in_text        4  hermes  (--text hermes reads them)",
        "calls_in_text        1  qwen_xml  (--text qwen_xml reads them)",
    ] == lines[-2:]


def test_lint_finds_none_where_markers_are_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    """Text about markers, and calls of the wire, are not findings."""
    assert 0 == run(capsys, "lint", "quoted.sse", "structured.sse")[0]


def test_lint_with_text_reports_what_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    """With `--text` they are calls with the flag `from_text`, and not findings in the text."""
    code, out = run(capsys, "lint", "--json", "--text", "auto", "hermes.sse", "cut.sse")
    found: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]

    assert (1, 1) == (code, found[0]["calls"])
    assert {"from_text": 1, "id_generated": 1} == found[0]["flags"]
    assert {"truncated": 1} == found[1]["dropped"]
    assert [] == [one for one in found if "calls_in_text" in one]


def test_lint_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get the formats with their counts, in the sums too."""
    found = [
        json.loads(line) for line in run(capsys, "lint", "--json", "hermes.sse", "qwen.sse")[1].splitlines()
    ]

    assert [{"hermes": 1}, {"qwen_xml": 1}] == [one["calls_in_text"] for one in found[:2]]
    assert {"hermes": 1, "qwen_xml": 1} == found[-1]["calls_in_text"]


def test_lint_may_ignore_them(capsys: pytest.CaptureFixture[str]) -> None:
    """One word stands for calls in text of every format."""
    assert 0 == run(capsys, "lint", "--ignore", "calls_in_text", "hermes.sse", "qwen.sse")[0]


# diff


def test_diff_reads_calls_in_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Two ways of writing a call differ as texts, and are one call."""
    Path("other.sse").write_bytes(leaked(QWEN.replace("4", "3")))
    Path("hermes.sse").write_bytes(leaked(HERMES.partition("\n")[2]))
    ignored = [word for name in ("raw_arguments", "status", "edits") for word in ("--ignore", name)]

    assert 1 == run(capsys, "diff", *ignored, "hermes.sse", "other.sse")[0]
    assert (0, "") == run(capsys, "diff", *ignored, "--text", "hermes", "hermes.sse", "other.sse")
