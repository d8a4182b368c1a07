"""OpenAI Realtime: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from wholecall import ToolCall, ToolCallDropped, ToolCallParser
from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    Restated,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.openai.realtime import RealtimeTranslator
from wholecall.framing.frame import Frame

JSON = dict[str, Any]
ID = {"item_id": "item_1"}
SESSION = {"type": "session.created", "event_id": "e0", "session": {"model": "m"}}
OPENED = TurnOpened("r1", "r1", "m")
STOP = Finish(0, "stop", "completed")
ENDED = TurnEnded("r1")
UNKNOWN = Noted(0, "unknown_events")
ARGUMENTS = "function_call_arguments"


def translate(*payloads: JSON | str | Frame) -> list[Delta]:
    """Translate the messages of one session."""
    translator = RealtimeTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, (str, Frame)) else json.dumps(payload)
        deltas += translator.translate(data if isinstance(data, Frame) else Frame("", data))
    return deltas + translator.close()


def parse(*payloads: JSON) -> list[Any]:
    """Return how the calls of a session end."""
    parser = ToolCallParser("openai-realtime", framing="jsonl")
    found = parser.feed(b"".join(json.dumps(payload).encode() + b"\n" for payload in payloads))
    return [event for event in [*found, *parser.close()] if isinstance(event, (ToolCall, ToolCallDropped))]


def of(kind: str, response: str | None = "r1", **fields: Any) -> JSON:
    """Build an event of a response."""
    return {"type": f"response.{kind}", "event_id": "e1", "response_id": response, **fields}


def created(response: str | None = "r1") -> JSON:
    """Build the event that begins a response."""
    return {"type": "response.created", "event_id": "e1", "response": {"id": response, "output": []}}


def ended(*output: JSON, response: str | None = "r1", **fields: Any) -> JSON:
    """Build the event that ends a response."""
    told = {"id": response, "status": "completed", "output": list(output), **fields}
    return {"type": "response.done", "event_id": "e1", "response": told}


def call(**fields: Any) -> JSON:
    """Build a function call item."""
    item = {"type": "function_call", "id": "item_1", "call_id": "c1", "name": "f", "arguments": ""}
    return {**item, **fields}


def whole(text: str, rank: int, **more: Any) -> CallWhole:
    """Return the events for the item of `call` with text."""
    return CallWhole(0, None, "item_1", "c1", "f", text, rank, id_wins=True, extra=ID, **more)


def test_a_call_is_a_slot() -> None:
    """Labels, pieces, both restatements and the close are reported in the order of the wire, and once."""
    where = {"item_id": "item_1", "call_id": "c1", "output_index": 3}
    deltas = translate(
        SESSION,
        created(),
        of("output_item.added", output_index=3, item=call()),
        of(f"{ARGUMENTS}.delta", **where, delta='{"a":'),
        of(f"{ARGUMENTS}.delta", **where, delta=""),
        of(f"{ARGUMENTS}.delta", **where, delta="1}"),
        of(f"{ARGUMENTS}.done", **where, name="f", arguments='{"a":1}'),
        of("output_item.done", output_index=3, item=call(arguments='{"a":1}')),
        ended(call(arguments='{"a":1}'), usage={"n": 1}),
        ended(call(arguments='{"a":1}')),
    )

    assert [
        OPENED,
        CallSeen(0, 3, "item_1", "c1", "f", extra=ID, begins=True),
        Slot(0, 3, "item_1", '{"a":', "c1"),
        Slot(0, 3, "item_1", "1}", "c1"),
        CallWhole(0, 3, "item_1", "c1", "f", '{"a":1}', DONE),
        replace(whole('{"a":1}', ITEM_DONE, closes=True), index=3),
        UsageSeen({"n": 1}),
        STOP,
        ENDED,
    ] == deltas


def test_labels_are_told_as_they_are() -> None:
    """Two items at output index 0, whose pieces have none: the core decides which call is meant (quirk 3)."""
    deltas = translate(
        of("output_item.added", output_index=0, item=call()),
        of("output_item.added", output_index=0, item=call(id="item_2", call_id="c2")),
        of(f"{ARGUMENTS}.delta", item_id="item_1", call_id="c1", delta="x"),
        of(f"{ARGUMENTS}.delta", item_id="item_2", call_id="c2", delta="y"),
        of(f"{ARGUMENTS}.delta", item_id="item_9", call_id="c1", delta="z"),
    )

    assert [
        Slot(0, None, "item_1", "x", "c1"),
        Slot(0, None, "item_2", "y", "c2"),
        Slot(0, None, "item_9", "z", "c1"),
    ] == [delta for delta in deltas if isinstance(delta, Slot)]


def test_labels_may_be_missing() -> None:
    """Without ids the output index is all that is reported; there may be nothing at all."""
    deltas = translate(
        of("output_item.added", output_index=1, item=call(id=None, call_id=None)),
        of("output_item.added", output_index=2, item=call(id=None, call_id=None, name="g")),
        of(f"{ARGUMENTS}.delta", output_index=1, delta="x"),
        of(f"{ARGUMENTS}.delta", output_index=2, delta="y"),
        of(f"{ARGUMENTS}.delta", delta="z"),
    )

    assert [
        CallSeen(0, 1, None, None, "f", begins=True),
        CallSeen(0, 2, None, None, "g", begins=True),
        Slot(0, 1, None, "x"),
        Slot(0, 2, None, "y"),
        Slot(0, None, None, "z"),
    ] == deltas[1:]


def test_one_call_id_on_two_items_is_two_calls() -> None:
    """An item that is announced under a new id is a new call; its pieces are its own."""
    first, second = call(arguments='{"a":1}'), call(id="item_2", arguments='{"a":2}')
    found = parse(
        created(),
        of("output_item.added", item=call()),
        of("output_item.added", item=call(id="item_2")),
        of(f"{ARGUMENTS}.delta", item_id="item_1", call_id="c1", delta='{"a":1}'),
        of(f"{ARGUMENTS}.delta", item_id="item_2", call_id="c1", delta='{"a":2}'),
        of("output_item.done", item=first),
        of("output_item.done", item=second),
        ended(first, second),
    )

    assert [("c1", {"a": 1}, ()), ("c1#2", {"a": 2}, ("duplicate_id",))] == [
        (one.id, one.arguments, one.flags) for one in found
    ]


def test_a_call_that_was_never_added_has_its_ids_from_its_pieces() -> None:
    """The name comes with the whole text, and the id is not made up (quirk 74)."""
    where = {"item_id": "item_1", "call_id": "c1"}
    deltas = translate(
        of(f"{ARGUMENTS}.delta", **where, delta="{}"),
        of(f"{ARGUMENTS}.done", **where, name="f", arguments="{}"),
        of("mcp_call_arguments.done", item_id="mcp_1", call_id="c2", arguments='{"q":1}'),
    )

    assert [
        Slot(0, None, "item_1", "{}", "c1"),
        CallWhole(0, None, "item_1", "c1", "f", "{}", DONE),
        CallWhole(0, None, "mcp_1", "c2", None, '{"q":1}', DONE, "server"),
    ] == deltas[1:]


def test_responses_in_flight_are_told_apart_by_their_id() -> None:
    """Each event goes to its response's turn, an ended one is not reopened, and slots are a response's own."""
    deltas = translate(
        SESSION,
        created(),
        created("r2"),
        of("output_item.added", "r2", item=call()),
        of("output_item.added", "r1", item=call(id="item_9")),
        ended(response="r2"),
        created("r3"),
        of("output_text.delta", "r2", delta="late"),
        ended(response="r3"),
        ended(),
        created("r4"),
    )

    assert [
        OPENED,
        TurnOpened("r2", "r2", "m"),
        CallSeen(0, None, "item_1", "c1", "f", extra=ID, begins=True),
        TurnOpened("r1"),
        CallSeen(0, None, "item_9", "c1", "f", extra={"item_id": "item_9"}, begins=True),
        TurnOpened("r2"),
        STOP,
        TurnEnded("r2"),
        TurnOpened("r3", "r3", "m", restart=True),
        Noted(0, "data_after_end"),
        STOP,
        TurnEnded("r3"),
        TurnOpened("r1"),
        STOP,
        ENDED,
        TurnOpened("r4", "r4", "m", restart=True),
    ] == deltas


def test_responses_without_ids_follow_each_other() -> None:
    """Without an id the next `response.created` begins the next turn."""
    deltas = translate(created(None), ended(response=None), created(None), ended(response=None))

    assert [
        TurnOpened(None),
        STOP,
        TurnEnded(None),
        TurnOpened(None, restart=True),
        STOP,
        TurnEnded(None),
    ] == deltas


@pytest.mark.parametrize(
    ("status", "details", "said"),
    [
        ("completed", None, [STOP]),
        ("completed", "unimplemented", [STOP]),
        (None, None, [STOP]),
        ("incomplete", {"reason": "max_output_tokens"}, [Finish(0, "length", "max_output_tokens")]),
        ("incomplete", {"reason": "content_filter"}, [Finish(0, "content_filter", "content_filter")]),
        ("incomplete", {"reason": "bored"}, [Finish(0, "length", "bored")]),
        ("incomplete", None, [Finish(0, "length", "incomplete")]),
        ("cancelled", {"reason": "turn_detected"}, [Finish(0, "aborted", "turn_detected", drops=True)]),
        ("cancelled", None, [Finish(0, "aborted", "cancelled", drops=True)]),
        (
            "failed",
            {"type": "failed", "error": {"code": "overloaded"}},
            [
                WireFault("provider_error", "overloaded", error={"code": "overloaded"}),
                Finish(0, "error", "failed", drops=True),
            ],
        ),
        (
            "failed",
            None,
            [
                WireFault("provider_error", "failed", error="failed"),
                Finish(0, "error", "failed", drops=True),
            ],
        ),
    ],
)
def test_a_response_ends_as_its_status_says(status: Any, details: Any, said: list[Delta]) -> None:
    """Cancelled and failed responses take back open calls, and no response ends the session (quirk 94)."""
    assert [TurnOpened("r1", "r1"), *said, ENDED] == translate(ended(status=status, status_details=details))


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_what_was_taken_back_is_not_restated(status: str) -> None:
    """The output of a response that did not complete opens no call, complete by its looks or not."""
    (drop,) = parse(
        created(),
        of("output_item.added", item=call()),
        of(f"{ARGUMENTS}.delta", item_id="item_1", delta='{"a":1}'),
        ended(call(arguments='{"a":1}'), call(id="item_2", call_id="c2", arguments="{}"), status=status),
    )

    assert ("c1", "aborted", '{"a":1}') == (drop.id, drop.reason, drop.raw_arguments)


def test_the_finished_response_restates_what_no_event_ended() -> None:
    """Calls that were not done are matched by their ids, text only if none was reported (quirks 72 and 98)."""
    item, other = call(arguments='{"a":1}'), call(id="item_2", call_id="c2", arguments="{}")
    said = {"type": "message", "content": [{"type": "output_audio", "transcript": "Hi"}, {"text": "Yo"}]}
    added = of("output_item.added", item=call())
    second: dict[str, Any] = {"alias": "item_2", "id": "c2", "extra": {"item_id": "item_2"}}

    assert [
        TextFragment(0, "Hi"),
        TextFragment(0, "Yo"),
        Restated(0, (whole('{"a":1}', HYDRATION), replace(whole("{}", HYDRATION), **second))),
        STOP,
        ENDED,
    ] == translate(added, ended(said, item, other))[2:]
    assert [TextFragment(0, "Hi"), STOP, ENDED] == translate(
        of("output_audio_transcript.delta", delta="Hi"), ended(said)
    )[1:]


def test_an_item_that_calls_itself_incomplete_is_cut() -> None:
    """Its close says so, or its restatement; a call without ids is reported without any label."""
    cut = call(arguments='{"a', status="incomplete")
    nameless = call(id=None, call_id=None, arguments="{}")

    assert [whole('{"a', ITEM_DONE), CallClosed(0, None, "item_1", truncated=True)] == translate(
        of("output_item.done", item=cut)
    )[1:]
    unlabelled = CallWhole(0, None, None, None, "f", "{}", HYDRATION)
    assert [
        Restated(0, (replace(whole('{"a', HYDRATION), truncated=True), unlabelled)),
        STOP,
    ] == translate(ended(cut, nameless))[1:-1]


@pytest.mark.parametrize(
    "kind", ["output_text", "output_audio_transcript", "text", "audio_transcript"], ids=str
)
def test_text_is_what_was_written_or_spoken(kind: str) -> None:
    """All four kinds of text deltas are visible text, those of the beta too; empty ones say nothing."""
    assert [TextFragment(0, "Hi")] == translate(
        of(f"{kind}.delta", delta="Hi"), of(f"{kind}.delta", delta=""), of(f"{kind}.delta", delta=7)
    )[1:]


@pytest.mark.parametrize(
    "kind",
    [
        "response.output_audio.delta",
        "response.audio.delta",
        "response.output_text.done",
        "response.text.done",
        "response.content_part.added",
        "response.mcp_call.completed",
        "session.updated",
        "transcription_session.updated",
        "conversation.created",
        "conversation.item.input_audio_transcription.failed",
        "input_audio_buffer.committed",
        "output_audio_buffer.started",
        "mcp_list_tools.completed",
        "rate_limits.updated",
        "ping",
    ],
)
def test_what_says_nothing_new_is_quiet(kind: str) -> None:
    """Sound, the user's side, the session: none of it is an anomaly, nor an error of the session's."""
    quiet = {"type": kind, "event_id": "e1", "delta": "AgD6", "error": {"code": "x"}}

    assert [TurnOpened("r1", "r1")] == translate(created(), quiet)


def test_items_of_the_conversation_are_no_calls() -> None:
    """A client seeds its history with the same events: an earlier call is not emitted again."""
    item = call(arguments='{"a":1}', status="completed")
    seeded = [
        {"type": f"conversation.item.{state}", "event_id": "e1", "item": item} for state in ("added", "done")
    ]

    assert [] == translate(SESSION, *seeded)


def test_unknown_events_are_counted_within_a_response() -> None:
    """Between responses there is no turn that could count them."""
    strange = {"type": "response.dream.delta", "event_id": "e1", "delta": "x"}
    item = {"type": "hologram", "id": "h1"}

    assert [] == translate(SESSION, strange)
    assert [TurnOpened("r1", "r1"), UNKNOWN, UNKNOWN] == translate(
        created(), strange, of("output_item.added", item=item), of("output_item.done", item=item)
    )


def test_an_error_of_the_session_ends_nothing() -> None:
    """It names an event of the client; an error in no envelope is a gateway's, and fatal (quirk 52)."""
    error = {"type": "invalid_request_error", "code": "bad", "message": "no"}
    flat = {"code": "bad", "message": "no", "param": None}

    assert [WireFault("provider_error", "bad: no", error=error)] == translate(
        {"type": "error", "error": error}
    )
    assert [WireFault("provider_error", "bad: no", error=flat)] == translate({"type": "error", **flat})
    assert [WireFault("provider_error", "bad: no", error=error, fatal=True)] == translate({"error": error})


def test_usage_may_stand_beside_the_response() -> None:
    """The counts of the response win, else those of its event (quirk 88)."""
    beside = {**ended(usage={}), "usage": {"n": 2}}

    assert [UsageSeen({"n": 2})] == [d for d in translate(beside) if isinstance(d, UsageSeen)]
    both = {**ended(usage={"n": 1}), "usage": {"n": 2}}
    assert [UsageSeen({"n": 1})] == [d for d in translate(both) if isinstance(d, UsageSeen)]


def test_a_whole_response_is_a_stream_of_one_event() -> None:
    """A response that was not streamed says the same as its last event (quirk 90)."""
    body = {
        "object": "realtime.response",
        "id": "r1",
        "status": "completed",
        "output": [call(arguments="{}")],
    }

    assert [TurnOpened("r1", "r1"), Restated(0, (whole("{}", HYDRATION),)), STOP, ENDED] == translate(body)
    assert [TurnOpened("r1", "r1"), STOP, ENDED] == translate({**body, "output": []}, {**body, "output": []})


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Labels of a wrong type, half a surrogate, a foreign end mark; an unreadable frame is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", "[DONE]", "")
    assert [fault] == translate("{")
    assert [Slot(0, None, "7", '"\ud83d')] == translate(
        '{"type":"response.function_call_arguments.delta","event_id":1,"response_id":5,'
        '"item_id":7,"session":3,"delta":"\\"\\ud83d"}'
    )[1:]
    assert [TurnOpened("r1", "r1"), STOP, ENDED] == translate(
        '{"type":"response.done","event_id":"\\ud83d","response":{"id":"r1","output":7}}'
    )
