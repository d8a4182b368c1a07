"""OpenAI Assistants: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import ToolCall, ToolCallParser
from wholecall.deltas import (
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    CallCancelled,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    Slot,
    TextFragment,
    TextRefused,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.openai.assistants import AssistantsTranslator
from wholecall.framing.frame import Frame

JSON = dict[str, Any]
Event = tuple[str, Any]
RUN: Event = ("thread.run.created", {"id": "run_1", "object": "thread.run", "status": "queued", "model": "m"})
STEP: Event = ("thread.run.step.created", {"id": "s1", "object": "thread.run.step", "status": "in_progress"})
OPENED = TurnOpened("s1", "s1", "m")
STOP = Finish(0, "stop", "completed")
ENDED = TurnEnded("s1")
CODE = "code_interpreter"


def translate(*events: Event) -> list[Delta]:
    """Translate the events of one stream, given by name and data."""
    translator = AssistantsTranslator()
    deltas: list[Delta] = []
    for name, data in events:
        deltas += translator.translate(Frame(name, data if isinstance(data, str) else json.dumps(data)))
    return deltas + translator.close()


def piece(*calls: JSON, step: str = "s1") -> Event:
    """Build a delta of a step."""
    details = {"type": "tool_calls", "tool_calls": list(calls)}
    return "thread.run.step.delta", {"id": step, "delta": {"step_details": details}}


def function(index: Any = 0, id: Any = None, **members: Any) -> JSON:
    """Build an entry of a delta."""
    return {"index": index, "id": id, "type": "function", "function": members}


def code(text: str, **labels: Any) -> JSON:
    """Build an entry with code."""
    return {"index": 0, **labels, "type": CODE, CODE: {"input": text}}


def step(status: str, *calls: JSON, id: str = "s1", **more: Any) -> Event:
    """Build an event of a step."""
    details = {"type": "tool_calls", "tool_calls": list(calls)}
    return f"thread.run.step.{status}", {"id": id, "status": status, "step_details": details, **more}


def run(status: str, **more: Any) -> Event:
    """Build an event of the run."""
    return f"thread.run.{status}", {
        "id": "run_1",
        "object": "thread.run",
        "status": status,
        "model": "m",
        **more,
    }


def asked(*calls: JSON) -> JSON:
    """Build the action that the run waits for."""
    return {
        "required_action": {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": list(calls)}}
    }


def said(text: str) -> Event:
    """Build a piece of a message."""
    part = {"index": 0, "type": "text", "text": {"value": text}}
    return "thread.message.delta", {"id": "msg_1", "delta": {"content": [part]}}


def message(status: str, *parts: JSON, **more: Any) -> Event:
    """Build an event that holds a whole message."""
    return f"thread.message.{status}", {"id": "msg_1", "status": status, "content": list(parts), **more}


def test_a_call_is_a_slot_of_its_step() -> None:
    """Labels and pieces, then the run that asks for the outputs: it restates and ends the calls."""
    deltas = translate(
        RUN,
        STEP,
        step("in_progress"),
        piece(function(1, "c1", name="f", arguments="", output=None)),
        piece(function(1, arguments='{"a":'), function("1", arguments="1}")),
        run("requires_action", **asked({"id": "c1", "function": {"name": "f", "arguments": '{"a":1}'}})),
        ("done", "[DONE]"),
    )

    assert [
        OPENED,
        CallSeen(0, 1, None, "c1", "f"),
        Slot(0, 1, None, '{"a":'),
        Slot(0, 1, None, "1}"),
        CallWhole(0, None, None, "c1", "f", '{"a":1}', HYDRATION),
        CallClosed(0, None, "c1"),
        Finish(0, "tool_calls", "requires_action"),
        ENDED,
    ] == deltas


def test_the_run_restates_its_calls_together() -> None:
    """Each knows the ids of all; one without text is only seen, one without an id is not closed by it."""
    calls = (
        {"id": "c1", "function": {"name": "f", "arguments": "{}"}},
        {"id": "c2", "function": {"name": "g", "arguments": ""}},
        {"id": None, "function": {"name": "h", "arguments": '{"a":1}'}},
        {"id": "c4", "function": {"name": "f", "arguments": "{}"}},
    )
    told = frozenset({"c1", "c4"})

    assert [
        CallWhole(0, None, None, "c1", "f", "{}", HYDRATION, restated_ids=told),
        CallSeen(0, None, None, "c2", "g"),
        CallWhole(0, None, None, None, "h", '{"a":1}', HYDRATION, restated_ids=told),
        CallWhole(0, None, None, "c4", "f", "{}", HYDRATION, restated_ids=told),
        *(CallClosed(0, None, id_) for id_ in ("c1", "c2", "c4")),
    ] == translate(RUN, STEP, run("requires_action", **asked(*calls)))[1:-2]


def test_terminals_come_in_order_of_the_calls() -> None:
    """A call without arguments does not wait for its later siblings: all are ended by the same event."""
    calls = [
        {"id": f"c{n}", "function": {"name": "f", "arguments": text}}
        for n, text in enumerate(["{}", "", "{}"])
    ]
    body = {"id": "run_1", "object": "thread.run", "status": "requires_action", **asked(*calls)}
    found = ToolCallParser().feed_event(body)

    assert ["c0", "c1", "c2"] == [event.id for event in found if isinstance(event, ToolCall)]


def test_a_call_that_was_executed_is_not_told_again() -> None:
    """A step that completes has its outputs: its functions are reported neither as whole nor as seen."""
    done = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}", "output": "ok"}}

    assert [CallCancelled("c1", answered=True)] == translate(step("completed", done, usage={"n": 1}))
    assert [OPENED, UsageSeen({"n": 1}), STOP, ENDED] == translate(
        RUN, STEP, step("completed", done, usage={"n": 1}), step("completed", done, usage={"n": 1})
    )


def test_code_is_the_member_of_an_object() -> None:
    """Pieces are escaped as they come and closed with their step, whose own text restates them."""
    text = 'a = "å"\n'
    deltas = translate(
        RUN,
        STEP,
        piece(code("", id="c1")),
        piece(code('a = "')),
        piece(code('å"\n')),
        step("completed", {"id": "c1", "type": CODE, CODE: {"input": text, "outputs": []}}),
        run("completed"),
    )

    assert [
        OPENED,
        CallSeen(0, 0, None, "c1", CODE, "server"),
        Slot(0, 0, None, '{"input":"a = \\"'),
        Slot(0, 0, None, 'å\\"\\n'),
        Slot(0, 0, None, '"}'),
        CallWhole(
            0,
            None,
            None,
            "c1",
            CODE,
            json.dumps({"input": text}, ensure_ascii=False).replace(": ", ":"),
            ITEM_DONE,
            "server",
        ),
        STOP,
        ENDED,
    ] == deltas


def test_a_tool_of_openai_needs_no_id_to_be_known() -> None:
    """Its type is its name, also in a piece without an id; it is said once."""
    assert [
        OPENED,
        CallSeen(0, 0, None, None, CODE, "server"),
        *(Slot(0, 0, None, t) for t in ('{"input":"a', "b")),
    ] == (translate(RUN, STEP, piece(code("a")), piece(code("b"))))


@pytest.mark.parametrize("status", ["requires_action", "completed"])
def test_a_run_that_ends_well_makes_its_code_whole(status: str) -> None:
    """Where no step says so, the run does; a run that was cut does not."""
    events = (RUN, STEP, piece(code("x", id="c1")))

    assert Slot(0, 0, None, '"}') in translate(*events, run(status))
    assert Slot(0, 0, None, '"}') not in translate(*events, run("incomplete"))


def test_a_search_has_no_arguments() -> None:
    """A tool that OpenAI ran without stating its input is a call without text, also if only its step reports it."""
    search = {"id": "c1", "type": "file_search", "file_search": {"results": []}}
    seen = CallSeen(0, None, None, "c1", "file_search", "server")

    assert [CallSeen(0, 0, None, "c1", "file_search", "server")] == translate(
        RUN, STEP, piece({"index": 0, **search})
    )[1:]
    assert [TurnOpened("s1", "s1"), seen, STOP, ENDED] == translate(step("completed", search))


def test_arguments_as_an_object_are_whole() -> None:
    """Their own text is kept; an empty one means text to come (quirks 22 and 25)."""
    deltas = translate(
        RUN, STEP, piece(function(0, "c1", name="f", arguments={"a": 1}), function(1, arguments={}))
    )

    assert [CallSeen(0, 0, None, "c1", "f"), CallWhole(0, 0, None, None, None, '{"a": 1}', OBJECT)] == deltas[
        1:
    ]


def test_each_step_is_a_turn() -> None:
    """The next step begins after the last one ended, or next to it; late pieces of an ended one are noted."""
    deltas = translate(
        RUN,
        STEP,
        step("in_progress", id="s2"),
        piece(function(0, "c1", name="f"), step="s1"),
        step("completed", id="s1"),
        step("in_progress", id="s3"),
        piece(function(0, "c1", name="f"), step="s1"),
        step("completed", id="s1"),
        step("in_progress", id="s1"),
    )

    assert [
        OPENED,
        TurnOpened("s2", "s2", "m"),
        TurnOpened("s1"),
        CallSeen(0, 0, None, "c1", "f"),
        STOP,
        ENDED,
        TurnOpened("s3", "s3", "m", restart=True),
        Noted(0, "data_after_end"),
        Noted(0, "data_after_end"),
    ] == deltas


def test_messages_are_text() -> None:
    """Pieces are text; the whole message is only where no piece came; refusals are text too."""
    part = {"type": "text", "text": {"value": "Hi"}}

    assert [OPENED, TextFragment(0, "Hi")] == translate(
        RUN, STEP, said("Hi"), said(""), message("completed", part)
    )
    assert [TextFragment(0, "Hi"), TextRefused(0), TextFragment(0, "no")] == translate(
        RUN, STEP, message("completed", part, {"type": "refusal", "refusal": "no"}, {"type": "image_file"})
    )[1:]


@pytest.mark.parametrize(
    ("reason", "said_of_it"),
    [
        ("max_tokens", [Finish(0, "length", "max_tokens")]),
        ("content_filter", [Finish(0, "content_filter", "content_filter")]),
        ("run_cancelled", []),
        (None, []),
    ],
)
def test_a_message_may_be_cut(reason: str | None, said_of_it: list[Delta]) -> None:
    """A cut message is a cut turn; the run itself reports its outcome."""
    assert (
        said_of_it == translate(RUN, STEP, message("incomplete", incomplete_details={"reason": reason}))[1:]
    )


def test_what_has_no_id_belongs_to_the_step_under_way() -> None:
    """Ids are the provider's to leave out; the counts of a run are the sum of those of its steps."""
    nameless = ("thread.run.step.delta", {**piece(function(0, "c1", name="f"))[1], "id": None})

    assert [OPENED, CallSeen(0, 0, None, "c1", "f"), STOP, ENDED] == translate(
        RUN, STEP, nameless, run("completed", usage={"n": 9})
    )


def test_a_message_without_a_step_has_a_turn_of_its_own() -> None:
    """Text that comes after the last step, or before any, belongs to no step."""
    assert [TurnOpened("msg_1", "msg_1", "m"), TextFragment(0, "Hi"), STOP, TurnEnded("msg_1")] == translate(
        RUN, said("Hi"), run("completed"), run("completed")
    )
    assert TurnOpened("msg_1", "msg_1", "m", restart=True) in translate(
        RUN, STEP, step("completed"), said("Hi")
    )


@pytest.mark.parametrize(
    ("event", "finish"),
    [
        (run("completed"), STOP),
        (
            run("incomplete", incomplete_details={"reason": "max_completion_tokens"}),
            Finish(0, "length", "max_completion_tokens"),
        ),
        (
            run("incomplete", incomplete_details={"reason": "content_filter"}),
            Finish(0, "content_filter", "content_filter"),
        ),
        (run("incomplete"), Finish(0, "length", "incomplete")),
        (run("cancelled"), Finish(0, "aborted", "cancelled", drops=True)),
        (run("expired"), Finish(0, "aborted", "expired", drops=True)),
        (step("cancelled"), Finish(0, "aborted", "cancelled", drops=True)),
        (step("expired"), Finish(0, "aborted", "expired", drops=True)),
        (step("failed"), Finish(0, "error", "failed", drops=True)),
    ],
)
def test_a_turn_ends_as_its_step_or_run_does(event: Event, finish: Finish) -> None:
    """Cancelled, expired and failed runs take back open calls (quirk 94); an ended turn ends once."""
    assert [OPENED, finish, ENDED] == translate(RUN, STEP, event, run("completed"), ("done", "[DONE]"))


def test_a_failed_run_is_an_error() -> None:
    """It is fatal, and keeps the provider's own words (quirk 52)."""
    error = {"code": "server_error", "message": "Sorry"}
    fault = WireFault("provider_error", "server_error: Sorry", error=error, fatal=True)

    assert [OPENED, fault] == translate(RUN, STEP, run("failed", last_error=error))
    assert [TurnOpened("run_1", "run_1", "m"), UsageSeen({"n": 1}), fault] == translate(
        run("failed", last_error=error, usage={"n": 1})
    )


def test_an_error_event_is_the_providers() -> None:
    """With or without an envelope, as an event or as bare data; text that is not JSON is reported as it is."""
    error = {"code": "c", "type": "t", "message": "no", "param": "p"}
    fault = WireFault("provider_error", "c: no", error=error, fatal=True)

    assert [fault, fault, fault] == translate(
        ("error", error), ("error", {"error": error}), ("message", {"error": error})
    )
    assert [WireFault("provider_error", "busy", error="busy", fatal=True)] == translate(("error", "busy"))


def test_data_without_a_name_is_named_by_what_it_is() -> None:
    """JSON lines have no event names, SDKs put them next to the data; a run that was polled has none (quirk 90)."""
    named = [
        RUN,
        STEP,
        piece(function(0, "c1", name="f", arguments="{}")),
        run("completed"),
        ("done", "[DONE]"),
    ]
    named[2][1]["object"] = "thread.run.step.delta"
    deltas = translate(*named)

    assert deltas == translate(*(("", data) for _, data in named))
    assert deltas == translate(*(("message", {"event": name, "data": data}) for name, data in named))
    assert [TurnOpened("run_1", "run_1", "m"), UsageSeen({"n": 1}), STOP, TurnEnded("run_1")] == translate(
        ("", run("completed", usage={"n": 1})[1])
    )


def test_wrapping_counts_once() -> None:
    """Data in data in data is nothing that an SDK sends."""
    assert [] == translate(("", {"event": "x", "data": {"event": "y", "data": STEP[1]}}))


def test_unknown_events_are_counted_within_a_turn() -> None:
    """Those that say nothing new are not."""
    names = (
        "thread.created",
        "thread.message.created",
        "thread.message.in_progress",
        "thread.run.cancelling",
    )
    quiet = [(name, {"id": "x"}) for name in names]

    assert [OPENED] == translate(RUN, ("thread.run.dreaming", {"id": "x"}), STEP, *quiet)
    assert [OPENED, Noted(0, "unknown_events")] == translate(RUN, STEP, ("thread.run.dreaming", {"id": "x"}))


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Half a surrogate is text, a field of a wrong type is absent; an unreadable frame is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)
    odd = '{"id":"s1","status":7,"usage":3,"delta":{"step_details":{"tool_calls":[{"index":"x","function":{"arguments":"\\ud83d"}},7]}}}'

    assert [] == translate(("message", "{}"), ("done", "[DONE]"), ("message", ""))
    assert [fault] == translate(("thread.run.step.delta", "{"))
    assert [OPENED, Slot(0, -1, None, "\ud83d")] == translate(RUN, STEP, ("thread.run.step.delta", odd))
    assert [OPENED, STOP, ENDED] == translate(
        RUN, STEP, ("thread.run.step.completed", '{"id":"s1","step_details":5,"usage":3}')
    )
