"""Cases from public test suites: policies, repair suites, prefixes, hostile strings, JSONTestSuite."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wholecall import parse_arguments

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.cases

EXECUTABLE = {"exact", "normalised", "recovered"}


def load(path: Path) -> Any:
    """Return the JSON document in a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def canonical(value: object) -> str:
    """Return a spelling that distinguishes 1, 1.0 and true."""
    return json.dumps(value, sort_keys=True)


def test_policies_for_recovery(vectors_dir: Path) -> None:
    """Each text has the status, arguments, edits, flags and reason that its case names."""
    for case in load(vectors_dir / "policies.json")["R4_recovery"]:
        verdict = parse_arguments(case["raw"])
        actual = {
            "status": verdict.status,
            "arguments": verdict.arguments,
            "edits": sorted({edit.kind for edit in verdict.edits}),
            "flags": list(verdict.flags),
            "reason": verdict.reason,
        }
        expected = {**actual, **case["expect"]}
        assert {**expected, "edits": sorted(expected["edits"])} == actual, case["id"]


def test_policies_for_parsing_once(vectors_dir: Path) -> None:
    """Valid JSON is exact, whatever its strings look like."""
    for case in load(vectors_dir / "policies.json")["R1_parse_once"]:
        verdict = parse_arguments(case["wire_arguments_text"])
        assert ("exact", case["expect"]) == (verdict.status, verdict.arguments), case["id"]


def test_dangerous_texts_are_not_executable(vectors_dir: Path) -> None:
    """No text that its suite calls dangerous is emitted."""
    lines = (vectors_dir / "repair_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [
        case for case in map(json.loads, lines) if case["expect"] == "flag" and not case["schema_guided"]
    ]
    assert [case["name"] for case in cases if parse_arguments(case["input"]).status != "dropped"] == []
    assert len(cases) >= 30


def test_no_prefix_is_executable(vectors_dir: Path) -> None:
    """Every proper prefix of real argument objects is `truncated`."""
    for text, _ in load(vectors_dir / "json_prefix_docs.json"):
        reasons = {parse_arguments(text[:size]).reason for size in range(1, len(text))}
        assert reasons == {"truncated"}, len(text)


def test_hostile_strings_are_never_silently_wrong(vectors_dir: Path) -> None:
    """One defect next to hostile strings is undone without touching them; a missing brace drops the call."""
    documents = load(vectors_dir / "hostile_strings.json")
    for defect, texts in load(vectors_dir / "hostile_defects.json"):
        verdicts = [parse_arguments(text) for text in texts]
        expected = [None if defect == "final } missing" else canonical(document) for document in documents]
        actual = [verdict.arguments and canonical(verdict.arguments) for verdict in verdicts]
        assert expected == actual, defect


def _has_differing_duplicates(raw: bytes) -> bool:
    found = False

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found = found or len({(key, canonical(value)) for key, value in pairs}) > len(dict(pairs))
        return dict(pairs)

    json.loads(raw, object_pairs_hook=unique)
    return found


def _expected_of_valid(raw: bytes) -> str:
    value = json.loads(raw)
    if isinstance(value, dict):
        return "duplicate_key" if _has_differing_duplicates(raw) else "exact"
    return "empty" if value is None else "not_an_object"


def test_json_test_suite(vectors_dir: Path) -> None:
    """Valid objects are exact, other valid JSON has its reason, invalid JSON is never exact."""
    for path in sorted((vectors_dir / "json_test_suite" / "test_parsing").iterdir()):
        raw = path.read_bytes()
        verdict = parse_arguments(raw.decode("utf-8", "surrogateescape"))
        if path.name.startswith("y_"):
            assert _expected_of_valid(raw) == (verdict.reason or verdict.status), path.name
        if path.name.startswith("n_"):
            assert verdict.status != "exact", path.name
