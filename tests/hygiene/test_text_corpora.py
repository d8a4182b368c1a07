"""The cases of calls in text hold together: every format has its file, every file the cases that each format needs."""

from __future__ import annotations

import json

from tests.hygiene.source_tree import numbered_rows
from tests.support.corpora import SIDECAR
from tests.support.texts import STREAMS, TEXTS, leaks, texts
from wholecall.text import FORMATS

NEEDED = {
    "whole",
    "parallel",
    "cut",
    "connection-lost",
    "quoted-in-a-fence",
    "quoted-in-a-span",
    "in-closed-reasoning",
}
MEMBERS = ["name", "about", "text", "ended", "prompt", "in_reasoning", "in_fence", "tools", "expect"]
OPTIONAL = {"ended", "prompt", "in_reasoning", "in_fence"}
EXPECTED = {"calls", "dropped", "text", "reasoning", "anomalies"}
SIDECARS = ["about", "origin", "quirks", "text", "tools", "expect"]


def test_every_format_has_its_cases() -> None:
    """Each format has texts with one call and several, cut ones, quoted ones, and one with reasoning."""
    cases = texts()
    found = {name: {case["name"] for case in cases if case["format"] == name} for name in FORMATS}

    assert {} == {name: NEEDED - names for name, names in found.items() if NEEDED - names}
    assert set(FORMATS) == {path.stem for path in TEXTS.glob("*.jsonl")}


def test_cases_have_their_members() -> None:
    """A case has the known members in their order, its own name, and an expectation of known members."""
    flawed = []
    for path in sorted(TEXTS.glob("*.jsonl")):
        cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        names = [case["name"] for case in cases]
        flawed += [f"{path.stem}: {name} twice" for name in names if names.count(name) > 1]
        for case in cases:
            order = [member for member in MEMBERS if member in case]
            whole = set(MEMBERS) - OPTIONAL <= case.keys() and case["about"].endswith(".")
            if list(case) != order or not whole or not case["expect"].keys() <= EXPECTED:
                flawed.append(f"{path.stem}: {case['name']}")

    assert [] == flawed


def test_streams_have_their_sidecars() -> None:
    """Next to each stream lies its sidecar, with the known members and known quirks, and no sidecar lies alone."""
    cases = leaks()
    streams = {path for path in STREAMS.rglob("*") if path.is_file() and not path.name.endswith(SIDECAR)}
    known = numbered_rows("quirks.md")

    assert streams == {case["stream"] for case in cases}
    for case in cases:
        members = [member for member in case if member not in {"case", "stream"}]
        assert [member for member in SIDECARS if member in case] == members
        assert set(case["quirks"]) <= known.keys()
