"""Mistral's conversations: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import ToolCall, ToolCallDropped, ToolCallParser
from wholecall.deltas import (
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallRefused,
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
from wholecall.dialects.others.conversations import ConversationsTranslator
from wholecall.framing.frame import Frame

STARTED = {"type": "conversation.response.started", "conversation_id": "k"}
DONE = {"type": "conversation.response.done", "usage": {"total_tokens": 3}}
OPENED = TurnOpened("k", "k", restart=True)
ENDED = [UsageSeen({"total_tokens": 3}), Finish(0, "tool_calls", None), TurnEnded("k")]


def translate(*payloads: dict[str, Any] | str, event: str | None = None) -> list[Delta]:
    """Translate the payloads of one stream; each is named by its type unless `event` is given."""
    translator = ConversationsTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        named = payload.get("type", "message") if isinstance(payload, dict) else "message"
        deltas += translator.translate(Frame(named if event is None else event, data))
    return deltas + translator.close()


def call(arguments: Any, id: Any = "e", call_id: Any = "c", name: Any = "f", **more: Any) -> dict[str, Any]:
    """Return an event of a function call."""
    labels = {"id": id, "tool_call_id": call_id, "name": name}
    return {"type": "function.call.delta", **labels, "arguments": arguments, **more}


def test_a_stream_speaks_and_calls() -> None:
    """The entry's id is the slot; labels are reported once though every event repeats them (quirks 13 and 15)."""
    deltas = translate(
        STARTED,
        {"type": "message.output.delta", "id": "m", "content": "Hi"},
        call('{"a"', output_index=1),
        call(":1}", output_index=1),
        call("", output_index=1),
        DONE,
    )

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        CallSeen(0, "e", None, "c", "f"),
        Slot(0, "e", None, '{"a"'),
        Slot(0, "e", None, ":1}"),
        *ENDED,
    ] == deltas


def test_content_may_be_a_part() -> None:
    """Text and thinking are read, files and references are skipped (quirk 95)."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    contents: list[Any] = [
        {"type": "text", "text": "a"},
        thinking,
        {"type": "tool_file", "file_id": "x"},
        None,
    ]
    contents.append([{"type": "text", "text": "b"}])
    deltas = translate(*({"type": "message.output.delta", "content": content} for content in contents))

    assert [TextFragment(0, "a"), ReasoningFragment(0, "hm"), TextFragment(0, "b")] == deltas


@pytest.mark.parametrize(
    ("labels", "slot", "id"),
    [
        ({"id": "e", "call_id": "null", "output_index": 4}, "e", None),
        ({"id": None, "call_id": "c", "output_index": 4}, "c", "c"),
        ({"id": "", "call_id": None, "output_index": 4}, 4, None),
        ({"id": 7, "call_id": 8}, "7", "8"),
        ({"id": None, "call_id": None}, None, None),
    ],
)
def test_a_missing_label_is_made_up_for(labels: dict[str, Any], slot: Any, id: str | None) -> None:
    """Calls are told apart by entry id, else call id, else position; the word null is not an id (quirk 9)."""
    assert [CallSeen(0, slot, None, id, "f"), Slot(0, slot, None, "{}")] == translate(call("{}", **labels))


def test_arguments_may_be_an_object() -> None:
    """An object is a whole value; an empty one in a stream is a placeholder (quirks 22 and 25)."""
    assert [
        CallSeen(0, "e", None, "c", "f"),
        CallWhole(0, "e", None, None, None, '{"a": 1}', OBJECT),
    ] == translate(call({}), call(None), call({"a": 1}))


def test_a_call_may_wait_for_approval() -> None:
    """The status is kept, news of it is reported, and a pending call is flagged."""
    pending = {"confirmation_status": "pending"}
    allowed = {"confirmation_status": "allowed"}
    deltas = translate(call("{", **pending), call("}", **pending), call("", **allowed))

    assert [
        CallSeen(0, "e", None, "c", "f", flags=("needs_approval",), extra=pending),
        Slot(0, "e", None, "{"),
        Slot(0, "e", None, "}"),
        CallSeen(0, "e", None, "c", "f", extra=allowed),
    ] == deltas


def test_what_mistral_executes_is_a_server_call() -> None:
    """Its id is the entry's; the wire ends it; such calls alone are not a reason to wait for the client."""
    about = {"id": "x", "output_index": 0, "name": "web_search"}
    deltas = translate(
        STARTED,
        {"type": "tool.execution.started", **about, "arguments": '{"q":'},
        {"type": "tool.execution.delta", **about, "arguments": "1}"},
        {"type": "tool.execution.done", **about, "info": {"n": 1}},
        DONE,
    )

    assert [
        OPENED,
        CallSeen(0, "x", None, "x", "web_search", "server"),
        Slot(0, "x", None, '{"q":'),
        Slot(0, "x", None, "1}"),
        CallClosed(0, "x", None),
        UsageSeen({"total_tokens": 3}),
        Finish(0, "stop", None),
        TurnEnded("k"),
    ] == deltas


def test_a_second_response_begins_anew() -> None:
    """Labels and calls belong to their response, also where two share a conversation."""
    deltas = translate(STARTED, call("{}"), {**DONE, "usage": None}, STARTED, {**DONE, "usage": None})

    assert [Finish(0, "stop", None), TurnEnded("k")] == deltas[-2:]
    again = translate(STARTED, call("{}"), STARTED, call("{}"))
    assert 2 == sum(isinstance(delta, CallSeen) for delta in again)


def test_a_whole_body_is_read_entry_by_entry() -> None:
    """Each call is over with its entry; handoffs are quiet, other entries are counted."""
    outputs = [
        {"type": "message.output", "content": "Hi", "model": "m"},
        {"type": "agent.handoff", "id": "h"},
        {"type": "tool.execution", "id": "x", "name": "web_search", "arguments": '{"q":1}'},
        {"type": "function.call", "id": "e", "tool_call_id": "c", "name": "f", "arguments": {"a": 1}},
        {"type": "function.call", "id": "g", "tool_call_id": "d", "name": "h"},
        {"type": {"odd": 1}},
    ]
    body = {"object": "conversation.response", "conversation_id": "k", "outputs": outputs}

    assert [
        TurnOpened("k", "k", "m", restart=True),
        TextFragment(0, "Hi"),
        CallSeen(0, "x", None, "x", "web_search", "server"),
        CallWhole(0, "x", None, None, None, '{"q":1}', ITEM_DONE, "server"),
        CallClosed(0, "x", None),
        CallSeen(0, "e", None, "c", "f"),
        CallWhole(0, "e", None, None, None, '{"a": 1}', ITEM_DONE),
        CallClosed(0, "e", None),
        CallSeen(0, "g", None, "d", "h"),
        CallClosed(0, "g", None),
        Noted(0, "unknown_events"),
        *ENDED,
    ] == translate(body | {"usage": {"total_tokens": 3}}, event="")


def test_errors_are_fatal() -> None:
    """As a separate event, by the event's name, or as a gateway's object (quirk 52)."""
    error = {"type": "conversation.response.error", "message": "no", "code": 3505}

    assert [WireFault("provider_error", "3505: no", error=error, fatal=True)] == translate(error)
    bare = {"message": "no"}
    assert [WireFault("provider_error", "no", error=bare, fatal=True)] == translate(bare, event="error")
    assert [WireFault("provider_error", "no", error=bare, fatal=True)] == translate({"error": bare})


def test_the_name_of_the_event_stands_for_a_missing_type() -> None:
    """Data without a type is read as the event says."""
    assert [OPENED] == translate({"conversation_id": "k"}, event="conversation.response.started")


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Noise says nothing, unknown events are counted, a lone surrogate is kept, a frame that is not JSON is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", {"type": "ping"}, {"type": "agent.handoff.started"})
    assert [Noted(0, "unknown_events")] == translate({"type": "tomorrow"})
    assert [Noted(0, "unknown_events")] == translate({"type": {"odd": 1}}, event="message")
    assert [fault] == translate("{")
    assert [OPENED] == translate(STARTED, "[DONE]")
    assert [CallSeen(0, "e", None, "c", "f"), Slot(0, "e", None, "\ud83d")] == translate(call("\ud83d"))


def test_a_denied_call_is_nobodys_to_execute() -> None:
    """A denied call ends as a drop, in a stream with the turn, in a whole body at once."""
    denied = {"confirmation_status": "denied"}
    seen = CallSeen(0, "e", None, "c", "f", extra=denied)
    refused = CallRefused(0, "e", None, "aborted", "the call was denied")
    entry = {
        "type": "function.call",
        "id": "e",
        "tool_call_id": "c",
        "name": "f",
        "arguments": "{}",
        **denied,
    }

    assert [OPENED, seen, Slot(0, "e", None, "{}"), refused, *ENDED] == translate(
        STARTED, call("{}", **denied), DONE
    )
    body = translate({"conversation_id": "k", "outputs": [entry], "usage": {"total_tokens": 3}})
    assert [OPENED, seen, CallWhole(0, "e", None, None, None, "{}", ITEM_DONE), refused, *ENDED] == body


def test_a_denied_call_is_dropped() -> None:
    """The drop keeps the text, and other calls are emitted."""
    parser = ToolCallParser("mistral-conversations")
    payloads = [STARTED, call('{"a":1}', confirmation_status="denied"), call("{}", "e2", "c2"), DONE]
    events = parser.feed_event(payloads) + parser.close()

    assert [("c", "aborted", '{"a":1}')] == [
        (event.id, event.reason, event.raw_arguments)
        for event in events
        if isinstance(event, ToolCallDropped)
    ]
    assert ["c2"] == [event.id for event in events if isinstance(event, ToolCall)]
