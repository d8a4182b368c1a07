"""Scans of stores that fsspec knows and pyarrow does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scanning import Inline, make_recordings, parts
from tests.support.stores import copied, objects
from wholecall.bulk.scanning import scan

pytestmark = pytest.mark.stores


def test_a_store_of_fsspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are those of a disk, and nothing else is left."""
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    logs = make_recordings(tmp_path / "logs", 14)
    list(scan([logs], tmp_path / "out"))
    url = copied(logs, "memory://logs/all")
    list(scan([f"{url}/**/*.sse"], "memory://logs/out"))
    written = objects("memory://logs/out")

    assert parts(tmp_path / "out") == {k: v for k, v in written.items() if not k.startswith("_scan/")}
    assert ["_scan/done/000000.json", "_scan/plan.jsonl", "_scan/scan.json"] == [
        k for k in written if "_scan" in k
    ]
