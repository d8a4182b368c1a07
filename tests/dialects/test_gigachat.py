"""GigaChat's second chat: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode_gigachat import call_part, delta, done, text
from wholecall import collect
from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.others.gigachat import GigaChatTranslator
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

OPENED = TurnOpened(None, None, "model-1", restart=True)
USAGE = UsageSeen({"input_tokens": 88, "output_tokens": 9, "total_tokens": 97})
CALLS = Finish(0, "tool_calls", "function_call")
STOP = Finish(0, "stop", "stop")
ENDED = TurnEnded(None)


def translate(*events: tuple[str, Any]) -> list[Delta]:
    """Translate the named events of one stream, to its end."""
    translator = GigaChatTranslator()
    deltas: list[Delta] = []
    for name, data in events:
        deltas += translator.translate(Frame(name, data if isinstance(data, str) else json.dumps(data)))
    return deltas + translator.close()


def whole(slot: int, value: str, id_: str | None = "a", *, closes: bool = True, **more: Any) -> CallWhole:
    """Return the events for a part with a call."""
    return CallWhole(0, slot, None, id_, "f", value, ITEM_DONE, closes=closes, begins=True, **more)


# Calls.


def test_a_call_is_whole_in_its_part() -> None:
    """Before the last event or in it; arguments are an object, or the text of one."""
    before = translate(delta(call_part("f", {"x": 1}, "a")), done("function_call"))
    within = translate(done("function_call", call_part("f", '{"x": 1}', "a")))

    assert [OPENED, whole(1, '{"x": 1}'), USAGE, CALLS, ENDED] == before
    assert before == within


def test_a_call_without_arguments_waits_for_the_reason() -> None:
    """It may have been cut: a limit leaves the last one open, the end of the stream all of them (quirk 26)."""
    called = [OPENED, whole(1, "{}", closes=False)]
    event = delta(call_part("f", {}, "a"))

    assert [*called, USAGE, CallClosed(0, 1, None), CALLS, ENDED] == translate(event, done("function_call"))
    assert [*called, USAGE, Finish(0, "length", "length"), ENDED] == translate(event, done("length"))
    assert called == translate(event)


def test_the_last_event_may_tell_calls_again() -> None:
    """By their ids; without an id, by the position. A new position is a separate call."""
    bare, named = call_part("f", {"x": 1}), call_part("f", {"x": 2}, "b")
    events = [delta(bare), delta(named), done("function_call", bare, named, bare)]
    told = [whole(1, '{"x": 1}', None), whole(2, '{"x": 2}', "b"), whole(3, '{"x": 1}', None)]

    assert told == [one for one in translate(*events) if isinstance(one, CallWhole)]


def test_equal_calls_without_ids_are_several() -> None:
    """Each part before the last event is a separate call (quirk 8)."""
    bare = call_part("f", {"x": 1})
    told = [whole(slot, '{"x": 1}', None) for slot in (1, 2, 3)]

    assert [OPENED, *told] == translate(delta(bare, bare), delta(bare))


@pytest.mark.parametrize("member", ["tool_state_id", "tools_state_id"])
def test_the_state_of_the_tools_is_kept(member: str) -> None:
    """The answer to a call needs it, under either name."""
    event = {"messages": [{"role": "assistant", member: "s", "content": [call_part("f", {"x": 1}, "a")]}]}

    assert whole(1, '{"x": 1}', extra={member: "s"}) == translate(("response.message.delta", event))[1]


@pytest.mark.parametrize("role", ["reasoning", "user", "function", "tool", "system"])
def test_only_the_assistant_calls(role: str) -> None:
    """Calls under another role are not to be executed."""
    assert [OPENED] == translate(delta(call_part("f", {"x": 1}, "a"), role=role))


def test_what_gigachat_executes_itself_is_no_call() -> None:
    """It has a name and a state, and no arguments."""
    part = {"tool_execution": {"name": "web_search", "status": "success"}}
    event = {"model": "model-1", "messages": [{"role": "assistant", "content": [part]}]}

    assert [] == translate(("response.tool.in_progress", event), ("response.tool.completed", event))
    assert [OPENED] == translate(delta(part))


# Text, and the end.


def test_text_and_reasoning() -> None:
    """The role tells them apart; content may be one text, and other roles' text is not an answer."""
    plain = {
        "model": "model-1",
        "messages": [{"role": "assistant", "content": "z", "reasoning_content": "i"}],
    }
    events = [
        delta(text("h"), role="reasoning"),
        delta(text("x"), {"files": [{"id": "1"}]}, text("y")),
        delta(text("no"), role="user"),
        ("response.message.delta", plain),
    ]

    words = [ReasoningFragment(0, "h"), TextFragment(0, "x"), TextFragment(0, "y")]
    assert [OPENED, *words, ReasoningFragment(0, "i"), TextFragment(0, "z")] == translate(*events)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("function_call", "tool_calls"),
        ("length", "length"),
        ("function_call_error", "malformed"),
        ("blacklist", "content_filter"),
        ("request_blacklist", "content_filter"),
        ("request_whitelist", "content_filter"),
        ("request_filter", "content_filter"),
        ("response_blacklist", "content_filter"),
        ("error", "error"),
        ("novelty", "unknown"),
    ],
)
def test_reasons(word: str, reason: TurnReason) -> None:
    """The provider's word is kept; filters are filters, whichever of them it was."""
    assert [OPENED, USAGE, Finish(0, reason, word), ENDED] == translate(done(word))


def test_a_body_and_lines_need_no_names() -> None:
    """A frame without a name is the last event if it has a reason; a name may also be in the data."""
    name, first = delta(text("x"))
    last = done()[1]
    expected = [OPENED, TextFragment(0, "x"), USAGE, STOP, ENDED]

    assert expected == translate(("", first), ("", last))
    assert expected == translate(("message", first | last))
    assert expected == translate(
        ("", first | {"event": name}), ("", last | {"event": "response.message.done"})
    )


def test_events_may_come_as_lines_with_their_names() -> None:
    """An envelope with the name and the data is opened, and no call in it is lost (quirk 120)."""
    events = [delta(call_part("f", {"x": 1}, "a")), done("function_call")]
    lines = [json.dumps({"event": name, "data": payload}) + "\n" for name, payload in events]
    [call] = collect([line.encode() for line in lines]).calls

    assert ("a", "f", {"x": 1}) == (call.id, call.name, call.arguments)


def test_the_end_is_told_once() -> None:
    """A last event that is sent twice begins no turn; another answer does."""
    other = TurnOpened(None, None, "model-1", restart=True)

    assert [OPENED, USAGE, STOP, ENDED] == translate(done(), done())
    assert [OPENED, USAGE, STOP, ENDED, other, TextFragment(0, "x")] == translate(done(), delta(text("x")))


@pytest.mark.parametrize("name", ["error", "response.error"])
def test_an_error_is_fatal(name: str) -> None:
    """The name of its event identifies it (quirk 52)."""
    error = {"status": 503, "message": "busy"}

    assert [WireFault("provider_error", "busy", error=error, fatal=True)] == translate((name, error))


def test_other_events() -> None:
    """Pings and `[DONE]` say nothing, unknown frames are counted."""
    assert [] == translate(("message", '{"type":"ping"}'), ("", "{}"), ("", "[DONE]"))
    assert [Noted(0, "unknown_events")] == translate(("response.novelty", delta(text("x"))[1]))


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """A member of a wrong type counts as absent, an unreadable frame is a hole."""
    odd = {"messages": [{"role": "assistant", "content": [None, {"text": 3}, text("x")]}], "model": 5}
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw='{"messages"', hole=True)

    opened = TurnOpened(None, None, None, restart=True)
    assert [opened, TextFragment(0, "x")] == translate(("response.message.delta", odd))
    assert [fault] == translate(("response.message.delta", '{"messages"'))
