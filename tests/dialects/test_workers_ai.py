"""Workers AI: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall
from wholecall.deltas import (
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Noted,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.others.workers_ai import WorkersTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened(None, restart=True)
USAGE = {"total_tokens": 3}


def translate(*payloads: dict[str, Any] | str, event: str = "message") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = WorkersTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def frame(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a frame with calls."""
    return {"response": None, "tool_calls": list(calls), **more}


def entry(*, id: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """Return an entry of `tool_calls` as streams have it."""
    return {"id": id, "function": {"name": name, "arguments": arguments}, **more}


def calls(*entries: dict[str, Any]) -> list[Delta]:
    """Return the events of frames with one entry each."""
    return translate(*map(frame, entries))[1:]


def test_a_stream_speaks_and_calls() -> None:
    """The index distinguishes calls, and an entry that says nothing ends its call, once."""
    end = entry(index=0, arguments="")
    deltas = translate(
        {"response": "Hi", "p": "abc"},
        frame(entry(id="c", name="f", index=0)),
        frame(entry(index=0, arguments='{"a"')),
        frame(entry(index=0, arguments=":1}")),
        frame(end, end),
        {"response": "", "usage": USAGE},
        "[DONE]",
    )

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        CallSeen(0, 0, None, "c", "f"),
        Slot(0, 0, None, '{"a"'),
        Slot(0, 0, None, ":1}"),
        CallClosed(0, 0, None),
        UsageSeen(USAGE),
        TurnEnded(of_transport=True),
    ] == deltas


def test_flat_entries_are_whole() -> None:
    """Without labels their order tells them apart; a call without arguments waits for the next frames (quirk 26)."""
    flat = {"name": "f", "arguments": {"a": 1}}
    whole = CallWhole(0, 0, None, None, None, '{"a": 1}', OBJECT)

    assert [
        CallSeen(0, 0, None, None, "f"),
        whole,
        CallClosed(0, 0, None),
        CallSeen(0, 1, None, None, "f"),
        CallWhole(0, 1, None, None, None, '{"a": 1}', OBJECT),
        CallClosed(0, 1, None),
        CallSeen(0, 2, None, None, "g"),
        CallClosed(0, 2, None, final=False),
        CallSeen(0, 3, None, None, "h"),
        Slot(0, 3, None, "{}"),
        CallClosed(0, 3, None),
    ] == calls(flat, flat, {"name": "g"}, {"name": "h", "arguments": "{}"})


def test_an_object_ends_its_call() -> None:
    """A whole value needs no end, also where the entry has an index."""
    assert [
        CallSeen(0, 0, None, "c", "f"),
        CallWhole(0, 0, None, None, None, "{}", OBJECT),
        CallClosed(0, 0, None),
    ] == calls(entry(id="c", name="f", index=0, arguments={}))


def test_an_index_may_be_taken_over() -> None:
    """Another id with a name is another call (quirk 3), a name without an id after an end is one too (quirk 6).

    It ends the call before, unless that has no text: nothing said then that it is one without arguments.
    """
    first, second = entry(id="a", name="f", index=0), entry(id="b", name="f", index=0)
    filled = entry(id="a", name="f", index=0, arguments="{}")
    third = entry(name="g", index=0)

    assert [
        CallSeen(0, 0, None, "a", "f"),
        Slot(0, 0, None, "{}"),
        CallClosed(0, 0, None),
        CallSeen(0, 1, None, "b", "f"),
    ] == calls(filled, second)
    assert [
        CallSeen(0, 0, None, "a", "f"),
        CallSeen(0, 1, None, "b", "f"),
        CallClosed(0, 1, None),
        CallSeen(0, 2, None, None, "g"),
    ] == calls(first, second, entry(index=0), third)


def test_a_changed_id_without_a_name_continues() -> None:
    """Ids churn (quirk 10) and come late (quirk 11); only a name opens a call."""
    pieces = [entry(name="f", index=0), entry(id="a", index=0), entry(id="b", index=0, arguments="{}")]

    assert [
        CallSeen(0, 0, None, None, "f"),
        CallSeen(0, 0, None, "a", None),
        CallSeen(0, 0, None, "b", None),
        Slot(0, 0, None, "{}"),
    ] == calls(*pieces)


def test_a_late_id_with_its_name_continues() -> None:
    """A call without an id may learn it later, whether or not the name comes again (quirk 11)."""
    pieces = [entry(name="f", index=0), entry(id="a", name="f", index=0)]

    assert [CallSeen(0, 0, None, None, "f"), CallSeen(0, 0, None, "a", "f")] == calls(*pieces)


def test_names_without_labels_are_calls_of_their_own() -> None:
    """Without index and id each name opens a call, and nameless text follows it (quirk 1)."""
    pieces = [entry(name="f", arguments="{"), entry(name="g", arguments="{"), entry(arguments="}")]

    assert [
        CallSeen(0, 0, None, None, "f"),
        Slot(0, 0, None, "{"),
        CallSeen(0, 1, None, None, "g"),
        Slot(0, 1, None, "{"),
        Slot(0, 1, None, "}"),
    ] == calls(*pieces)


def test_a_call_that_is_over_is_not_made_twice() -> None:
    """An entry with the id of an ended call goes to that call, whatever it says."""
    whole = entry(id="c", name="f", index=0, arguments={"a": 1})
    told = calls(whole)

    assert told + told == calls(whole, whole | {"index": 5})


def test_pieces_without_an_index_have_an_id_or_follow() -> None:
    """The id distinguishes calls where there is no index; without both a piece follows the last call (quirk 1)."""
    pieces = [
        entry(id="a", name="f"),
        entry(id="b", name="g"),
        entry(id="a", arguments="1"),
        entry(arguments="2"),
    ]

    assert [
        CallSeen(0, 0, None, "a", "f"),
        CallSeen(0, 1, None, "b", "g"),
        CallSeen(0, 0, None, "a", None),
        Slot(0, 0, None, "1"),
        Slot(0, 0, None, "2"),
    ] == calls(*pieces)
    assert [Slot(0, 0, None, "3")] == calls(entry(arguments="3"))


def test_frames_of_chat_completions_belong_to_the_same_turn() -> None:
    """Some models answer so on the same endpoint (quirk 89); the turn is opened once."""
    delta = {"content": None, "tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}
    chunks = [{"id": "r", "choices": [{"index": 0, "delta": delta}]}] * 2
    found = translate({"response": "Hi"}, *chunks)
    assert [OPENED] == [delta for delta in found if isinstance(delta, TurnOpened)]
    assert Fragment(0, 0, "{}") == found[-1]
    assert TextFragment(0, "Hi") == translate(*chunks, {"response": "Hi"})[-1]
    assert 1 == sum(isinstance(delta, TurnOpened) for delta in translate(*chunks, {"response": "Hi"}))
    assert [TurnOpened(None, "r")] == translate(*chunks)[:1]


@pytest.mark.parametrize(
    ("result", "deltas"),
    [
        ({"response": "Hi", "usage": USAGE}, [OPENED, TextFragment(0, "Hi"), UsageSeen(USAGE)]),
        ({"response": {"a": 1}}, [OPENED, TextFragment(0, '{"a": 1}')]),
        ({"response": "x", "result": {"response": "y"}}, [OPENED, TextFragment(0, "x")]),
        ("Hi", [OPENED, TextFragment(0, "Hi")]),
        ({"choices": [{"message": {"content": "Hi"}}]}, [TurnOpened(None), TextFragment(0, "Hi")]),
    ],
)
def test_the_envelope_of_the_rest_api_is_opened(result: Any, deltas: list[Delta]) -> None:
    """A whole body lies in `result`, and the turn ends with it; deeper content does not count."""
    body = {"result": result, "success": True, "errors": [], "messages": []}

    assert [*deltas, TurnEnded()] == translate(body, event="")


def test_a_deep_envelope_is_harmless() -> None:
    """Nested results are not followed: depth is the sender's to choose."""
    body = '{"result":' * 900 + '{"response":"x"}' + "}" * 900

    assert [Noted(0, "unknown_events"), TurnEnded()] == translate(body)


def test_a_lone_body_ends_with_its_stream() -> None:
    """A JSON document has no end mark. A lone server-sent event, or a body without counts, may have been cut."""
    body = frame(entry(id="c", name="f", index=0, arguments="{}"), usage=USAGE)
    uncounted = {"response": "Hi"}

    assert TurnEnded() == translate(body, event="")[-1]
    assert TurnEnded() not in translate(body, event="message")
    assert TurnEnded() not in translate(body, body, event="")
    assert TurnEnded() not in translate(uncounted, event="")
    assert TurnEnded() not in translate(body, {"id": "r", "choices": [{"index": 0, "delta": {}}]}, event="")
    ends = [delta for delta in translate(body, "[DONE]", event="") if isinstance(delta, TurnEnded)]
    assert [TurnEnded(of_transport=True)] == ends


def test_a_lone_body_gives_its_calls_through_the_object_door() -> None:
    """A binding's return value is a body."""
    parser = ToolCallParser()
    events = parser.feed_event(frame(entry(id="c", name="f", index=0, arguments='{"a":1}'), usage=USAGE))
    events += parser.close()

    assert [{"a": 1}] == [event.arguments for event in events if isinstance(event, ToolCall)]


def test_errors_are_fatal() -> None:
    """As `error`, in the list `errors`, or as an event of that name (quirk 52)."""
    error = {"code": 5007, "message": "no"}
    fault = WireFault("provider_error", "5007: no", error=error, fatal=True)

    assert [fault] == translate({"error": error})
    assert [fault] == translate({"result": None, "success": False, "errors": [error], "messages": []})
    assert [fault] == translate({"errors": error})
    assert [fault] == translate(error, event="error")


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Noise says nothing, unknown frames are counted, odd labels are read, a frame that is not JSON is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", {"type": "ping"}, {"choices": []})
    assert [Noted(0, "unknown_events")] == translate({"p": "abc"})
    assert [fault] == translate("{")
    assert [OPENED, TextFragment(0, "\ud83d")] == translate('{"response":"\\ud83d"}')
    assert [OPENED, Finish(0, "length", "length")] == translate({"response": "", "finish_reason": "length"})
    one = frame() | {"tool_calls": entry(id=7, name="f", index="1")}
    assert [OPENED, CallSeen(0, 0, None, "7", "f")] == translate(one)
