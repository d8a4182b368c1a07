"""Cohere chat, version 1: line in, deltas out."""

from __future__ import annotations

import json
from typing import Any

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
from wholecall.dialects.cohere.cohere_v1 import CohereV1Translator
from wholecall.framing.frame import Frame

START = {"is_finished": False, "event_type": "stream-start", "generation_id": "g1"}
OPENED = TurnOpened("g1", "g1", restart=True)


def translate(*payloads: dict[str, Any] | str, event: str = "") -> list[Delta]:
    """Translate the lines of one stream."""
    translator = CohereV1Translator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def chunk(plan: Any = None, **delta: Any) -> dict[str, Any]:
    """Return a piece of a call, or of the plan."""
    return {"event_type": "tool-calls-chunk", "text": plan, "tool_call_delta": delta or None}


def told(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the line that holds all calls."""
    return {"event_type": "tool-calls-generation", "tool_calls": list(calls), **more}


def end(reason: Any = "COMPLETE", **response: Any) -> dict[str, Any]:
    """Return the last line."""
    return {"is_finished": True, "event_type": "stream-end", "finish_reason": reason, "response": response}


def whole(slot: int, name: str, text: str, *, final: bool = True) -> list[Delta]:
    """Return the deltas of a call that is reported whole."""
    told = CallWhole(0, slot, None, None, name, text, ITEM_DONE)
    return [CallSeen(0, slot, None, None, name), told, CallClosed(0, slot, None, final=final)]


def test_a_call_streams_as_text_and_is_told_as_an_object() -> None:
    """The plan is reasoning, pieces go to their index, and each telling goes to its position; none is lost."""
    call = {"name": "f", "parameters": {"a": 1}}
    meta = {"api_version": {"version": "1"}, "tokens": {"output_tokens": 9}, "billed_units": {}}
    deltas = translate(
        START,
        chunk("First"),
        chunk(index=0, name="f"),
        chunk(index=0, parameters='{"a":'),
        chunk(index=0, parameters=" 1}"),
        told(call, text="First"),
        end(text="First", tool_calls=[call], meta=meta, generation_id="g1"),
    )

    assert [
        OPENED,
        ReasoningFragment(0, "First", "tool_plan"),
        CallSeen(0, 0, None, None, "f"),
        Slot(0, 0, None, '{"a":'),
        Slot(0, 0, None, " 1}"),
        *whole(0, "f", '{"a": 1}'),
        *whole(0, "f", '{"a": 1}'),
        UsageSeen({"tokens": {"output_tokens": 9}}),
        Finish(0, "stop", "COMPLETE"),
        TurnEnded("g1"),
    ] == deltas


def test_text_is_said_once() -> None:
    """The last line repeats the text; it counts only if nothing was said before."""
    said = translate(START, {"event_type": "text-generation", "text": "Hi"}, end(text="Hi"))

    assert [OPENED, TextFragment(0, "Hi"), Finish(0, "stop", "COMPLETE"), TurnEnded("g1")] == said
    assert said == translate(START, {"event_type": "text-generation", "text": ""}, end(text="Hi"))
    assert [*said, *said] == translate(START, end(text="Hi"), START, end(text="Hi"))


def test_the_plan_is_said_once() -> None:
    """It comes in pieces, in either place, or with the calls; later text only repeats it."""
    plan = ReasoningFragment(0, "First", "tool_plan")

    assert [plan, plan] == translate(chunk("First"), chunk(text="First"), told(text="First"))
    assert [plan] == translate(chunk(), told(text="First"))
    assert [plan, Finish(0, "stop", "COMPLETE"), TurnEnded()] == translate(
        told(text="First"), end(text="First")
    )


def test_a_call_that_is_told_without_arguments_is_not_over() -> None:
    """Empty parameters can be those of a call that was cut before them (quirk 26)."""
    assert whole(0, "f", "{}", final=False) == translate(told({"name": "f", "parameters": {}}))
    assert [CallSeen(0, 0, None, None, "f"), CallClosed(0, 0, None, final=False)] == translate(
        told({"name": "f"})
    )


def test_calls_are_told_by_position() -> None:
    """Equal calls stay apart; one call may come in place of a list (quirk 39)."""
    call = {"name": "f", "parameters": {"a": 1}}
    first, second = whole(0, "f", '{"a": 1}'), whole(1, "f", '{"a": 1}')

    assert [*first, *second] == translate(told(call, call))
    assert first == translate({"event_type": "tool-calls-generation", "tool_calls": call})
    assert [] == translate({"event_type": "tool-calls-generation", "tool_calls": None})


def test_a_chunk_without_an_index_belongs_to_the_latest_name() -> None:
    """A name opens the next slot; text continues where the latest name is (quirk 1)."""
    deltas = translate(
        chunk(name="f"), chunk(parameters="{}"), chunk(name="g", parameters="{"), chunk(parameters="}")
    )

    assert [
        CallSeen(0, 0, None, None, "f"),
        Slot(0, 0, None, "{}"),
        CallSeen(0, 1, None, None, "g"),
        Slot(0, 1, None, "{"),
        Slot(0, 1, None, "}"),
    ] == deltas
    assert [OPENED, CallSeen(0, 0, None, None, "h")] == translate(chunk(name="f"), START, chunk(name="h"))[1:]
    assert [Slot(0, 0, None, "x")] == translate(chunk(parameters="x"))


def test_odd_chunks_are_read_as_they_are() -> None:
    """Parameters may be an object, or an empty one, which says nothing; labels may be anything (quirk 22)."""
    assert [
        CallSeen(0, 2, None, "7", None),
        CallWhole(0, 2, None, None, None, '{"a": 1}', OBJECT),
    ] == translate(chunk(index="2", id=7, parameters={"a": 1}))
    assert [] == translate(chunk(index=0, parameters={}), chunk(index=0, name=" ", parameters=""))


def test_a_failure_takes_back_what_is_open() -> None:
    """The reason of a failure drops the open calls; a cut and a filter are reported as such."""
    assert [Finish(0, "error", "ERROR_LIMIT", drops=True), TurnEnded()] == translate(end("ERROR_LIMIT"))
    assert [Finish(0, "content_filter", "ERROR_TOXIC"), TurnEnded()] == translate(end("ERROR_TOXIC"))
    assert [Finish(0, "length", "MAX_TOKENS"), TurnEnded()] == translate(
        end(None, finish_reason="MAX_TOKENS")
    )


def test_errors_have_many_forms() -> None:
    """An error is an object, a bare message, or whatever an event of that name holds (quirk 52)."""
    bare = {"message": "busy"}

    assert [WireFault("provider_error", "busy", error="busy", fatal=True)] == translate({"error": "busy"})
    assert [WireFault("provider_error", "busy", error=bare, fatal=True)] == translate(bare)
    assert [WireFault("provider_error", "x", error="x", fatal=True)] == translate("x", event="error")


def test_the_frame_may_name_the_event() -> None:
    """Server-sent events name it, too; `[DONE]` from a proxy ends nothing."""
    assert [TextFragment(0, "Hi")] == translate({"text": "Hi"}, event="text-generation")
    assert [OPENED] == translate(START, "[DONE]")


def test_a_whole_body_is_a_turn() -> None:
    """A body is the response alone (quirk 90)."""
    body = {
        "response_id": "r1",
        "generation_id": "g1",
        "text": "Hi",
        "tool_calls": [{"name": "f", "parameters": {"a": 1}}],
        "finish_reason": "COMPLETE",
        "meta": {"tokens": {"output_tokens": 1}},
    }

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        *whole(0, "f", '{"a": 1}'),
        UsageSeen({"tokens": {"output_tokens": 1}}),
        Finish(0, "stop", "COMPLETE"),
        TurnEnded("g1"),
    ] == translate(body)


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Searches say nothing, a split surrogate is text, unknown events are counted, broken data is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", {"event_type": "search-results", "documents": []}, {"type": "ping"})
    assert [Slot(0, 0, None, "\ud83d")] == translate(
        '{"event_type":"tool-calls-chunk","tool_call_delta":{"index":0,"parameters":"\\ud83d"}}'
    )
    assert [Noted(0, "unknown_events")] == translate({"event_type": "tool-calls-poked"})
    assert [fault] == translate("{")
