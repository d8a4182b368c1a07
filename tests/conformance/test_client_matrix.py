"""The program that runs the latest clients over the suite."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import pytest

from tests.support import breaking, client_matrix, client_results, conformance_matrix
from wholecall.grading.conform.results import ALL, Graded, Score, load

SUITE = client_results.SUITE
ROOT = SUITE.parent
# What is installed for the framework of each adapter.
DISTRIBUTIONS = {
    "langchain_agent": "langchain>",
    "pydantic_ai_agent": "pydantic-ai-slim[",
    "openai_agents": "openai-agents",
    "litellm_completion": "litellm>",
    "google_adk_agent": "google-adk>",
    "strands_agent": "strands-agents[",
    "smolagents_agent": "smolagents[",
    "llama_index_agent": "llama-index-llms-openai>",
}
NONE = dict.fromkeys(("lost", "refused", "crash", "timeout", "unsupported"), 0)


def _score(unsafe: int) -> Score:
    return Score(run=9, passed=9 - unsafe, unsafe=unsafe, **NONE, safety=None, completeness=None)


def test_each_adapter_in_python_is_in_one_group() -> None:
    """The programs of the two groups of Python are the files of the folder, but for the protocol that they share.

    The program with wholecall's integrations is in both, because it runs those whose frameworks are installed.
    """
    groups = [set(client_matrix.PROGRAMS[name]) - {"wholecall_integrations"} for name in ("sdk", "sdk-other")]

    assert {path.stem for path in (SUITE / "clients/python").glob("*.py")} - {"protocol"} == set.union(
        *groups
    )
    assert set.intersection(*groups) == set()


def test_the_night_has_the_framework_of_each_integration() -> None:
    """A framework that is not installed is passed over, so each has to be in an extra, or in the job's own list."""
    source = (SUITE / "clients/wholecall_integrations.py").read_text("utf-8")
    adapters = set(re.findall(r'^    "(\w+)": Framework\(', source, re.MULTILINE))
    asked = (ROOT / "pyproject.toml").read_text("utf-8").partition("\nsdk = [")[2].partition("\nengine-")[0]
    asked += "".join(re.findall(r"\{group: sdk.*\}", (ROOT / ".github/workflows/ci.yml").read_text("utf-8")))

    assert set(DISTRIBUTIONS) == adapters
    assert [] == [name for name in DISTRIBUTIONS.values() if name not in asked]


def test_the_safest_version_is_the_measure() -> None:
    """A client is compared with its fewest unsafe runs over the same wire."""
    old, new = (
        Graded(name="c", version=v, wire="ollama", mode="http", scores={ALL: _score(n)}, cases=())
        for v, n in (("1", 3), ("2", 1))
    )

    assert client_matrix.unsafe([old, new]) == {("c", "ollama"): 1}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for results and the page, and a client of which none were unsafe."""
    page = tmp_path / "conformance.md"
    page.write_bytes(conformance_matrix.PAGE.read_bytes())
    for module, name, value in (
        (client_results, "FOLDER", tmp_path),
        (conformance_matrix, "RESULTS", tmp_path),
        (conformance_matrix, "PAGE", page),
        (breaking, "PATH", tmp_path / "breaking"),
    ):
        monkeypatch.setattr(module, name, value)
    broken = SUITE / "clients/broken"
    programs = {name: (sys.executable, str(broken / f"{name}.py")) for name in ("merges_by_index", "missing")}
    monkeypatch.setitem(client_matrix.PROGRAMS, "sdk", programs)
    return tmp_path


@pytest.mark.slow
def test_a_client_that_got_worse_fails_the_night(elsewhere: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The first results of a client are no fall; fewer unsafe runs in a published version make one."""
    first = client_matrix.main(["sdk", "merges_by_index"])
    (path,) = elsewhere.glob("*.json")
    results = load(path)
    better = tuple(msgspec.structs.replace(one, scores={ALL: _score(0)}) for one in results.clients)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(results, clients=better)))
    again = client_matrix.main(["sdk", "merges_by_index"])

    assert (first, again) == (0, 1)
    assert "unsafe runs, before 0" in capfd.readouterr().err
    assert "merges" in conformance_matrix.PAGE.read_text("utf-8")


@pytest.mark.slow
def test_an_adapter_without_a_report_fails_the_night(
    elsewhere: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A program that does not start is named; what others measured is kept."""
    assert elsewhere.is_dir()
    assert client_matrix.main(["sdk", "missing"]) == 1
    assert "missing: no report" in capfd.readouterr().err
