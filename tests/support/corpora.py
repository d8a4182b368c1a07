"""The project's own recordings as they lie in `corpora/recordings`, and the one place that reads their sidecars.

A case is three files side by side: the bytes, `<case>.case.json`, which says what they show and what must come
out, and `<case>.events.jsonl`, the golden log. What is missing or unfinished is no case yet, and
`tests/hygiene/test_corpora.py` says so.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "CORPORA",
    "GOLDEN",
    "RECORDINGS",
    "SIDECAR",
    "cases",
    "golden",
    "recorded",
    "sidecar_of",
    "sidecar_text",
    "streams",
]

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
RECORDINGS = CORPORA / "recordings"
SIDECAR = ".case.json"
GOLDEN = ".events.jsonl"


def streams() -> list[Path]:
    """Return the files that hold bytes of servers, in the order of their paths."""
    files = (path for path in RECORDINGS.rglob("*") if path.is_file())
    return sorted(path for path in files if not path.name.endswith((SIDECAR, GOLDEN)))


def sidecar_of(stream: Path) -> Path:
    """Return where the sidecar of a stream belongs."""
    return stream.with_name(stream.stem + SIDECAR)


def sidecar_text(said: dict[str, Any]) -> bytes:
    """Return the text of a sidecar: indented, in UTF-8; only half a surrogate pair, which UTF-8 lacks, is escaped."""
    return (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


@cache
def cases() -> tuple[dict[str, Any], ...]:
    """Return the cases by name: what their sidecars say, and `name`, `file` and `dialect`, which their paths say."""
    found = [_case(path) for path in streams() if _is_finished(sidecar_of(path))]
    return tuple(sorted(found, key=lambda case: case["name"]))


def recorded(case: dict[str, Any]) -> bytes:
    """Return the bytes of a case."""
    return (CORPORA / case["file"]).read_bytes()


def golden(case: dict[str, Any]) -> Path:
    """Return where the golden log of a case is kept."""
    return RECORDINGS / f"{case['name']}{GOLDEN}"


def _case(stream: Path) -> dict[str, Any]:
    below = stream.relative_to(RECORDINGS)
    place = {
        "name": below.with_suffix("").as_posix(),
        "file": stream.relative_to(CORPORA).as_posix(),
        "dialect": below.parent.as_posix(),
    }
    return place | json.loads(sidecar_of(stream).read_bytes())


def _is_finished(sidecar: Path) -> bool:
    """Tell whether a sidecar says what must come out; tests of the cases cannot be collected without that."""
    try:
        said = json.loads(sidecar.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(said, dict) and isinstance(said.get("expect"), dict)
