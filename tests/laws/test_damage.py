"""Damage to recordings: for any cut or loss on the way, no unsent call is emitted.

The ordinary suite tries one place of every 29th recording; the slow suite one of every fifth, and of a part of the
dialects every sixteenth place. Which ones, the source decides, so that changes go through all. `python -m tests.damage`
tries all, and prints the known faults by dialect and cause.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.damage.__main__ import RATCHET, main
from tests.damage.cases import LAWS, Fault, at_one_place, causes, tried
from tests.damage.streams import Recordings, Stream, of_corpora, of_folder
from tests.damage.ways import DAMAGES, framing, marks_for
from tests.support import encode, ratchet, share
from wholecall.dialects import table

DIALECTS = tuple(dialect.name for dialect in table.DIALECTS)
CALL = encode.Call("call_1", "dredge", '{"metres":4}')
TURN = encode.render_chat(encode.Turn(calls=(CALL,)), encode.every(4))

PLACES = 100  # of one recording, at most; `python -m tests.damage --recordings FOLDER` tries all
ONE_IN = 16
PART = 5  # of the recordings, at one place each

each_law = pytest.mark.parametrize("law", LAWS)


def _complaints(tried_so: str, faults: list[Fault]) -> list[str]:
    """The report of the ratchet, with the first cases of each new cause."""
    counts = causes(faults)
    found = (ratchet.complaints if share.tries_all() else ratchet.excess)(RATCHET, tried_so, counts)
    return found and [*found, *map(str, {fault.what: fault for fault in faults}.values())]


@each_law
@pytest.mark.parametrize("one_in", [29, pytest.param(PART, marks=pytest.mark.slow)])
def test_damage_at_one_place(law: str, one_in: int) -> None:
    """Laws 66 and 67: no call that was not sent, beyond the known faults, at one place of some recordings."""
    faults = at_one_place(law, of_corpora(), one_in=one_in)

    assert _complaints(f"corpora: {law}: at one place", faults) == []


@pytest.mark.slow
@pytest.mark.sampled(4)
@each_law
@pytest.mark.parametrize("dialect", DIALECTS)
def test_damage_at_every_place(law: str, dialect: str) -> None:
    """Laws 66 and 67: nor anywhere else, at a share of all places."""
    recordings = of_corpora()
    _, faults = tried(law, recordings, dialect, one_in=ONE_IN)

    assert _complaints(f"{recordings.name}: {law}: {dialect}", faults) == []


@pytest.mark.slow
@pytest.mark.cases
@pytest.mark.sampled(4)
@each_law
@pytest.mark.parametrize("dialect", DIALECTS)
def test_damage_to_other_recordings(law: str, dialect: str, recordings_dir: Path) -> None:
    """Laws 66 and 67, for other projects' recordings; long streams are tried at some places only."""
    recordings = of_folder(recordings_dir)
    _, faults = tried(law, recordings, dialect, most=PLACES, one_in=ONE_IN)

    assert _complaints(f"{recordings.name}: {law}: {dialect}", faults) == []


# The cases themselves.


def _stream(data: bytes, *, dialect: str = "chat-completions") -> Stream:
    return Stream("made up", dialect, data)


def test_a_recording_holds_what_was_sent() -> None:
    """An emitted call was sent, and so was a call that was dropped although its text is whole."""
    frames = _stream(TURN).frames
    sent = {("function", "dredge", '{"metres": 4}'): 1}
    first = [
        len(frames),
        len(frames) - 3,
        len(frames) - 4,
    ]  # frames: all, without an end, and with half a text

    assert [_stream(b"".join(frames[:n])).held for n in first] == [sent, sent, {}]


@each_law
def test_a_call_that_nobody_sent_is_found(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording without known calls shows all emitted calls as faults."""
    monkeypatch.setattr(Stream, "held", Counter())
    cases, faults = tried(law, Recordings("made up", (_stream(TURN),)), "chat-completions")
    unsent = {call for fault in faults for call in fault.calls}

    assert cases > len(faults) > 0
    assert ("function", "dredge", '{"metres": 4}') in unsent


@pytest.mark.parametrize("way", DAMAGES)
def test_every_damage_changes_frames(way: str) -> None:
    """Each way damages frames of some recording in each framing that it knows, and leaves the others unchanged."""
    changed = Counter(
        framing(stream.data)
        for stream in of_corpora().streams
        for frame in stream.frames[:3]
        if (damaged := DAMAGES[way](frame)) is not None and damaged != frame
    )
    everywhere = {"binary", "events", "lines"}

    assert set(changed) == {"a field's name misspelt": {"events"}}.get(way, everywhere & set(changed))
    assert sum(changed.values()) > 30


def test_marks_are_of_other_dialects() -> None:
    """A stream is never ended by its own mark; in any stream, `[DONE]` and a dozen marks may come."""
    own = {
        dialect: name
        for dialect in DIALECTS
        for name, _ in marks_for(dialect, b"data: ")
        if name == f"the end of {dialect}"
    }

    assert own == {}
    assert {len(dict(marks_for(dialect, b"data: "))) > 12 for dialect in DIALECTS} == {True}


def test_the_program_tells_faults_by_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    """The command tries the requested cases, and reports the numbers of cases and faults."""
    main(["cut", "--dialect", "legacy-completions"])

    assert capsys.readouterr().out.startswith("corpora: cut: legacy-completions: ")
