"""The manifest and the files of the corpora hold together, both ways."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from tests.hygiene.source_tree import CORPORA, numbered_rows

REQUIRED = {"name": str, "file": str, "dialect": str, "origin": str, "quirks": list, "sha256": str}
RECORDING_SUFFIXES = {".sse", ".ndjson", ".jsonl", ".json", ".bin"}
GOLDEN_SUFFIX = ".events.jsonl"


@cache
def manifest() -> list[dict[str, Any]]:
    """Return the entries of corpora/manifest.json."""
    entries: list[dict[str, Any]] = json.loads((CORPORA / "manifest.json").read_text("utf-8"))
    return entries


def recordings() -> set[str]:
    """Return the recordings that are there, by their path below corpora/."""
    files = (path for path in (CORPORA / "recordings").rglob("*") if path.is_file())
    return {path.relative_to(CORPORA).as_posix() for path in files if not path.name.endswith(GOLDEN_SUFFIX)}


def golden_of(file: str) -> str:
    """Return the path of the golden log beside a recording."""
    return file[: file.rindex(".")] + GOLDEN_SUFFIX


def test_entries_are_whole() -> None:
    """Each entry has every field, of the right type, and none is empty but the quirks."""
    flawed = [
        (entry.get("file"), field)
        for entry in manifest()
        for field, kind in REQUIRED.items()
        if not isinstance(entry.get(field), kind) or (field != "quirks" and not entry[field])
    ]

    assert manifest()
    assert [] == flawed


def test_names_are_unique() -> None:
    """No two entries share a name or a file."""
    for field in ("name", "file"):
        values = [entry[field] for entry in manifest()]
        assert sorted(set(values)) == sorted(values)


def test_every_recording_is_listed() -> None:
    """The manifest lists the recordings that are there, and no other."""
    assert recordings() == {entry["file"] for entry in manifest()}


def test_recordings_have_a_known_form() -> None:
    """A recording's suffix is one that can be replayed, and its folder is its dialect."""
    flawed = [
        entry["file"]
        for entry in manifest()
        if "." + entry["file"].rpartition(".")[2] not in RECORDING_SUFFIXES
        or entry["file"].split("/")[:-1] != ["recordings", entry["dialect"]]
    ]

    assert [] == flawed


def test_checksums_hold() -> None:
    """No byte of a recording has changed since it was listed."""
    changed = [
        entry["file"]
        for entry in manifest()
        if hashlib.sha256((CORPORA / entry["file"]).read_bytes()).hexdigest() != entry["sha256"]
    ]

    assert [] == changed


def test_every_recording_has_its_golden() -> None:
    """Beside each recording lies its log of events, and no log lies alone."""
    found = {
        path.relative_to(CORPORA).as_posix() for path in (CORPORA / "recordings").rglob("*" + GOLDEN_SUFFIX)
    }

    assert {golden_of(entry["file"]) for entry in manifest()} == found


def test_quirks_exist() -> None:
    """The quirks that an entry claims are in docs/quirks.md, each once, in order."""
    known = numbered_rows("quirks.md").keys()
    flawed = [
        entry["file"]
        for entry in manifest()
        if not known >= set(entry["quirks"]) or sorted(set(entry["quirks"])) != entry["quirks"]
    ]

    assert [] == flawed


def test_no_recording_is_there_twice() -> None:
    """No two recordings are the same bytes."""
    sums = [entry["sha256"] for entry in manifest()]

    assert sorted(set(sums)) == sorted(sums)
