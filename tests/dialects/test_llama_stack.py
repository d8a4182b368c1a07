"""llama-stack's own inference API: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Index,
    Noted,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.others import llama_stack
from wholecall.dialects.others.llama_stack import LlamaStackTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened(None, restart=True)
ENDED = TurnEnded()
UNKNOWN = Noted(0, "unknown_events")
EMPTY = {"type": "text", "text": ""}


def translate(*payloads: Any, event: str = "message") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = LlamaStackTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def event(kind: str = "progress", delta: Any = EMPTY, reason: Any = None) -> dict[str, Any]:
    """Return one event, with the nulls that a server writes out."""
    inner = {"event_type": kind, "delta": delta, "logprobs": None, "stop_reason": reason}
    return {"event": inner, "metrics": None}


def told(status: str, call: Any) -> dict[str, Any]:
    """Return an event's update of a call."""
    return event(delta={"type": "tool_call", "parse_status": status, "tool_call": call})


def call(arguments: Any, id: Any = "c", **more: Any) -> dict[str, Any]:
    """Return a call that was read."""
    return {"call_id": id, "tool_name": "f", "arguments": arguments, **more}


def whole(text: str, slot: int = 1) -> list[Delta]:
    """Return the events for a call that was read, and its end."""
    return [
        CallWhole(0, slot, None, "c", "f", text, ITEM_DONE, begins=True),
        CallClosed(0, slot, None),
    ]


def refused(text: str, slot: int = 1) -> CallRefused:
    """Return the event for a failure."""
    return CallRefused(0, slot, None, "unparseable", "the server could not read the call", text)


# Calls


def test_an_answer_speaks_and_calls() -> None:
    """The object on success is the call; the model's own text of it is not arguments (quirk 113)."""
    deltas = translate(
        event("start"),
        event(delta={"type": "text", "text": "Hi"}),
        told("started", ""),
        told("in_progress", "[f("),
        told("in_progress", "a=1)]"),
        told("succeeded", call({"a": 1})),
        event("complete", reason="end_of_turn"),
    )

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        *whole('{"a":1}'),
        Finish(0, "stop", "end_of_turn"),
        ENDED,
    ] == deltas


@pytest.mark.parametrize(
    ("told_call", "text"),
    [
        (call({"a": 1.50}), '{"a":1.5}'),
        (call('{"a": 1}'), '{"a": 1}'),
        (call({"a": 1}, arguments_json='{"a": 1.0}'), '{"a": 1.0}'),
        (call({"a": 1}, arguments_json=None), '{"a":1}'),
    ],
)
def test_arguments_are_an_object_or_its_text(told_call: Any, text: str) -> None:
    """`arguments_json` is the text that the object was read from, where a server adds it."""
    assert [OPENED, *whole(text)] == translate(told("succeeded", told_call))


@pytest.mark.parametrize(("arguments", "text"), [({}, "{}"), ("", ""), (None, "")])
def test_a_call_without_arguments_waits_for_the_reason(arguments: Any, text: str) -> None:
    """It may have been cut before its first one (quirk 26), and the last of its arguments may have been cut, too."""
    said, _ = whole(text)
    cut = event("complete", reason="out_of_tokens")

    assert [OPENED, *whole(text)] == translate(told("succeeded", call(arguments)))
    assert [OPENED, said, Finish(0, "length", "out_of_tokens"), ENDED] == translate(
        told("succeeded", call(arguments)), cut
    )


def test_calls_keep_their_order() -> None:
    """An object that begins anew is a separate call, also with an id that was there before, and so is one without."""
    nameless = CallWhole(0, 3, None, None, "f", "", ITEM_DONE, begins=True)

    assert [OPENED, *whole('{"a":1}'), *whole('{"a":1}', 2), nameless, CallClosed(0, 3, None)] == translate(
        told("succeeded", call({"a": 1})),
        told("started", ""),
        told("succeeded", call({"a": 1})),
        told("succeeded", call(None, None)),
    )


def test_an_object_that_is_told_again_is_one_call() -> None:
    """Its id, its name and its text are those of an earlier call, and nothing was begun since."""
    object_ = told("succeeded", call({"a": 1}))

    assert [OPENED, *whole('{"a":1}')] == translate(told("started", ""), object_, object_)


def test_as_many_objects_as_began_are_calls() -> None:
    """Equal objects are calls if the server began as many, and the answer is complete."""
    object_, begun = told("succeeded", call({"a": 1})), told("started", "")
    end = event("complete", reason="end_of_turn")

    def slots(*payloads: Any) -> list[Index | None]:
        return [delta.index for delta in translate(*payloads) if isinstance(delta, CallWhole)]

    assert [1, 2] == slots(begun, begun, object_, object_, end)
    assert [1] == slots(begun, begun, object_, object_)
    assert [1] == slots(begun, begun, object_, object_, object_, end)


def test_a_failure_keeps_what_was_written() -> None:
    """The server repeats it, or not; it may also have labels for unreadable text (quirk 113)."""
    pieces = told("started", ""), told("in_progress", "<f>"), told("in_progress", "{a")

    assert [OPENED, refused("<f>{a")] == translate(*pieces, told("failed", ""))
    assert [OPENED, refused("<f>{a}")] == translate(*pieces, told("failed", "<f>{a}"))
    assert [OPENED, refused("")] == translate(told("failed", ""))
    assert [OPENED, refused("")] == translate(told("failed", None))
    assert [OPENED, CallSeen(0, 1, None, "c", "f"), refused("{a"), *whole('{"a":1}', 2)] == translate(
        *pieces, told("failed", call("{a")), told("succeeded", call({"a": 1}))
    )


@pytest.mark.parametrize(
    ("last", "deltas"),
    [
        (event("complete", reason="out_of_tokens"), [Finish(0, "length", "out_of_tokens"), ENDED]),
        ("[DONE]", [ENDED]),
        ("{}", []),
        (
            {"error": {"message": "no"}},
            [WireFault("provider_error", "no", error={"message": "no"}, fatal=True)],
        ),
    ],
)
def test_what_was_written_and_never_read_is_a_call_without_a_name(last: Any, deltas: list[Delta]) -> None:
    """However the answer ends, the known part of the call is reported, and is not repeated (quirk 113)."""
    assert [OPENED, Slot(0, 1, None, "[f(a="), *deltas] == translate(
        told("started", ""), told("in_progress", "[f(a="), last
    )
    assert [OPENED, Slot(0, 1, None, ""), *deltas] == translate(told("started", ""), last)


def test_only_success_makes_an_object_a_call() -> None:
    """In progress, or with an unknown status, it is the text so far; a text is not a call on success either."""
    assert [OPENED, Slot(0, 1, None, '{"a":1}')] == translate(told("in_progress", call({"a": 1})))
    assert [OPENED, Slot(0, 1, None, '{"a":1}')] == translate(told("tomorrow", call({"a": 1})))
    assert [OPENED, Slot(0, 1, None, "f(1)")] == translate(told("succeeded", "f(1)"))


def test_what_is_written_is_kept_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound nothing is added: the text is too large for a drop anyway."""
    monkeypatch.setattr(llama_stack, "_KEPT", 2)

    assert [OPENED, Slot(0, 1, None, "1234")] == translate(
        told("in_progress", "12"), told("in_progress", "34"), told("in_progress", "56")
    )


# Answers


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_of_turn", [Finish(0, "stop", "end_of_turn")]),
        ("end_of_message", [Finish(0, "tool_calls", "end_of_message")]),
        ("out_of_tokens", [Finish(0, "length", "out_of_tokens")]),
        ("error", [Finish(0, "error", "error", drops=True)]),
        (None, []),
    ],
)
def test_the_last_event_has_the_reason(reason: Any, finish: list[Delta]) -> None:
    """It may come earlier and waits until the end; only then it is reported."""
    assert [OPENED, *finish, ENDED] == translate(event("start"), event("complete", reason=reason))
    assert [OPENED, *finish, ENDED] == translate(event(reason=reason), event("complete"))


def test_calls_may_follow_the_last_event() -> None:
    """Some relays send calls in events that say the answer is complete (quirk 117): the end of the stream ends it."""
    last = event("complete", {"type": "tool_call", "parse_status": "succeeded", "tool_call": call({"a": 1})})
    said = Finish(0, "stop", "end_of_turn")

    assert [OPENED, said, *whole('{"a":1}'), said, ENDED] == translate(
        event("complete", reason="end_of_turn"), last
    )


def test_a_start_after_the_end_is_another_answer() -> None:
    """A log may hold several; before the end a start only repeats an earlier start."""
    again = TurnOpened(None, restart=True)
    said = TextFragment(0, "x")
    first = event("start"), event("start"), event("complete", reason="end_of_turn")

    assert [OPENED, Finish(0, "stop", "end_of_turn"), ENDED, again, said] == translate(
        *first, event("start"), event(delta={"type": "text", "text": "x"})
    )


def test_the_first_versions_spoke_otherwise() -> None:
    """Text was the delta itself, a call its content, and success and failure had other words."""
    parts = [
        {"content": "", "parse_status": "started"},
        {"content": "f(", "parse_status": "in_progress"},
        {"content": call({"a": 1}), "parse_status": "success"},
        {"content": "g(", "parse_status": "failure"},
    ]

    assert [OPENED, TextFragment(0, "Hi"), *whole('{"a":1}'), refused("g(", 2)] == translate(
        event("start", ""), event(delta="Hi"), *(event(delta=part) for part in parts)
    )


def test_a_whole_body_is_one_turn() -> None:
    """Text, calls in their order, counts, reason, end."""
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_of_message",
        "tool_calls": [call({"a": 1}), call({"b": 2})],
    }
    metrics = [{"metric": "total_tokens", "value": 9, "unit": None}, {"metric": "x"}, {"x": 1}, 5]
    second = whole('{"b":2}', 2)

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        *whole('{"a":1}'),
        second[0],
        UsageSeen({"total_tokens": 9}),
        second[1],
        Finish(0, "tool_calls", "end_of_message"),
        ENDED,
    ] == translate({"completion_message": message, "logprobs": None, "metrics": metrics})
    assert [OPENED, TextFragment(0, "Hi"), ENDED] == translate({"completion_message": {"content": "Hi"}})


# Frames


def test_errors_are_fatal() -> None:
    """An error object, or an event of that name (quirk 52)."""
    error = {"message": "no", "code": "E1"}
    fault = WireFault("provider_error", "E1: no", error=error, fatal=True)

    assert [fault] == translate({"error": error})
    assert [fault] == translate(error, event="error")


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Noise and pictures say nothing, unknown events and deltas are counted, a frame that is not JSON is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", {"type": "ping"})
    assert [UNKNOWN] == translate({"type": "tomorrow"})
    assert [OPENED, UNKNOWN] == translate(event("tomorrow"))
    assert [OPENED] == translate(event(delta=None), event(delta={"type": "image", "image": "aGk="}))
    assert [OPENED, UNKNOWN] == translate(event(delta={"type": "tomorrow"}))
    assert [OPENED] == translate(event(delta=5), event(delta={"type": ["text"], "text": 5}))
    assert [fault] == translate("{")
    odd = CallWhole(0, 1, None, None, None, "", ITEM_DONE, begins=True)
    assert [OPENED, odd, CallClosed(0, 1, None)] == translate(
        told("succeeded", {"call_id": {}, "tool_name": 5, "arguments": None, "arguments_json": []})
    )
