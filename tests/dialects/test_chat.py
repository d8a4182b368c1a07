"""Chat completions: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.parts import without_parts
from tests.support.together import together
from tests.support.told import in_pieces
from wholecall import ToolCall, ToolCallParser
from wholecall.deltas import (
    INVALID_INDEX,
    Delta,
    Finish,
    Fragment,
    Labelled,
    ReasoningFragment,
    TextFragment,
    TextRefused,
    TurnOpened,
    WireFault,
)
from wholecall.dialects.labels import index_label
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.framing.frame import Frame

FIRST = {"id": "r1", "model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
OPENED = TurnOpened(None, "r1", "m")
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


def answer(*payloads: Payload) -> list[ToolCall]:
    """Return the calls that a whole stream emits, ended by its reason."""
    parser = ToolCallParser("chat-completions")
    for payload in (FIRST, *payloads, choice({}, finish_reason="tool_calls")):
        parser.feed(b"".join(b"data: " + line.encode() + b"\n" for line in framed(payload).data.split("\n")))
        parser.feed(b"\n")
    parser.close()
    return list(parser.turn.calls)


# The common stream.


def test_watsonx_names_its_events() -> None:
    """An event named `message` with an id of the stream is like any other."""
    chunk = {"id": "w", "model_id": "granite", "created_at": "t", **calls(piece("{}", id="c1", name="f"))}
    frame = Frame("message", json.dumps(chunk), id="3")

    assert [TurnOpened(None, "w", "granite"), Labelled(0, 0, "c1", "f", "{}")] == translate(frame)


# Labels.


@together(
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


# Arguments.


# Other kinds of calls.


# Messages.


def test_a_message_repeats_no_text_of_any_choice() -> None:
    """Text that a choice sent in deltas is not repeated by its message, also if it spoke amidst another's text."""
    spoken = [
        choice({"content": text}, index=index) for index, text in [(0, "a"), (0, "b"), (0, "c"), (1, "d")]
    ]
    translator = ChatTranslator()
    translator.translate_all([framed(chunk) for chunk in spoken])

    assert [] == translator.translate(framed(choice({}, index=1, message={"content": "d"})))


@together(
    "spoken",
    [
        pytest.param({"content": "x"}, id="content"),
        pytest.param({"content": [{"type": "text", "text": "x"}]}, id="parts"),
        pytest.param({"reasoning_content": "x"}, id="reasoning_content"),
        pytest.param({"reasoning": "x"}, id="reasoning"),
        pytest.param({"refusal": "x"}, id="refusal"),
    ],
)
@together("beside", [True, False], ids=["beside", "later"])
def test_a_message_never_speaks_twice(spoken: dict[str, Any], beside: bool) -> None:
    """The message only repeats the deltas, in the same chunk or later (quirk 40)."""
    chunks = [choice(spoken, message=spoken)] if beside else [choice(spoken), choice({}, message=spoken)]

    assert said(choice(spoken)) == said(*chunks)


# Reasons.


@together("first", [True, False])
@together(
    ("raw", "told"),
    [
        ("stop", [Finish(0, "stop", "stop")]),
        ("STOP", [Finish(0, "stop", "STOP")]),
        ("eos", [Finish(0, "stop", "eos")]),
        ("length", [Finish(0, "length", "length")]),
        ("model_length", [Finish(0, "length", "model_length")]),
        ("content_filter", [Finish(0, "content_filter", "content_filter")]),
        ("sensitive", [Finish(0, "content_filter", "sensitive")]),
        ("eaten", [Finish(0, "unknown", "eaten")]),
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


# Errors.


@together(
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
@together("first", [True, False])
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


# Text and reasoning.


@together("first", [True, False])
@together(
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


# Usage.


# Oracle.


# Responses events inside a chat stream.


# Odd frames.


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


def test_a_frame_nested_too_deeply_is_a_hole() -> None:
    """No depth raises (quirk 101)."""
    data = '{"choices":' + "[" * 100_000

    assert [("nesting_too_deep", True)] == [
        (fault.kind, fault.hole) for fault in said(data) if isinstance(fault, WireFault)
    ]


def test_the_end_of_the_stream_says_nothing() -> None:
    """The assembler decides whether a turn was over (quirk 51)."""
    assert [] == ChatTranslator().close()
