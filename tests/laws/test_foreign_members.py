"""Members of other dialects on the first frame of a stream: no stream is taken for another one's in silence.

In the ordinary suite a sample of recordings and members, in the slow one all of them, also of other projects.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import corpora, share, shown
from wholecall import (
    EXECUTABLE,
    Limits,
    ServerToolCall,
    StreamFault,
    ToolCallDropped,
    ToolCallParser,
    TurnFinished,
)
from wholecall.framing import FRAMINGS
from wholecall.framing.opening import framing_of

# Members that mark one dialect but also occur in frames of others, where they mean little or nothing.
WEAK: dict[str, tuple[Any, ...]] = {
    "metadata": ({"usage": {"x": 1}},),
    "candidates": ([],),
    "usageMetadata": ({"totalTokenCount": 1},),
    "promptFeedback": ({},),
    "response": ("", None, {}),
    "message": ({},),
    "output": ({}, {"message": {"content": []}}),
    "done": (False, True),
    "finishReason": ("stop",),
    "toolCalls": ([],),
    "serverContent": ({},),
    "goAway": ({},),
    "chunk": ({},),
    "trace": ({},),
    "messages": ([],),
    "outputs": ([],),
    "generation_id": ("g",),
    "completion_message": ({"content": "x"},),
}
SAMPLE = 311  # one of this many pairs of a recording and a member
MANY = 13  # the same for the slow tests


class Said(NamedTuple):
    """The result of a stream: its dialect, its calls, and the number of reported faults."""

    dialect: str | None
    calls: list[tuple[str, Any, Any]]
    trouble: Counter[str]


def said(data: bytes) -> Said:
    """Return the result of a stream."""
    parser = ToolCallParser()
    events = parser.feed(data) + parser.close()
    called = (event for event in events if isinstance(event, (*EXECUTABLE, ServerToolCall)))
    calls = [(type(e).__name__, getattr(e, "name", None), getattr(e, "arguments", None)) for e in called]
    trouble = Counter(event.kind for event in events if isinstance(event, StreamFault))
    trouble += Counter(event.reason for event in events if isinstance(event, ToolCallDropped))
    turns = (event for event in events if isinstance(event, TurnFinished))
    trouble += Counter(word for turn in turns for word in turn.anomalies if word == "unread_call")
    return Said(parser.dialect, calls, trouble)


@cache
def members() -> tuple[tuple[str, str], ...]:
    """Return the names and the JSON texts of the members that identify a dialect, decisively or weakly.

    None of them holds a call: a call in a member is one that the frame sends.
    """
    decisive = [
        (name, value) for payload in shown.without_calls().values() for name, value in payload.items()
    ]
    weak = [(name, value) for name, values in WEAK.items() for value in values]
    return tuple(dict.fromkeys((name, json.dumps(value)) for name, value in decisive + weak))


def first_object(data: bytes) -> int | None:
    """Return the start of the first meaningful object of a stream, None in binary streams."""
    name = framing_of(data) or "sse"
    if name == "eventstream":
        return None
    framing = FRAMINGS[name](Limits())
    texts = (frame.data.lstrip() for frame in framing.feed(data) + framing.close())
    found = next(
        (text for text in texts if text.startswith("{") and '"ping"' not in text and text != "{}"), None
    )
    place = -1 if found is None else data.find(found[:40].encode().split(b"\n")[0])
    return None if place < 0 else place


def mutants(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each member that the first frame does not have, and the stream with it."""
    place = first_object(data)
    if place is None:
        return
    try:
        known = json.JSONDecoder(strict=False).raw_decode(data[place:].decode("utf-8", "replace"))[0]
    except ValueError:
        return
    for name, text in members():
        if name not in known:
            yield f"{name}: {text}", data[: place + 1] + f'"{name}":{text},'.encode() + data[place + 1 :]


def is_silent(before: Said, after: Said) -> bool:
    """Return whether a stream was taken for another dialect's, with other calls, without a report."""
    return (
        after.dialect != before.dialect
        and after.calls != before.calls
        and not after.trouble - before.trouble
        and not any("error" in word for word in after.trouble)
    )


def silent(streams: Iterator[tuple[str, bytes]], step: int) -> list[str]:
    """Return which members take which streams to another dialect in silence; of all pairs each `step`th is tried."""
    found, number = [], share.begin(step, "foreign members")
    for name, data in streams:
        before = None
        for what, changed in mutants(data):
            number += 1
            if number % step == 0:
                before = before or said(data)
                if is_silent(before, said(changed)):
                    found.append(f"{name} with {what}")
    return found


def ours() -> Iterator[tuple[str, bytes]]:
    """Yield the project's own recordings that are not long."""
    for case in corpora.cases():
        data = corpora.recorded(case)
        if len(data) < 50_000:
            yield case["name"], data


def test_no_member_takes_a_stream_to_another_dialect_in_silence() -> None:
    """Law 100: the calls are the same, or a fault is reported; some recordings and members."""
    assert [] == silent(ours(), SAMPLE)


@pytest.mark.slow
def test_no_member_takes_any_stream_to_another_dialect_in_silence() -> None:
    """Law 100, for every recording, and many of its members."""
    assert [] == silent(ours(), 1 if share.tries_all() else MANY)


@pytest.mark.slow
@pytest.mark.cases
def test_no_member_takes_further_streams_to_another_dialect_in_silence(recordings_dir: Path) -> None:
    """Law 100, for other projects' recordings."""
    rows = map(json.loads, (recordings_dir / "manifest.jsonl").read_text(encoding="utf-8").splitlines())
    streams = ((row["name"], (recordings_dir / row["file"]).read_bytes()) for row in rows)

    assert [] == silent(((name, data) for name, data in streams if len(data) < 50_000), 5)


@pytest.mark.parametrize(
    ("member", "dialect"),
    [
        ('"metadata":{"usage":{"total_tokens":79}}', "gemini-interactions"),
        ('"usageMetadata":{"totalTokenCount":1}', "gemini-interactions"),
        ('"response":""', "gemini-interactions"),
        ('"candidates":[]', "gemini-interactions"),
    ],
)
def test_what_a_frame_says_it_is_outranks_members_that_others_carry(member: str, dialect: str) -> None:
    """Google's `interaction.created` carries a `metadata` since June 2026, as an event of Bedrock's does."""
    created = '{"interaction":{"id":"v1"},"event_type":"interaction.created",' + member + "}"
    call = {"type": "function_call", "id": "c", "name": "get_tide", "arguments": {"port": "Brest"}}
    steps = [
        {"index": 0, "step": call, "event_type": "step.start"},
        {"index": 0, "event_type": "step.stop"},
        {"interaction": {"id": "v1", "status": "requires_action"}, "event_type": "interaction.completed"},
    ]
    data = "".join(f"data: {text}\n\n" for text in (created, *map(json.dumps, steps))).encode()

    assert (dialect, ["get_tide"]) == (said(data).dialect, [name for _, name, _ in said(data).calls])


def sse(*payloads: dict[str, Any]) -> bytes:
    """Write payloads as server-sent events."""
    return b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)


QUIET = {"method": "thread/started", "params": {"thread": {"id": "t"}}}  # of Codex's server, without meaning
CHUNK = {"id": "r", "choices": [{"index": 0, "delta": {"content": "x"}}]}


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_dialect_that_understood_nothing_gives_way(size: int) -> None:
    """Law 100: the dialect of a stream is the first one that claims a frame and reads something; in any cut."""
    parser = ToolCallParser()
    data = sse(QUIET, CHUNK)
    events = [event for at in range(0, len(data), size) for event in parser.feed(data[at : at + size])]

    assert "chat-completions" == parser.dialect
    assert ["turn_started", "text_delta"] == [event.type for event in events]


def test_a_dialect_on_trial_moves_with_its_frames() -> None:
    """Law 100: a snapshot between the deciding frame and the first meaningful frame changes nothing."""
    parser = ToolCallParser()
    parser.feed(sse(QUIET))
    moved = ToolCallParser.restore(parser.snapshot())

    assert parser.feed(sse(CHUNK)) + parser.close() == moved.feed(sse(CHUNK)) + moved.close()
    assert ("chat-completions", "chat-completions") == (parser.dialect, moved.dialect)


def test_a_stream_whose_frames_say_nothing_to_its_dialect_is_a_fault() -> None:
    """Law 100: a stream of which every frame is unknown never ends without one."""
    strange = [{"method": f"novelty/{n}", "params": {}} for n in range(3)]

    assert {"unknown_dialect": 1} == said(sse(QUIET, *strange)).trouble
    assert {} == said(sse(QUIET)).trouble


def test_what_waits_for_a_dialect_is_bounded() -> None:
    """Law 100: a dialect on trial is taken when no more frames can be kept, and frames that two claim are not lost unsaid."""
    limits = Limits(max_pending_frames_bytes=1000)
    parser = ToolCallParser(limits=limits)
    parser.feed(sse(*[QUIET] * 20, CHUNK))
    contested = ToolCallParser(limits=limits)
    both = {
        "type": "message_start",
        "message": {"id": "m"},
        "choices": [{"index": 0, "delta": {"content": "x"}}],
    }
    events = contested.feed(sse(*[both] * 20)) + contested.close()

    assert "codex-app-server" == parser.dialect
    assert "unknown_dialect" in [event.kind for event in events if isinstance(event, StreamFault)]
