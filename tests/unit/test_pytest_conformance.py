"""Cases of the conformance suite as parameters of tests, in a small project."""

from __future__ import annotations

import pytest

from tests.hygiene.source_tree import PACKAGE
from tests.support.conform_suite import small_suite, write_case
from wholecall.dialects.table import DIALECTS

pytest_plugins = ["pytester"]

# Pytester forgets the modules that its runs load; the table would still hold their dialects.
for _dialect in DIALECTS:
    _dialect.start()

BYTES = """
import wholecall
from wholecall.testing import conformance_cases


@conformance_cases("chat-completions", data="suite")
def test_reader(case):
    parser = wholecall.ToolCallParser()
    events = [event for chunk in case.chunks for event in parser.feed(chunk)]
    events += parser.close() if case.ending == "clean" else parser.fail(case.ending)
    calls = [event for event in events if isinstance(event, wholecall.ToolCall)]
    case.check(
        [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls],
        refused=[event.reason for event in events if isinstance(event, wholecall.ToolCallDropped)],
    )
"""
HTTP = """
import urllib.request
from wholecall.testing import conformance_cases


@conformance_cases(data="suite")
def test_client(case):
    with case.served() as url, urllib.request.urlopen(url + "/chat/completions", b"{}") as response:
        assert response.read() == b"".join(case.chunks)
    call = {"name": "get_tide", "arguments": {"port": "Roscoff"}}
    assert case.judge([call]).word == "unsafe"
    case.check()
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Give a project with a suite, and a run without other plugins."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    small_suite(pytester.path / "suite")
    return pytester


def run(project: pytest.Pytester, code: str, *arguments: str) -> pytest.RunResult:
    """Run the tests of a file in the project; every warning is an error."""
    project.makepyfile(test_client=code)
    return project.runpytest_inprocess(
        "-p", "wholecall_pytest", "-W", "error", "--strict-markers", "-p", "no:cacheprovider", *arguments
    )


def test_a_test_runs_once_for_each_case(project: pytest.Pytester) -> None:
    """The packs are the mark's, core without any, or those of the command line."""
    core = run(project, BYTES, "-v")
    all_of = run(project, BYTES, "--conformance-pack", "core,common,damage")

    core.assert_outcomes(passed=1)
    core.stdout.fnmatch_lines(["*test_reader?chat-completions/plain? PASSED*"])
    all_of.assert_outcomes(passed=3)


def test_sessions_are_asked_for_by_name(project: pytest.Pytester) -> None:
    """Without wires a test gets the cases of HTTP; by its name it gets those of a session."""
    write_case(project.path / "suite", b'{"setupComplete":{}}\n', "gemini-live/idle", sent=[])
    every = BYTES.replace('"chat-completions", ', "")
    named = BYTES.replace("chat-completions", "gemini-live")

    run(project, every, "--conformance-pack", "all").assert_outcomes(passed=3)
    run(project, named, "--conformance-pack", "all").assert_outcomes(passed=1)


def test_a_case_is_served_and_a_failure_is_told(project: pytest.Pytester) -> None:
    """The server gives the case; a verdict other than pass fails the test with its reason."""
    result = run(project, HTTP)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["chat-completions/plain: lost: missing: get_tide", "One call."])


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (BYTES.replace("suite", "none"), (), "*conformance_cases: *none: no suite is here*"),
        (BYTES, ("--conformance-pack", "most"), "*conformance_cases: there is no pack 'most'*"),
    ],
)
def test_a_mistake_is_told(
    project: pytest.Pytester, code: str, arguments: tuple[str, ...], message: str
) -> None:
    """A folder that is no suite, and a pack that is not there, end the run with a message."""
    result = run(project, code, *arguments)

    assert result.ret != 0
    assert any(message.strip("*").split("*")[-1] in line for line in result.outlines + result.errlines)
