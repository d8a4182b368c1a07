"""The project's own recordings: hand-written expectations, golden logs, and any cut of the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import bless, corpora, share
from tests.support.expected import differences, of_kind
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped

ENTRIES = corpora.cases()
SMALL = 4096
FEW = 32

every_recording = pytest.mark.parametrize("entry", ENTRIES, ids=[entry["name"] for entry in ENTRIES])


@together("entries", corpora.groups(ENTRIES))
def test_what_was_expected_by_hand_comes_out(entries: list[dict[str, Any]]) -> None:
    """A recording gives the calls and drops that were derived by hand from the rules, and no others."""
    for entry in entries:
        assert differences(bless.parse([corpora.recorded(entry)]), entry["expect"]) == [], entry["name"]


@every_recording
def test_the_event_log_is_the_golden_one(entry: dict[str, Any]) -> None:
    """The event lines of a recording are those that were blessed last."""
    assert bless.lines(bless.parse([corpora.recorded(entry)])) == corpora.golden_lines(entry)


def test_a_missing_golden_log_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the recording and the command that writes the log, in place of an error of the file system."""
    monkeypatch.setattr(corpora, "RECORDINGS", tmp_path)

    assert (
        "anthropic/new has no golden log; look at its events, then: "
        in corpora.golden_lines({"name": "anthropic/new"}).decode()
    )


@pytest.mark.sampled(17)
@pytest.mark.parametrize("entries", corpora.groups(ENTRIES, long=2 * SMALL))
def test_no_chunk_size_changes_an_event(entries: list[dict[str, Any]]) -> None:
    """Whole or in chunks of any usual size, the same bytes give the same full event list."""
    for entry in entries:
        data = corpora.recorded(entry)
        whole = bless.parse([data])
        for size in bless.CHUNK_SIZES:
            assert bless.parse(bless.in_chunks(data, size)) == whole, (entry["name"], size)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("entries", corpora.groups(ENTRIES, long=2 * SMALL))
def test_no_random_cut_changes_an_event(entries: list[dict[str, Any]]) -> None:
    """Cut at seeded random places, the same bytes give the same full event list."""
    for entry in entries:
        data = corpora.recorded(entry)
        whole = bless.parse([data])
        for seed in range(5):
            assert bless.parse(bless.at_random(data, seed)) == whole, (entry["name"], seed)


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "entries", corpora.groups(entry for entry in ENTRIES if len(corpora.recorded(entry)) <= SMALL)
)
def test_no_chunk_size_at_all_changes_an_event(entries: list[dict[str, Any]]) -> None:
    """A small recording gives the same full event list at every chunk size that cuts it more than once.

    All sizes below 32 are tried, and a share of the others.
    """
    for entry in entries:
        data = corpora.recorded(entry)
        whole = bless.parse([data])
        sizes = range(1, len(data) // 2 + 1)
        for size in (*sizes[:FEW], *share.every(47, sizes[FEW:], entry["name"])):
            assert bless.parse(bless.in_chunks(data, size)) == whole, (entry["name"], size)


def test_long_arguments_are_among_the_recordings() -> None:
    """At least five recordings hold arguments of 8 KB or more, two of them 64 KB or more."""
    longest = []
    for entry in ENTRIES:
        members = [*entry["expect"].get("calls", ()), *entry["expect"].get("dropped", ())]
        if any("arguments_sha256" in found or "raw_sha256" in found for found in members):
            events = bless.parse([corpora.recorded(entry)])
            ended = [*of_kind(events, ToolCall), *of_kind(events, ToolCallDropped)]
            longest.append(max(len(event.raw_arguments.encode()) for event in ended))
    assert sum(size >= 8 * 1024 for size in longest) >= 5
    assert sum(size >= 64 * 1024 for size in longest) >= 2
