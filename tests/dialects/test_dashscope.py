"""DashScope's own protocol: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    OBJECT,
    Delta,
    Finish,
    Labelled,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.others.dashscope import DashScopeTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened("r", "r", restart=True)


def translate(*payloads: dict[str, Any] | str, event: str = "result") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = DashScopeTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def frame(finish: Any = "null", **message: Any) -> dict[str, Any]:
    """Return one frame with one choice."""
    return {"output": {"choices": [{"message": message, "finish_reason": finish}]}, "request_id": "r"}


def texts(*contents: Any) -> list[str]:
    """Return the text that frames with these contents say."""
    deltas = translate(*(frame(content=content) for content in contents))
    return [delta.text for delta in deltas if isinstance(delta, TextFragment)]


def test_a_stream_thinks_speaks_and_calls() -> None:
    """The first frame opens the turn; calls keep their labels; the word null is not a reason (quirk 45)."""
    head = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    deltas = translate(
        frame(content="", reasoning_content="hm"),
        frame(content="Hi", reasoning_content=""),
        frame(content="", tool_calls=[head]),
        frame(content="", tool_calls=[{"index": 0, "id": "", "function": {"arguments": "{}"}}]),
        frame("tool_calls", content="") | {"usage": {"total_tokens": 3}},
    )

    assert [
        OPENED,
        ReasoningFragment(0, "hm"),
        TextFragment(0, "Hi"),
        Labelled(0, 0, "c", "f"),
        Labelled(0, 0, None, None, "{}"),
        Finish(0, "tool_calls", "tool_calls"),
        UsageSeen({"total_tokens": 3}),
    ] == deltas


def test_a_restated_call_is_told_as_it_stands() -> None:
    """Restatement is detected where texts are kept (quirk 24); objects are whole."""
    calls = [{"index": 1, "id": "c", "function": {"name": "f", "arguments": a}} for a in ('{"a"', '{"a":1}')]
    whole = {"index": 2, "function": {"name": "g", "arguments": {"b": 1}}}
    deltas = translate(frame(tool_calls=calls[:1]), frame(tool_calls=[calls[1], whole]))

    assert [
        OPENED,
        Labelled(0, 1, "c", "f", '{"a"'),
        Labelled(0, 1, "c", "f", '{"a":1}'),
        Labelled(0, 2, None, "g", '{"b": 1}', rank=OBJECT),
    ] == deltas


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (("He", "llo", "llo"), ["He", "llo", "llo"]),  # increments
        (("He", "Hello", "Hello", "Hello!"), ["He", "llo", "!"]),  # restated
        (("ha", "ha", " so"), ["ha", "ha so"]),  # a word twice, then the mode is clear
        (("ha", "ha", "haha", "x"), ["ha", "ha", "x"]),
        (("He", "llo", "llo", "llo", "llo"), ["He", "llo", "llo", "llo", "llo"]),
        (("He", "Hello", "Hello", "Bye"), ["He", "llo", "Bye"]),
        (("He", "Hello", "Bye", "Bye"), ["He", "llo", "Bye", "Bye"]),  # restated, then another text
        (("He", "", None, "llo"), ["He", "llo"]),  # nothing says nothing
        (([{"text": "He"}], [{"text": "He"}, {"text": "llo"}]), ["He", "llo"]),  # parts (quirk 95)
    ],
)
def test_text_is_said_once_in_either_mode(contents: tuple[Any, ...], said: list[str]) -> None:
    """Frames restate the text or add to it, and do not say which (quirk 24)."""
    assert said == texts(*contents)


def test_what_one_channel_tells_holds_for_all() -> None:
    """The mode is the stream's; reasoning, text and each choice are compared with themselves."""
    first, second = frame(content="a", reasoning_content="x"), frame(content="a", reasoning_content="xy")
    other = {"message": {"content": "b"}, "finish_reason": "stop"}
    second["output"]["choices"].append(other)

    assert [
        OPENED,
        ReasoningFragment(0, "x"),
        TextFragment(0, "a"),
        ReasoningFragment(0, "y"),
        TextFragment(1, "b"),
        Finish(1, "stop", "stop"),
    ] == translate(first, second)


def test_what_was_in_doubt_is_said_when_another_channel_tells() -> None:
    """A word that came twice waits for the mode, and is said with the next word of its channel."""
    frames = [frame(content="ha", reasoning_content=thought) for thought in ("x", "y")]
    deltas = translate(frame(content="ha"), *frames, frame(content=" so"))

    assert ["ha", "haha", " so"] == [delta.text for delta in deltas if isinstance(delta, TextFragment)]


def test_calls_belong_to_their_choice() -> None:
    """Choices are numbered by their index, else by their position (quirk 82)."""
    both = frame(content="")
    entry = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    both["output"]["choices"].append({"message": {"tool_calls": [entry]}})
    both["output"]["choices"].append({"index": 5, "message": {"tool_calls": [entry]}})

    assert [OPENED, Labelled(1, 0, "c", "f", "{}"), Labelled(5, 0, "c", "f", "{}")] == translate(both)


def test_the_text_of_old_models_is_a_choice() -> None:
    """`output.text` with its own reason, and a frame with a reason alone."""
    payloads = [
        {"output": {"text": text, "finish_reason": reason}, "request_id": "r"}
        for text, reason in (("a", "null"), ("", None), ("ab", "stop"), (None, "length"))
    ]

    assert [
        OPENED,
        TextFragment(0, "a"),
        TextFragment(0, "b"),
        Finish(0, "stop", "stop"),
        Finish(0, "length", "length"),
    ] == translate(*payloads)


def test_an_error_has_a_code_and_no_answer() -> None:
    """By the event's name, or by its code; the SDK prints an empty code next to every answer (quirk 52)."""
    error = {"code": "Throttling", "message": "slow", "request_id": "r"}
    fault = WireFault("provider_error", "Throttling: slow", error=error, fatal=True)

    assert [fault] == translate(error, event="error")
    assert [fault] == translate(error)
    assert [OPENED, Finish(0, "stop", "stop")] == translate(frame("stop") | {"code": "", "message": ""})
    assert [OPENED, Finish(0, "stop", "stop")] == translate(frame("stop") | {"code": "Success"})
    assert "no" == getattr(translate({"message": "no"}, event="error")[0], "detail", None)
    busy = WireFault("provider_error", "busy", error={"message": "busy"}, fatal=True)
    assert [busy] == translate({"error": {"message": "busy"}})


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Keep-alives say nothing, unknown frames are counted, a lone surrogate is text, a frame that is not JSON is a
    hole.
    """
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", {"type": "ping"}, {"output": None, "type": "ping"})
    assert [Noted(0, "unknown_events")] == translate({"request_id": "r"})
    assert [UsageSeen({"total_tokens": 1})] == translate({"output": {}, "usage": {"total_tokens": 1}})
    assert [fault] == translate("{")
    assert [OPENED, TextFragment(0, "\ud83d")] == translate(
        '{"output":{"choices":[{"index":-1,"message":{"content":"\\ud83d"}}]},"request_id":"r"}', "[DONE]"
    )
