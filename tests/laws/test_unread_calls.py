"""Members that name a call where no translator looks: they are never silent, and other members raise no alarm."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.laws.test_foreign_members import said, sse
from tests.support import corpora, share
from tests.support.together import together
from wholecall import Policy, StreamFault, ToolCall, ToolCallDropped, ToolCallParser, TurnFinished
from wholecall.framing.opening import framing_of

CALL = {"id": "orphan_1", "name": "steal", "input": {"key": "value"}}
ORPHANS: dict[str, dict[str, Any]] = {
    "a member": {"client_tool_call": CALL},
    "another spelling": {"toolUse": {"toolUseId": "orphan_1", "name": "steal", "input": {}}},
    "a list": {"function_calls": [{"name": "steal", "arguments": "{}"}]},
    "a text": {"tool_calls": '[{"name":"steal"}]'},
    "a type": {"part": {"type": "tool_use", **CALL}},
}
NO_CALLS = frozenset({"a2a", "mcp"})  # dialects in which such a member is somebody's data
CHUNK = {"id": "r", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}]}
PAYLOADS: dict[str, tuple[dict[str, Any], ...]] = {
    "tool use in a delta of chat": (
        CHUNK,
        {
            "id": "r",
            "choices": [{"index": 0, "delta": {"type": "tool_use", "name": "get_tide", "input": "{}"}}],
        },
    ),
    "a head in a delta of chat, told by its id": (
        CHUNK,
        {
            "id": "r",
            "choices": [{"index": 0, "delta": {"blocks": [{"tool_use_id": "t1", "name": "get_tide"}]}}],
        },
        {"id": "r", "choices": [{"index": 0, "delta": {"blocks": [{"input": "{}"}]}}]},
    ),
    "a call of chat without any of its members": (
        CHUNK,
        {"id": "r", "choices": [{"index": 0, "delta": {"tool_calls": [{"payload": {"toolName": "f"}}]}}]},
    ),
    "a function call beside the result": (
        {"object": "chat.completion", "result": "", "function_call": {"name": "f", "arguments": "{}"}},
    ),
    "an agent's own event": (
        {"type": "system", "subtype": "init", "session_id": "s"},
        {
            "type": "assistant",
            "message": {"id": "m", "content": [{"type": "text", "text": "x"}]},
            "session_id": "s",
        },
        {
            "type": "tool_call",
            "call_id": "c1",
            "tool_call": {"readToolCall": {"args": {"path": "x"}}},
            "session_id": "s",
        },
    ),
}
QUIET: dict[str, dict[str, Any]] = {
    "nothing": {"tool_calls": None, "toolCalls": [], "function_call": {}},
    "counts": {"usage": {"server_tool_use": {"web_search_requests": 1}}},
    "a choice of tools": {"tool_choice": {"type": "tool_use", "name": "f"}, "function_call": "auto"},
    "a quoted name": {"note": '{"tool_use": {"name": "f"}}'},
    "an echo of the request": {"input": [{"type": "function_call", "name": "f", "call_id": "c0"}]},
    "a result": {"outputs": [{"tool_use_id": "t1", "name": "f", "content": "3 m"}]},
    "an agent under the id of a call": {"data": {"toolCallId": "t1", "agentName": "f"}},
    "an id without a name": {"data": {"toolCallId": "t1", "status": "running"}},
    "a blank fragment": {
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "type": "function"}]},
                "finish_reason": "stop",
            }
        ]
    },
    "a placeholder": {"function_call": {"name": "", "arguments": "{}"}},
}


def anomalies(data: bytes) -> list[str]:
    """Return the oddities of a stream's turns."""
    parser = ToolCallParser()
    events = parser.feed(data) + parser.close()
    return [word for event in events if isinstance(event, TurnFinished) for word in event.anomalies]


def with_orphan(data: bytes, orphan: dict[str, Any]) -> bytes | None:
    """Return a stream with a separate frame after the first frame, None where frames are not lines."""
    framing = framing_of(data)
    if framing not in ("sse", "jsonl"):
        return None
    end = b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n"
    end = end if framing == "sse" else b"\n"
    first, found, rest = data.partition(end)
    line = (b"data: " if framing == "sse" else b"") + json.dumps(orphan).encode()
    return first + end + line + end + rest if found else None


@cache
def streams() -> tuple[tuple[str, str, bytes], ...]:
    """Return the dialect, the name and the bytes of recordings without fatal faults."""
    found = []
    for case in corpora.cases():
        data = corpora.recorded(case)
        if case["dialect"] not in NO_CALLS and len(data) < 50_000:
            parser = ToolCallParser()
            events = parser.feed(data) + parser.close()
            if not any(event.fatal for event in events if isinstance(event, StreamFault)):
                found.append((case["dialect"], case["name"], data))
    return tuple(found)


@share.in_parts(25)
@pytest.mark.parametrize("orphan", ORPHANS)
def test_a_call_where_no_translator_looks_is_said(orphan: str, part: share.Part) -> None:
    """Law 101: after the first frame of every recording, in any dialect: an anomaly, a fault, a drop or a call."""
    silent = []
    for _, name, data in part.of(streams(), orphan):
        changed = with_orphan(data, ORPHANS[orphan])
        if changed is not None and said(changed)[1:] == said(data)[1:]:
            silent.append(name)

    assert [] == silent


@pytest.mark.parametrize("name", PAYLOADS)
def test_an_almost_dialect_is_not_silent(name: str) -> None:
    """Law 101: wires that look like a known wire, and have calls in another place."""
    assert "unread_call" in anomalies(sse(*PAYLOADS[name]))


@together("parts", [[{"functionCall": {"name": "f", "args": {}}}], [{"text": "x"}], []])
@together("reason", [{"finishReason": "STOP"}, {"finishReason": None}, {"partial": True}])
def test_contents_of_an_agent_are_no_chat(parts: list[Any], reason: dict[str, Any]) -> None:
    """Law 100: a reason next to a content, as ADK sends it, is not a chat chunk; the stream is reported as unknown."""
    data = sse({"content": {"parts": parts, "role": "model"}, "author": "a", **reason})
    parser = ToolCallParser()
    events = parser.feed(data) + parser.close()

    assert ["unknown_dialect"] == [event.kind for event in events if isinstance(event, StreamFault)]


@pytest.mark.parametrize("name", QUIET)
def test_what_is_no_call_raises_no_alarm(name: str) -> None:
    """Law 101: empty values, counts, choices of tools, quoted names and echoes are not calls."""
    finish = {"id": "r", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **QUIET[name]}

    assert [] == anomalies(sse(CHUNK, finish))


def test_no_recording_raises_an_alarm() -> None:
    """Law 101: nor does anything in the project's own recordings, of any dialect."""
    alarms = [case["name"] for case in corpora.cases() if "unread_call" in anomalies(corpora.recorded(case))]

    assert [] == alarms


@pytest.mark.cases
def test_no_further_recording_raises_an_alarm(recordings_dir: Path) -> None:
    """Law 101: nor does anything that other projects recorded."""
    rows = map(json.loads, (recordings_dir / "manifest.jsonl").read_text(encoding="utf-8").splitlines())
    found = ((row["name"], anomalies((recordings_dir / row["file"]).read_bytes())) for row in rows)

    assert [] == [name for name, words in found if "unread_call" in words]


def called(id: str, name: str) -> dict[str, Any]:
    """Return a chunk with a whole call."""
    function = {"name": name, "arguments": '{"a":1}'}
    return {
        "id": "r",
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": id, "function": function}]}}],
    }


FINISH = {"id": "r", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


@together(
    ("orphan", "is_unread"),
    [
        ({"tool_use": {"id": "c1", "name": "get_tide"}}, False),
        ({"tool_use": {"id": "c2", "name": "get_tide"}}, True),
        ({"tool_use": {"name": "get_tide"}}, False),
        ({"tool_use": {"name": "book_berth"}}, True),
        ({"tool_use": {"text": "x"}}, False),
    ],
)
@together("first", [True, False])
def test_a_call_that_another_frame_tells_is_read(
    orphan: dict[str, Any], is_unread: bool, first: bool
) -> None:
    """Law 101: by its id; without one by its name; without a name it may be a piece of any call of the turn."""
    told = called("c1", "get_tide")
    frames = [CHUNK, *([orphan, told] if first else [told, orphan]), FINISH]

    assert (["unread_call"] if is_unread else []) == anomalies(sse(*frames))


def test_the_strict_policy_refuses_calls_beside_one_that_was_not_read() -> None:
    """Law 101: a call that was not read is a bad sibling; the default policy judges each call alone."""
    unread = {"tool_use": {"id": "c2", "name": "book_berth", "input": '{"n":1}'}}
    data = sse(CHUNK, called("c1", "get_tide"), unread, FINISH)
    ends: list[list[str]] = []
    for policy in (Policy(), Policy.strict()):
        parser = ToolCallParser(policy=policy)
        events = parser.feed(data) + parser.close()
        ends.append(
            [type(event).__name__ for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
        )

    assert [["ToolCall"], ["ToolCallDropped"]] == ends


def test_what_waits_to_be_told_moves_with_the_stream() -> None:
    """Law 101: a snapshot between an unread call and the end of its turn changes nothing."""
    parser = ToolCallParser()
    parser.feed(sse(CHUNK, {"tool_use": {"id": "c2", "name": "book_berth"}}))
    moved = ToolCallParser.restore(parser.snapshot())

    assert parser.feed(sse(FINISH)) + parser.close() == moved.feed(sse(FINISH)) + moved.close()
