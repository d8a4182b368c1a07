"""The project's recordings in `corpora/recordings`, and the only module that reads their sidecars.

A case is three files side by side: the bytes, `<case>.case.json`, which states their content and the expected result,
and `<case>.events.jsonl`, the golden log. A missing or unfinished case does not count as a case yet, and
`tests/hygiene/test_corpora.py` reports it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
RECORDINGS = CORPORA / "recordings"
Entry = TypeVar("Entry", dict[str, Any], Path, str)  # a case, the file of its stream, its name
SIDECAR = ".case.json"
GOLDEN = ".events.jsonl"


def streams() -> list[Path]:
    """Return the files that hold bytes of servers, in the order of their paths."""
    return [*_streams(RECORDINGS)]


@cache
def _streams(folder: Path) -> tuple[Path, ...]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return tuple(sorted(path for path in files if not path.name.endswith((SIDECAR, GOLDEN))))


def forget() -> None:
    """Look at the files again: some were written."""
    for remembered in (_streams, cases, _by_name):
        remembered.cache_clear()


def sidecar_of(stream: Path) -> Path:
    """Return the path of a stream's sidecar."""
    return stream.with_name(stream.stem + SIDECAR)


def sidecar_text(said: dict[str, Any]) -> bytes:
    """Return the text of a sidecar: indented, in UTF-8; only a lone surrogate, which UTF-8 lacks, is escaped."""
    return (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


@cache
def cases() -> tuple[dict[str, Any], ...]:
    """Return the cases by name: the content of their sidecars, and `name`, `file` and `dialect` from their paths."""
    found = [_case(path) for path in streams() if _is_finished(sidecar_of(path))]
    return tuple(sorted(found, key=lambda case: case["name"]))


def recorded(case: dict[str, Any]) -> bytes:
    """Return the bytes of a case."""
    return (CORPORA / case["file"]).read_bytes()


def groups(entries: Iterable[Entry], *, long: int | None = None) -> list[Any]:
    """Return parameters of a test: all entries of a dialect at once.

    A separate test for each of some hundred recordings costs more than most of the laws. A law names the recording that
    breaks it. Recordings of more than `long` bytes make another group, which is slow.
    """
    found: dict[tuple[str, bool], list[Entry]] = {}
    for entry in entries:
        path = _place(entry)
        is_long = long is not None and path.stat().st_size > long
        found.setdefault((path.parent.relative_to(RECORDINGS).as_posix(), is_long), []).append(entry)
    return [
        pytest.param(group, id=f"{dialect}, long" if is_long else dialect, marks=[pytest.mark.slow] * is_long)
        for (dialect, is_long), group in found.items()
    ]


def golden(case: dict[str, Any]) -> Path:
    """Return the path of a case's golden log."""
    return RECORDINGS / f"{case['name']}{GOLDEN}"


def golden_lines(case: dict[str, Any]) -> bytes:
    """Return the golden log of a case, or an instruction if it is missing."""
    path, name = golden(case), case["name"]
    if path.exists():
        return path.read_bytes()
    how = f"python -m tests.support.bless --reason 'a new recording' {name}"
    return f"{name} has no golden log; look at its events, then: {how}\n".encode()


def _place(entry: dict[str, Any] | Path | str) -> Path:
    """Return the file of an entry's stream."""
    if isinstance(entry, Path):
        return entry
    return CORPORA / (entry if isinstance(entry, dict) else _by_name()[entry])["file"]


@cache
def _by_name() -> dict[str, dict[str, Any]]:
    return {case["name"]: case for case in cases()}


def _case(stream: Path) -> dict[str, Any]:
    below = stream.relative_to(RECORDINGS)
    place = {
        "name": below.with_suffix("").as_posix(),
        "file": stream.relative_to(CORPORA).as_posix(),
        "dialect": below.parent.as_posix(),
    }
    return place | json.loads(sidecar_of(stream).read_bytes())


def _is_finished(sidecar: Path) -> bool:
    """Return whether a sidecar states the expected result; tests of the cases cannot be collected without it."""
    try:
        said = json.loads(sidecar.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(said, dict) and isinstance(said.get("expect"), dict)
