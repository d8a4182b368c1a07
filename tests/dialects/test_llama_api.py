"""Meta's Llama API: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallWhole,
    Delta,
    Finish,
    Labelled,
    Noted,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.others.llama_api import LlamaTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened("r", "r", restart=True)


def translate(*payloads: dict[str, Any] | str, event: str = "message") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = LlamaTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def event(kind: str = "progress", **delta: Any) -> dict[str, Any]:
    """Return one event."""
    return {"id": "r", "event": {"event_type": kind, "delta": delta or {"type": "text", "text": ""}}}


def call(id: Any = None, **function: Any) -> dict[str, Any]:
    """Return a piece of a call."""
    return event(type="tool_call", id=id, function=function)


def test_a_stream_speaks_and_calls() -> None:
    """The first event opens the turn, `complete` has the reason, and the counts come after it."""
    complete, metrics = event("complete"), event("metrics")
    complete["event"]["stop_reason"] = "tool_calls"
    metrics["event"]["metrics"] = [{"metric": "num_total_tokens", "value": 9, "unit": "tokens"}, {"x": 1}, 5]
    deltas = translate(
        event("start"),
        event(type="text", text="Hi"),
        call("c", name="f"),
        call(arguments="{}"),
        complete,
        metrics,
    )

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        Labelled(0, 0, "c", "f"),
        Labelled(0, 0, None, None, "{}"),
        Finish(0, "tool_calls", "tool_calls"),
        UsageSeen({"num_total_tokens": 9}),
    ] == deltas


def test_a_piece_without_an_id_continues_the_last_call() -> None:
    """The order of ids is the index; an id that comes back leads back to its call (quirk 1)."""
    pieces = [call("a", name="f"), call("b", name="g"), call(arguments="1"), call("a", arguments="2")]
    deltas = translate(*pieces, call("", arguments="3"))

    assert [
        OPENED,
        Labelled(0, 0, "a", "f"),
        Labelled(0, 1, "b", "g"),
        Labelled(0, 1, None, None, "1"),
        Labelled(0, 0, "a", None, "2"),
        Labelled(0, 0, None, None, "3"),
    ] == deltas


def test_a_call_may_begin_without_an_id() -> None:
    """The id may come late (quirk 11), or never; an object is a whole value (quirk 22)."""
    deltas = translate(call(name="f"), call("a", arguments={"a": 1}))

    assert [OPENED, Labelled(0, 0, None, "f"), Labelled(0, 0, "a", None, '{"a": 1}', rank=OBJECT)] == deltas


def test_a_whole_body_is_one_turn() -> None:
    """Text, calls in their order, reason, counts, end."""
    calls = [
        {"id": "c", "function": {"name": "f", "arguments": "{}"}},
        {"id": "c", "function": {"name": "g", "arguments": {"a": 1}}},
    ]
    message = {"content": {"type": "text", "text": "Hi"}, "stop_reason": "tool_calls", "tool_calls": calls}
    metrics = [{"metric": "num_total_tokens", "value": 9}]

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        Labelled(0, 0, "c", "f", "{}"),
        Labelled(0, 1, "c", "g", '{"a": 1}', rank=OBJECT),
        Finish(0, "tool_calls", "tool_calls"),
        UsageSeen({"num_total_tokens": 9}),
        TurnEnded("r"),
    ] == translate({"id": "r", "completion_message": message, "metrics": metrics})


@pytest.mark.parametrize("content", ["Hi", [{"type": "text", "text": "Hi"}], {"text": "Hi"}])
def test_the_content_of_a_body_has_three_shapes(content: Any) -> None:
    """A text, a part, or a list of parts (quirk 95)."""
    body = {"id": "r", "completion_message": {"content": content}}

    assert [OPENED, TextFragment(0, "Hi"), TurnEnded("r")] == translate(body)


def test_a_call_with_a_parse_status_is_llama_stacks() -> None:
    """Where text alone decided, the first such call hands over the stream, which is open, and its end (quirk 89)."""
    object_ = {"call_id": "c", "tool_name": "f", "arguments": {"a": 1}}
    told = [
        event(type="tool_call", parse_status=status, tool_call=call)
        for status, call in (("in_progress", "[f("), ("succeeded", object_), ("in_progress", "[g("))
    ]

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        CallWhole(0, 1, None, "c", "f", '{"a": 1}', ITEM_DONE, begins=True),
        CallClosed(0, 1, None),
        Slot(0, 2, None, "[g("),
    ] == translate(event("start"), event(type="text", text="Hi"), *told)
    assert [OPENED, Slot(0, 1, None, "[g("), TurnEnded()] == translate(told[2], "[DONE]")


def test_errors_are_fatal() -> None:
    """An error object, or an event of that name (quirk 52)."""
    error = {"message": "no", "code": "E1"}

    assert [WireFault("provider_error", "E1: no", error=error, fatal=True)] == translate({"error": error})
    assert [WireFault("provider_error", "E1: no", error=error, fatal=True)] == translate(error, event="error")


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Noise says nothing, unknown events and deltas are counted, a frame that is not JSON is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)
    unknown = Noted(0, "unknown_events")

    assert [] == translate("{}", {"type": "ping"})
    assert [unknown] == translate({"id": "r"})
    assert [OPENED, unknown] == translate(event(type="image"))
    assert [OPENED, unknown] == translate({"id": "r", "event": {"event_type": "tomorrow"}})
    assert [OPENED, unknown] == translate({"id": "r", "event": {"event_type": {"odd": 1}}})
    assert [OPENED] == translate({"id": "r", "event": {"event_type": "progress", "delta": None}})
    assert [fault] == translate("{")
    assert [OPENED, TextFragment(0, "\ud83d")] == translate(
        '{"id":"r","event":{"event_type":"progress","delta":{"type":"text","text":"\\ud83d"}}}', "[DONE]"
    )
