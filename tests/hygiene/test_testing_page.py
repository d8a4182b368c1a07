"""docs/testing.md keeps its word: its examples run unchanged, and it names all that can be chosen."""

from __future__ import annotations

import inspect
import re

import pytest

from tests.hygiene.source_tree import DOCS, PACKAGE
from tests.support.pages import NEED_SDKS, TESTS, lay_out
from wholecall.serving import RecordedAnswers

pytest_plugins = ["pytester"]

HERE = frozenset(TESTS) - NEED_SDKS


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Give a project with the page's examples, and a run without other plugins."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    lay_out(pytester.path, HERE)
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run the examples; every warning is an error."""
    return project.runpytest_inprocess("-p", "wholecall_pytest", "-W", "error", *arguments)


def test_the_examples_run(project: pytest.Pytester) -> None:
    """Each example that needs no SDK passes once its golden files are blessed, and under splits as well."""
    blessed = run(project, "--wholecall-bless")
    split = run(project, "--wholecall-splits=2")

    assert len(HERE) == 5
    blessed.assert_outcomes(passed=7)
    blessed.stdout.fnmatch_lines(
        ["blessed cassettes/tide.sse.golden.jsonl *", "blessed *.names.golden.jsonl *"]
    )
    split.assert_outcomes(passed=13)  # the one by hand uses no fixture


def test_the_page_names_each_option() -> None:
    """The marker's line lists the arguments of `serve`, where to record and strictness; all options are explained."""
    page = (DOCS / "testing.md").read_text("utf-8")
    line = re.search(r"`@pytest\.mark\.wholecall\(\*recordings, (.*?)\)`", page)
    keywords = [str(one) for one in list(inspect.signature(RecordedAnswers.serve).parameters.values())[2:]]
    plugin = (PACKAGE.parent / "wholecall_pytest.py").read_text("utf-8")

    assert line is not None
    assert [word.split(":")[0] for word in keywords] + ["upstream", "strict"] == re.findall(
        r"(\w+)=", line[1]
    )
    assert line[1] in plugin
    assert set(re.findall(r"--wholecall-\w+", plugin)) == set(re.findall(r"--wholecall-\w+", page))
