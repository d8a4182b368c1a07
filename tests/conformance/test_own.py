"""wholecall over its own conformance suite: every case, under every name."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jsonschema_rs
import pytest

from tests.hygiene.source_tree import PROJECT
from wholecall.cli import main
from wholecall.grading.conform.cases import open_suite
from wholecall.grading.conform.own import OwnClient
from wholecall.grading.conform.running import Runner, Settings, plan
from wholecall.grading.conform.seeds import reseeded

SUITE = PROJECT / "conformance"
SEEDS = [pytest.param(n, marks=() if n == 0 else pytest.mark.slow) for n in range(20)]


def verdicts(settings: Settings) -> dict[str, Counter[str]]:
    """Return how often each verdict was given on each level."""
    suite = open_suite(SUITE)
    cases = suite.cases()
    if settings.seed is not None:
        cases = [reseeded(case, settings.seed) for case in cases]
    found: dict[str, Counter[str]] = {}
    for _, run in Runner(suite, OwnClient, settings).run(plan(OwnClient().hello(), cases, settings)):
        found.setdefault(run.level, Counter())[run.verdict] += 1
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_wholecall_passes_every_case_under_every_name(seed: int) -> None:
    """In each of twenty seeds no call is handed over that nobody sent, and every case is passed."""
    found = verdicts(Settings(seed=seed))

    assert {"core", "common", "damage"} <= found.keys()
    assert {level: {"pass"} for level in found} == {level: set(counts) for level, counts in found.items()}


@pytest.mark.slow
def test_wholecall_passes_in_every_way_of_writing() -> None:
    """Every way of writing that a case names gives the same verdict."""
    found = verdicts(Settings(write="all"))

    assert {level: {"pass"} for level in found} == {level: set(counts) for level, counts in found.items()}


def test_most_cases_change_with_the_seed() -> None:
    """More than half of the cases come under other names."""
    cases = open_suite(SUITE).cases()
    changed = sum(reseeded(case, 1) is not case for case in cases)

    assert changed * 2 > len(cases)


def test_a_file_of_results_is_as_its_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `wholecall conform run` writes is valid, with a seed and without."""
    schema = json.loads((SUITE / "schema" / "results.schema.json").read_text("utf-8"))
    for options in ([], ["--seed", "3"]):
        report = tmp_path / "o.json"
        asked = ["--data", str(SUITE), "--only", "*/cut-*", "--report", str(report)]
        assert main(["conform", "run", *asked, *options]) == 0
        jsonschema_rs.validate(schema, json.loads(report.read_text("utf-8")))

    assert "unsafe" in capsys.readouterr().out
