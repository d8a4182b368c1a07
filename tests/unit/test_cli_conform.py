"""The command `wholecall conform`: what it writes, and its exit codes."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support.conform_suite import adapter_of, small_suite, write_case
from wholecall.cli import main
from wholecall.grading import badge, junit
from wholecall.grading.conform.own import OwnClient

EMPTY = "return said()"
EVIL = 'return said([{"id": "<b>", "name": "<script>alert(1)</script>", "arguments": {}}])'


@pytest.fixture(autouse=True)
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a small suite where the command looks for one, and return the folder."""
    monkeypatch.chdir(tmp_path)
    small_suite(tmp_path / "conformance")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command; return its exit code, its output and its errors."""
    try:
        code = main(["conform", *arguments])
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 2
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_cases_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """A line has the id, the level, the accepted ends and the subject of a case; with --json it is an object."""
    code, out, _ = run(capsys, "list", "--pack", "damage")
    _, lines, _ = run(capsys, "list", "--json", "--wire", "chat-completions", "--only", "*/plain")

    assert (0, ["chat-completions/cut", "damage", "partial+error"]) == (code, out.split()[:3])
    assert "The connection ends in the second call." in out
    assert "chat-completions/plain" == json.loads(lines)["id"]


def test_wholecall_is_the_client_without_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    """Every case passes, and the exit code is 0."""
    code, out, err = run(capsys, "run")

    assert (0, "") == (code, err)
    assert out.splitlines()[-1].endswith("all       4       0     0        0      0   100 %     100 %")


def test_reports_are_written(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """The results are one JSON file, one page, one XML file, one badge; the exit code is 1 if something was lost."""
    command = adapter_of(suite, EMPTY)
    code, out, _ = run(
        capsys,
        "run",
        "--report",
        "o.json",
        "--html",
        "o.html",
        "--junit",
        "o.xml",
        "--badge",
        "o.svg",
        "--",
        *command,
    )
    results = json.loads((suite / "o.json").read_text("utf-8"))
    scores = results["clients"][0]["scores"]
    page = (suite / "o.html").read_text("utf-8")
    tree = ET.parse(suite / "o.xml").getroot()[0]  # noqa: S314 - our own

    assert 1 == code
    assert "lost     small  chat-completions/cut (frame): missing: get_tide" in out
    assert ("2026.12", None, True) == (results["data"], results["seed"], results["complete"])
    assert {"run": 2, "pass": 0, "lost": 2, "safety": 1.0} == {
        name: scores["core"][name] for name in ("run", "pass", "lost", "safety")
    }
    assert "chat-completions/cut" in page
    assert ("4", "3") == (tree.attrib["tests"], tree.attrib["failures"])
    assert "tool calls: core 0 % · unsafe 0 of 4" in (suite / "o.svg").read_text("utf-8")


READER = f"{sys.executable} {PROJECT / 'conformance/clients/outsider/adapter.py'}"


def test_a_reader_of_a_gateway_has_results_of_its_own(
    capsys: pytest.CaptureFixture[str], suite: Path
) -> None:
    """The gateway is there as wholecall reads it, and as each client of the reader's does."""
    gateway = adapter_of(suite, "return {'gateway': asked['url']}", mode="gateway")
    code, out, _ = run(capsys, "run", "--reader", READER, "--report", "o.json", "--", *gateway)
    results = json.loads((suite / "o.json").read_text("utf-8"))

    assert 0 == code
    assert [("small", "gateway"), ("outsider+small", "gateway")] == [
        (client["name"], client["mode"]) for client in results["clients"]
    ]
    assert "outsider+small 1" in out


def test_a_reader_needs_a_gateway(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """Where no client is a gateway, a reader is a mistake of the command line."""
    code, _, err = run(capsys, "run", "--reader", READER, "--", *adapter_of(suite, "return said()"))

    assert 2 == code
    assert "--reader goes with a gateway" in err


def test_a_page_shows_what_clients_said_as_text(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """Names of a client, of tools and errors are text on the page, never markup."""
    code, _, _ = run(capsys, "run", "--html", "o.html", "--badge", "o.json", "--", *adapter_of(suite, EVIL))
    page = (suite / "o.html").read_text("utf-8")
    data = json.loads((suite / "o.json").read_text("utf-8"))

    assert 1 == code
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
    assert {
        "schemaVersion": 1,
        "label": "tool calls",
        "message": "core 0 % · unsafe 4 of 4",
        "color": "b3261e",
    } == data


def test_an_interrupt_keeps_what_was_measured(
    capsys: pytest.CaptureFixture[str], suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends the run; the runs until then are reported, and the exit code is 130."""

    def stop(_client: OwnClient, request: dict[str, Any]) -> None:
        if request["case"].endswith("/plain"):
            raise KeyboardInterrupt
        return run_case(_client, request)

    run_case: Any = OwnClient.run
    monkeypatch.setattr(OwnClient, "run", stop)
    code, out, _ = run(capsys, "run", "--report", "o.json")
    results = json.loads((suite / "o.json").read_text("utf-8"))

    assert 130 == code
    assert "It was interrupted" in out
    assert (False, ["chat-completions/cut"]) == (
        results["complete"],
        [case["case"] for client in results["clients"] for case in client["cases"]],
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--data", "nowhere"], "no suite is here"),
        (["run", "--pack", "most"], "there is no pack 'most'"),
        (["run", "--only", "x/*"], "no case is as the options want it"),
        (["run", "--write", "slowly"], "'slowly' is not frame, byte"),
        (["run", "--client", "openai"], "the adapter has no client openai; it has wholecall"),
        (["run", "--", "no-such-program"], "no-such-program: "),
        (["run", "--jobs", "0"], "'0' is not a number from 1"),
        (["run", "--timeout", "nan"], "is not a number of seconds"),
        (["run", "--wire", "soap"], "invalid choice"),
        (["show", "chat-completions/none"], "no case is as"),
        (["compare", "a.json", "b.json"], "a.json: No such file"),
        ([], "required"),
    ],
)
def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """A mistake of the user is one line on standard error, and the exit code 2."""
    code, out, err = run(capsys, *arguments)

    assert (2, "") == (code, out)
    assert message in err


def test_a_report_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 3; the table is written all the same."""
    code, out, err = run(capsys, "run", "--report", "none/o.json")

    assert 3 == code
    assert "none/o.json: No such file" in err
    assert "wholecall" in out


def test_a_case_is_shown(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """The sidecar is told in words, then come the bytes, then what clients made of them."""
    run(capsys, "run", "--report", "o.json", "--", *adapter_of(suite, EMPTY))
    code, out, _ = run(capsys, "show", "chat-completions/plain", "--results", "o.json")

    assert 0 == code
    assert 'sent      get_tide {"port": "Brest"} (call_tide)' in out
    assert "data: [DONE]" in out
    assert "small 1, written by frame: lost, missing: get_tide" in out


def test_results_are_compared(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """Verdicts that changed are listed; a worse one is exit code 1."""
    run(capsys, "run", "--report", "lost.json", "--", *adapter_of(suite, EMPTY))
    run(capsys, "run", "--report", "unsafe.json", "--", *adapter_of(suite, EVIL))
    worse, out, _ = run(capsys, "compare", "lost.json", "unsafe.json")
    better, _, _ = run(capsys, "compare", "unsafe.json", "lost.json")
    same, nothing, _ = run(capsys, "compare", "lost.json", "lost.json")

    assert (1, 0, 0) == (worse, better, same)
    assert "worse  small  chat-completions/plain (byte): lost -> unsafe" in out
    assert "0 verdicts changed, 0 for the worse.\n" == nothing


def test_the_matrix_has_the_safest_first(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """A page has all clients of several files, in order, and each has a badge."""
    run(capsys, "run", "--report", "small.json", "--", *adapter_of(suite, EVIL))
    run(capsys, "run", "--report", "own.json", "--wire", "chat-completions")
    code, _, _ = run(capsys, "matrix", "small.json", "own.json", "-o", "site")
    page = (suite / "site" / "index.html").read_text("utf-8")

    assert 0 == code
    assert "2 clients over the conformance suite" in page
    assert page.index("wholecall 0") < page.index("small 1")
    assert "unsafe 4 of 4" in (suite / "site" / "small-chat-completions.svg").read_text("utf-8")


def test_a_seed_gives_other_names(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """With a seed the client is told other names of tools, and other cuts."""
    command = adapter_of(suite, "return said(text=asked['tools'][0]['name'])")
    run(capsys, "run", "--seed", "7", "--only", "*/plain", "--report", "o.json", "--", *command)
    [case] = json.loads((suite / "o.json").read_text("utf-8"))["clients"][0]["cases"]

    assert "seed:7" == case["write"]
    assert "get_tide" != case["got"]["text"]
    assert len("get_tide") == len(case["got"]["text"])


def test_cases_that_a_client_does_not_read(capsys: pytest.CaptureFixture[str], suite: Path) -> None:
    """A client gets the cases of its wire alone; without any there is nothing to run."""
    write_case(suite / "conformance", b"", "responses/other")
    command = adapter_of(suite, EMPTY, wires=("responses",))
    run(capsys, "run", "--report", "o.json", "--", *command)
    code, _, err = run(capsys, "run", "--wire", "anthropic", "--", *command)
    found = json.loads((suite / "o.json").read_text("utf-8"))["clients"]

    assert ["responses/other"] == sorted({case["case"] for client in found for case in client["cases"]})
    assert (2, True) == (code, "no case is as" in err)


# Badges and JUnit.


def test_a_badge_is_whole_in_itself() -> None:
    """A badge names no address but that of its own format, and its texts are escaped."""
    picture = badge.svg("tool <calls>", 'core 100 % & "safe"', "green")

    assert 1 == picture.count("http")
    assert "tool &lt;calls&gt;: core 100 % &amp; &quot;safe&quot;" in picture
    assert badge.COLOURS["green"] in picture
    ET.fromstring(picture)  # noqa: S314 - our own


def test_a_report_of_junit_holds_any_text() -> None:
    """Failures and skips are counted; characters that XML lacks are replaced."""
    cases = [
        junit.Case("a/b", 0.5),
        junit.Case("a/c", 0.25, failure="bad \x00 \ud800 <&>\nmore"),
        junit.Case("d", 0.0, skipped='not "here"'),
    ]
    suite = ET.fromstring(junit.document("all", cases).encode())[0]  # noqa: S314 - our own

    assert ("3", "1", "1", "0.750") == tuple(
        suite.attrib[name] for name in ("tests", "failures", "skipped", "time")
    )
    assert [("a", "b"), ("a", "c"), ("all", "d")] == [
        (one.attrib["classname"], one.attrib["name"]) for one in suite
    ]
    assert ("bad \ufffd \ufffd <&>", "bad \ufffd \ufffd <&>\nmore") == (
        suite[1][0].attrib["message"],
        suite[1][0].text,
    )
