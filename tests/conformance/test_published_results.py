"""The published results of clients, and the texts to their projects: they say what was measured, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.client_reports import is_shown
from tests.support.client_results import FOLDER, SUITE, cases, judged
from tests.support.client_snippets import NODE, PYTHON
from wholecall.grading.conform.results import Results, load

PUBLISHED = sorted(FOLDER.glob("*.json"))


def unsafe(results: Results) -> set[tuple[str, str]]:
    """Return the clients, with their wires, that ran an unsent call in a stream that a text can show."""
    return {
        (client.name, client.wire)
        for client in results.clients
        for run in client.cases
        if run.verdict == "unsafe" and is_shown(run.case)
    }


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_a_result_file_is_named_after_its_client(path: Path) -> None:
    """A file holds the runs of one client and version, all that were planned, over the data that is here."""
    results = load(path)
    version = (SUITE / "VERSION").read_text("utf-8").strip()

    assert ({path.stem}, True, version) == (
        {f"{client.name}@{client.version}" for client in results.clients},
        results.complete,
        results.data,
    )


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_published_verdicts_are_those_of_the_rules(path: Path) -> None:
    """What a client made of a case is judged now as the file says."""
    runs = [run for client in load(path).clients for run in client.cases]
    changed = [run.case for run in runs if run.case not in cases() or judged(run) != run]

    assert [] == changed


def test_every_unsafe_client_has_its_text() -> None:
    """A client has a text to its project if a program shows an unsent call, and the clients of ours have none."""
    found = {client for path in PUBLISHED for client in unsafe(load(path))}
    expected = {name for name, wire in found if (name, wire) in PYTHON or (name, wire) in NODE}

    assert expected == {path.stem for path in (SUITE / "reports").glob("*.md")}
