"""Every recording is known by its first decisive frame: as its own dialect, and as no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import corpora
from tests.support.detected import first_decided
from tests.support.together import together
from wholecall import EXECUTABLE, ToolCallParser, ToolCallStarted
from wholecall.dialects.claims import NARROWER


def flaw(data: bytes, dialect: str) -> str | None:
    """Return the troubles of a stream's detection, None where its dialect is found and no other is possible."""
    parser = ToolCallParser()
    parser.feed(data)
    parser.close()
    if parser.dialect != dialect:
        return f"found as {parser.dialect}"
    willing = first_decided(data)
    others = [name for name in willing if name != dialect and (dialect, name) not in NARROWER]
    if others or dialect not in willing:
        return f"its first decisive frame is one of {', '.join(willing) or 'no dialect'}"
    return None


@together("entries", corpora.groups(corpora.cases()))
def test_a_recording_is_found_as_its_dialect(entries: list[dict[str, Any]]) -> None:
    """A recording is detected as its folder's dialect, and no other dialect claims the deciding frame."""
    flaws = {entry["name"]: flaw(corpora.recorded(entry), entry["dialect"]) for entry in entries}

    assert dict.fromkeys(flaws) == flaws


@pytest.mark.parametrize("dialect", ["a2a", "mcp"])
def test_what_holds_no_calls_gives_none(dialect: str) -> None:
    """Whatever comes under the name of a dialect without calls, every recording of the others included."""
    called = (ToolCallStarted, *EXECUTABLE)
    found = {
        case["name"]: [type(event).__name__ for event in events if isinstance(event, called)]
        for case in corpora.cases()
        for parser in [ToolCallParser(dialect)]
        for events in [parser.feed(corpora.recorded(case)) + parser.close()]
    }

    assert {name: [] for name in found} == found


@pytest.mark.cases
def test_further_recordings_are_found_as_their_dialects(recordings_dir: Path) -> None:
    """The same holds for streams that other projects recorded, by their manifest."""
    rows = map(json.loads, (recordings_dir / "manifest.jsonl").read_text(encoding="utf-8").splitlines())
    flaws = {row["name"]: flaw((recordings_dir / row["file"]).read_bytes(), row["dialect"]) for row in rows}

    assert dict.fromkeys(flaws) == flaws
