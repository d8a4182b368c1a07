from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import bless, corpora
from wholecall.errors import BadRecording
from wholecall.recordings import Recording, read
from wholecall.recordings.finding import SUFFIXES
from wholecall.redacting import Redaction, redact
from wholecall.replay import replay

if TYPE_CHECKING:
    from pathlib import Path

# Words of events that are ours or the protocol's, and must not change.
WORDS = frozenset(
    {
        *("type", "kind", "dialect", "model", "reason", "provider_reason", "status", "flags", "edits"),
        *("anomalies", "usage"),
    }
)
DIALECTS = sorted({entry["dialect"] for entry in corpora.cases()})
SIZE = 1460


def taken(recording: Recording) -> tuple[Recording, list[tuple[float | None, bytes]]]:
    """Return a recording with its chunks at hand: cut, with times."""
    data = b"".join(chunk for _, chunk in recording.chunks)
    chunks: list[tuple[float | None, bytes]] = [
        (at / 8, piece) for at, piece in enumerate(bless.in_chunks(data, SIZE))
    ]
    recording.chunks = iter(chunks)
    return recording, chunks


def blurred(value: Any, key: str = "") -> Any:
    """Return a value of an event without its letters: each letter or digit is its size in UTF-8."""
    if key in WORDS:
        return value
    if isinstance(value, str):
        return "".join(blurred_char(char) for char in value)
    if isinstance(value, dict):
        return [(blurred(name), blurred(one, name if key == "event" else "")) for name, one in value.items()]
    return [blurred(one) for one in value] if isinstance(value, list) else value


@cache
def blurred_char(char: str) -> str:
    """Return the size of a letter, a digit, or half of a character beyond the BMP; other characters as they are."""
    size = len(char.encode("utf-8", "surrogatepass"))
    return str(size) if char.isalnum() or size > 3 or "\udc00" <= char <= "\udfff" else char


def told(recording: Recording) -> list[Any]:
    """Return a recording's events without letters."""
    return [blurred(json.loads(event.to_json()), "event") for event in replay(recording)]


def trouble(recording: Recording, redaction: Redaction) -> str | None:
    """Return the parts of law 63 that a recording breaks."""
    recording, chunks = taken(recording)
    try:
        redacted = redact(recording, redaction)
    except BadRecording as error:
        return f"{error}; are keys of the protocol's words missing in redacting/rules.py?"
    others = list(redacted.chunks)
    if [(at, len(chunk)) for at, chunk in others] != [(at, len(chunk)) for at, chunk in chunks]:
        return "other chunks"
    recording.chunks, redacted.chunks = iter(chunks), iter(others)
    return None if told(recording) == told(redacted) else "other events"


@pytest.mark.sampled(27)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "names", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["names-kept", "names"]
)
def test_a_redacted_recording_behaves_as_before(dialect: str, names: bool) -> None:
    """Law 63: the same chunks and times, and the same events except letters; no recording of the corpora is refused."""
    found = [entry for entry in corpora.cases() if entry["dialect"] == dialect]
    redaction = Redaction(f"{dialect}-{names}", names=names)
    wrong = {
        entry["name"]: what
        for entry in found
        for recording in read(corpora.CORPORA / entry["file"])
        if (what := trouble(recording, redaction)) is not None
    }

    assert found
    assert {} == wrong


@pytest.mark.parametrize("seed", ["1", "2"])
@pytest.mark.cases
def test_a_redacted_stream_behaves_as_before(recordings_dir: Path, seed: str) -> None:
    """Law 63, with further recorded streams."""
    found = [path for path in sorted(recordings_dir.iterdir()) if path.suffix in SUFFIXES]
    wrong = {
        recording.name: what
        for recording in read(*found)
        if (what := trouble(recording, Redaction(seed))) is not None
    }

    assert len(found) > 100
    assert {} == wrong


def test_what_is_redacted_is_said_in_other_letters() -> None:
    """Law 63 holds for replaced text: no text of two letters or more stays as it was."""
    same = [
        (entry["name"], before.text)
        for entry in corpora.cases()[::6]
        for recording in read(corpora.CORPORA / entry["file"])
        for before, after in both(recording)
        if before == after and sum(char.isalpha() and char.isascii() for char in before.text) > 1
    ]

    assert [] == same


def both(recording: Recording) -> list[tuple[Any, Any]]:
    """Return the texts of a recording next to its texts without letters."""
    recording, chunks = taken(recording)
    redacted = redact(recording, Redaction("law"))
    recording.chunks = iter(chunks)
    pairs = zip(replay(recording), replay(redacted), strict=True)
    return [pair for pair in pairs if type(pair[0]).__name__ in {"TextDelta", "ReasoningDelta"}]
