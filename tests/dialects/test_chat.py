"""Chat completions: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.parts import without_parts
from tests.support.told import in_pieces
from wholecall import ToolCall, ToolCallParser
from wholecall.deltas import (
    HYDRATION,
    INVALID_INDEX,
    OBJECT,
    CallSeen,
    CallUnread,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    ReasoningFragment,
    Slot,
    TextFragment,
    TextRefused,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.labels import choice_label, index_label
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.framing.frame import Frame

FIRST = {"id": "r1", "model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
OPENED = TurnOpened(None, "r1", "m")
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
ARGUMENTS = ["arguments", "parsed_arguments", "args", "input", "parameters"]


Payload = dict[str, Any] | str | Frame


def framed(payload: Payload) -> Frame:
    """Return the frame that carries a payload; a string is the data itself."""
    if isinstance(payload, Frame):
        return payload
    return Frame("message", payload if isinstance(payload, str) else json.dumps(payload))


def translate(*payloads: Payload) -> list[Delta]:
    """Translate all frames of a stream; runs are reported in pieces."""
    translator = ChatTranslator()
    deltas = [delta for payload in payloads for delta in translator.translate(framed(payload))]
    return without_parts(in_pieces(deltas + translator.close()))


def said(*payloads: Payload) -> list[Delta]:
    """Translate frames that come after the first one of a stream."""
    deltas = translate(FIRST, *payloads)
    assert OPENED == deltas[0]
    return deltas[1:]


def choice(delta: object = None, *, index: object = 0, **fields: Any) -> dict[str, Any]:
    """Build a chunk of one choice."""
    return {"choices": [{"index": index, "delta": delta, **fields}]}


def calls(*entries: object) -> dict[str, Any]:
    """Build a chunk that holds entries of `tool_calls`."""
    return choice({"tool_calls": list(entries)})


def piece(text: object, index: object = 0, **labels: Any) -> dict[str, Any]:
    """Build an entry of `tool_calls`; a `name` goes where names go."""
    function = {"arguments": text} if text is not None else {}
    if "name" in labels:
        function["name"] = labels.pop("name")
    return {"index": index, "function": function, **labels}


def message(*entries: object, **fields: Any) -> dict[str, Any]:
    """Build a chunk whose choice holds a message next to an empty delta."""
    return choice({}, message={"role": "assistant", "tool_calls": list(entries), **fields})


def answer(*payloads: Payload) -> list[ToolCall]:
    """Return the calls that a whole stream emits, ended by its reason."""
    parser = ToolCallParser("chat-completions")
    for payload in (FIRST, *payloads, choice({}, finish_reason="tool_calls")):
        parser.feed(b"".join(b"data: " + line.encode() + b"\n" for line in framed(payload).data.split("\n")))
        parser.feed(b"\n")
    parser.close()
    return list(parser.turn.calls)


# The common stream.


def test_a_call_is_told_in_fragments() -> None:
    """The head of a call is labelled, later text at its index is a bare fragment, and reasons end it."""
    deltas = translate(
        FIRST,
        calls(piece("", id="c1", type="function", name="f")),
        calls(piece('{"a":')),
        calls(piece("1}")),
        choice({}, finish_reason="tool_calls"),
        {"id": "r1", "choices": [], "usage": {"total_tokens": 30}},
        "[DONE]",
    )

    assert [
        OPENED,
        Labelled(0, 0, "c1", "f", ""),
        Fragment(0, 0, '{"a":'),
        Fragment(0, 0, "1}"),
        Finish(0, "tool_calls", "tool_calls"),
        UsageSeen({"total_tokens": 30}),
        TurnEnded(of_transport=True),
    ] == deltas


def test_everything_of_one_chunk_is_told_in_order() -> None:
    """Reasoning, text, calls, reason: all fields of a chunk count (quirks 41 and 42)."""
    delta = {
        "role": "assistant",
        "tool_calls": [piece("{}", 0, id="c1", name="f"), piece("{}", 1, id="c2", name="g"), piece(" ", 0)],
        "content": "ok",
        "reasoning": "hm",
    }

    assert [
        ReasoningFragment(0, "hm"),
        TextFragment(0, "ok"),
        Labelled(0, 0, "c1", "f", "{}"),
        Labelled(0, 1, "c2", "g", "{}"),
        Fragment(0, 0, " "),
        Finish(0, "tool_calls", "tool_calls"),
    ] == said(choice(delta, finish_reason="tool_calls"))


def test_choices_are_told_apart() -> None:
    """Several choices of a chunk keep their numbers, and each has its own reason (quirks 57 and 82)."""
    chunk = {
        "choices": [
            {"index": 1, "delta": {"tool_calls": [piece("{}", 0)]}},
            {"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"},
        ]
    }

    opens = choice({"role": "assistant", "content": ""}, index=1)
    assert [Fragment(1, 0, "{}"), TextFragment(0, "x"), Finish(0, "stop", "stop")] == said(opens, chunk)


@pytest.mark.parametrize(
    ("index", "number"),
    [(None, 0), (2, 2), (1.0, 1), ("3", 3), (-1, choice_label(-1)), ("x", choice_label("x"))],
)
def test_a_choice_without_a_number_is_the_first(index: object, number: int) -> None:
    """Choice numbers are read like any index; a value that is not a number is a separate choice (quirk 14)."""
    assert [TextFragment(number, "x")] == said(choice({"content": "x"}, index=index))


@pytest.mark.parametrize(
    ("chunk", "opened"),
    [
        ({"id": "r1", "model": "m"}, TurnOpened(None, "r1", "m")),
        ({"id": 7, "model": None}, TurnOpened(None, "7", None)),
        ({"id": "", "model": ""}, TurnOpened(None, None, None)),
        ({"id": "r1", "model_id": "granite"}, TurnOpened(None, "r1", "granite")),
        ({"model": "m", "model_id": "granite"}, TurnOpened(None, None, "m")),
        ({"id": [], "model": {}}, TurnOpened(None, None, None)),
    ],
)
def test_the_first_choices_open_the_turn(chunk: dict[str, Any], opened: TurnOpened) -> None:
    """Id and model are those of the first chunk with choices; some servers spell the model otherwise."""
    assert [opened] == translate({**chunk, **choice({})}, {"id": "other", **choice({})})


def test_another_answer_begins_on_the_connection() -> None:
    """A chunk under another id with a role ends the open parts of an answer whose id was the same twice."""
    opens = choice({"role": "assistant", "content": None})
    again = TurnOpened("1", "r2", "m", restart=True)

    first = {"id": "r1", "model": "m"}
    other = {**first, "id": "r2", **opens}
    assert [TurnOpened(None, "r1", "m"), again] == translate({**first, **opens}, {**first, **opens}, other)
    assert [TurnOpened(None, "r1", "m")] == translate({**first, **opens}, other)
    assert [TurnOpened(None, "r1", "m")] == translate({**first, **opens}, {**first, **opens})
    speaks = choice({"role": "assistant", "content": "Hi"})
    assert TextFragment(0, "Hi") == translate({**first, **opens}, {"id": "r2", **speaks})[-1]
    ends = choice({"role": "assistant", "content": ""}, finish_reason="stop")
    assert [Finish(0, "stop", "stop")] == translate({**first, **opens}, {"id": "r2", **ends})[1:]


def test_an_event_of_another_dialect_is_no_flat_chunk() -> None:
    """Oracle's chunks are flat and have no type."""
    assert [Finish(0, "stop", "stop")] == said({"finishReason": "stop"})
    assert [] == said({"type": "finish", "finishReason": "stop"})


def test_a_chunk_without_choices_opens_nothing() -> None:
    """The blank id of Azure's first frame is not the turn's (quirk 54)."""
    azure = {"choices": [], "created": 0, "id": "", "model": "", "object": "", "prompt_filter_results": []}

    assert [OPENED] == translate(azure, {"choices": None}, {"created": 1}, FIRST)


def test_azure_annotates_choices_without_a_delta() -> None:
    """A delta that is null or absent is an empty one (quirk 39)."""
    filtered: dict[str, Any] = {
        "index": 0,
        "finish_reason": None,
        "content_filter_results": {},
        "content_filter_offsets": {},
    }

    assert [] == said({"choices": [filtered]}, {"choices": [{**filtered, "delta": None}]})
    assert [OPENED] == translate({"choices": [{**filtered, "delta": None}], "id": "r1", "model": "m"})


def test_watsonx_names_its_events() -> None:
    """An event named `message` with an id of the stream is like any other."""
    chunk = {"id": "w", "model_id": "granite", "created_at": "t", **calls(piece("{}", id="c1", name="f"))}
    frame = Frame("message", json.dumps(chunk), id="3")

    assert [TurnOpened(None, "w", "granite"), Labelled(0, 0, "c1", "f", "{}")] == translate(frame)


# Labels.


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (piece("x", None, id="c1", name="f"), Labelled(0, None, "c1", "f", "x")),
        ({"function": {"arguments": "x"}}, Labelled(0, None, None, None, "x")),
        (piece("x", 7), Fragment(0, 7, "x")),
        (piece("x", 10**30), Labelled(0, index_label(10**30), None, None, "x")),
        (piece("x", -1), Labelled(0, INVALID_INDEX, None, None, "x")),
        (piece("x", 1.0), Labelled(0, 1, None, None, "x")),
        (piece("x", "1"), Labelled(0, 1, None, None, "x")),
        (piece("x", 1.5), Labelled(0, INVALID_INDEX, None, None, "x")),
        (piece("x", True), Labelled(0, INVALID_INDEX, None, None, "x")),
        (piece("x", "tool"), Labelled(0, INVALID_INDEX, None, None, "x")),
        (piece("x", id="c1"), Labelled(0, 0, "c1", None, "x")),
        (piece("x", id=""), Fragment(0, 0, "x")),
        (piece("x", id=None, name=None), Fragment(0, 0, "x")),
        (piece("x", id="  "), Labelled(0, 0, None, None, "x")),
        (piece("x", id="null"), Labelled(0, 0, None, None, "x")),
        (piece("x", id=0), Labelled(0, 0, "0", None, "x")),
        (piece("x", name=""), Fragment(0, 0, "x")),
        (piece("x", name=" "), Labelled(0, 0, None, None, "x")),
        (piece("x", name=" f\n"), Labelled(0, 0, None, " f\n", "x")),
        (piece("x", name=5), Labelled(0, 0, None, None, "x")),
        (piece("", id="c1"), Labelled(0, 0, "c1", None, "")),
        (piece(""), Labelled(0, 0, None, None, "")),
        ({"index": 0, "function": {"arguments": None, "name": "f"}}, Labelled(0, 0, None, "f", "")),
        ({"index": 0, "id": "c1", "function": None}, Labelled(0, 0, "c1", None)),
        ({"index": 0, "id": "c1"}, Labelled(0, 0, "c1", None)),
        ({"index": -5}, Labelled(0, INVALID_INDEX, None, None)),
        ({"index": 0, "id": "c1", "function": "f"}, Labelled(0, 0, "c1", None)),
        (piece("x", type=None), Fragment(0, 0, "x")),
        (piece("x", type="builtin_function"), Fragment(0, 0, "x")),
        (piece("x", type={"of": 1}), Fragment(0, 0, "x")),
        ({"index": 0, "id": "c1", "name": "f", "arguments": "x"}, Labelled(0, 0, "c1", "f", "x")),
        (
            {"index": 0, "name": "g", "function": {"name": "", "arguments": "x"}},
            Labelled(0, 0, None, "g", "x"),
        ),
        ({"index": 0, "name": "g", "function": {"name": "f"}}, Labelled(0, 0, None, "f", "")),
        (5, Labelled(0, None, None, None)),
    ],
)
def test_labels_are_told_as_they_are(entry: object, told: Delta) -> None:
    """Labels lie, so nothing is decided here (quirks 1, 2, 4, 7, 9, 12, 18, 19, 21, 38, 59 and 92)."""
    assert [told] == said(calls(entry))


@pytest.mark.parametrize(
    "entry",
    [piece("x"), piece("x", -3), piece("x", None), piece("", id="c1", name="f"), {"index": 0, "id": "c1"}],
)
def test_both_views_say_the_same(entry: dict[str, Any]) -> None:
    """A chunk that the narrow view refuses is reported as it would have been, a fragment as a labelled one."""
    wide = {**calls(entry), "x_groq": {"usage": {"n": 1}}}
    narrow = said(calls(entry))[0]
    same = Labelled(0, narrow.index, None, None, narrow.text) if isinstance(narrow, Fragment) else narrow

    assert [same, UsageSeen({"n": 1})] == said(wide)


@pytest.mark.parametrize("empty", [None, [], "x", 5])
def test_no_calls_are_no_calls(empty: object) -> None:
    """Null, an empty list and a value that is not a list leave the text of the chunk alone (quirk 39)."""
    assert [TextFragment(0, "x")] == said(choice({"content": "x", "tool_calls": empty}))


@pytest.mark.parametrize("entry", [piece("{}", id="c1", name="f"), piece({"a": 1}, id="c1", name="f")])
def test_one_object_is_a_list_of_one(entry: dict[str, Any]) -> None:
    """Old servers send a call instead of a list of calls (quirk 39)."""
    alone = {**entry, "extra_content": {"x": 1}}

    assert said(calls(alone)) == said(choice({"tool_calls": alone}))
    assert {"extra_content": {"x": 1}} == getattr(said(choice({"tool_calls": alone}))[0], "extra", None)


# Arguments.


@pytest.mark.parametrize("position", range(len(ARGUMENTS)))
@pytest.mark.parametrize("place", ["function", "call"])
def test_arguments_have_many_names(place: str, position: int) -> None:
    """The first field that is not empty counts; two are never merged (quirk 36)."""
    empties = {name: None if number % 2 else "" for number, name in enumerate(ARGUMENTS[:position])}
    fields = {name: f'{{"from":"{name}"}}' for name in reversed(ARGUMENTS[position:])}
    told = {**fields, **empties}
    entry = {"index": 0, "function": {"name": "f", **told}}
    if place == "call":
        entry = {"index": 0, "function": {"name": "f", "arguments": ""}, **told}

    assert [Labelled(0, 0, None, "f", fields[ARGUMENTS[position]])] == said(calls(entry))


def test_the_arguments_of_the_function_come_first() -> None:
    """Fields of the call itself count only where the function has none (quirk 36)."""
    entry = {"index": 0, "function": {"parameters": "in"}, "arguments": "out"}

    assert [Labelled(0, 0, None, None, "in")] == said(calls(entry))


@pytest.mark.parametrize(
    "value",
    ['{"a": 1.0,"a":2, "b":"\\u00e9"}', "{}", "[1, 2]", "12", "1e2", "true", '{"n":123456789012345678901}'],
)
def test_a_value_keeps_the_wires_own_text(value: str) -> None:
    """Arguments that are not a string are whole, and never written again (quirk 22)."""
    data = f'{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"name":"f","arguments": {value} }}}}]}}}}]}}'

    assert [Labelled(0, 0, None, "f", value, rank=OBJECT)] == said(data)
    assert [Labelled(0, 0, None, "f", value, rank=OBJECT)] == said(data.replace("{", '{"x":NaN,', 1))


def test_a_string_is_a_fragment_whatever_it_holds() -> None:
    """A string is never decoded twice, nor taken for a value (quirks 27 and 28)."""
    assert [Fragment(0, 0, '"{}"')] == said(calls(piece('"{}"')))


def test_fields_of_the_provider_ride_along() -> None:
    """Unread members are kept where they are not empty, to be sent back (quirk 96)."""
    entry = {
        **CALL,
        "index": 0,
        "extra_content": {"google": {"thought_signature": "c2ln"}},
        "provider_specific_fields": None,
        "confidence": 0,
        "note": "",
        "function": {**CALL["function"], "strict": False, "tags": [], "hint": "h"},  # type: ignore[dict-item]
    }
    extra = {
        "extra_content": {"google": {"thought_signature": "c2ln"}},
        "confidence": 0,
        "strict": False,
        "hint": "h",
    }

    assert [Labelled(0, 0, "c1", "f", '{"a":1}', extra=extra)] == said(calls(entry))
    assert [CallWhole(0, 0, None, "c1", "f", '{"a":1}', HYDRATION, extra=extra)] == said(message(entry))


def test_gemini_sends_whole_calls_without_an_index() -> None:
    """Each call of Gemini's compatible endpoint is alone in its chunk (quirks 1, 45 and 96)."""
    signature = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    chunk = choice(
        {"role": "assistant", "tool_calls": [{**CALL, "id": "", **signature}]}, finish_reason="STOP"
    )

    told = Labelled(0, None, None, "f", '{"a":1}', extra=signature)
    assert [told, Finish(0, "stop", "STOP")] == said(chunk)


# Other kinds of calls.


def test_a_custom_tool_streams_its_input() -> None:
    """Free text belongs to a custom call, whether its entries say so or only have the field."""
    assert [
        Labelled(0, 0, "c1", "sql", "", "custom"),
        Labelled(0, 0, None, None, "SELECT ", "custom"),
        Labelled(0, 0, None, None, "1", "custom"),
    ] == said(
        calls({"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": ""}}),
        calls({"index": 0, "id": None, "type": None, "function": None, "custom": {"input": "SELECT "}}),
        calls({"index": 0, "custom": {"input": "1"}}),
    )
    head = calls({"index": 0, "id": "c1", "type": "custom"})
    assert [TurnOpened(None), Labelled(0, 0, "c1", None, "", "custom")] == translate(head)


@pytest.mark.parametrize(
    "custom",
    [
        {},
        None,
        {"name": ""},
        {"name": "", "input": ""},
        {"name": None, "input": None},
    ],
)
def test_an_empty_custom_field_is_decoration(custom: dict[str, Any] | None) -> None:
    """A function with an empty `custom` next to it is a function (quirk 37)."""
    assert [Labelled(0, 0, None, "f", "{}")] == said(calls(piece("{}", name="f", custom=custom)))


def test_a_whole_custom_call_is_restated() -> None:
    """A message may hold custom calls, whose input is text even if it looks like JSON."""
    entry = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": '{"a":1}'}}

    assert [CallWhole(0, 0, None, "c1", "sql", '{"a":1}', HYDRATION, "custom")] == said(message(entry))


@pytest.mark.parametrize(
    ("arguments", "text", "rank"),
    [("", "", 0), ('{"a"', '{"a"', 0), (None, "", 0), ({"a": 1}, '{"a": 1}', OBJECT)],
)
def test_a_legacy_call_has_an_index_of_its_own(arguments: object, text: str, rank: int) -> None:
    """One anonymous call per choice, never mixed up with the numbered ones (quirks 21, 22 and 83)."""
    told = Labelled(0, "function_call", None, "f", text, rank=rank)

    assert [told] == said(choice({"function_call": {"name": "f", "arguments": arguments}}))


def test_a_legacy_call_goes_on_without_its_name() -> None:
    """Later fragments have text only; null and the reason end nothing but themselves (quirk 83)."""
    assert [
        Labelled(0, "function_call", None, None, "{}"),
        Finish(0, "tool_calls", "function_call"),
    ] == said(
        choice({"function_call": {"arguments": "{}"}}),
        choice({"function_call": None}, finish_reason="function_call"),
    )


def test_a_legacy_call_in_a_message_is_whole() -> None:
    """A message restates the legacy call by the same index, and an empty one restates nothing."""
    told = CallWhole(0, "function_call", None, None, "f", '{"a":1}', HYDRATION)
    legacy = {"name": "f", "arguments": '{"a":1}'}

    assert [told] == said(choice({}, message={"function_call": legacy}))
    assert [] == said(choice({}, message={"function_call": {"name": "", "arguments": "{}"}}))
    assert [] == said(choice({}, message={"function_call": None}))


def test_groq_executes_tools_itself() -> None:
    """Executed tools are server calls, at indices that no function call has."""
    tools = [{"index": 0, "type": "search", "arguments": '{"q":1}'}, {"type": "visit", "arguments": {"u": 2}}]

    assert [
        Labelled(0, "executed_tools/0", None, "search", '{"q":1}', "server", OBJECT),
        Labelled(0, "executed_tools/1", None, "visit", '{"u": 2}', "server", OBJECT),
    ] == said(choice({"executed_tools": tools}))
    assert [] == said(choice({"executed_tools": None}), choice({"executed_tools": []}))


def test_a_body_lists_executed_tools() -> None:
    """A response that was not streamed has them in its message (quirk 90)."""
    tools = [{"index": 0, "type": "search", "arguments": '{"q":1}'}]
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": {"executed_tools": tools}}]}

    assert ["search"] == [getattr(delta, "name", None) for delta in translate(body)[1:-1]]


# Messages.


def test_a_message_restates_by_position() -> None:
    """A message next to an empty delta hydrates: labels and the whole text of each call (quirk 40)."""
    other = {"index": 5, "id": "c2", "function": {"name": "g", "arguments": {"b": 2}}}

    both = frozenset({"c1", "c2"})

    assert [
        CallWhole(0, 0, None, "c1", "f", '{"a":1}', HYDRATION, restated_ids=both),
        CallWhole(0, 1, None, "c2", "g", '{"b": 2}', HYDRATION, restated_ids=both),
    ] == said(message(CALL, other))


def test_a_message_repeats_no_text_of_any_choice() -> None:
    """Text that a choice sent in deltas is not repeated by its message, also if it spoke amidst another's text."""
    spoken = [
        choice({"content": text}, index=index) for index, text in [(0, "a"), (0, "b"), (0, "c"), (1, "d")]
    ]
    translator = ChatTranslator()
    translator.translate_all([framed(chunk) for chunk in spoken])

    assert [] == translator.translate(framed(choice({}, index=1, message={"content": "d"})))


def test_a_message_that_mirrors_its_delta_is_ignored() -> None:
    """Some servers show each delta twice; the mirror is not a restatement (quirk 40)."""
    both = {"content": "x", "tool_calls": [piece('{"a"', id="c1", name="f")]}

    assert [TextFragment(0, "x"), Labelled(0, 0, "c1", "f", '{"a"')] == said(choice(both, message=both))
    told = said(choice({"tool_calls": [piece("x")]}, message={"content": "y"}))
    assert [Labelled(0, 0, None, None, "x"), TextFragment(0, "y")] == told


@pytest.mark.parametrize(
    "spoken",
    [
        pytest.param({"content": "x"}, id="content"),
        pytest.param({"content": [{"type": "text", "text": "x"}]}, id="parts"),
        pytest.param({"reasoning_content": "x"}, id="reasoning_content"),
        pytest.param({"reasoning": "x"}, id="reasoning"),
        pytest.param({"refusal": "x"}, id="refusal"),
    ],
)
@pytest.mark.parametrize("beside", [True, False], ids=["beside", "later"])
def test_a_message_never_speaks_twice(spoken: dict[str, Any], beside: bool) -> None:
    """The message only repeats the deltas, in the same chunk or later (quirk 40)."""
    chunks = [choice(spoken, message=spoken)] if beside else [choice(spoken), choice({}, message=spoken)]

    assert said(choice(spoken)) == said(*chunks)


def test_a_message_speaks_for_a_choice_that_was_silent() -> None:
    """The text of a message counts where no delta had any; other choices do not matter (quirk 40)."""
    chunk = {"choices": [{"index": 1, "delta": {}, "message": {"content": "y", "reasoning": "z"}}]}

    assert [TextFragment(0, "x"), ReasoningFragment(1, "z"), TextFragment(1, "y")] == said(
        choice({"content": "x"}), chunk
    )


@pytest.mark.parametrize("first", [True, False])
def test_a_whole_body_is_a_turn(first: bool) -> None:
    """A response that was not streamed is one turn with its own end, alone or as one frame (quirk 90)."""
    body = {
        "id": "r1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "ok", "tool_calls": [CALL]},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"n": 1},
    }

    told = translate(body) if first else translate(FIRST, body)
    assert [
        OPENED,
        TextFragment(0, "ok"),
        CallWhole(0, 0, None, "c1", "f", '{"a":1}', HYDRATION),
        Finish(0, "tool_calls", "tool_calls", ends=True),
        UsageSeen({"n": 1}),
        TurnEnded(),
    ] == told


def test_a_chunk_that_calls_itself_a_completion_is_no_body() -> None:
    """GigaChat says `chat.completion` of every chunk: a chunk with a delta is not a completion, and more may follow
    (quirk 90).
    """
    chunk = {"object": "chat.completion", "model": "m", "id": "r1"}

    assert [OPENED, TextFragment(0, "a"), TextFragment(0, "b")] == translate(
        {**chunk, **choice({"content": "a"})}, {**chunk, **choice({"content": "b"})}
    )


def test_a_body_without_choices_is_no_end() -> None:
    """An empty list of choices ends nothing, whatever the chunk calls itself (quirk 54)."""
    assert [] == translate({"object": "chat.completion", "choices": []})


# Reasons.


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("stop", [Finish(0, "stop", "stop")]),
        ("STOP", [Finish(0, "stop", "STOP")]),
        ("eos", [Finish(0, "stop", "eos")]),
        ("length", [Finish(0, "length", "length")]),
        ("model_length", [Finish(0, "length", "model_length")]),
        ("content_filter", [Finish(0, "content_filter", "content_filter")]),
        ("sensitive", [Finish(0, "unknown", "sensitive")]),
        ("", []),
        ("null", []),
        (None, []),
        (5, []),
        ({}, []),
        (
            "error",
            [WireFault("provider_error", "the choice finished with 'error'", fatal=True)],
        ),
    ],
)
def test_reasons_are_told_in_our_words(raw: object, told: list[Delta], first: bool) -> None:
    """Both words are reported; a blank is not a reason, and a choice that failed is a fault (quirks 43 to 45)."""
    chunk = {**FIRST, **choice({}, finish_reason=raw)}

    assert told == (translate(chunk)[1:] if first else said(chunk))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"message": {"content": ""}, "stop_reason": "tool_calls"}, [Finish(0, "tool_calls", "tool_calls")]),
        ({"delta": {}, "stop_reason": "length"}, [Finish(0, "length", "length")]),
        ({"delta": {}, "finish_reason": "stop", "stop_reason": "length"}, [Finish(0, "stop", "stop")]),
        ({"delta": {}, "finish_reason": "stop", "stop_reason": 128009}, [Finish(0, "stop", "stop")]),
        ({"delta": {}, "finish_reason": None, "stop_reason": 128009}, []),
        ({"delta": {}, "finish_reason": None, "stop_reason": None}, []),
    ],
)
def test_the_reason_may_have_another_name(chosen: dict[str, Any], told: list[Delta], first: bool) -> None:
    """Mistral on Bedrock calls it `stop_reason`; vLLM puts the stop sequence there, next to the reason (quirk 95)."""
    chunk = {**FIRST, "choices": [{"index": 0, **chosen}]}

    assert told == (translate(chunk)[1:] if first else said(chunk))


@pytest.mark.parametrize("text", ["[DONE]", " [DONE]", "[DONE]\n", "\n[DONE] ", "[DONE]{}"])
def test_done_ends_the_turn(text: str) -> None:
    """The end marker is known by its beginning, as the SDKs read it (quirk 46)."""
    assert [TurnEnded(of_transport=True)] == said(text)
    assert [TurnEnded(of_transport=True)] == translate(text)


# Errors.


@pytest.mark.parametrize(
    ("chunk", "error"),
    [
        ({"error": {"code": 502, "message": "down"}}, {"code": 502, "message": "down"}),
        ({"error": "down"}, "down"),
        ({"error": {"code": 502}, "choices": []}, {"code": 502}),
        ({"error": {"code": 502}, "choices": None}, {"code": 502}),
        ({"error": {"message": "x", "code": "c", "id": "1"}, "status_code": 500}, None),
        (
            {"error": {"code": 502}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]},
            {"code": 502},
        ),
        ({"error": {"code": 502}, "choices": [{"index": 0}]}, {"code": 502}),
        ({"choices": [], "x_groq": {"id": "q", "error": "down"}}, "down"),
        ({"x_groq": {"error": {"message": "down"}}}, {"message": "down"}),
        ({"error": {"code": "tool_use_failed", "failed_generation": "<f>"}}, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("first", [True, False])
def test_errors_inside_the_stream_are_fatal(chunk: dict[str, Any], error: object, first: bool) -> None:
    """OpenRouter, Groq, Cerebras: an error object is reported as it is (quirks 52 and 81)."""
    told = translate(chunk) if first else said(chunk)

    assert [("provider_error", error or chunk["error"], True, False)] == [
        (fault.kind, fault.error, fault.fatal, fault.hole) for fault in told if isinstance(fault, WireFault)
    ]
    assert 1 == len(told)


@pytest.mark.parametrize("nothing", [None, "", {}, [], 0, False])
def test_an_empty_error_is_none(nothing: object) -> None:
    """Decoration does not end a stream (quirk 52)."""
    assert [TextFragment(0, "x")] == said({**choice({"content": "x"}), "error": nothing})
    assert [TextFragment(0, "x")] == said({**choice({"content": "x"}), "x_groq": {"error": nothing}})
    assert [] == said({"choices": [], "error": nothing})


def test_an_error_beside_a_delta_that_goes_on_is_no_end() -> None:
    """A choice that says something and did not fail is believed (quirk 52)."""
    assert [TextFragment(0, "x")] == said({**choice({"content": "x"}), "error": {"message": "warning"}})


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ('{"message":"busy"}', {"message": "busy"}),
        ('{"error":{"message":"busy"}}', {"message": "busy"}),
        ("busy", "busy"),
        ('{"choices":[],"message":"busy"}', {"choices": [], "message": "busy"}),
    ],
)
def test_an_event_named_error_is_one(data: str, error: object) -> None:
    """The event's name suffices, whatever its data is (quirk 52)."""
    fault = WireFault("provider_error", "busy", error=error, fatal=True)

    assert [fault] == said(Frame("error", data))
    assert [fault] == translate(Frame("error", data))


# Text and reasoning.


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("delta", "told"),
    [
        ({"content": ""}, []),
        ({"content": None}, []),
        ({"content": 5}, []),
        ({"role": "", "content": "x"}, [TextFragment(0, "x")]),
        ({"reasoning": "a", "reasoning_content": "a"}, [ReasoningFragment(0, "a")]),
        ({"reasoning": "b", "reasoning_content": "a"}, [ReasoningFragment(0, "a")]),
        ({"reasoning": "b", "reasoning_content": ""}, [ReasoningFragment(0, "b")]),
        ({"reasoning": {"text": "b"}}, []),
        ({"refusal": "no"}, [TextRefused(0), TextFragment(0, "no")]),
        ({"refusal": None, "content": "x"}, [TextFragment(0, "x")]),
        ({"audio": {"id": "a", "data": "AA=="}, "functions_state_id": "s"}, []),
    ],
)
def test_text_and_reasoning_are_told_apart(delta: dict[str, Any], told: list[Delta], first: bool) -> None:
    """Of two reasoning fields the first that is not empty counts; a refusal is visible (quirks 85 and 95)."""
    chunk = {**FIRST, **choice(delta)}

    assert told == (translate(chunk)[1:] if first else said(chunk))


def test_content_may_be_a_list_of_parts() -> None:
    """Text parts are text, thinking parts reasoning, other parts nothing (quirk 95)."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}, {"type": "reference"}, 5]},
        {"type": "text", "text": "x"},
        {"type": "text", "text": ""},
        {"type": "image_url", "image_url": "u"},
        "loose",
        None,
    ]

    assert [ReasoningFragment(0, "hm"), TextFragment(0, "x")] == said(choice({"content": parts}))
    assert [] == said(choice({"content": []}))


@pytest.mark.parametrize("thinking", [None, "", {}, [], "hm", {"text": "hm"}, [5], 5, True])
def test_thinking_of_another_shape_harms_nothing(thinking: object) -> None:
    """Whatever a thinking part holds, the parts after it are read (quirk 95)."""
    parts = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "x"}]

    assert TextFragment(0, "x") == said(choice({"content": parts}))[-1]


def test_what_reasoning_wants_back_is_kept() -> None:
    """Encrypted reasoning and signatures are reported without text, which came already (quirk 96)."""
    details = [
        {"type": "reasoning.encrypted", "id": "c1", "data": "AAAA"},
        {"type": "reasoning.text", "text": "hm", "signature": "sig", "index": 0},
        {"type": "reasoning.summary", "summary": "s"},
        "loose",
    ]

    assert [
        ReasoningFragment(0, "hm"),
        ReasoningFragment(0, "", "detail/c1", "c1", None, "AAAA"),
        ReasoningFragment(0, "", "detail/None", None, "sig", None),
    ] == said(choice({"reasoning": "hm", "reasoning_details": details}))
    assert [] == said(choice({"reasoning_details": {"data": "AAAA"}}))


def test_a_message_brings_what_reasoning_wants_back() -> None:
    """Encrypted reasoning may come in the message only, after the deltas gave the text (quirks 40 and 96)."""
    details = [{"type": "reasoning.encrypted", "id": "c1", "data": "AAAA"}]
    told = said(choice({"reasoning": "hm"}), choice({}, message={"reasoning_details": details}))

    expected = ReasoningFragment(0, "", "detail/c1", "c1", None, "AAAA")
    assert [ReasoningFragment(0, "hm"), expected] == told


def test_a_refusal_beside_content_is_told_too() -> None:
    """Every field of a delta counts (quirk 41)."""
    texts = [
        delta.text
        for delta in said(choice({"content": "x", "refusal": "no"}))
        if isinstance(delta, TextFragment)
    ]

    assert {"x", "no"} == set(texts)


# Usage.


@pytest.mark.parametrize(
    ("chunk", "told"),
    [
        ({"choices": [], "usage": {"n": 1}}, [UsageSeen({"n": 1})]),
        ({"usage": {"n": 1}}, [UsageSeen({"n": 1})]),
        ({"choices": [{"index": 0, "usage": {"n": 2}}]}, [UsageSeen({"n": 2})]),
        ({"choices": [], "x_groq": {"usage": {"n": 3}}}, [UsageSeen({"n": 3})]),
        (
            {"choices": [{"usage": {"n": 2}}], "usage": {"n": 1}, "x_groq": {"usage": {"n": 3}}},
            [UsageSeen({"n": 1}), UsageSeen({"n": 3}), UsageSeen({"n": 2})],
        ),
        ({"choices": [], "usage": None}, []),
        ({"choices": [], "usage": {}}, []),
        ({"choices": [], "usage": 5}, []),
        ({"choices": [], "x_groq": {"id": "q"}}, []),
        ({"choices": [], "x_groq": "q"}, []),
    ],
    ids=str,
)
def test_token_counts_stand_in_odd_places(chunk: dict[str, Any], told: list[Delta]) -> None:
    """Top level, choice or x_groq: every count that is not empty is reported (quirk 88)."""
    assert told == said(chunk)


# Oracle.


def test_oracles_generic_form_is_a_choice() -> None:
    """A message without choices, with calls in camel case and no index."""
    text = {"index": 0, "message": {"role": "ASSISTANT", "content": [{"type": "TEXT", "text": "x"}]}}
    head = {"index": 0, "message": {"toolCalls": [{"type": "FUNCTION", "id": "c1", "name": "f"}]}}
    tail = {"index": 0, "message": {"toolCalls": [{"type": "FUNCTION", "id": "c1", "arguments": "{}"}]}}

    assert [
        TurnOpened(None),
        TextFragment(0, "x"),
        Labelled(0, None, "c1", "f", ""),
        Labelled(0, None, "c1", None, "{}"),
        Finish(0, "tool_calls", "tool_calls"),
    ] == translate(text, head, tail, {"index": 0, "finishReason": "tool_calls"})


def test_oracles_cohere_form_is_flat() -> None:
    """Text and whole calls at the top; the last frame restates both with a history, and is not read twice: its names
    identify it.
    """
    entries = [{"name": "f", "parameters": {"a": 1}}, {"name": "g", "parameters": {}}]
    flat = {"apiFormat": "COHERE", "text": "x", "toolCalls": entries}
    last = {**flat, "finishReason": "COMPLETE", "chatHistory": [{"role": "USER", "message": "hi"}]}

    assert [
        TurnOpened(None),
        TextFragment(0, "x"),
        Labelled(0, None, None, "f", '{"a": 1}', rank=OBJECT),
        Labelled(0, None, None, "g", "{}", rank=OBJECT),
        Finish(0, "stop", "COMPLETE"),
        CallUnread(names=frozenset({"g"})),
        CallUnread(names=frozenset({"f"})),
    ] == translate(flat, last)
    assert [] == said({"apiFormat": "COHERE"})


# Responses events inside a chat stream.


def test_responses_events_are_translated_as_such() -> None:
    """A relay may mix both dialects; calls of either are slots or labels of the same turn (quirk 89)."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": ""}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    delta = {
        "type": "response.function_call_arguments.delta",
        "output_index": 0,
        "item_id": "fc_1",
        "delta": "{}",
    }

    assert [
        CallSeen(0, 0, "fc_1", "c1", "f", extra={"item_id": "fc_1"}, begins=True),
        Slot(0, 0, "fc_1", "{}"),
        TextFragment(0, "x"),
    ] == said(added, delta, choice({"content": "x"}))


def test_choices_outrank_the_type() -> None:
    """A chunk with choices is a chunk, whatever its `type` says."""
    chunk = {"type": "response.delta", **choice({"content": "x"})}

    assert [TextFragment(0, "x")] == said(chunk)
    assert [TurnOpened(None), TextFragment(0, "x")] == translate(chunk)
    assert [] == said({"type": "chunk"}, {"type": 5})


# Odd frames.


def test_joined_lines_are_read_one_by_one() -> None:
    """Two chunks in one event are two chunks, and a pretty-printed one is one (quirk 55)."""
    first, second = json.dumps(choice({"content": "x"})), json.dumps(calls(piece("{}", id="c1", name="f")))

    assert [TextFragment(0, "x"), Labelled(0, 0, "c1", "f", "{}")] == said(f"{first}\n{second}")
    assert [TextFragment(0, "x")] == said(json.dumps(choice({"content": "x"}), indent=1))


def test_joined_lines_keep_what_rides_along() -> None:
    """Fields of the provider survive in each of the joined chunks (quirks 55 and 96)."""
    chunk = json.dumps(calls({**CALL, "index": 0, "extra_content": {"x": 1}}))

    assert [{"extra_content": {"x": 1}}] * 2 == [getattr(d, "extra", None) for d in said(f"{chunk}\n{chunk}")]


def test_joined_responses_events_are_told_once() -> None:
    """Each event of a joined frame is translated once: text is never doubled (quirks 55 and 89)."""
    events = [
        {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc", "delta": text}
        for text in ("1", "2")
    ]

    assert [Slot(0, 0, "fc", "1"), Slot(0, 0, "fc", "2")] == said("\n".join(map(json.dumps, events)))


def test_a_surrogate_pair_may_be_split_over_deltas() -> None:
    """A delta that ends in half a character is reported as it is, so that the halves meet again (quirk 35)."""
    deltas = said(calls(piece('{"a":"\ud83d')), calls(piece('\ude00"}')))

    assert [
        Labelled(0, 0, None, None, '{"a":"\ud83d'),
        Labelled(0, 0, None, None, '\ude00"}'),
    ] == deltas
    assert [{"a": "\U0001f600"}] == [
        call.arguments
        for call in answer(
            calls(piece("", id="c1", name="f")), calls(piece('{"a":"\ud83d')), calls(piece('\ude00"}'))
        )
    ]


@pytest.mark.parametrize("odd", ['"\\ud83d"', "NaN", '"a\tb"'], ids=["surrogate", "nan", "control"])
def test_what_rides_along_survives_an_oddity(odd: str) -> None:
    """A frame that only the tolerant decoder reads keeps the fields of the provider (quirks 35 and 96)."""
    chunk = json.dumps(calls({**CALL, "index": 0, "extra_content": {"x": 1}}))[:-1] + f', "seed": {odd}}}'

    assert [Labelled(0, 0, "c1", "f", '{"a":1}', extra={"extra_content": {"x": 1}})] == said(chunk)


@pytest.mark.parametrize("data", ["broken{", '{"choices":[{"delta":{"tool_calls":[{"ind', "[]", '"x"', "12"])
def test_an_undecodable_frame_is_a_hole(data: str) -> None:
    """An unreadable frame may have carried argument text (quirk 31)."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw=data, hole=True)

    assert [fault] == said(data)
    assert [fault] == translate(data)


def test_a_frame_nested_too_deeply_is_a_hole() -> None:
    """No depth raises (quirk 101)."""
    data = '{"choices":' + "[" * 100_000

    assert [("nesting_too_deep", True)] == [
        (fault.kind, fault.hole) for fault in said(data) if isinstance(fault, WireFault)
    ]


@pytest.mark.parametrize(
    "payload",
    [
        *("", " ", "{}", "null", "ping", {"type": "ping"}, Frame("ping", "anything"), {"created": 1}),
        *({"choices": []}, {"choices": "x"}, {"choices": [5]}, {"choices": {}}),
        *(choice(5), choice("x"), choice([]), choice({}, message="x")),
    ],
    ids=str,
)
def test_frames_that_hold_nothing_say_nothing(payload: Payload) -> None:
    """Keep-alives and containers of another shape are skipped (quirks 39, 53, 54 and 95)."""
    assert [] == said(payload)


def test_the_end_of_the_stream_says_nothing() -> None:
    """The assembler decides whether a turn was over (quirk 51)."""
    assert [] == ChatTranslator().close()
