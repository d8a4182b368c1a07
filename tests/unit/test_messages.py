"""The repairer of messages: sessions of Responses, OpenAI Realtime and Gemini Live over sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import sessions
from wholecall import StreamClosed, StreamFault, ToolCallParser
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.repairing import MessageRepairer

ERROR = "error"
TOOL = {"type": "function", "name": "dredge"}


def said(messages: list[Any]) -> list[Any]:
    """Return the payloads of messages."""
    return [json.loads(message) for message in messages]


def kinds(messages: list[Any]) -> list[str]:
    """Return the types of messages."""
    return [payload["type"] for payload in said(messages)]


def fed(repairer: MessageRepairer, payloads: list[dict[str, Any]]) -> list[Any]:
    """Feed payloads as messages, and return the payloads that left."""
    return said([left for payload in payloads for left in repairer.receive(json.dumps(payload))])


# Responses.


@pytest.mark.parametrize(("framing", "fatal"), [("jsonl", False), ("sse", True)])
def test_an_error_with_a_status_refuses_a_request(framing: str, fatal: bool) -> None:
    """In messages of a socket it ends nothing; in a stream it ends the stream, as any error does."""
    line = json.dumps(REFUSED).encode()
    parser = ToolCallParser("responses", framing=framing)
    events = parser.feed(line + b"\n" if framing == "jsonl" else b"data: " + line + b"\n\n")

    assert [fatal] == [event.fatal for event in events if isinstance(event, StreamFault)]


def item(name: str = "dredge", arguments: str = '{"metres":4}', id: str = "fc_1") -> dict[str, Any]:
    """Return a finished call."""
    labels = {"id": id, "type": "function_call", "status": "completed", "call_id": f"call_{id}"}
    return {**labels, "name": name, "arguments": arguments}


def response(response_id: str = "resp_1", **more: Any) -> list[dict[str, Any]]:
    """Return the events of a response with one call, whose item has these members."""
    call = {**item(), **more}
    head = {"id": response_id, "object": "response", "created_at": 0, "model": "m", "output": []}
    place = {"output_index": 0, "item_id": call["id"]}
    events = [
        {"type": "response.created", "response": head},
        {"type": "response.output_item.added", "output_index": 0, "item": {**call, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", **place, "delta": call["arguments"]},
        {"type": "response.function_call_arguments.done", **place, "arguments": call["arguments"]},
        {"type": "response.output_item.done", "output_index": 0, "item": call},
        {"type": "response.completed", "response": {**head, "status": "completed", "output": [call]}},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


REFUSED = {"type": "error", "status": 400, "error": {"code": "previous_response_not_found", "message": "x"}}


def test_a_refused_request_ends_no_response() -> None:
    """It passes at once, before, in and after a response, and the call leaves."""
    repairer = MessageRepairer("responses")
    events = response()
    left = fed(repairer, [REFUSED, *events[:3], REFUSED, *events[3:], REFUSED])

    assert [REFUSED, events[0], REFUSED, *events[1:], REFUSED] == left
    assert (1, False) == (repairer.report.n_calls, repairer.report.mended)


def test_a_withheld_call_fails_its_response_only() -> None:
    """Clients raise for it; its later events are left out, and the next response passes."""
    dropped: list[Any] = []
    repairer = MessageRepairer("responses", tools=[TOOL], on_dropped=dropped.append)
    bad = fed(repairer, response(name="drudge"))
    late = {"type": "response.output_item.done", "output_index": 0, "item": item(), "sequence_number": 9}
    steer = {"type": "response.steer.failed", "sequence_number": 10}
    rest = fed(repairer, [late, steer])
    good = fed(repairer, response("resp_2"))

    assert ["response.created", "response.failed", ERROR] == [one["type"] for one in bad]
    assert [("drudge", "unknown_tool")] == [(drop.name, drop.reason) for drop in dropped]
    assert [steer] == rest
    assert response("resp_2") == good
    assert ("calls_withheld", False) == (repairer.report.error, repairer.ended)


def test_a_response_that_begins_before_the_last_has_ended() -> None:
    """The last one fails in its lane; the next one passes."""
    repairer = MessageRepairer("responses")
    left = fed(repairer, [*response()[:3], *response("resp_2")])

    assert ["response.created", "response.failed", ERROR] == [one["type"] for one in left[:3]]
    assert response("resp_2") == left[3:]


def test_what_is_written_anew_has_the_name_of_its_lane() -> None:
    """Events of ours name the lane, whose own events have it; another lane goes on beside."""
    repairer = MessageRepairer("responses")
    gaps = [{**event, "stream_id": "a"} for event in response() if "delta" not in event]
    beside = [{**event, "stream_id": "b"} for event in response("resp_2", id="fc_2")]
    left = fed(repairer, [gaps[0], *beside[:3], *gaps[1:], *beside[3:]])

    assert beside == [event for event in left if event["stream_id"] == "b"]
    assert 1 == sum(event["stream_id"] == "a" and event["type"].endswith("item.done") for event in left)
    assert {"a", "b"} == {event["stream_id"] for event in left}


def test_lanes_are_bounded() -> None:
    """A lane too many forgets one in which nothing runs; the counts stay."""
    repairer = MessageRepairer("responses")
    for number in range(70):
        fed(repairer, [{**event, "stream_id": f"lane {number}"} for event in response()])

    assert (70, 0) == (repairer.report.n_calls, repairer.report.n_withheld)


def test_tools_of_a_session() -> None:
    """The names of each request are known for its response; unknown kinds of tools are not checked."""
    repairer = MessageRepairer("responses", tools="session")
    for tools in (
        [{"type": "function", "name": "other"}],
        [TOOL, {"type": "web_search"}],
        [{"type": "?"}],
        None,
    ):
        repairer.send(json.dumps({"type": "response.create", "tools": tools}))
    repairer.send("no JSON")
    left = [fed(repairer, response(f"resp_{number}"))[-1]["type"] for number in range(3)]

    assert [ERROR, "response.completed", "response.completed"] == left


def test_tools_of_a_request_before_the_dialect_is_known() -> None:
    """The client speaks first: its tools count once the server's messages show the dialect."""
    repairer = MessageRepairer(tools="session")
    repairer.send(json.dumps({"type": "response.create", "tools": [{"type": "function", "name": "other"}]}))

    assert ERROR == fed(repairer, response())[-1]["type"]


def test_calls_in_text_are_emitted() -> None:
    """A call that the model wrote as text is a call, in Responses."""
    text = 'Aye. <tool_call>{"name":"dredge","arguments":{}}</tool_call>'
    head = {"id": "resp_1", "object": "response", "created_at": 0, "model": "m", "output": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    events = [
        {"type": "response.created", "response": head},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {
            "type": "response.output_text.delta",
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "delta": text,
        },
        {"type": "response.completed", "response": {**head, "status": "completed", "output": [message]}},
    ]
    repairer = MessageRepairer("responses", text="hermes")
    left = fed(repairer, [{**event, "sequence_number": at} for at, event in enumerate(events)])

    assert "dredge" in {(event.get("item") or {}).get("name") for event in left}


def test_line_ends_in_a_message() -> None:
    """A message with line ends, or with separators of lines in its texts, passes as it came, text or binary."""
    events = response(arguments='{"a":"\u2028\x85"}')
    for lines in (
        [json.dumps(event, indent=1, ensure_ascii=False) for event in events],
        [json.dumps(event, indent=1, ensure_ascii=False).encode() for event in events],
    ):
        assert lines == sessions.passed(lines, "responses").messages


# Any wire.


@pytest.mark.parametrize("expected", [None, "chat-completions"])
def test_another_dialect_passes(expected: str | None) -> None:
    """Its messages are not read, and the report says so."""
    chunk = '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}'
    left, report = sessions.passed([chunk, "{", b"\0"], expected)

    assert [chunk, "{", b"\0"] == left
    assert ("chat-completions", True) == (report.dialect, report.unread)


def test_what_comes_before_the_dialect_is_known_passes() -> None:
    """An unknown event, words and sound; then the first response is read."""
    repairer = MessageRepairer()
    early = ['{"hello":1}', "words", b"\0\1"]

    assert early == [left for message in early for left in repairer.receive(message)]
    assert response() == fed(repairer, response())
    assert "responses" == repairer.report.dialect


def test_sound_passes() -> None:
    """A binary message without JSON text is nothing that is read, and words that are no JSON are left out."""
    repairer = MessageRepairer("responses")
    fed(repairer, response()[:3])

    assert [[b"\x00\xff"], []] == [repairer.receive(b"\x00\xff"), repairer.receive("words")]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("responses", ["response.failed", ERROR]),
        ("openai-realtime", [ERROR]),
        ("gemini-live", [None]),
    ],
)
def test_a_message_that_is_too_large(dialect: str, expected: list[str | None]) -> None:
    """It may hold a call, so what is open ends with an error."""
    limits = Limits(max_event_bytes=1000)
    repairer = MessageRepairer(dialect, limits=limits)
    fed(repairer, response()[:2])
    left = said(repairer.receive('{"type":"response.output_text.delta"}' + " " * 1000))

    assert expected == [payload.get("type") for payload in left]
    assert "event_too_large" == repairer.report.error


def test_too_much_waits() -> None:
    """Messages that wait for a verdict are bounded; the call is gone, and so is the rest of it."""
    repairer = MessageRepairer("openai-realtime", limits=Limits(max_event_bytes=1000))
    delta = {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc_1"}
    many = [{**delta, "sequence_number": at + 2, "delta": "x" * 200} for at in range(9)]
    left = fed(repairer, [*response()[:2], *many, *response()[4:5]])

    assert ERROR == left[-1]["type"]
    assert (0, "event_too_large") == (repairer.report.held, repairer.report.error)


def test_a_closed_session() -> None:
    """It takes no messages, and its second end says nothing; its state is in its repr."""
    repairer = MessageRepairer("responses")
    shown = [repr(repairer)]
    fed(repairer, response()[:3])
    left = [kinds(repairer.close()), repairer.close()]
    shown.append(repr(repairer))

    assert [["response.failed", ERROR], []] == left
    assert ["<MessageRepairer responses open>", "<MessageRepairer responses closed>"] == shown
    for refused in (repairer.receive, repairer.send):
        with pytest.raises(StreamClosed):
            refused("{}")


def test_invalid_choices() -> None:
    """Another word than `session` names no tools, and `withheld` is one of its words."""
    with pytest.raises(ValueError, match="session"):
        MessageRepairer(tools="names")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="withheld"):
        MessageRepairer(withheld="never")  # type: ignore[arg-type]


def test_an_unknown_session_says_nothing() -> None:
    """A session that nobody has heard ends without messages, unread."""
    repairer = MessageRepairer()

    assert (False, [], True) == (repairer.report.unread, repairer.close(), repairer.report.unread)


# OpenAI Realtime.


def spoken(response_id: str = "resp_1", **more: Any) -> list[dict[str, Any]]:
    """Return the events of a response with one call, whose item has these members, as Realtime sends them."""
    call = {**item(), "object": "realtime.item", **more}
    place = {"response_id": response_id, "output_index": 0}
    label = {**place, "item_id": call["id"], "call_id": call["call_id"]}
    head = {"object": "realtime.response", "id": response_id, "status": "in_progress", "output": []}
    begun = {**call, "status": "in_progress", "arguments": ""}
    text = call["arguments"]
    kind = "response.function_call_arguments"
    events = [
        {"type": "response.created", "response": head},
        {"type": "response.output_item.added", **place, "item": begun},
        {"type": "conversation.item.added", "item": begun},
        {"type": f"{kind}.delta", **label, "delta": text},
        {"type": f"{kind}.done", **label, "name": call["name"], "arguments": text},
        {"type": "response.output_item.done", **place, "item": call},
        {"type": "conversation.item.done", "item": call},
        {"type": "response.done", "response": {**head, "status": "completed", "output": [call]}},
    ]
    return [{**event, "event_id": f"{response_id}_{at}"} for at, event in enumerate(events)]


def test_a_withheld_call_of_realtime() -> None:
    """An error and a failed response without the call, nothing of it in the conversation; the next response passes."""
    repairer = MessageRepairer("openai-realtime", tools=[TOOL])
    events = spoken(name="drudge")
    left = fed(repairer, events)
    late = fed(repairer, [events[5], events[6], events[7]])
    good = fed(repairer, spoken("resp_2", id="fc_2"))

    assert ["response.created", ERROR, "response.done"] == [event["type"] for event in left]
    assert ("failed", []) == (left[-1]["response"]["status"], left[-1]["response"]["output"])
    assert "all tool calls were withheld: drudge (unknown_tool)" == left[1]["error"]["message"]
    assert [] == late
    assert spoken("resp_2", id="fc_2") == good
    assert ("calls_withheld", False) == (repairer.report.error, repairer.ended)


def test_a_call_of_realtime_that_is_shown() -> None:
    """Its beginning leaves with its messages, and the last brace with the verdict; clients act on the same events."""
    events = spoken()
    repairer = MessageRepairer("openai-realtime", live_arguments=True)
    left = [fed(repairer, [event]) for event in events]

    assert [[event] for event in events[:3]] == left[:3]
    assert [{**events[3], "delta": '{"metres":4'}] == left[3]
    assert [] == left[4]
    assert ["}", events[4], events[5]] == [left[5][0]["delta"], *left[5][1:]]
    assert [[events[6]], [events[7]]] == left[6:]
    assert (1, 0, None) == (repairer.report.n_calls, repairer.report.held, repairer.report.error)


@pytest.mark.parametrize(
    ("tools", "changed", "why"),
    [
        ([TOOL], {"name": "drudge"}, "a tool call must not be executed: unknown_tool"),
        (None, {"call_id": "other"}, "a tool call was relabelled after it was shown"),
        (None, {"arguments": '{"metres":5}'}, "the arguments of a tool call were corrected after they were shown"),
    ],
)  # fmt: skip
def test_a_shown_call_of_realtime_that_does_not_hold(tools: Any, changed: dict[str, Any], why: str) -> None:
    """An error says why, and its response has failed; no event on which clients act leaves."""
    events = spoken(arguments='{"metres":4 }', **({"name": changed["name"]} if "name" in changed else {}))
    whole = {**events[5]["item"], **changed}
    events[5], events[6] = {**events[5], "item": whole}, {**events[6], "item": whole}
    del events[4]
    left = fed(MessageRepairer("openai-realtime", tools=tools, live_arguments=True), events)

    assert [*(event["type"] for event in events[:4]), ERROR, "response.done"] == [one["type"] for one in left]
    assert ("calls_withheld", why) == (left[4]["error"]["code"], left[4]["error"]["message"])
    assert ("failed", []) == (left[5]["response"]["status"], left[5]["response"]["output"])


def test_a_shown_call_of_realtime_whose_response_failed() -> None:
    """The provider's own word is enough: nothing of ours is added."""
    events = spoken()
    end = {**events[7], "response": {**events[7]["response"], "status": "failed", "output": []}}
    left = fed(MessageRepairer("openai-realtime", live_arguments=True), [*events[:4], end])

    assert [*events[:3], {**events[3], "delta": '{"metres":4'}, end] == left


def test_a_shown_call_of_realtime_that_lacks_its_ends() -> None:
    """If the finished response has it whole, the missing events are written; else the response fails."""
    events = spoken()
    repairers = [MessageRepairer("openai-realtime", live_arguments=True) for _ in range(2)]
    cut = {**events[3], "delta": '{"metres":'}
    empty = {**events[7], "response": {**events[7]["response"], "output": []}}
    left = [
        [event["type"] for event in fed(repairers[0], [*events[:4], events[7]])[4:]],
        [event["type"] for event in fed(repairers[1], [events[1], cut, empty])[2:]],
    ]
    kind = "response.function_call_arguments"

    assert [f"{kind}.delta", f"{kind}.done", "response.output_item.done", "response.done"] == left[0]
    assert [ERROR, "response.done"] == left[1]


def test_a_call_of_realtime_without_a_name_is_not_shown() -> None:
    """It waits for its verdict, and leaves with its name."""
    events = spoken()
    nameless = {**events[1], "item": {**events[1]["item"], "name": None}}
    left = fed(MessageRepairer("openai-realtime", live_arguments=True), [events[0], nameless, events[3]])

    assert [events[0]] == left


def test_a_call_of_responses_that_is_shown() -> None:
    """As in a stream: a shown call that does not hold fails its response alone."""
    repairer = MessageRepairer("responses", tools=[TOOL], live_arguments=True)
    shown = [one["type"] for one in fed(repairer, response()[:3])]
    fed(repairer, response()[3:])
    failed = [one["type"] for one in fed(repairer, response("resp_2", name="drudge"))]
    good = fed(repairer, response("resp_3"))

    assert [event["type"] for event in response()[:3]] == shown
    assert ["response.failed", ERROR] == failed[-2:]
    assert ("response.completed", 2) == (good[-1]["type"], repairer.report.n_calls)


def test_a_withheld_call_of_realtime_that_ends_in_silence() -> None:
    """With `end`, a response that was cut is an incomplete one, and any other stays as it is, without its call."""
    cut = spoken(arguments='{"metres":')
    found = []
    for tools, events in (([TOOL], spoken(name="drudge")), (None, [*cut[:4], cut[-1]])):
        left = fed(MessageRepairer("openai-realtime", tools=tools, withheld="end"), events)
        found.append([event["response"]["status"] for event in left if "response" in event])

    assert [["in_progress", "completed"], ["in_progress", "incomplete"]] == found


@pytest.mark.parametrize("missing", [1, 3, 4, 5])
def test_a_lost_event_is_written(missing: int) -> None:
    """Whatever event of a whole call was lost, clients get all of them, in order, and the call once."""
    events = spoken()
    left = fed(MessageRepairer("openai-realtime"), events[:missing] + events[missing + 1 :])
    told = [event["type"] for event in left if not event["type"].startswith("conversation.")]
    wanted = [event["type"] for event in events if not event["type"].startswith("conversation.")]
    if missing == 3:
        wanted.remove("response.function_call_arguments.delta")  # a text that is restated needs no pieces
        told = [kind for kind in told if not kind.endswith(".delta")]

    assert wanted == told


def test_a_call_that_only_the_end_names() -> None:
    """It gets all its events before the end, with its labels."""
    events = spoken()
    left = fed(MessageRepairer("openai-realtime"), [events[0], events[-1]])

    assert [event["type"] for event in events if "conversation" not in event["type"]] == [
        event["type"] for event in left
    ]
    assert {"resp_1"} == {event["response_id"] for event in left[1:-1]}
    assert events[-1] == left[-1]


def test_slips_are_corrected_in_every_event() -> None:
    """Each event that states the arguments states the repaired ones, in the conversation, too."""
    events = spoken(arguments='{"metres":4,}')
    left = fed(MessageRepairer("openai-realtime"), events)
    stated = [
        (event.get("item") or event).get("arguments") or event.get("delta")
        for event in left
        if event["type"].endswith((".delta", "arguments.done", "item.done"))
    ]

    assert ['{"metres":4}'] * 4 == stated
    assert '{"metres":4}' == left[-1]["response"]["output"][0]["arguments"]
    assert [event["type"] for event in events] == [event["type"] for event in left]


def test_items_that_change_their_ids() -> None:
    """Clients go by the id of an item: all its events have the first one."""
    events = spoken()
    events[3]["item_id"] = "other"
    events[5]["item"] = {**events[5]["item"], "id": "third"}

    assert spoken() == fed(MessageRepairer("openai-realtime"), events)


def test_an_event_of_the_conversation_after_the_end() -> None:
    """It states what left, or is left out with its call; the client's own history passes."""
    repaired = MessageRepairer("openai-realtime")
    events = spoken(arguments='{"metres":4,}')
    fed(repaired, [*events[:6], events[7]])
    own = {"type": "conversation.item.added", "item": item(id="mine", arguments="{,}")}

    assert ['{"metres":4}'] == [event["item"]["arguments"] for event in fed(repaired, [events[6]])]
    assert [own] == fed(repaired, [own])


def test_what_does_not_wait() -> None:
    """Errors, the user's speech and other responses pass while a call waits; its own response's events do not."""
    repairer = MessageRepairer("openai-realtime")
    spoke = {"type": "input_audio_buffer.speech_started"}
    sound = {"type": "response.output_audio.delta", "response_id": "resp_1", "delta": "AAAA"}
    beside = {"type": "response.output_text.delta", "response_id": "resp_2", "delta": "x"}
    fed(repairer, spoken()[:4])

    assert [spoke, beside] == fed(repairer, [spoke, sound, beside])
    assert sound in fed(repairer, spoken()[4:])


def test_tools_of_realtime() -> None:
    """Those of the session hold for each response, those of a request for the next one."""
    repairer = MessageRepairer("openai-realtime", tools="session")
    other = {"type": "function", "name": "other"}
    repairer.send(json.dumps({"type": "session.update", "session": {"tools": [TOOL]}}))
    repairer.send(json.dumps({"type": "response.create", "response": {"tools": [other]}}))
    found = [fed(repairer, spoken(f"resp_{at}", id=f"fc_{at}"))[-1]["response"]["status"] for at in range(2)]

    assert ["failed", "completed"] == found


def test_too_many_responses_in_flight() -> None:
    """The oldest is forgotten: its call is dropped, and what comes of it later is left out."""
    dropped: list[Any] = []
    repairer = MessageRepairer("openai-realtime", on_dropped=dropped.append)
    fed(repairer, [event for at in range(65) for event in spoken(f"resp_{at}", id=f"fc_{at}")[:4]])

    assert ["call_fc_1"] == [drop.id.replace("fc_0", "fc_1") for drop in dropped]
    assert [] == fed(repairer, spoken("resp_0", id="fc_0")[4:])


# Gemini Live.


def asked(*calls: dict[str, Any]) -> dict[str, Any]:
    """Return a message that asks for calls."""
    return {"toolCall": {"functionCalls": list(calls)}}


GOOD = {"id": "1", "name": "dredge", "args": {"metres": 4}}
BAD = {"id": "2", "name": "drudge", "args": {}}


def test_a_withheld_request() -> None:
    """It is taken out of its message; without any other, the session ends with an error, and nothing follows."""
    repairer = MessageRepairer("gemini-live", tools=[TOOL])
    first = fed(repairer, [asked(GOOD, BAD)])
    last = fed(repairer, [asked({**BAD, "id": "3"}), {"serverContent": {"turnComplete": True}}])

    assert [asked(GOOD)] == first
    assert [(500, "INTERNAL")] == [(one["code"], one["error"]["status"]) for one in last]
    assert (True, "calls_withheld") == (repairer.ended, repairer.report.error)
    assert [] == repairer.close()


def test_a_withheld_request_in_silence() -> None:
    """With `end`, its message is left out, and the session goes on."""
    repairer = MessageRepairer("gemini-live", tools=[TOOL], withheld="end")

    assert [asked(GOOD)] == fed(repairer, [asked(BAD), asked(GOOD)])
    assert (False, 1) == (repairer.ended, repairer.report.n_withheld)


def test_requests_that_clients_cannot_read() -> None:
    """In snake_case, without arguments, without a list, as values at paths: each becomes one whole request."""
    snake = {"tool_call": {"function_calls": [GOOD]}}
    bare = asked({"id": "4", "name": "dredge"})
    single = {"toolCall": {"functionCalls": {**GOOD, "id": "6"}}}
    pieces = [
        asked({"id": "5", "name": "dredge", "willContinue": True}),
        asked(
            {"id": "5", "partialArgs": [{"jsonPath": "$.metres", "numberValue": 4}], "willContinue": False}
        ),
    ]
    repairer = MessageRepairer("gemini-live")

    assert [asked(GOOD)] == fed(repairer, [snake])
    assert [asked({"id": "4", "name": "dredge", "args": {}})] == fed(repairer, [bare])
    assert [asked({**GOOD, "id": "5"})] == fed(repairer, pieces)
    assert [asked({**GOOD, "id": "6"})] == fed(repairer, [single])


def test_a_call_under_one_id() -> None:
    """A part and a request of it stay; a second request is left out, and odd arguments are those of the first."""
    part = {"serverContent": {"modelTurn": {"parts": [{"text": "x"}, {"functionCall": GOOD}]}}}
    repairer = MessageRepairer("gemini-live")

    assert [part, asked(GOOD)] == fed(repairer, [part, asked({**GOOD, "args": {"metres": 5}}), asked(GOOD)])


def test_requests_without_ids() -> None:
    """They stay as they are, in their order; a nameless one is taken out."""
    first, last = {"name": "dredge", "args": {"metres": 1}}, {"name": "dredge", "args": {"metres": 2}}
    repairer = MessageRepairer("gemini-live")

    assert [asked(first, last)] == fed(repairer, [asked(first, {"args": {}}, last)])


def test_members_named_twice() -> None:
    """Clients get the judged value, and not the other one."""
    twice = (
        '{"toolCall":{"functionCalls":[{"id":"1","name":"dredge","args":{"metres":5},"args":{"metres":4}}]}}'
    )

    assert [asked(GOOD)] == said(MessageRepairer("gemini-live").receive(twice))


def test_an_open_call_at_the_end() -> None:
    """The values at paths that came so far are no call; clients hear of it, a turn without one ends in silence."""
    open_call = asked({"id": "5", "name": "dredge", "willContinue": True})
    found = []
    for messages in ([open_call], [asked(GOOD)]):
        repairer = MessageRepairer("gemini-live", policy=Policy())
        fed(repairer, messages)
        found.append(["error" in payload for payload in said(repairer.close())])

    assert [[True], []] == found


def test_tools_of_a_setup() -> None:
    """The functions that a session is set up with are known, by their names."""
    for named, left in (("dredge", [asked(GOOD)]), ("other", [])):
        repairer = MessageRepairer("gemini-live", tools="session", withheld="end")
        declared = [{"functionDeclarations": [{"name": named}]}, {"googleSearch": {}}]
        repairer.send(json.dumps({"setup": {"tools": declared}}))
        assert left == fed(repairer, [asked(GOOD)])
