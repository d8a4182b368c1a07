"""wholecall over its own conformance suite: every case, under every name."""

from __future__ import annotations

import json
import string
from collections import Counter
from pathlib import Path

import jsonschema_rs
import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support import share
from wholecall.cli import main
from wholecall.grading.conform.cases import open_suite
from wholecall.grading.conform.own import OwnClient
from wholecall.grading.conform.running import Runner, Settings, plan
from wholecall.grading.conform.seeds import THINGS, reseeded, reseeding

SUITE = PROJECT / "conformance"
KINDS = tuple(text.encode() for text in (string.ascii_lowercase, string.ascii_uppercase, string.digits))
SEEDS = [
    pytest.param(n, marks=() if n == 0 else pytest.mark.slow)
    for n in (0, *share.every(6, range(1, 20), "seeds"))
]


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


def test_almost_every_case_changes_with_the_seed() -> None:
    """Only cases without a tool and an id stay; and few keep a name, an id or a value."""
    cases = open_suite(SUITE).cases()
    others = [reseeding(case, 1) for case in cases]
    same = [case for case, other in zip(cases, others, strict=True) if case is other.case]
    kept = Counter(thing for other in others for thing in other.kept)

    assert [] == [case.id for case in same if case.request.tools or [*case.calls()]]
    assert len(same) < 20
    assert dict.fromkeys(THINGS, True) == {thing: kept[thing] * 15 < len(cases) for thing in THINGS}


def test_a_seed_changes_letters_and_digits_alone() -> None:
    """Frames, cuts, escapes and keys stay: the bytes differ in ASCII letters and digits only, each for one of its kind."""
    cases = [case for case in open_suite(SUITE).cases() if case.suffix != ".bin"]
    pairs = {
        (old, new)
        for case in cases
        for old, new in zip(case.data, reseeding(case, 2).case.data, strict=True)
        if old != new
    }
    kinds = {tuple(next((kind for kind in KINDS if n in kind), b"") for n in pair) for pair in pairs}

    assert {(kind, kind) for kind in KINDS} == kinds


def test_a_file_of_results_is_as_its_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `wholecall conform run` writes is valid, with a seed and without."""
    schema = json.loads((SUITE / "schema" / "results.schema.json").read_text("utf-8"))
    for options in ([], ["--seed", "3"]):
        report = tmp_path / "o.json"
        asked = ["--data", str(SUITE), "--only", "*/cut-*", "--report", str(report)]
        assert main(["conform", "run", *asked, *options]) == 0
        jsonschema_rs.validate(schema, json.loads(report.read_text("utf-8")))

    assert "unsafe" in capsys.readouterr().out
