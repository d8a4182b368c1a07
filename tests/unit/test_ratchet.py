"""Known faults are held by number: a number may only fall."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import ratchet


def _file(folder: Path) -> Path:
    path = folder / "ratchet.json"
    path.write_text(json.dumps({"one": {"lost": 3, "order": 1}}))
    return path


def test_more_and_fewer_are_both_told(tmp_path: Path) -> None:
    """More faults than known are reported; fewer ask for the lower number; the known ones are silent."""
    path = _file(tmp_path)

    assert ratchet.complaints(path, "one", {"lost": 3, "order": 1}) == []
    assert ratchet.complaints(path, "two", {}) == []
    assert ratchet.complaints(path, "two", {"lost": 1}) == ["two: 1 x lost, and at most 0 are known"]
    assert ratchet.complaints(path, "one", {"lost": 4}) == [
        "one: 4 x lost, and at most 3 are known",
        "one: only 0 x order are left of 1: lower the number in ratchet.json",
    ]


def test_numbers_only_fall(tmp_path: Path) -> None:
    """Lower numbers are written, higher ones refused; a number that was never tried is taken as it is."""
    path = _file(tmp_path)
    refused = ratchet.lowered(path, {"one": {"lost": 2, "order": 2}, "two": {"lost": 7}})

    assert refused == ["one: 2 x order"]
    assert ratchet.known(path) == {"one": {"lost": 2, "order": 1}, "two": {"lost": 7}}
    assert ratchet.lowered(path, {"one": {}}) == []
    assert ratchet.known(path)["one"] == {}
