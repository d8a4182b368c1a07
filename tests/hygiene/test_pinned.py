"""Pins of the tools for CI and commits: files by their hashes, actions by their commits."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from tests.hygiene.source_tree import PROJECT
from tests.support.integrations import LINES, PACKAGES
from tests.support.sbom import project_table
from tests.support.together import together

PINS = sorted((PROJECT / ".ci" / "pins").glob("*.txt"))
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
PIN = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)( ; [^\\\n]+)?( \\\n {4}--hash=sha256:[0-9a-f]{64})+\n"
)


def versions(name: str) -> dict[str, str]:
    """Return the content of a file of pins: versions by names, one of them where markers choose."""
    text = (PROJECT / ".ci" / "pins" / f"{name}.txt").read_text("utf-8")
    return {pin["name"].lower().replace("_", "-"): pin["version"] for pin in PIN.finditer(text)}


@together("path", PINS, ids=lambda path: path.stem)
def test_pins_are_hashed(path: Path) -> None:
    """A file of pins is a comment, and then versions with the hash of each file, nothing else; no index is named."""
    head, _, rest = path.read_text("utf-8").partition("\n")

    assert head.startswith("# Written by .ci/pin")
    assert "" == PIN.sub("", rest)


def test_every_environment_is_pinned() -> None:
    """A session of nox, or .ci/run for nox itself, installs each file of pins."""
    script = "".join((PROJECT / name).read_text("utf-8") for name in ("noxfile.py", ".ci/run"))

    assert {path.stem for path in PINS} == {
        path.stem for path in PINS if re.search(rf"\b{path.stem}\b", script)
    }
    assert {"dev", "test", "oldest", "fuzz", "sdk"} <= {path.stem for path in PINS}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_pages_name_the_extras_that_ci_has(page: str) -> None:
    """A page's install command has the extras of an environment of CI, no less and no more."""
    script = (PROJECT / ".ci" / "pin").read_text("utf-8")
    rows = re.findall(r"^\w+ +3\.\d+\S* +(?:anywhere|linux) +(.+)$", script, re.MULTILINE)
    text = (PROJECT / page).read_text("utf-8")
    named = re.findall(r"pip install (?:-e )?'(?:\.|wholecall)\[([\w,-]+)\]'", text)

    assert len(named) > 2
    assert [] == [extras for extras in named if set(extras.split(",")) not in map(set, map(str.split, rows))]


def test_ci_installs_what_the_pages_name() -> None:
    """A file of pins says in its first line for which extras it was written: those of its row in `.ci/pin`."""
    script = (PROJECT / ".ci" / "pin").read_text("utf-8")
    rows = re.findall(r"^(\w+) +3\.\d+\S* +(?:anywhere|linux) +(.+)$", script, re.MULTILINE)
    heads = {path.stem: path.read_text("utf-8").partition("\n")[0] for path in PINS}

    assert dict(rows) == {
        name: head.partition("the extras ")[2].partition(",")[0] for name, head in heads.items()
    }


def test_pages_name_the_packages_of_frameworks() -> None:
    """The packages of a framework's integration are, with their extras, those that its tests are run with."""
    extras = project_table()["optional-dependencies"]
    run = [Requirement(line) for name in ("sdk", "sdk-other", "rivals") for line in extras[name]]
    known = {(one.name, extra) for one in run for extra in (*one.extras, "")}
    named = [Requirement(line) for packages in PACKAGES.values() for line in packages]

    assert PACKAGES.keys() == LINES.keys()
    assert [] == [
        str(one) for one in named if not {(one.name, extra) for extra in (*one.extras, "")} <= known
    ]


def test_the_oldest_are_the_lower_bounds() -> None:
    """The oldest interpreter runs with the first versions that pyproject.toml allows."""
    project = project_table()
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["schema"], *extras["bulk"]]
    bounds = {line.name: str(line.specifier).removeprefix(">=") for line in map(Requirement, lines)}
    oldest = versions("oldest")

    assert len(bounds) > 3
    assert [] == [name for name, version in bounds.items() if Version(oldest[name]) != Version(version)]


def test_commits_run_with_pinned_versions() -> None:
    """The versions that pre-commit installs are those of CI."""
    text = (PROJECT / ".pre-commit-config.yaml").read_text("utf-8")
    found = {tuple(line.split("==")) for line in re.findall(r'additional_dependencies: \["(.+)"\]', text)}

    assert {("ruff", versions("dev")["ruff"])} == found


def test_actions_are_pinned_by_commits() -> None:
    """An action is named by a whole commit, and next to it the release that this is."""
    used = re.findall(r"uses: (.*)", "".join(path.read_text("utf-8") for path in WORKFLOWS))

    assert len(used) > 3
    assert [] == [use for use in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)]


# What a job may do beyond reading the repository: only a release writes.
MAY = {
    "publish": {"id-token": "write"},
    "announce": {"attestations": "write", "contents": "write", "id-token": "write"},
}


def test_workflows_may_read() -> None:
    """A job may read the repository, and a workflow nothing; of a release two jobs may write what they are for."""
    workflows = [yaml.safe_load(path.read_text("utf-8")) for path in WORKFLOWS]
    jobs = {name: job for workflow in workflows for name, job in workflow["jobs"].items()}
    may = {name: job["permissions"] for name, job in jobs.items()}

    assert [{}] * 2 == [workflow["permissions"] for workflow in workflows]
    assert {name: MAY.get(name, {"contents": "read"}) for name in jobs} == may


def test_every_session_is_run() -> None:
    """.ci/run runs each session of nox."""
    sessions = {
        node.name
        for node in ast.parse((PROJECT / "noxfile.py").read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any("nox.session" in ast.unparse(d) for d in node.decorator_list)
    }
    script = (PROJECT / ".ci" / "run").read_text("utf-8")
    lines = re.findall(r"^[^#\n]*\bsessions ([\w. -]+)", script, re.MULTILINE)
    named = [line.partition(" -- ")[0] for line in lines if "--install-only" not in line]
    run = {name.partition("-")[0] for line in named for name in line.split()}

    assert sessions == run


def test_both_commands_of_the_readme_are_run() -> None:
    """.ci/run names each command that the session `readme` knows, or none, which is all."""
    tree = ast.parse((PROJECT / "noxfile.py").read_text("utf-8"))
    (known,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "README"
    )
    script = (PROJECT / ".ci" / "run").read_text("utf-8")
    run = re.findall(r"^ *sessions readme(?: -- (\w+))?$", script, re.MULTILINE)

    assert run in ([""], [*ast.literal_eval(known)], [*ast.literal_eval(known)][::-1])


def test_the_versions_that_are_promised_are_run() -> None:
    """Classifiers, the sessions of nox, .ci/run and the workflow name the same versions of CPython."""
    promised = [
        line.rpartition(" ")[2] for line in project_table()["classifiers"] if re.search(r" 3\.\d+$", line)
    ]
    script = (PROJECT / ".ci" / "run").read_text("utf-8")
    run = re.findall(r"^for version in (.+); do$", script, re.MULTILINE)
    steps = yaml.safe_load(WORKFLOWS[0].read_text("utf-8"))["jobs"]["checks"]["steps"]
    hosted = [
        step["with"]["python-version"].split() for step in steps if "python-version" in step.get("with", ())
    ]

    file = (PROJECT / "noxfile.py").read_text("utf-8")
    sessions = set(re.findall(r'^ {4}"(3\.\d+)": ', file, re.MULTILINE))

    assert set(promised) == {*sessions, *re.findall(r'^MAIN = "(.+)"', file, re.MULTILINE)}
    assert [promised] == [
        [version for version in found.split() if not version.endswith("t")] for found in run
    ]
    assert [promised] == [sorted(found, key=Version) for found in hosted]
