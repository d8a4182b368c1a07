"""The corpora's poisoned transcripts: their repaired form, by hand and to the byte; and their manifest."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.support import make_transcripts
from tests.support.make_transcripts import FOLDER
from tests.support.transcript_rules import complaints, said
from wholecall.history import repair_transcript

ENTRIES: list[dict[str, Any]] = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
every_transcript = pytest.mark.parametrize("entry", ENTRIES, ids=[entry["name"] for entry in ENTRIES])
# Facts of the report that name calls; those that are indices differ from shape to shape.
FACTS = ("stripped_calls", "dropped_results", "synthesised", "moved", "coerced", "renamed")


@every_transcript
def test_what_a_repaired_transcript_says(entry: dict[str, Any]) -> None:
    """A poisoned transcript is recognised, breaks the rules, and has the expected content after repair."""
    messages = make_transcripts.read(FOLDER / entry["file"])
    found = repair_transcript(messages)

    assert entry["says"] == said(entry["shape"], list(found.messages))
    assert entry["report"] == {fact: told for fact in FACTS if (told := getattr(found.report, fact))}
    assert [] == complaints(entry["shape"], list(found.messages))


@every_transcript
def test_repaired_transcripts_are_as_they_were(entry: dict[str, Any]) -> None:
    """The repaired transcript is the one that lies next to it, byte for byte, and needs no repair."""
    found = repair_transcript(make_transcripts.read(FOLDER / entry["file"])).messages
    beside = make_transcripts.repaired_file(entry)
    kept = make_transcripts.read(beside)

    assert beside.read_bytes() == make_transcripts.lines(entry["shape"], found)
    assert repair_transcript(kept).messages is kept


def test_the_manifest_is_the_scripts() -> None:
    """The manifest and the files are those that the script writes, and no others lie there."""
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*")} - {"manifest.json"}
    listed = {entry["file"] for entry in ENTRIES}
    repaired = {make_transcripts.repaired_file(entry).relative_to(FOLDER).as_posix() for entry in ENTRIES}
    sums = {entry["file"]: entry["sha256"] for entry in ENTRIES}

    assert make_transcripts.entries() == ENTRIES
    assert listed | repaired == files
    assert sums == {file: hashlib.sha256((FOLDER / file).read_bytes()).hexdigest() for file in listed}
