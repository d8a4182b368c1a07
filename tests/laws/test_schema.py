"""Law 118: the repairer's output conforms to the published schema of its wire."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.models.streams import Streams
from tests.models.table import MODELS
from tests.support import corpora, quirky
from tests.support.conforming import BODIES as SOUND_BODIES
from tests.support.conforming import OTHERS, STREAMS, changed, changed_at, payloads, places, stream_of
from wholecall import ToolCallParser
from wholecall.calls.output.events import EXECUTABLE, Event, ReasoningDelta, TextDelta
from wholecall.repairing import Repairer, repair_body
from wholecall.repairing.schema import BODIES, CHUNK, EVENTS, GEMINI, conformed

ASKED: Mapping[str, Any] = {
    "anthropic": EVENTS,
    "chat-completions": CHUNK,
    "gemini": GEMINI,
    "responses": EVENTS,
}


def wrong(data: bytes) -> list[dict[str, Any]]:
    """Return the frames that leave a repairer and are not as they should be, if it repairs the stream."""
    repairer = Repairer()
    out = repairer.feed(data) + repairer.close()
    asked = ASKED.get(repairer.report.dialect or "")
    if repairer.report.unread or asked is None:
        return []
    return [payload for payload in payloads(out) if conformed(payload, asked, is_first=True) is not payload]


def told(events: list[Event[Any]]) -> tuple[str, list[Any]]:
    """Return the text and reasoning that a stream holds, and its calls, in any order."""
    text = "".join(event.text for event in events if isinstance(event, (TextDelta, ReasoningDelta)))
    calls = [event for event in events if isinstance(event, EXECUTABLE)]
    return text, sorted(str((getattr(call, "name", ""), getattr(call, "arguments", ""))) for call in calls)


def read(data: bytes, dialect: str) -> tuple[str, list[Any]]:
    """Return the parser's events of a stream."""
    parser: ToolCallParser[Any] = ToolCallParser(dialect)
    return told([*parser.feed(data), *parser.close()])


def test_recordings_leave_the_repairer_as_the_schema_asks() -> None:
    """Every frame of every recording, except errors of a server and unreadable frames."""
    found = {
        f"{path.parent.name}/{path.stem}": frames
        for path in corpora.streams()
        if path.parent.name in ASKED and path.suffix == ".sse" and (frames := wrong(path.read_bytes()))
    }

    assert {} == found


def test_recordings_of_which_a_member_is_another_leave_it_so() -> None:
    """The same for every recording in which any one member of a frame is missing or of another type."""
    drawn = random.Random("schema")
    found = []
    for path in corpora.streams():
        blocks = path.read_bytes().split(b"\n\n")
        heads = [at for at, block in enumerate(blocks) if re.fullmatch(rb"(event: .*\n)?data: \{.*\}", block)]
        if path.parent.name not in ASKED or path.suffix != ".sse" or not heads:
            continue
        for at in drawn.choices(heads, k=3):
            head, _, text = blocks[at].partition(b"data: ")
            payload = json.loads(text)
            what = (drawn.choice(list(places(payload))), drawn.choice(("gone", *OTHERS)))
            payload = changed_at(payload, *what)
            data = b"\n\n".join(
                [*blocks[:at], head + b"data: " + json.dumps(payload).encode(), *blocks[at + 1 :]]
            )
            if wrong(data):
                found.append((f"{path.parent.name}/{path.stem}", at, what))

    assert [] == found


def lost(blocks: list[bytes], drawn: random.Random) -> list[bytes]:
    """Return the blocks of a stream of which a relay lost, repeated, swapped or cut one, or a byte of one is another."""
    at, other = drawn.randrange(len(blocks)), drawn.randrange(len(blocks))
    block = blocks[at]
    cut = drawn.randrange(len(block) + 1)
    changed_block = block[:cut] + bytes([drawn.randrange(256)]) + block[cut + 1 :]
    swapped = blocks[:]
    swapped[at], swapped[other] = blocks[other], block
    return drawn.choice(
        [
            [*blocks[:at], *blocks[at + 1 :]],
            [*blocks[:other], block, *blocks[other:]],
            swapped,
            blocks[: at + 1],
            [*blocks[:at], block[:cut]],
            [*blocks[:at], block[:cut], *blocks[at + 1 :]],
            [*blocks[:at], changed_block, *blocks[at + 1 :]],
        ]
    )


def test_what_a_relay_did_to_a_recording_leaves_it_so() -> None:
    """The same for every recording that lost a frame, got one twice or in another place, or broke off."""
    drawn = random.Random("relay")
    found = []
    for path in corpora.streams():
        if path.parent.name not in ASKED or path.suffix != ".sse":
            continue
        blocks = path.read_bytes().split(b"\n\n")
        for _ in range(2):
            data = b"\n\n".join(lost(blocks, drawn))
            if wrong(data):
                found.append((f"{path.parent.name}/{path.stem}", data))

    assert [] == found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", quirky.MODES)
def test_quirky_streams_leave_it_so(mode: str) -> None:
    """The same for the streams of every server with a quirk."""
    assert [[]] * 3 == [wrong(quirky.make(f"schema:{number}", (mode,)).bytes()) for number in range(3)]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("dialect", ASKED)
def test_modelled_streams_leave_it_so(dialect: str) -> None:
    """The same for streams of a dialect's model, with servers' habits of labels, pieces and ends of calls."""
    model = MODELS[dialect]
    streams = Streams(model, 1, few=True)
    found = []
    for stream in random.Random("schema").sample(list(streams), 200):
        data = b"".join(streams.chunks[number] for number in stream)  # type: ignore[misc]
        if wrong(data):
            found.append(data)

    assert [] == found


@pytest.mark.cases
def test_further_recordings_leave_it_so(recordings_dir: Path) -> None:
    """The same for further recorded streams."""
    paths = [path for path in sorted(recordings_dir.iterdir()) if path.suffix == ".sse"]

    assert {} == {path.name: frames for path in paths if (frames := wrong(path.read_bytes()))}


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("dialect", "number"), [(name, at) for name in STREAMS for at in range(len(STREAMS[name]))]
)
def test_whatever_a_member_is(dialect: str, number: int) -> None:
    """Any member of any frame may be missing or of another type: the output conforms, and reads like the input."""
    sound = STREAMS[dialect][number]
    found = []
    for at, frame in enumerate(sound):
        for what, payload in changed(frame):
            data = stream_of(dialect, [*sound[:at], payload, *sound[at + 1 :]])
            repairer = Repairer(expected=dialect, withheld="end")
            out = repairer.feed(data) + repairer.close()
            if wrong(data) or read(data, dialect) != read(out, dialect):
                found.append((at, what))

    assert [] == found


@pytest.mark.parametrize("dialect", STREAMS)
def test_what_is_sound_stays(dialect: str) -> None:
    """Complete streams and bodies pass byte for byte, at any cut of a stream."""
    for frames in STREAMS[dialect]:
        data = stream_of(dialect, frames)
        for size in (1, 7, len(data)):
            repairer = Repairer()
            out = b"".join(repairer.feed(data[at : at + size]) for at in range(0, len(data), size))

            assert data == out + repairer.close()
    for body in SOUND_BODIES[dialect]:
        data = json.dumps(body, indent=1).encode()

        assert data == repair_body(data).data


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("dialect", "number"), [(name, at) for name in SOUND_BODIES for at in range(len(SOUND_BODIES[name]))]
)
def test_whatever_a_member_of_a_body_is(dialect: str, number: int) -> None:
    """The same for whole bodies."""
    found = []
    for what, body in changed(SOUND_BODIES[dialect][number]):
        came = json.dumps(body).encode()
        repaired = repair_body(came, withheld="end")
        payload = json.loads(repaired.data)
        if repaired.report.dialect != dialect or repaired.report.unread or payload.get("error"):
            continue
        is_sound = conformed(payload, BODIES[dialect], is_first=True) is payload
        if not is_sound or read(came, dialect)[1] != read(repaired.data, dialect)[1]:
            found.append(what)

    assert [] == found


def test_what_a_schema_misses_is_found() -> None:
    """The law is about something: an object that lacks a member, or has it as another type, is not itself any more."""
    sound = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []}
    asked = BODIES["responses"]

    assert sound is conformed(sound, asked, is_first=True)
    for name in sound:
        lacking = {key: value for key, value in sound.items() if key != name}

        assert sound.keys() == (conformed(lacking, asked, is_first=True) or {}).keys()
    assert {**sound, "id": "resp_0"} == conformed({**sound, "id": ""}, asked, is_first=True)
    assert {**sound, "created_at": 0} == conformed({**sound, "created_at": True}, asked, is_first=True)
