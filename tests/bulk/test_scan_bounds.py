"""How much a compressed input of a scan may hold."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import wholecall.recordings.inflate as inflating
from tests.support.scanning import Inline, rows, stream
from wholecall.bulk.scanning import scan

TEXT = stream(1) + b": " + b"x" * 150_000 + b"\n\n"


@pytest.mark.parametrize("is_table", [False, True])
def test_a_scan_has_the_bound_of_recordings(
    is_table: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds more is a row with its trouble; with another bound it is read."""
    monkeypatch.setattr(inflating, "_ANYWAY", 1000)
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)
    line = json.dumps({"body": TEXT.decode()}).encode() + b"\n"
    path = tmp_path / ("a.jsonl.gz" if is_table else "a.sse.gz")
    path.write_bytes(gzip.compress(line if is_table else TEXT))
    options: dict[str, Any] = {"body": "body"} if is_table else {}
    troubles: list[Any] = []
    for name, most in (("usual", None), ("larger", 1_000_000)):
        for _ in scan([path], tmp_path / name, max_bytes=most, **options):
            pass
        troubles += [trouble for (trouble,) in rows(tmp_path / name, "trouble")]

    assert [True, None] == [trouble and "its gzip data holds more than" in trouble for trouble in troubles]
