"""Cohere chat, version 2: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.cohere.cohere_v2 import CohereV2Translator
from wholecall.framing.frame import Frame

START = {
    "id": "m1",
    "type": "message-start",
    "delta": {"message": {"role": "assistant", "content": [], "tool_calls": []}},
}
OPENED = TurnOpened("m1", "m1", restart=True)


def translate(*payloads: dict[str, Any] | str, event: str = "message") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = CohereV2Translator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def message(kind: str, index: Any = 0, **members: Any) -> dict[str, Any]:
    """Return an event whose delta holds a message."""
    return {"type": kind, "index": index, "delta": {"message": members}}


def start(index: Any = 0, id: Any = "c1", name: Any = "f", arguments: Any = "") -> dict[str, Any]:
    """Return the start of a call."""
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return message("tool-call-start", index, tool_calls=call)


def piece(text: Any, index: Any = 0) -> dict[str, Any]:
    """Return a piece of arguments."""
    return message("tool-call-delta", index, tool_calls={"function": {"arguments": text}})


def end(index: Any = 0) -> dict[str, Any]:
    """Return the end of a call."""
    return {"type": "tool-call-end", "index": index}


def seen(index: int | str | None = 0, id_: str | None = "c1", name: str | None = "f") -> CallSeen:
    """Return the delta of a start."""
    return CallSeen(0, index, None, id_, name, begins=True)


def closed(index: int | None = 0) -> CallClosed:
    """Return the delta of an end, which is not the last word."""
    return CallClosed(0, index, None, final=False)


def over(reason: Any = "TOOL_CALL", **more: Any) -> dict[str, Any]:
    """Return the end of the message."""
    return {"type": "message-end", "delta": {"finish_reason": reason, **more}}


def test_a_message_plans_and_calls() -> None:
    """The plan is reasoning in a separate block, a call lives in its slot, its end is not the last word."""
    usage = {"tokens": {"output_tokens": 9}}
    deltas = translate(
        START,
        message("tool-plan-delta", None, tool_plan="First"),
        start(),
        piece('{"a": '),
        piece("1}"),
        end(),
        over(usage=usage),
        "[DONE]",
    )

    assert [
        OPENED,
        ReasoningFragment(0, "First", "tool_plan"),
        seen(),
        Slot(0, 0, None, '{"a": '),
        Slot(0, 0, None, "1}"),
        closed(),
        UsageSeen(usage),
        Finish(0, "tool_calls", "TOOL_CALL"),
        TurnEnded("m1"),
    ] == deltas


def test_text_and_thinking_are_told_apart() -> None:
    """Blocks of content hold text or thinking; their ends and citations say nothing."""
    deltas = translate(
        message("content-start", 0, content={"type": "thinking", "thinking": ""}),
        message("content-delta", 0, content={"thinking": "hm"}),
        {"type": "content-end", "index": 0},
        message("content-start", 1, content={"type": "text", "text": "H"}),
        message("content-delta", 1, content={"text": "i"}),
        message("citation-start", 0, citations={"text": "i"}),
        {"type": "citation-end", "index": 0},
        {"type": "debug", "prompt": "x"},
        {"type": "ping"},
    )

    assert [ReasoningFragment(0, "hm", 0), TextFragment(0, "H"), TextFragment(0, "i")] == deltas


def test_the_end_of_a_call_is_not_final() -> None:
    """No arguments, or cut in them: the turn's reason decides (quirk 26). A slot can be used again."""
    deltas = translate(
        start(), piece(""), piece(None), end(), start(0, "c2"), piece("{}"), end(), start(0, "c3"), end()
    )

    assert [
        seen(),
        closed(),
        seen(0, "c2"),
        Slot(0, 0, None, "{}"),
        closed(),
        seen(0, "c3"),
        closed(),
    ] == deltas


def test_a_displaced_call_has_not_ended() -> None:
    """A start ends nothing, whatever stood in its slot, and neither does a new message."""
    deltas = translate(start(), start(), piece("{}"), start(0, "c2"), start(0, None), START, start(0, "c3"))

    assert [
        seen(),
        seen(),
        Slot(0, 0, None, "{}"),
        seen(0, "c2"),
        seen(0, None),
        OPENED,
        seen(0, "c3"),
    ] == deltas


def test_calls_may_stand_in_a_list() -> None:
    """One call is an object or a list of one; further calls would get separate slots (quirk 39)."""
    entries = [{"id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in range(2)]

    assert [seen(3, "c0"), Slot(0, 3, None, "{}")] == translate(
        message("tool-call-start", 3, tool_calls=entries[:1])
    )
    assert [seen("3.1"), Slot(0, "3.1", None, "{}")] == (
        translate(message("tool-call-start", 3, tool_calls=entries))[2:]
    )
    assert [] == translate(message("tool-call-start", 3, tool_calls=[]))


def test_arguments_may_be_an_object() -> None:
    """An object where text is due is a whole, an empty one a placeholder (quirk 22)."""
    deltas = translate(start(arguments={}), start(1, arguments={"a": 1}), end(1), end(0))

    assert [
        seen(),
        seen(1),
        CallWhole(0, 1, None, None, None, '{"a": 1}', OBJECT),
        closed(1),
        closed(),
    ] == deltas


def test_odd_labels_are_read_as_they_are() -> None:
    """A slot may be a text or missing, labels may be blank; an event may be named by its frame only."""
    assert [seen(2, "7", None)] == translate(start("2", 7, " "))
    assert [Slot(0, None, None, "x")] == translate(piece("x", None))
    nameless = {"index": 1, "delta": {"message": {"tool_calls": {"function": {"arguments": "x"}}}}}
    assert [Slot(0, 1, None, "x")] == translate(nameless, event="tool-call-delta")


def test_a_failure_takes_back_what_is_open() -> None:
    """An error with the last event is fatal; a failing reason alone drops the open calls and ends the turn."""
    fault = WireFault("provider_error", "no", error="no", fatal=True)

    assert [Finish(0, "error", "ERROR", drops=True), fault] == translate(over("ERROR", error="no"))
    assert [Finish(0, "error", "TIMEOUT", drops=True), TurnEnded()] == translate(over("TIMEOUT"))
    assert [Finish(0, "length", "MAX_TOKENS"), TurnEnded()] == translate(over("MAX_TOKENS"))
    assert [TurnEnded()] == translate({"type": "message-end"})


@pytest.mark.parametrize(
    ("payload", "event", "detail"),
    [
        ({"error": {"type": "overloaded", "message": "busy"}}, "message", "overloaded: busy"),
        ({"type": "error", "message": "busy"}, "message", "error: busy"),
        ({"id": "x", "message": "busy"}, "message", "busy"),
        ({"status": 500}, "error", "the provider reports an error"),
    ],
)
def test_errors_have_many_forms(payload: dict[str, Any], event: str, detail: str) -> None:
    """An error is an object, a bare message, or whatever an event of that name holds (quirk 52)."""
    error = payload.get("error", payload)

    assert [WireFault("provider_error", detail, error=error, fatal=True)] == translate(payload, event=event)


def test_done_ends_no_message() -> None:
    """It follows every stream after some proxies, and says nothing of the message."""
    assert [OPENED] == translate(START, "[DONE]")


def test_a_whole_body_is_a_turn() -> None:
    """A body gives plan, text and whole calls at once; a text null means no arguments (quirks 26 and 90)."""
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
        {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "null"}},
        {"id": "c3", "type": "function", "function": {"name": "h"}},
    ]
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}, "!"]
    body = {
        "id": "m1",
        "message": {"role": "assistant", "tool_plan": "First", "tool_calls": calls, "content": content},
        "finish_reason": "TOOL_CALL",
        "usage": {"tokens": {}},
    }

    assert [
        OPENED,
        ReasoningFragment(0, "First", "tool_plan"),
        ReasoningFragment(0, "hm", 0),
        TextFragment(0, "Hi"),
        TextFragment(0, "!"),
        CallSeen(0, 0, None, "c1", "f"),
        CallWhole(0, 0, None, "c1", "f", '{"a":1}', ITEM_DONE),
        CallClosed(0, 0, None),
        CallSeen(0, 1, None, "c2", "g"),
        CallWhole(0, 1, None, "c2", "g", "null", ITEM_DONE),
        CallClosed(0, 1, None, final=False),
        CallSeen(0, 2, None, "c3", "h"),
        CallClosed(0, 2, None, final=False),
        UsageSeen({"tokens": {}}),
        Finish(0, "tool_calls", "TOOL_CALL"),
        TurnEnded("m1"),
    ] == translate(body)


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """A split surrogate is text, unknown events are counted, blank data is skipped, broken data is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)
    half = '{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"\\ud83d"}}}}}'

    assert [Slot(0, 0, None, "\ud83d")] == translate(half)
    assert [Noted(0, "unknown_events")] == translate({"type": "tool-call-poked", "index": 0})
    assert [Noted(0, "unknown_events")] == translate({"type": "poked", "message": {"tool_plan": "x"}})
    assert [Noted(0, "unknown_events")] == translate({"id": "x"})
    assert [] == translate(
        "{}", {"type": "content-delta"}, {"type": "content-delta", "delta": {"message": {"content": 5}}}
    )
    assert [fault] == translate("{")
