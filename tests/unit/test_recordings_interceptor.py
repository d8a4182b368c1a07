from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholecall import BadRecording
from wholecall.recordings import Recording, Request, read


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(id: str, **more: Any) -> dict[str, Any]:
    """Return a request's record."""
    url = "https://api.openai.com/v1/chat/completions"
    return {"type": "request", "id": id, "method": "POST", "url": url, "body": {}, **more}


def came(id: str, content: Any, at: float = 0) -> dict[str, Any]:
    """Return the record of an event."""
    stamp = f"2026-01-01T00:00:{at:09.6f}+00:00"
    return {
        "type": "response_chunk",
        "request_id": id,
        "timestamp": stamp,
        "status_code": 200,
        "content": content,
    }


def ended(id: str) -> dict[str, Any]:
    """Return the last record of a stream."""
    return {"type": "response_meta", "request_id": id, "status_code": 200, "total_chunks": 1}


def taken(*records: Any, indent: int | None = None) -> tuple[list[Recording], dict[str, int]]:
    """Return the recordings of a log, and the skipped records."""
    lines = [one if isinstance(one, str) else json.dumps(one, indent=indent) for one in records]
    Path("log.jsonl").write_text("\n".join(lines))
    recordings = read("log.jsonl")
    return list(recordings), dict(recordings.skipped)


@pytest.mark.parametrize("indent", [None, 2])
def test_the_events_of_a_stream_are_its_chunks(indent: int | None) -> None:
    """Decoded events are events again, with their times; a record may be written over many lines."""
    (one,), skipped = taken(
        asked("a"),
        came("a", {"choices": ["ø"], "_event_type": "x"}, 1.5),
        came("a", {"raw": "no json"}, 1.75),
        came("a", {"done": True}, 2.5),
        ended("a"),
        indent=indent,
    )
    assert {} == skipped
    assert (one.name, one.form, one.status, one.provider) == ("log.jsonl#1", "llm-interceptor", 200, "openai")
    assert one.request == Request("POST", "https://api.openai.com/v1/chat/completions")
    assert list(one.chunks) == [
        (0.0, 'data: {"choices":["ø"]}\n\n'.encode()),
        (0.25, b"data: no json\n\n"),
        (1.0, b"data: [DONE]\n\n"),
    ]


def test_streams_may_be_mixed() -> None:
    """Records belong together by id; a stream whose end is missing comes last, a request alone is skipped."""
    found, skipped = taken(
        *(asked("a"), asked("b"), asked("c"), asked("d"), came("b", {"n": 1}), came("a", {"n": 2})),
        *(ended("a"), came("b", "data: {}\n\n")),
        {
            "type": "response",
            "request_id": "d",
            "status_code": 200,
            "headers": {"Content-Type": "text/html"},
            "body": "x",
        },
    )
    assert {"no_response": 1, "other_type": 1} == skipped
    assert [
        ("log.jsonl#1", [b'data: {"n":2}\n\n']),
        ("log.jsonl#2", [b'data: {"n":1}\n\n', b"data: {}\n\n"]),
    ] == [(one.name, [chunk for _, chunk in one.chunks]) for one in found]


def test_whole_responses() -> None:
    """A response that was not streamed is JSON again, if a dialect knows it."""
    body = {"type": "message", "role": "assistant", "content": []}
    last = {
        "type": "response",
        "request_id": "a",
        "status_code": 200,
        "headers": {"content-type": "application/json"},
    }
    (one,), skipped = taken(
        asked("a"), {**last, "body": body}, asked("b"), {**last, "request_id": "b", "body": None}
    )
    ((_, data),) = one.chunks
    assert (body, {"no_body": 1}) == (json.loads(data), skipped)


def test_a_damaged_record_stops_no_other() -> None:
    """A record that is not a JSON object is named; related records are still joined."""
    found, _ = taken(
        asked("a"), came("a", {"n": 1}), '{"type":"response_chunk","secret', '["secret"]', ended("a")
    )
    *broken, one = found
    assert [b'data: {"n":1}\n\n'] == [chunk for _, chunk in one.chunks]
    for recording in broken:
        with pytest.raises(BadRecording, match=r"^log\.jsonl: record \d of the log is not a JSON object$"):
            list(recording.chunks)
    assert 1 <= len(broken) <= 2
