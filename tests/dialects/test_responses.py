"""OpenAI Responses: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.parts import without_parts
from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    MessageBegan,
    Noted,
    ReasoningFragment,
    Restated,
    Slot,
    TextFragment,
    TextRefused,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.openai.responses.translator import ResponsesTranslator
from wholecall.framing.frame import Frame

ID = {"item_id": "fc_1"}
OPENED = TurnOpened("resp_1", "resp_1", "m", restart=True)
ENDED = TurnEnded("resp_1")
UNKNOWN = Noted(0, "unknown_events")
CREATED = {"type": "response.created", "response": {"id": "resp_1", "model": "m", "output": []}}


def translate(*payloads: dict[str, Any] | str | Frame, guest: bool = False) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = ResponsesTranslator(guest=guest)
    deltas: list[Delta] = []
    for payload in payloads:
        data = (
            payload if isinstance(payload, str) else json.dumps(payload) if isinstance(payload, dict) else ""
        )
        deltas += translator.translate(payload if isinstance(payload, Frame) else Frame("message", data))
    return without_parts(deltas + translator.close())


def call(**fields: Any) -> dict[str, Any]:
    """Build a function call item."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": ""}
    return {**item, **fields}


def added(item: dict[str, Any], index: object = 0) -> dict[str, Any]:
    """Build the event that adds an item."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(item: dict[str, Any], index: object = 0) -> dict[str, Any]:
    """Build the event that finishes an item."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def piece(text: object, index: object = 0, item_id: object = "fc_1", **more: Any) -> dict[str, Any]:
    """Build a piece of argument text."""
    event = {"type": "response.function_call_arguments.delta", "output_index": index, "item_id": item_id}
    return {**event, "delta": text, **more}


def ended(kind: str = "completed", *output: dict[str, Any], **response: Any) -> dict[str, Any]:
    """Build a final event."""
    return {"type": f"response.{kind}", "response": {"id": "resp_1", "output": list(output), **response}}


def seen(index: int | None = 0, *, begins: bool = True) -> CallSeen:
    """Return the events for the item of `call` without text."""
    return CallSeen(0, index, "fc_1", "call_1", "f", extra=ID, begins=begins)


def whole(text: str, rank: int, index: int | None = 0, *, id_wins: bool = True) -> CallWhole:
    """Return the events for the item of `call` with text; a finished item is over."""
    closes = rank == ITEM_DONE
    return CallWhole(0, index, "fc_1", "call_1", "f", text, rank, id_wins=id_wins, extra=ID, closes=closes)


def restated(*calls: CallWhole) -> Restated:
    """Return the finished response's entries for calls."""
    return Restated(0, calls)


def test_a_call_is_a_slot() -> None:
    """Labels, pieces, both restatements and the close are reported in the order of the wire, and once."""
    deltas = translate(
        CREATED,
        {"type": "response.in_progress", "response": {"id": "resp_1"}},
        added(call(status="in_progress")),
        piece('{"a":'),
        piece("1}"),
        piece(""),
        {"type": "response.function_call_arguments.done", "output_index": 0, **ID, "arguments": '{"a":1}'},
        done(call(arguments='{"a":1}', status="completed")),
        ended("completed", call(arguments='{"a":1}'), usage={"n": 1}),
    )

    assert [
        OPENED,
        seen(),
        Slot(0, 0, "fc_1", '{"a":'),
        Slot(0, 0, "fc_1", "1}"),
        CallWhole(0, 0, "fc_1", None, None, '{"a":1}', DONE),
        whole('{"a":1}', ITEM_DONE),
        UsageSeen({"n": 1}),
        Finish(0, "stop", "completed"),
        ENDED,
    ] == deltas


def test_items_that_were_done_are_not_told_again() -> None:
    """A finished response restates only calls that no event gave whole, with the ids of the others (quirk 98)."""
    item = call(arguments='{"a":1}', status="completed")
    other = {**item, "id": "fc_2", "call_id": "call_2"}
    deltas = translate(
        CREATED, added(call(status="in_progress")), done(item), ended("completed", item, other)
    )
    (said,) = (delta for delta in deltas if isinstance(delta, Restated))

    assert ["call_2"] == [whole.id for whole in said.calls]
    assert {"call_1"} == said.restated_ids


@pytest.mark.parametrize(
    ("restated", "is_told"),
    [
        ({}, False),
        ({"status": None, "id": "fc_9"}, False),
        ({"arguments": '{"a":2}'}, True),
        ({"call_id": "call_9"}, True),
    ],
)
def test_a_finished_function_has_told_all_but_another_text(restated: dict[str, Any], is_told: bool) -> None:
    """A named call that was done ended there: only another text of it is worth a word (quirk 73)."""
    item = call(arguments='{"a":1}', status="completed")
    deltas = translate(CREATED, done(item), ended("completed", {**item, **restated}))

    assert is_told == any(isinstance(delta, Restated) for delta in deltas)


@pytest.mark.parametrize("name", [None, "", " "])
def test_a_finished_function_may_still_get_its_name(name: str | None) -> None:
    """A call that was done without a name is repeated by the finished response, which knows it."""
    deltas = translate(
        CREATED, done(call(name=name, arguments="{}")), ended("completed", call(arguments="{}"))
    )

    assert restated(whole("{}", HYDRATION, None)) in deltas


def test_free_text_and_mcp_calls_have_the_same_life() -> None:
    """Custom tools and MCP calls have their own event names and kinds."""
    deltas = translate(
        {
            "type": "response.custom_tool_call_input.delta",
            "output_index": 0,
            "item_id": "c",
            "delta": "SELECT",
        },
        {
            "type": "response.custom_tool_call_input.done",
            "output_index": 0,
            "item_id": "c",
            "input": "SELECT 1",
        },
        {"type": "response.mcp_call_arguments.delta", "output_index": 1, "item_id": "m", "delta": "{}"},
        {"type": "response.mcp_call_arguments.done", "output_index": 1, "item_id": "m", "arguments": "{}"},
        done(
            {"type": "custom_tool_call", "id": "c", "call_id": "call_c", "name": "sql", "input": "SELECT 1"}
        ),
        done({"type": "mcp_call", "id": "m", "name": "ask", "server_label": "wiki", "arguments": "{}"}, 1),
    )

    assert [
        Slot(0, 0, "c", "SELECT"),
        CallWhole(0, 0, "c", None, None, "SELECT 1", DONE, "custom"),
        Slot(0, 1, "m", "{}"),
        CallWhole(0, 1, "m", None, None, "{}", DONE, "server"),
        CallWhole(
            *(0, 0, "c", "call_c", "sql", "SELECT 1", ITEM_DONE, "custom", None, True, (), {"item_id": "c"}),
            closes=True,
        ),
        CallWhole(
            0, 1, "m", "m", "ask", "{}", ITEM_DONE, "server", extra={"server_label": "wiki"}, closes=True
        ),
    ] == deltas


def members(item: str) -> tuple[str, str | None, str, str | None, dict[str, Any] | None]:
    """Return kind, name, text, id and extra of a finished item."""
    event = '{"type":"response.output_item.done","output_index":3,"item":' + item + "}"
    delta = translate(event)[0]
    assert isinstance(delta, (CallSeen, CallWhole))
    text = delta.text if isinstance(delta, CallWhole) else ""
    return delta.kind, delta.name, text, delta.id, delta.extra


@pytest.mark.parametrize(
    ("item", "kind", "name", "text"),
    [
        ('"type":"shell_call","action":{"commands": ["ls"]}', "builtin", "shell", '{"action":{"commands": ["ls"]}}'),
        ('"type":"shell_call","environment":{"type":"local"},"action":{}', "builtin", "shell", '{"action":{}}'),
        ('"type":"shell_call","environment":{"type":"container_reference"}', "server", "shell", ""),
        ('"type":"local_shell_call","action":{"env":{}}', "builtin", "local_shell", '{"action":{"env":{}}}'),
        ('"type":"apply_patch_call","operation":{"diff":"+a"}', "builtin", "apply_patch", '{"operation":{"diff":"+a"}}'),
        ('"type":"computer_call","action":null,"actions":[1.0]', "builtin", "computer", '{"actions":[1.0]}'),
        ('"type":"tool_search_call","execution":"client","arguments":{}', "builtin", "tool_search", '{"arguments":{}}'),
        ('"type":"tool_search_call","execution":"server","arguments":{}', "server", "tool_search", '{"arguments":{}}'),
        ('"type":"web_search_call","arguments":"{}","action":{}', "server", "web_search", '{"action":{},"arguments":"{}"}'),
        ('"type":"file_search_call","queries":["a"]', "server", "file_search", '{"queries":["a"]}'),
        ('"type":"code_interpreter_call","code":"1\\n"', "server", "code_interpreter", '{"code":"1\\n"}'),
        ('"type":"image_generation_call","result":"aGk="', "server", "image_generation", ""),
        ('"type":"program","code":"x"', "server", "program", '{"code":"x"}'),
    ],
)  # fmt: skip
def test_every_kind_of_item_is_told_apart(item: str, kind: str, name: str, text: str) -> None:
    """Who executes an item is known, and its arguments are its own members in the wire's own text."""
    extra = {"item_id": "x_1"}

    assert (kind, name, text, "call_1", extra) == members('{"id":"x_1","call_id":"call_1",' + item + "}")


def test_an_approval_request_is_flagged() -> None:
    """The provider waits for a yes: a server call that needs approval."""
    item = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "ask", "arguments": "{}"}

    assert [
        CallWhole(
            0, 0, "mcpr_1", "mcpr_1", "ask", "{}", ITEM_DONE, "server", flags=("needs_approval",), closes=True
        )
    ] == translate(done(item))


def test_what_is_to_be_sent_back_rides_along() -> None:
    """Caller, namespace and the item's id are kept; empty lists are not."""
    caller = {"type": "program", "caller_id": "call_0"}
    item = call(caller=caller, namespace="ns", pending_safety_checks=[], **{"async": True})

    assert [
        CallSeen(
            0, 0, "fc_1", "call_1", "f", "function", "ns", (), {**ID, "caller": caller, "async": True}, True
        )
    ] == (translate(added(item)))


@pytest.mark.parametrize(
    ("call_id", "id_", "extra"), [("", "fc_1", None), (None, "fc_1", None), ("c", "c", ID)]
)
def test_either_id_may_be_missing(call_id: str | None, id_: str, extra: dict[str, str] | None) -> None:
    """The call id is the public one; the item's id replaces it but never outranks it (quirk 75)."""
    item = call(call_id=call_id, arguments="{}")

    assert [
        CallWhole(0, 0, "fc_1", id_, "f", "{}", ITEM_DONE, id_wins=call_id == "c", extra=extra, closes=True)
    ] == translate(done(item))


def test_a_skeleton_is_no_restatement() -> None:
    """Text in an added item ranks lowest; placeholders and members that still grow are not text."""
    shell = {"type": "shell_call", "id": "s", "action": {"commands": []}}
    deltas = translate(
        added(call(arguments="{}")),
        added(call(arguments='{"a":1}'), 1),
        added(shell, 2),
        added({**shell, "status": "completed"}, 3),
    )

    assert [
        seen(),
        replace(whole('{"a":1}', OBJECT, 1, id_wins=False), begins=True),
        CallSeen(0, 2, "s", "s", "shell", "builtin", begins=True),
        CallWhole(0, 3, "s", "s", "shell", '{"action":{"commands": []}}', OBJECT, "builtin", begins=True),
    ] == deltas


def test_empty_restatements_never_erase() -> None:
    """A done event without text says that there is none, and a name at most (quirk 71)."""
    event = {"type": "response.function_call_arguments.done", "output_index": 0, **ID}

    over = CallClosed(0, 0, "fc_1", of_text=True)
    assert [over] * 3 == translate(event, {**event, "arguments": None}, {**event, "arguments": ""})
    assert [CallSeen(0, 0, "fc_1", None, "f"), over] == translate({**event, "name": "f"})
    assert [seen(begins=False), CallClosed(0, 0, "fc_1")] == translate(done(call()))


def test_an_item_can_call_itself_cut() -> None:
    """Status `incomplete` truncates; an item that is `in_progress` has not ended (quirk 76)."""
    assert CallClosed(0, 0, "fc_1", truncated=True) == translate(done(call(status="incomplete")))[-1]
    assert [seen(begins=False)] == translate(done(call(status="in_progress")))


def test_text_and_reasoning_are_told_apart() -> None:
    """Texts and refusals are visible; reasoning belongs to its item, whose end adds the encrypted part."""
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "encrypted_content": "sealed",
        "summary": [{"text": "hm"}],
    }
    deltas = translate(
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"},
        done(reasoning, 0),
        done(reasoning, 1),
        done({"type": "reasoning"}, 2),
        {"type": "response.output_text.delta", "output_index": 3, "delta": "Hi"},
        {"type": "response.refusal.delta", "output_index": 3, "delta": "No"},
        {"type": "response.output_text.delta", "output_index": 3, "delta": ""},
        {"type": "response.reasoning_text.delta", "output_index": 0, "delta": None},
        done({"type": "message", "content": [{"text": "Hi"}]}, 3),
    )

    assert [
        ReasoningFragment(0, "hm", 0),
        ReasoningFragment(0, "", 0, "rs_1", data="sealed"),
        ReasoningFragment(0, "hm", 1, "rs_1", data="sealed"),
        TextFragment(0, "Hi"),
        TextRefused(0),
        TextFragment(0, "No"),
    ] == deltas


def test_the_finished_response_restates_by_id() -> None:
    """A position is not a slot: the response's list is reported at once, to be matched one to one (quirk 99)."""
    nameless = {"type": "web_search_call", "status": "incomplete"}
    deltas = translate(
        CREATED,
        ended("completed", {"type": "unknown"}, call(), call(arguments="{", status="incomplete"), nameless),
    )

    assert [
        OPENED,
        restated(
            whole("", HYDRATION, None),
            replace(whole("{", HYDRATION, None), truncated=True),
            CallWhole(0, None, None, None, "web_search", "", HYDRATION, "server", truncated=True),
        ),
        Finish(0, "stop", "completed"),
        ENDED,
    ] == deltas


def test_a_body_is_one_turn() -> None:
    """A whole, non-streamed body gives text, reasoning and calls, and ends its turn."""
    body = {
        "object": "response",
        "id": "resp_1",
        "model": "m",
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"text": "h"}, {"text": "m"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "Hi"}, {"refusal": "No"}, {}]},
            call(arguments="{}"),
        ],
    }
    told = [
        OPENED,
        ReasoningFragment(0, "hm", 0, "rs_1"),
        TextFragment(0, "Hi"),
        TextRefused(0),
        TextFragment(0, "No"),
        restated(whole("{}", HYDRATION, None)),
    ]

    assert [*told, Finish(0, "stop", "completed"), ENDED] == translate(body)
    assert told == translate({**body, "status": "in_progress"})


def test_a_second_message_is_told() -> None:
    """The beginning of another message after one has spoken is reported, in events and in a body; a first one says
    nothing.
    """
    spoken = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}
    first, second = [
        {"type": "message", "content": [{"type": "output_text", "text": text}]} for text in ("Hi", "Ho")
    ]
    body = {
        "object": "response",
        "id": "resp_1",
        "model": "m",
        "status": "completed",
        "output": [first, second],
    }

    assert [TextFragment(0, "Hi"), MessageBegan(0)] == translate(added(first, 0), spoken, added(second, 1))
    assert [TextFragment(0, "Hi"), MessageBegan(0), TextFragment(0, "Ho")] == translate(body)[1:4]


@pytest.mark.parametrize(
    ("event", "finish"),
    [
        (ended("incomplete", incomplete_details={"reason": "max_output_tokens"}), ("length", "max_output_tokens")),
        (ended("incomplete", incomplete_details={"reason": "content_filter"}), ("content_filter", "content_filter")),
        (ended("incomplete", incomplete_details={"reason": "stop"}), ("length", "stop")),
        (ended("incomplete", status="completed"), ("length", "incomplete")),
        (ended("completed", status="incomplete"), ("length", "incomplete")),
        (ended("done", status="completed"), ("stop", "completed")),
        (ended("done"), ("stop", "completed")),
    ],
)  # fmt: skip
def test_an_incomplete_response_was_cut(event: dict[str, Any], finish: tuple[Any, str]) -> None:
    """Whatever calls itself incomplete is cut, in the event's name or in the status (quirk 76)."""
    assert [OPENED, Finish(0, *finish), ENDED] == translate(CREATED, event)


def test_a_cancelled_response_takes_back_what_was_begun() -> None:
    """Cancelling restates nothing and drops every open call (quirk 94)."""
    deltas = translate(CREATED, ended("cancelled", call(arguments="{}"), usage={"n": 1}))

    assert [OPENED, UsageSeen({"n": 1}), Finish(0, "aborted", "cancelled", drops=True), ENDED] == deltas


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (ended("failed", error={"code": "c", "message": "m"}), {"code": "c", "message": "m"}),
        (ended("done", status="failed", error={"code": "c", "message": "m"}), {"code": "c", "message": "m"}),
        ({"type": "error", "error": {"code": "c", "message": "m"}}, {"code": "c", "message": "m"}),
        ({"type": "error", "code": "c", "message": "m"}, {"code": "c", "message": "m", "param": None}),
        ({"error": {"code": "c", "message": "m"}}, {"code": "c", "message": "m"}),
        (Frame("error", '{"code":"c","message":"m"}'), {"code": "c", "message": "m", "param": None}),
    ],
)
def test_errors_are_fatal_and_told_once(event: dict[str, Any] | Frame, error: dict[str, Any]) -> None:
    """`response.failed` repeats an `error` event: one fault for both (quirk 52)."""
    fault = WireFault("provider_error", "c: m", error=error, fatal=True)

    assert [OPENED, fault] == translate(CREATED, event, ended("failed", error=error), "[DONE]")


def test_events_seen_before_are_skipped() -> None:
    """A number that was seen is a replay, and so is the same start twice (quirk 91)."""
    start = {**CREATED, "sequence_number": 0}
    deltas = translate(
        start,
        start,
        piece("a", sequence_number=1),
        piece("b", sequence_number=2),
        piece("a", sequence_number=1),
        piece("c", sequence_number="3"),
    )

    assert [OPENED, Slot(0, 0, "fc_1", "a"), Slot(0, 0, "fc_1", "b"), Slot(0, 0, "fc_1", "c")] == deltas


def test_a_gap_is_a_hole() -> None:
    """A number that is missing was an event; where a stream begins is not a gap."""
    lost = WireFault("undecodable_frame", "2 events were lost before number 8", hole=True)

    assert [Slot(0, 0, "fc_1", "a"), lost, Slot(0, 0, "fc_1", "b")] == translate(
        piece("a", sequence_number=5), piece("b", sequence_number=8)
    )


def test_a_new_start_begins_a_new_turn() -> None:
    """`response.created`, or counting from 0 again, is a new message."""
    start = {**CREATED, "sequence_number": 0}
    again = TurnOpened(None, restart=True)

    assert [OPENED, Slot(0, 0, "fc_1", "a"), OPENED] == translate(start, piece("a", sequence_number=1), start)
    assert [Slot(0, 0, "fc_1", "a"), again, Slot(0, 0, "fc_1", "b")] == translate(
        piece("a", sequence_number=7), piece("b", sequence_number=0)
    )
    assert [OPENED, OPENED] == translate({**CREATED, "sequence_number": 4}, {**CREATED, "sequence_number": 9})


@pytest.mark.parametrize("number", [0, None, -1, "x"])
def test_numbers_that_never_count_are_no_numbers(number: object) -> None:
    """Gateways that number every event 0, or not at all, lose nothing."""
    deltas = translate(*(piece(text, sequence_number=number) for text in "abc"))

    assert [Slot(0, 0, "fc_1", text) for text in "abc"] == deltas


def test_streams_side_by_side_are_told_apart() -> None:
    """Responses on one socket have their own turns and numbers."""
    other = {**CREATED, "response": {"id": "resp_2"}, "stream_id": "b", "sequence_number": 0}
    deltas = translate(
        {**CREATED, "stream_id": "a", "sequence_number": 0},
        other,
        piece("1", sequence_number=1, stream_id="a"),
        piece("2", sequence_number=1, stream_id="b"),
    )

    assert [
        OPENED,
        TurnOpened("resp_2", "resp_2", restart=True),
        TurnOpened("resp_1"),
        Slot(0, 0, "fc_1", "1"),
        TurnOpened("resp_2"),
        Slot(0, 0, "fc_1", "2"),
    ] == deltas


def test_labels_are_told_as_they_are() -> None:
    """Missing slots stay missing, odd indices are read, items may rotate their ids (quirks 69 and 74)."""
    deltas = translate(
        piece("a", None, None), piece("b", "1", ""), piece("c", 1, "fc_2"), piece({"a": 1}, 1.0, "fc_3")
    )

    assert [
        Slot(0, None, None, "a"),
        Slot(0, 1, None, "b"),
        Slot(0, 1, "fc_2", "c"),
        Slot(0, 1, "fc_3", '{"a":1}'),
    ] == deltas


def test_a_guest_speaks_of_calls_only() -> None:
    """In a chat stream the turn belongs to the chat (quirk 89)."""
    deltas = translate(
        CREATED,
        piece("a", sequence_number=1),
        piece("b", sequence_number=9),
        ended("completed", call(arguments="{}"), usage={"n": 1}),
        ended("cancelled"),
        "[DONE]",
        guest=True,
    )

    assert [
        Slot(0, 0, "fc_1", "a"),
        Slot(0, 0, "fc_1", "b"),
        restated(whole("{}", HYDRATION, None)),
        UsageSeen({"n": 1}),
    ] == deltas


def test_done_ends_no_turn() -> None:
    """Proxies add `[DONE]`: it is the end of the transport, and no mark of the response."""
    finished = [OPENED, Finish(0, "stop", "completed"), ENDED]

    assert finished == translate(CREATED, ended("completed"), "[DONE]")
    assert [OPENED] == translate(CREATED, "[DONE]")


def test_a_turn_may_begin_late() -> None:
    """`response.in_progress` opens a turn whose `response.created` never came."""
    assert [OPENED] == translate({**CREATED, "type": "response.in_progress"})


def test_other_frames_are_quiet_unknown_or_holes() -> None:
    """Restatements are quiet, the event's name replaces a missing type, the rest is counted."""
    quiet = ["response.code_interpreter_call_code.delta", "response.content_part.added", "keepalive"]
    hole = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate(*({"type": name} for name in quiet), "{}", added({"type": "message"}))
    assert [UNKNOWN, UNKNOWN, UNKNOWN] == translate(
        {"type": "response.future"}, {"a": 1}, added({"type": "future_call"})
    )
    assert [] == translate(done({"type": "future_call"}), {"type": "response.output_item.done"})
    assert [UNKNOWN] == translate({"type": "response.output_item.added"})
    assert [Slot(0, 0, None, "a")] == translate(
        Frame("response.function_call_arguments.delta", '{"output_index":0,"delta":"a"}')
    )
    assert [Slot(0, 0, "fc_1", "\ud83d")] == translate(piece("\ud83d"))
    assert [hole] == translate("{")


def test_the_end_of_a_text_has_the_label_that_is_there() -> None:
    """`arguments.done` without text ends that of the call whose item it names, else whose call."""
    said = {"type": "response.function_call_arguments.done", "call_id": "call_1", "arguments": ""}

    assert [CallClosed(0, None, "call_1", of_text=True)] == translate(said)
    assert [CallClosed(0, None, "fc_1", of_text=True)] == translate({**said, **ID})
