"""The command `wholecall probe`: exit codes, the report in each form, what is kept apart in it."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.support.endpoint import Answered, Got, Hook, endpoint, good, plain, streamed
from wholecall.cli.main import main

QUICK = ("--model", "m", "--level", "quick")
ONE = (*QUICK, "--only", "one", "--tries", "2")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nobody(_got: Got, _number: int) -> None:
    """Let the good answer pass."""


def wrong_type(got: Got, _number: int) -> Answered:
    """Label streams and bodies as plain text: a major fault of the wire."""
    return good(got)._replace(kind="text/plain")


def silent_model(got: Got, _number: int) -> Answered | None:
    """Answer without any call: no fault of the wire."""
    return None if got.body.get("stream") else plain([], "stop")


def mute(got: Got, _number: int) -> Answered:
    """Call nothing, plain and streamed."""
    return streamed([], "stop", got.body) if got.body.get("stream") else plain([], "stop")


def limited(_got: Got, _number: int) -> Answered:
    """Limit the rate: nothing can be told."""
    error = json.dumps({"error": {"message": "slow down", "type": "rate_limit_error"}}).encode()
    return Answered(429, "application/json", (error,), (("retry-after", "0"),))


def everything(got: Got, number: int) -> Answered | None:
    """Mix the three: a wrong label on streams, a model that calls nothing now and then, a server that fails at times."""
    if number % 7 == 0:
        return Answered(500, "application/json", (b'{"error": {"message": "down", "type": "server_error"}}',))
    if number % 5 == 1:
        return streamed([], "stop", got.body) if got.body.get("stream") else plain([], "stop")
    return wrong_type(got, number) if got.body.get("stream") else None


def run(hook: Hook, *options: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the report of a run."""
    with endpoint(hook) as server:
        code = main(["probe", server.url, *options, "--json", "report.json"])
    return code, json.loads(Path("report.json").read_text("utf-8"))


class TestExitCodes:
    """The exit code is that of the wire, and of nothing else."""

    def test_a_good_endpoint(self, capsys: pytest.CaptureFixture[str]) -> None:
        """No fault: 0, and the report says so."""
        code, report = run(nobody, *QUICK)
        text = capsys.readouterr().out

        assert 0 == code
        assert [] == [one for one in report["findings"] if one["severity"] != "note"]
        assert "critical 0   major 0   minor 0" in text

    @pytest.mark.parametrize(("fail_on", "code"), [("major", 1), ("critical", 0)])
    def test_a_fault(self, fail_on: str, code: int) -> None:
        """A major fault fails, unless only critical ones do."""
        found, report = run(wrong_type, *ONE, "--fail-on", fail_on)

        assert code == found
        assert ["frame.content-type"] == [
            one["rule"] for one in report["findings"] if one["severity"] == "major"
        ]

    def test_a_model_that_calls_nothing(self) -> None:
        """A model that does not call is no fault: 0."""
        code, report = run(mute, *ONE)
        majors = [one["rule"] for one in report["findings"] if one["severity"] in {"critical", "major"}]

        assert (0, 0) == (
            code if majors == [] else 0,
            report["models"][0]["right"] if report["models"] else 0,
        )

    def test_nothing_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        """If every answer is open, nothing is claimed: 2, whatever else."""
        code, report = run(limited, *ONE)

        assert (2, [], []) == (code, report["findings"], report["models"])
        assert ["open.rate-limited"] == [one["rule"] for one in report["open"]]
        assert "nothing could be told" in capsys.readouterr().err

    def test_nobody_there(self, capsys: pytest.CaptureFixture[str]) -> None:
        """No server: 2."""
        assert 2 == main(["probe", "http://127.0.0.1:9/v1", *ONE])
        assert "no answer came" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "options",
        [
            [],
            ["http://127.0.0.1:9/v1"],
            ["http://127.0.0.1:9/v1", *ONE, "--extra", "[]"],
            ["http://127.0.0.1:9/v1", *ONE, "--tries", "0"],
            ["http://127.0.0.1:9/v1", *ONE, "--jobs", "33"],
            ["http://127.0.0.1:9/v1", "--model", "m", "--only", "nothing"],
            ["http://127.0.0.1:9/v1", *ONE, "--reference-model", "m"],
            ["http://127.0.0.1:9/v1", *ONE, "--badge", "badge.png"],
            ["ftp://127.0.0.1/v1", *ONE],
            ["--list", "--self-test"],
        ],
    )
    def test_wrong_command_lines(self, options: list[str]) -> None:
        """A wrong command line is 2, before anything is asked."""
        with pytest.raises(SystemExit) as left:
            main(["probe", *options])

        assert 2 == left.value.code

    def test_costs_need_consent(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Of another host, more than the quick level needs --yes; what it costs is said, and nothing is asked."""
        code = main(["probe", "https://api.invalid/v1", "--model", "m", "--level", "standard"])
        said = capsys.readouterr().err

        assert 2 == code
        assert "162 requests, 223,353 tokens at most, and stops before 200,000" in said
        assert "--yes agrees to it" in said

    def test_an_interruption_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Ctrl-C: 130, with the report and the files of what was measured until then."""
        left = threading.Event()

        def hook(_got: Got, number: int) -> None:
            if number == 4:
                os.kill(os.getpid(), signal.SIGINT)
                left.wait(20)

        with endpoint(hook) as server:
            options = ["--wire", "chat-completions", "--jobs", "1", "--save", "out", "--json", "r.json"]
            code = main(["probe", server.url, *QUICK, "--only", "one", *options])
            left.set()
        report = json.loads(Path("r.json").read_text("utf-8"))

        assert (130, True, 3) == (code, report["is_interrupted"], len(list(Path("out").iterdir())))
        assert "The run was interrupted" in capsys.readouterr().out

    def test_a_folder_in_use(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A folder with files in it is not written to: 3."""
        Path("out").mkdir()
        Path("out/mine.txt").write_text("x")
        with endpoint() as server:
            code = main(["probe", server.url, *ONE, "--save", "out"])

        assert (3, ["mine.txt"]) == (code, [path.name for path in Path("out").iterdir()])
        assert "not empty" in capsys.readouterr().err


class TestApart:
    """Faults of the wire, the model's failures and untold things are never mixed."""

    def test_in_the_report(self) -> None:
        """Each of the three is in its own part, under its own kind, with its own files."""
        code, report = run(everything, *QUICK, "--tries", "4", "--jobs", "1")
        wire, told = report["findings"], report["open"]
        missed = {file for rate in report["models"] for file in rate["evidence"]}
        untold = {
            place["file"] if isinstance(place, dict) else place[0]
            for one in told
            for place in one["evidence"]
        }

        assert 1 == code
        assert {"wire"} == {one["kind"] for one in wire}
        assert {"open"} == {one["kind"] for one in told}
        assert not {one["rule"] for one in wire} & {one["rule"] for one in told}
        assert missed
        assert untold
        assert not missed & untold

    def test_in_the_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Each line of the three begins with its word, and each part is whole before the next."""
        run(everything, *QUICK, "--tries", "4", "--jobs", "1")
        words = [line.partition(" ")[0] for line in capsys.readouterr().out.splitlines()]
        found = [word for word in words if word in {"CRITICAL", "MAJOR", "MINOR", "NOTE", "model", "open"}]
        parts = ["wire" if word.isupper() else word for word in found]

        assert ["wire", "model", "open"] == list(dict.fromkeys(parts))
        assert sorted(parts, key=["wire", "model", "open"].index) == parts

    def test_in_the_junit_and_the_letter(self) -> None:
        """Other programs and vendors get the wire alone."""
        run(everything, *QUICK, "--tries", "4", "--junit", "r.xml", "--markdown", "r.md")
        names = {case.get("name") for case in ET.parse("r.xml").getroot().iter("testcase")}  # noqa: S314 - ours
        letter = Path("r.md").read_text("utf-8")

        assert not [name for name in names if name and name.startswith(("model.", "open."))]
        assert "model." not in letter.replace("model m", "")
        assert "open." not in letter


class TestForms:
    """The forms of the report."""

    def test_regrading_gives_the_same(self) -> None:
        """Saved exchanges are judged as the run judged them: same findings, rates and untold things."""
        _, report = run(everything, *QUICK, "--tries", "3", "--save", "out")
        code = main(["probe", "--regrade", "out", "--json", "again.json"])
        again = json.loads(Path("again.json").read_text("utf-8"))
        same = ("schema", "about", "severities", "held", "failed", "not_seen", "findings", "models", "open")

        assert 1 == code
        assert {name: report[name] for name in same} == {name: again[name] for name in same}

    def test_a_reference_is_regraded_too(self) -> None:
        """The reference's exchanges are in a folder of their own, and are compared again."""
        with endpoint() as server, endpoint(silent_model) as other:
            main(["probe", server.url, *ONE, "--reference", other.url, "--save", "out", "--json", "a.json"])
        main(["probe", "--regrade", "out", "--json", "b.json"])
        first, second = (json.loads(Path(name).read_text("utf-8")) for name in ("a.json", "b.json"))

        assert first["reference"] == second["reference"]
        assert 4 == first["reference"]["pairs"]
        assert pytest.approx(2 / 3) == first["reference"]["trigger_f1"]

    @pytest.mark.parametrize("content", ["", "{}", '{"wholecall":"recording","version":1}\n'])
    def test_other_files_are_not_regraded(self, content: str, capsys: pytest.CaptureFixture[str]) -> None:
        """A folder without the probe's exchanges is 3."""
        Path("out").mkdir()
        if content:
            Path("out/x.jsonl").write_text(content)

        assert 3 == main(["probe", "--regrade", "out"])
        assert "probe" in capsys.readouterr().err

    def test_junit_has_a_test_for_each_rule(self) -> None:
        """Failed from the severity on, skipped if not seen, and one for each rule of the report."""
        _, report = run(wrong_type, *ONE, "--junit", "r.xml")
        (suite,) = ET.parse("r.xml").getroot()  # noqa: S314 - our own file
        rules = len(report["held"]) + len(report["failed"]) + len(report["not_seen"])

        assert (str(rules), "1") == (suite.get("tests"), suite.get("failures"))
        assert str(len(report["not_seen"])) == suite.get("skipped")

    def test_a_page_obeys_nothing(self) -> None:
        """Markup in the model's name and in an answer is text in the page, and the page asks no network."""
        markup = '<img src="https://example.org/x" onerror=alert(1)>'

        def hook(got: Got, _number: int) -> Answered:
            return good(got)._replace(kind="text/plain", pieces=(f"data: {markup}\n\n".encode(),))

        run(hook, "--model", markup, "--level", "quick", "--only", "one", "--html", "r.html", "--markdown", "r.md")  # fmt: skip
        page = Path("r.html").read_text("utf-8")

        assert markup not in page
        assert "&lt;img src=&quot;https://example.org/x&quot; onerror=alert(1)&gt;" in page
        assert "default-src 'none'" in page
        assert "<img" not in page

    def test_a_page_is_not_written_over_another_file(self) -> None:
        """--html FILE replaces pages only."""
        Path("notes.txt").write_text("mine")
        with pytest.raises(SystemExit):
            main(["probe", "http://127.0.0.1:9/v1", *ONE, "--html", "notes.txt"])

        assert "mine" == Path("notes.txt").read_text()

    @pytest.mark.parametrize(("name", "beginning"), [("b.svg", "<svg"), ("b.json", "{")])
    def test_a_badge(self, name: str, beginning: str) -> None:
        """The badge says how many critical faults there are, and how many rules held."""
        _, report = run(nobody, *ONE, "--badge", name)
        text = Path(name).read_text("utf-8")
        applied = len(report["held"]) + len(report["failed"])

        assert text.startswith(beginning)
        assert f"0 critical · {len(report['held'])}/{applied}" in text

    def test_a_letter_has_the_request_and_the_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The issue for the vendor has the rule's source, a command without the key, and the answer."""
        monkeypatch.setenv("PROBE_KEY", "canary-canary-77")
        run(wrong_type, *ONE, "--key-env", "PROBE_KEY", "--markdown", "r.md")
        letter = Path("r.md").read_text("utf-8")

        assert "## frame.content-type (major)" in letter
        assert "Where it is written: RFC 9110" in letter
        assert '-H "authorization: Bearer $KEY"' in letter
        assert "the tide is out" in letter
        assert "canary" not in letter

    def test_each_form_names_the_clients_that_a_fault_breaks(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Text, JSON, page and letter have the clients whose published results fail on the same fault."""

        def indices(got: Got, _number: int) -> Answered:
            answer = good(got)
            pieces = tuple(
                re.sub(rb'"index": 0, (?="func)|, "index": 0(?=})', b"", one) for one in answer.pieces
            )
            return answer._replace(pieces=pieces)

        _, report = run(indices, *ONE, "--html", "r.html", "--markdown", "r.md")
        [found] = [one for one in report["findings"] if one["rule"] == "labels.index-missing"]
        worst = found["clients"][0]
        named = f"{worst['name']} {worst['version']} (unsafe {worst['unsafe']}"
        texts = [capsys.readouterr().out, *(Path(name).read_text("utf-8") for name in ("r.html", "r.md"))]

        assert [True] * 3 == [named in " ".join(text.split()) for text in texts]
        assert found["clients_tried"] >= len(found["clients"]) >= 10

    def test_json_on_standard_output_is_alone(self, capsys: pytest.CaptureFixture[str]) -> None:
        """With `--json -` standard output holds the JSON, and nothing else."""
        with endpoint() as server:
            main(["probe", server.url, *ONE, "--json", "-"])

        assert 1 == json.loads(capsys.readouterr().out)["schema"]

    def test_the_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Scenarios and rules are listed with what they cost; nothing is asked."""
        code = main(["probe", "--list"])
        text = capsys.readouterr().out

        assert 0 == code
        assert "level quick     3 tries    50 requests    36,253 tokens at most" in text
        assert "frame.content-type" in text
        assert "cut " in text
