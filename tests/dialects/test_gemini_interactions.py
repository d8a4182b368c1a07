"""Gemini Interactions: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    DONE,
    HYDRATION,
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
from wholecall.dialects.google.gemini_interactions import GeminiInteractionsTranslator
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

CREATED = {
    "event_type": "interaction.created",
    "interaction": {"id": "v1", "model": "m", "status": "in_progress"},
}
OPENED = TurnOpened("v1", "v1", "m", restart=True)
UNKNOWN = Noted(0, "unknown_events")


def translate(*events: dict[str, Any] | str | Frame) -> list[Delta]:
    """Translate the events of one stream, to its end."""
    translator = GeminiInteractionsTranslator()
    deltas: list[Delta] = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event) if isinstance(event, dict) else ""
        deltas += translator.translate(event if isinstance(event, Frame) else Frame("message", data))
    return deltas + translator.close()


def start(index: Any, **step: Any) -> dict[str, Any]:
    """Build the start of a step."""
    return {"event_type": "step.start", "index": index, "step": step}


def call(index: Any, id_: str | None = "a", name: str | None = "f", **more: Any) -> dict[str, Any]:
    """Build the start of a call."""
    return start(index, **({"type": "function_call", "id": id_, "name": name, "arguments": {}} | more))


def piece(index: Any, **delta: Any) -> dict[str, Any]:
    """Build a piece of a step."""
    return {"event_type": "step.delta", "index": index, "delta": delta}


def text(index: Any, arguments: Any) -> dict[str, Any]:
    """Build a piece of a call's text."""
    return piece(index, type="arguments_delta", arguments=arguments)


def stop(index: Any) -> dict[str, Any]:
    """Build the end of a step."""
    return {"event_type": "step.stop", "index": index}


def completed(status: Any = "requires_action", **more: Any) -> dict[str, Any]:
    """Build the last event."""
    return {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": status, **more}}


def seen(index: int, id_: str | None = "a", name: str | None = "f", **more: Any) -> CallSeen:
    """Return the beginning of a call."""
    return CallSeen(0, index, None, id_, name, begins=True, **more)


def begun(index: int, arguments: str, id_: str = "a", name: str = "f", **more: Any) -> CallWhole:
    """Return the beginning of a call that has its arguments."""
    return CallWhole(0, index, None, id_, name, arguments, OBJECT, begins=True, **more)


def closed(index: int | None) -> CallClosed:
    """Return the end of a step, which is not the last word."""
    return CallClosed(0, index, None, final=False)


# Calls.


def test_a_step_is_a_call() -> None:
    """Its index is the slot, text comes in pieces, and the stop is not final; empty arguments are a placeholder."""
    deltas = translate(CREATED, call(1), text(1, '{"x"'), text(1, ":1}"), stop(1))

    assert [OPENED, seen(1), Slot(0, 1, None, '{"x"'), Slot(0, 1, None, ":1}"), closed(1)] == deltas


def test_arguments_at_the_start() -> None:
    """They are the whole value if they hold something, in the wire's own text; deltas may follow."""
    started = json.dumps(call(1, arguments="@")).replace('"@"', '{"x":1e2}')

    assert [begun(1, '{"x":1e2}')] == translate(started)
    assert [seen(1), closed(1)] == translate(call(1, arguments=None), stop(1))


def test_what_must_be_sent_back() -> None:
    """A signature is at the start of a call, or in a piece of it."""
    signed = {"signature": "s"}
    late = piece(1, type="thought_signature", signature="s")

    assert [seen(1, extra=signed)] == translate(call(1, **signed))
    assert [seen(1), CallSeen(0, 1, None, None, None, extra=signed)] == translate(call(1), late)


def test_the_providers_own_tools() -> None:
    """Any other step of a call is the server's; its pieces are objects; without a name it has that of its type.

    A piece without a name says nothing of it: its step has given the name.
    """
    given = {"code": "1"}
    code = start(0, type="code_execution_call", id="c")
    whole = piece(0, type="code_execution_call", arguments=given, signature="s")
    mcp = start(1, type="mcp_server_tool_call", id="m", name="t", server_name="h", arguments={"x": 1})

    assert [
        seen(0, "c", "code_execution", kind="server"),
        CallSeen(0, 0, None, None, None, "server", extra={"signature": "s"}),
        CallWhole(0, 0, None, None, None, '{"code": "1"}', DONE, "server"),
        closed(0),
        begun(1, '{"x": 1}', "m", "t", kind="server", extra={"server_name": "h"}),
        CallWhole(0, 1, None, None, None, '{"y": 2}', DONE, "server"),
    ] == translate(code, whole, stop(0), mcp, piece(1, type="mcp_server_tool_call", arguments={"y": 2}))


def test_an_object_where_text_is_due() -> None:
    """It is a whole value of the call in its slot (quirk 22)."""
    assert [seen(1), CallWhole(0, 1, None, None, None, '{"x": 1}', DONE)] == translate(
        call(1), text(1, {"x": 1})
    )
    assert [seen(1)] == translate(call(1), text(1, ""), text(1, None))


def test_a_displaced_step_has_not_ended() -> None:
    """A start ends nothing, whatever stood in its place; only a stop does, of the latest step (quirk 77)."""
    output = start(1, type="model_output")

    assert [seen(1), seen(1), seen(1, "b", "g")] == translate(call(1), call(1), call(1, "b", "g"))
    assert [seen(1, None), seen(1, None)] == translate(call(1, None), call(1, None))
    assert [seen(1)] == translate(call(1), output, stop(1))
    assert [seen(1), closed(1)] == translate(output, call(1), stop(1))


def test_text_without_a_start() -> None:
    """It is reported, and so is the stop; speech has no arguments, so it is a call's there too, whose label lies."""
    assert [Slot(0, 3, None, "{}"), closed(3)] == translate(text(3, "{}"), stop(3))
    assert [closed(3)] == translate(text(3, ""), stop(3))
    assert [Slot(0, 3, None, "{}")] == translate(start(3, type="thought"), text(3, "{}"), stop(3))


def test_arguments_of_other_steps() -> None:
    """A result, or a step of an unknown type, may have arguments that are not a call's; after its stop they are."""
    result = start(3, type="function_result")

    assert [] == translate(result, text(3, "{}"), stop(3))
    assert [Slot(0, 3, None, "{}")] == translate(result, stop(3), text(3, "{}"))


def test_the_stop_of_a_step_without_a_start_ends_no_call() -> None:
    """A step's content shows that it is not a call: a call next to it continues (quirk 77)."""
    said = piece(2, type="text", text="x")

    assert [seen(1), TextFragment(0, "x"), Slot(0, 1, None, "{}")] == translate(
        call(1), said, stop(2), text(1, "{}")
    )


# Contents, before there were steps.


def content(index: int, **delta: Any) -> dict[str, Any]:
    """Build a piece of a content."""
    return {"event_type": "content.delta", "index": index, "delta": delta}


def content_call(index: int, id_: str | None = "a", **more: Any) -> dict[str, Any]:
    """Build a piece of a content that is a call."""
    return content(index, **{"type": "function_call", "id": id_, "name": "f", **more})


def whole(index: int, arguments: str = '{"x": 1}') -> CallWhole:
    """Return the arguments of a call."""
    return CallWhole(0, index, None, None, None, arguments, DONE)


def test_a_content_is_a_call() -> None:
    """Its start says little; the labels and all of the arguments come in one delta; a stop is not final."""
    begun = {"event_type": "interaction.start", "interaction": {"id": "v1", "model": "m"}}
    started = {"event_type": "content.start", "index": 1, "content": {"type": "function_call"}}
    stopped = {"event_type": "content.stop", "index": 1}
    over = {"event_type": "interaction.complete", "interaction": {"id": "v1", "status": "requires_action"}}

    assert [
        OPENED,
        seen(1, None, None),
        seen(1),
        whole(1),
        closed(1),
        Finish(0, "tool_calls", "requires_action"),
        TurnEnded("v1"),
    ] == translate(begun, started, content_call(1, arguments={"x": 1}), stopped, over)


def test_a_content_without_a_start() -> None:
    """Each delta with a name may begin a call, with or without arguments; one that says nothing else is a piece."""
    assert [seen(1), whole(1)] == translate(content_call(1, arguments={"x": 1}))
    assert [seen(1), whole(1), seen(1), whole(1)] == translate(
        content_call(1, arguments={"x": 1}), content_call(1, arguments={"x": 1})
    )
    assert [seen(1), seen(1, "b")] == translate(content_call(1), content_call(1, "b"))
    assert [seen(1, None), seen(1)] == translate(content_call(1, None), content_call(1))
    assert [CallSeen(0, 1, None, "a", None), whole(1)] == translate(
        content_call(1, name=None, arguments={"x": 1})
    )


def test_a_call_where_text_was() -> None:
    """The type of a delta outweighs the content's initial type."""
    started = {"event_type": "content.start", "index": 0, "content": {"type": "text"}}

    assert [seen(0), whole(0)] == translate(started, content_call(0, arguments={"x": 1}))


def test_the_providers_own_contents() -> None:
    """They have the name of their type, where nothing else names them."""
    search = content(1, type="google_search_call", id="g", arguments={"queries": []})
    server = CallWhole(0, 1, None, None, None, '{"queries": []}', DONE, "server")

    assert [seen(1, "g", "google_search", kind="server"), server] == translate(search)


def test_contents_that_are_no_calls() -> None:
    """Text and thoughts are reported, media say nothing."""
    started = {"event_type": "content.start", "index": 0, "content": {"type": "image"}}
    thought = content(1, type="thought_summary", content={"type": "text", "text": "h"})

    assert [ReasoningFragment(0, "h", 1), TextFragment(0, "x")] == translate(
        started, thought, content(2, type="text", text="x")
    )


def test_outputs_of_a_whole_interaction() -> None:
    """A body has its contents in a list."""
    outputs = [
        {"type": "thought", "summary": [{"type": "text", "text": "h"}], "signature": "s"},
        {"type": "text", "text": "x"},
        {"type": "function_call", "id": "a", "name": "f", "arguments": {"x": 1}},
    ]
    body = {
        "object": "interaction",
        "id": "v1",
        "model": "m",
        "status": "requires_action",
        "outputs": outputs,
    }

    assert [
        OPENED,
        ReasoningFragment(0, "h", 0, signature="s"),
        TextFragment(0, "x"),
        begun(2, '{"x": 1}'),
        closed(2),
        Finish(0, "tool_calls", "requires_action"),
        TurnEnded("v1"),
    ] == translate(body)


# Text and thoughts.


def test_text_and_thoughts() -> None:
    """They come in pieces, or whole at the start of their step; signatures seal a thought."""
    part = {"type": "text", "text": "y"}
    deltas = translate(
        start(0, type="thought", summary=[{"type": "text", "text": "h"}, part], signature="s"),
        piece(0, type="thought_summary", content={"type": "text", "text": "m"}),
        piece(0, type="thought_summary", text="n"),
        piece(0, type="thought_signature", signature="t"),
        start(1, type="model_output", content=[part]),
        piece(1, type="text", text="x"),
        piece(1, type="text", text=""),
    )

    assert [
        ReasoningFragment(0, "hy", 0, signature="s"),
        ReasoningFragment(0, "m", 0),
        ReasoningFragment(0, "n", 0),
        ReasoningFragment(0, "", 0, signature="t"),
        TextFragment(0, "y"),
        TextFragment(0, "x"),
    ] == deltas


@pytest.mark.parametrize("kind", ["image", "audio", "text_annotation_delta", "google_search_result"])
def test_quiet_pieces(kind: str) -> None:
    """Media, annotations and results say nothing of calls."""
    assert [] == translate(piece(0, type=kind, data="AAAA"))


def test_quiet_and_unknown_steps() -> None:
    """User input and tool results say nothing; unknown types are counted."""
    assert [] == translate(
        start(0, type="user_input", content="x"), start(1, type="function_result"), stop(1)
    )
    assert [UNKNOWN, UNKNOWN] == translate(start(0, type="novelty"), piece(0, type="novelty"))
    assert [UNKNOWN, UNKNOWN] == translate(start(0), start(1, type=[]))
    assert [UNKNOWN, UNKNOWN] == translate(piece(0), piece(0, type={}))


# Interactions.


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("requires_action", "tool_calls"),
        ("completed", "stop"),
        ("incomplete", "length"),
        ("novel", "unknown"),
    ],
)
def test_an_interaction_ends_with_its_status(status: str, reason: TurnReason) -> None:
    """The counts, the reason, the end; later frames say nothing more."""
    usage = {"total_tokens": 3}
    update = {"event_type": "interaction.status_update", "interaction_id": "v1", "status": status}
    deltas = translate(CREATED, update, completed(status, usage=usage), "[DONE]")

    assert [OPENED, UsageSeen(usage), Finish(0, reason, status), TurnEnded("v1")] == deltas


@pytest.mark.parametrize("status", ["failed", "cancelled", "budget_exceeded"])
def test_a_failure_takes_back_what_is_open(status: str) -> None:
    """A call whose step was stopped last is open still (quirk 94)."""
    assert [Finish(0, "error", status, drops=True), TurnEnded("v1")] == translate(CREATED, completed(status))[
        1:
    ]


def test_an_end_without_a_reason() -> None:
    """An unfinished status is not a reason (quirk 46); the mark of a proxy ends nothing."""
    assert [OPENED, TurnEnded("v1")] == translate(CREATED, completed("in_progress"))
    assert [OPENED] == translate(CREATED, "[DONE]")


def test_the_end_restates_calls() -> None:
    """Calls are matched by their ids and each knows the others' (quirk 98); text is not repeated."""
    steps = [
        {"type": "model_output", "content": [{"type": "text", "text": "x"}]},
        {"type": "function_call", "id": "a", "name": "f", "arguments": {"x": 1}, "signature": "s"},
        {"type": "file_search_call", "id": "b", "arguments": {}},
    ]
    told = frozenset({"a", "b"})
    deltas = translate(CREATED, call(1), completed(steps=steps))

    assert [
        OPENED,
        seen(1),
        CallWhole(0, 1, None, "a", "f", '{"x": 1}', HYDRATION, extra={"signature": "s"}, restated_ids=told),
        CallWhole(0, 2, None, "b", "file_search", "{}", HYDRATION, "server", restated_ids=told),
        Finish(0, "tool_calls", "requires_action"),
        TurnEnded("v1"),
    ] == deltas


@pytest.mark.parametrize("streamed", [True, False])
def test_a_whole_interaction(streamed: bool) -> None:
    """A body, or a last event with all that was unreported before, is read step by step (quirk 90)."""
    steps = [
        {"type": "thought", "summary": [{"type": "text", "text": "h"}]},
        {"type": "model_output", "content": [{"type": "text", "text": "x"}]},
        {"type": "function_call", "id": "a", "name": "f", "arguments": {"x": 1}},
    ]
    whole = {"id": "v1", "object": "interaction", "model": "m", "status": "requires_action", "steps": steps}
    last = {"event_type": "interaction.completed", "interaction": whole}
    told = [
        OPENED,
        ReasoningFragment(0, "h", 0),
        TextFragment(0, "x"),
        begun(2, '{"x": 1}'),
        closed(2),
        Finish(0, "tool_calls", "requires_action"),
        TurnEnded("v1"),
    ]

    assert told == translate(last if streamed else whole)
    if streamed:
        assert told == translate(CREATED, last)


def test_an_interaction_without_a_beginning() -> None:
    """Its end is that of the reported turn; it begins a turn only if nothing was reported (quirk 77)."""
    ended = [Finish(0, "tool_calls", "requires_action"), TurnEnded(None)]

    assert [seen(1), *ended] == translate(call(1), completed())


def test_a_last_event_that_comes_twice() -> None:
    """It restates the calls once more, and begins nothing (quirk 91)."""
    step = {"type": "function_call", "id": "a", "name": "f", "arguments": {"x": 1}}
    last = completed(steps=[step])
    again = CallWhole(0, 0, None, "a", "f", '{"x": 1}', HYDRATION)
    ended = [Finish(0, "tool_calls", "requires_action"), TurnEnded("v1")]

    assert [again, *ended] == translate(CREATED, last, last)[-3:]
    assert 1 == translate(last, last).count(TurnOpened("v1", "v1", None, restart=True))


def test_a_second_interaction() -> None:
    """It begins another turn, whose slots are its own."""
    assert [OPENED, seen(1), OPENED, seen(1, "b")] == translate(CREATED, call(1), CREATED, call(1, "b"))
    thought = start(3, type="thought")
    assert [OPENED, OPENED, Slot(0, 3, None, "{}")] == translate(CREATED, thought, CREATED, text(3, "{}"))


# Frames.


def test_the_events_name_may_stand_for_its_type() -> None:
    """A relay leaves `event_type` out."""
    frame = Frame("step.delta", '{"index":0,"delta":{"type":"text","text":"x"}}')

    assert [TextFragment(0, "x")] == translate(frame)


def test_other_events() -> None:
    """Errors are fatal, pings say nothing, unknown events are counted (quirks 52 and 53)."""
    error = {"code": "internal", "message": "no"}
    fatal = WireFault("provider_error", "internal: no", error=error, fatal=True)

    assert [fatal] == translate({"event_type": "error", "error": error})
    assert [] == translate({"type": "ping"}, "{}")
    assert [UNKNOWN] == translate({"event_type": "interaction.novelty"})


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """A lone surrogate is text, an index of a wrong type is separate, an unreadable frame is a hole (quirk 35)."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw='{"step', hole=True)
    surrogate = (
        '{"event_type":"step.delta","index":"1","delta":{"type":"arguments_delta","arguments":"\\ud83d"}}'
    )

    assert [seen(1), Slot(0, 1, None, "\ud83d")] == translate(call(1.0), surrogate)
    assert [seen(-1)] == translate(call([1]))
    assert [fault] == translate('{"step')
