"""Ollama's `/api/chat` and `/api/generate`: line in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.told import in_pieces
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
from wholecall.dialects.others.ollama import OllamaTranslator
from wholecall.dialects.report import ended_together
from wholecall.framing.frame import Frame

OPENED = TurnOpened(None, None, "m", restart=True)


def translate(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the lines of one stream; narrow views change nothing."""
    lines = [payload if isinstance(payload, str) else json.dumps(payload) for payload in payloads]
    plain, quick = OllamaTranslator(), OllamaTranslator()
    told = [plain.translate(Frame("", data)) for data in lines]
    end = plain.close()
    expected = [delta for deltas in told for delta in ended_together(deltas)] + end
    assert in_pieces(expected) == in_pieces(quick.translate_texts(lines, Frame("", "")) + quick.close())
    return [delta for deltas in told for delta in deltas] + end


def line(done: bool = False, **message: Any) -> dict[str, Any]:
    """Return one line of a chat."""
    return {"model": "m", "created_at": "t", "message": {"role": "assistant", **message}, "done": done}


def calls(*entries: Any) -> list[Delta]:
    """Return a line's events for these entries."""
    return translate(line(tool_calls=list(entries)))[1:]


def call(slot: int, id: str | None, name: str | None, text: str) -> list[Delta]:
    """Return the deltas of a whole call; one without arguments is over with the stream."""
    whole = CallWhole(0, slot, None, id, name, text, ITEM_DONE, closes=bool(text.strip("{}")), begins=True)
    return [whole] if whole.closes else [whole, CallClosed(0, slot, None)]


def test_a_chat_thinks_speaks_and_calls() -> None:
    """The first line opens the turn, a call is whole and over in its line, the last line counts and ends."""
    entry = {"id": "call_1", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
    deltas = translate(
        line(content="", thinking="hm"),
        line(content="Hi", thinking=""),
        line(content="", tool_calls=[entry]),
        line(True, content="")
        | {"done_reason": "stop", "prompt_eval_count": 3, "eval_count": 9, "eval_duration": 1},
    )

    assert [
        OPENED,
        ReasoningFragment(0, "hm"),
        TextFragment(0, "Hi"),
        *call(1, "call_1", "f", '{"a": 1}'),
        UsageSeen({"prompt_eval_count": 3, "eval_count": 9}),
        Finish(0, "stop", "stop"),
        TurnEnded(),
    ] == deltas


def test_the_order_of_arrival_is_the_slot() -> None:
    """Calls without any label are separate calls, also if they are equal, and so are those of one line."""
    told = {"name": "f", "arguments": {"a": 1}}
    three = [
        *call(1, None, "f", '{"a": 1}'),
        *call(2, None, "f", '{"a": 1}'),
        *call(3, None, "f", '{"a": 1}'),
    ]
    numbered = {"function": {"index": 0, **told}}

    assert [OPENED, *three] == translate(
        line(tool_calls=[{"function": told}, {"function": told}]), line(tool_calls=[{"function": told}])
    )
    assert [OPENED, *three[:2]] == translate(
        line(tool_calls=[numbered, numbered]), line(tool_calls=[numbered])
    )


def test_a_call_told_again_is_one() -> None:
    """Id, name and text are the same: it is the same call; another text under the id is another call."""
    one = {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}
    other = {"id": "c", "function": {"name": "f", "arguments": {"a": 2}}}
    deltas = translate(line(tool_calls=[one]), line(tool_calls=[one, other]))

    first = call(1, "c", "f", '{"a": 1}')
    assert [OPENED, *first, *call(2, "c", "f", '{"a": 2}')] == deltas


def test_half_a_surrogate_pair_is_no_other_call() -> None:
    """Texts that only JSON can spell say the same if their members do, in any order."""
    texts = [
        '{"a": "\\ud800", "b": 1}',
        '{"b": 1, "a": "\\ud800"}',
        '{"a": "\\ud801", "b": 1}',
        '{"a": "", "b": 1}',
    ]
    entries = [{"id": "c", "function": {"name": "f", "arguments": text}} for text in texts]
    deltas = translate(*(line(tool_calls=[entry]) for entry in entries))

    assert [texts[0], *texts[2:]] == [delta.text for delta in deltas if isinstance(delta, CallWhole)]


def test_an_id_that_different_calls_have_says_nothing() -> None:
    """Equal calls under it are calls once a reason came, unless each came twice (quirk 64)."""
    one, other = (
        line(tool_calls=[{"id": "c", "function": {"name": name, "arguments": {"a": 1}}}]) for name in "fg"
    )
    first, second = call(1, "c", "f", '{"a": 1}'), call(2, "c", "g", '{"a": 1}')
    again = call(3, "c", "f", '{"a": 1}')
    stop, cut = ({**line(done=True), "done_reason": reason} for reason in ("stop", "length"))

    assert [*first, *second, *again] == translate(one, other, one, stop)[1:4]
    assert [*first, *second] == [d for d in translate(one, other, one, cut) if isinstance(d, CallWhole)]
    assert [*first, *second] == [d for d in translate(one, other, one) if isinstance(d, CallWhole)]
    twice = translate(one, one, other, other, stop)
    assert [*first, *second] == [d for d in twice if isinstance(d, CallWhole)]


@pytest.mark.parametrize(
    ("entry", "deltas"),
    [
        ({"function": {"name": "f", "arguments": '{"a":1}'}}, call(1, None, "f", '{"a":1}')),
        ({"function": {"name": "f", "parameters": {"a": 1}}}, call(1, None, "f", '{"a": 1}')),
        ({"id": "x", "name": "f", "arguments": {"a": 1}}, call(1, "x", "f", '{"a": 1}')),
        ({"id": 7, "function": {"name": "f", "arguments": [1]}}, call(1, "7", "f", "[1]")),
        ({"id": "null", "function": {"name": " ", "arguments": {"a": 1}}}, call(1, None, None, '{"a": 1}')),
    ],
)
def test_odd_entries_are_read_as_they_are(entry: dict[str, Any], deltas: list[Delta]) -> None:
    """Arguments may be a string, lie in another field or next to a flat name; blank labels are none (quirk 36)."""
    assert deltas == calls(entry)


@pytest.mark.parametrize("arguments", ["", None])
def test_a_call_without_any_arguments_waits_for_the_reason(arguments: Any) -> None:
    """A call that was cut before its arguments looks the same, so its end is not final (quirk 26)."""
    entry = {"function": {"name": "f", "arguments": arguments}}

    whole, over = call(1, None, "f", "")
    cut = Finish(0, "length", "length")

    assert [whole, over] == calls(entry)
    assert [OPENED, whole, cut, TurnEnded()] == translate(
        line(tool_calls=[entry]), line(True) | {"done_reason": "length"}
    )


def test_one_call_may_stand_where_a_list_is_due() -> None:
    """A lone object is a list of one, and null is an empty one (quirk 39)."""
    entry = {"function": {"name": "f", "arguments": {"a": 1}}}

    assert [OPENED, *call(1, None, "f", '{"a": 1}')] == translate(line(tool_calls=entry))
    assert [OPENED] == translate(line(tool_calls=None))


def test_the_wires_own_text_of_an_object_is_kept() -> None:
    """Duplicate keys and spellings of numbers are for the verdict to see."""
    text = '{ "n": 1.0e2, "n": 1E+2 }'
    frame = '{"message":{"tool_calls":[{"function":{"name":"f","arguments":' + text + '}}]},"done":false}'

    assert [TurnOpened(None, restart=True), *call(1, None, "f", text)] == translate(frame)


def test_calls_in_the_last_line_come_before_the_end() -> None:
    """The message counts before the reason (quirk 86); a whole response is such a line alone (quirk 90)."""
    entry = {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}
    end = line(True, content="Hi", tool_calls=[entry]) | {"done_reason": "length"}

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        *call(1, "c", "f", '{"a": 1}'),
        Finish(0, "length", "length"),
        TurnEnded(),
    ] == translate(end)


def test_an_end_needs_no_reason() -> None:
    """Old servers give none; `[DONE]` from a proxy ends a turn that nothing else ended, and only that."""
    assert [OPENED, TurnEnded()] == translate(line(True), "[DONE]")
    assert [OPENED, TextFragment(0, "x"), TurnEnded(of_transport=True)] == translate(
        line(content="x"), "[DONE]"
    )
    assert [TurnOpened(None, restart=True), TurnEnded()] == translate({"done": True})
    assert [TurnOpened(None, restart=True)] == translate({"done": False, "message": None}, {"done": "true"})


def test_what_follows_an_end_is_a_new_turn_if_it_says_something() -> None:
    """A repeated last line ends the same turn again; a call after it opens the next one, whose slots are new."""
    answer = line(tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}])
    deltas = translate(answer, line(True), line(True), answer)

    first = call(1, None, "f", '{"a": 1}')
    again = TurnOpened(None, None, "m", restart=True)
    assert [OPENED, *first, TurnEnded(), TurnEnded(), again, *first] == deltas


def test_an_error_line_is_fatal() -> None:
    """The error is a text after the status 200 was sent; null is not an error (quirk 52)."""
    assert [WireFault("provider_error", "killed", error="killed", fatal=True)] == translate(
        {"error": "killed"}
    )
    assert [OPENED] == translate(line() | {"error": None})


def test_odd_lines_lose_nothing_but_themselves() -> None:
    """A split surrogate is text, an empty line is noted, an unreadable line is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [TurnOpened(None, restart=True), TextFragment(0, "\ud83d")] == translate(
        '{"message":{"content":"\\ud83d"}}'
    )
    assert [TurnOpened(None, restart=True)] == translate(
        '{"message":{"content":5,"thinking":{}},"done":false}'
    )
    assert [Noted(0, "unknown_events")] == translate({"status": "pulling manifest"})
    assert [] == translate("{}", {"type": "ping"})
    assert [fault] == translate("{")


def test_a_label_of_a_wrong_type_does_not_lose_the_call() -> None:
    """Where the typed view refuses a line, its call is read all the same."""
    frame = '{"model":"m","message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":"\\ud83d"}}},5]}}'

    assert [OPENED, *call(1, None, "f", '{"a":"\\ud83d"}'), *call(2, None, None, "")] == translate(frame)


def test_a_completion_is_text() -> None:
    """`/api/generate` has no calls, whatever its lines hold; its end is the same."""
    deltas = translate(
        {"model": "m", "created_at": "t", "response": "", "thinking": "hm", "done": False},
        {"model": "m", "response": "Hi", "tool_calls": [{"function": {"name": "f"}}], "done": False},
        {"model": "m", "response": "", "done": True, "done_reason": "load", "eval_count": 2},
    )

    assert [
        OPENED,
        ReasoningFragment(0, "hm"),
        TextFragment(0, "Hi"),
        UsageSeen({"eval_count": 2}),
        Finish(0, "unknown", "load"),
        TurnEnded(),
    ] == deltas
    assert [Noted(0, "unknown_events")] == translate({"model": "m"})


def test_of_calls_under_one_label_a_limited_number_is_kept() -> None:
    """Each is reported, and none is compared with all before it: the work grows with the stream, no faster."""
    calls = [{"id": "a", "function": {"name": "f", "arguments": {"n": n}}} for n in range(300)]
    translator = OllamaTranslator()

    deltas = translator.translate(Frame("", json.dumps({"message": {"tool_calls": calls}, "done": False})))

    assert list(range(1, 301)) == [delta.index for delta in deltas if isinstance(delta, CallWhole)]
    assert [256] == [len(kept) for kept in translator._calls._by_label.values()]
