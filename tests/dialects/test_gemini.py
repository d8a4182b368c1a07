"""Gemini: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from wholecall.deltas import (
    DONE,
    BlockKept,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.decode import is_blank
from wholecall.dialects.google.gemini.translator import GeminiTranslator
from wholecall.framing.frame import Frame
from wholecall.types import DropReason, Kind

OPENED = TurnOpened("r1", "r1", "g", restart=True)
UNKNOWN = Noted(0, "unknown_events")
STOP = Finish(0, "stop", "STOP")
CUT = "the answer ended before this call did"


def translate(*payloads: dict[str, Any] | str | Frame) -> list[Delta]:
    """Translate the payloads of one stream, to its end."""
    translator = GeminiTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = (
            payload if isinstance(payload, str) else json.dumps(payload) if isinstance(payload, dict) else ""
        )
        deltas += translator.translate(payload if isinstance(payload, Frame) else Frame("message", data))
    return deltas + translator.close()


def said(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the payloads; the turn's beginning is left out."""
    (opened, *deltas) = translate(*payloads)
    assert isinstance(opened, TurnOpened)
    return deltas


def response(*parts: dict[str, Any], reason: str | None = None, **candidate: Any) -> dict[str, Any]:
    """Build a frame with one candidate that holds the parts."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, **candidate}
    candidate |= {"finishReason": reason} if reason else {}
    return {"candidates": [candidate], "modelVersion": "g", "responseId": "r1"}


def call(name: str | None = None, **members: Any) -> dict[str, Any]:
    """Build a part with a function call."""
    return {"functionCall": {**({} if name is None else {"name": name}), **members}}


def pieces(*found: dict[str, Any], name: str | None = None, more: bool | None = True) -> dict[str, Any]:
    """Build a part with values at paths."""
    return call(name, partialArgs=list(found), **({} if more is None else {"willContinue": more}))


def value(path: str, text: str, *, more: bool = False) -> dict[str, Any]:
    """Build a string at a path."""
    return {"jsonPath": path, "stringValue": text} | ({"willContinue": True} if more else {})


def whole(
    slot: int,
    name: str | None,
    text: str,
    *,
    id_: str | None = None,
    kind: Kind = "function",
    extra: dict[str, Any] | None = None,
    choice: int = 0,
) -> list[Delta]:
    """Return the events for a part with a whole call."""
    return [
        CallWhole(
            choice,
            slot,
            None,
            id_,
            name,
            text,
            DONE,
            kind,
            extra=extra,
            closes=not is_blank(text),
            begins=True,
        )
    ]


def over(slot: int) -> CallClosed:
    """Return that a call without arguments has ended."""
    return CallClosed(0, slot, None)


def seen(slot: int = 1, name: str | None = "f", id_: str | None = None) -> CallSeen:
    """Return the beginning of a call that comes in pieces."""
    return CallSeen(0, slot, None, id_, name)


def built(text: str, slot: int = 1) -> list[Delta]:
    """Return the end of a call that came in pieces."""
    return [Slot(0, slot, None, text), CallClosed(0, slot, None)]


def refused(reason: DropReason, detail: str, text: str, slot: int = 1) -> CallRefused:
    """Return the end of a call that is not whole."""
    return CallRefused(0, slot, None, reason, detail, text)


# Whole calls.


def test_a_part_is_a_call() -> None:
    """Calls come whole, several in a frame or one a frame; equal ones are two calls (quirk 66)."""
    deltas = translate(
        response({"text": "Let me look."}, index=0),
        response(call("f", args={"a": 1}), call("f", args={"a": 2}, id="c7")),
        response(call("f", args={"a": 1}), reason="STOP"),
        {"usageMetadata": {"totalTokenCount": 9}, "responseId": "r1"},
    )

    assert [
        OPENED,
        TextFragment(0, "Let me look."),
        *whole(1, "f", '{"a": 1}'),
        *whole(2, "f", '{"a": 2}', id_="c7"),
        *whole(3, "f", '{"a": 1}'),
        STOP,
        UsageSeen({"totalTokenCount": 9}),
    ] == deltas


def test_arguments_keep_the_text_of_the_wire() -> None:
    """The object's own text continues, with its spaces, number spellings and duplicate keys."""
    text = '{ "n": 1.0, "n": 1e2 }'
    frame = '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":' + text + "}}]}}]}"

    assert whole(1, "f", text) == said(frame)


@pytest.mark.parametrize("part", [call("f"), call("f", args=None)])
def test_a_call_without_arguments_waits(part: dict[str, Any]) -> None:
    """It is over when the reason comes, with the next call, or with the stream; not if a cut may have lost its arguments."""
    (told,) = whole(1, "f", "")

    assert [told, over(1), STOP] == said(response(part, reason="STOP"))
    assert [told, over(1)] == said(response(part))
    assert [told, Finish(0, "length", "MAX_TOKENS")] == said(response(part, reason="MAX_TOKENS"))
    second = CallWhole(0, 2, None, None, "f", '{"a": 1}', DONE, begins=True)
    assert [told, second, over(1), over(2)] == said(response(part), response(call("f", args={"a": 1})))


def test_an_empty_object_waits_too() -> None:
    """An empty object is text, but no proof that nothing was lost."""
    cut = Finish(0, "length", "MAX_TOKENS")

    assert [*whole(1, "f", "{}"), *whole(2, "g", "{}"), over(1), cut] == said(
        response(call("f", args={}), call("g", args={}), reason="MAX_TOKENS")
    )


def test_a_lost_frame_ends_no_call_without_arguments() -> None:
    """A frame that cannot be read shows that the stream is damaged, so its end says nothing."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [*whole(1, "f", ""), fault] == said(response(call("f")), "{")


def test_a_part_that_is_told_again_is_one_call() -> None:
    """Under its id a part says nothing new: frames that come twice, that list all calls so far, or all at the end."""
    first, second = call("f", args={"a": 1}, id="c1"), call("g", args={"a": 1}, id="c2")
    told = [*whole(1, "f", '{"a": 1}', id_="c1"), *whole(2, "g", '{"a": 1}', id_="c2")]

    assert told == said(response(first), response(first), response(second), response(second))
    assert told == said(response(first), response(first, second))
    assert told == said(response(first), response(second), response(first, second))


def test_an_id_that_says_nothing_hides_no_call() -> None:
    """Parts of one frame are separate calls, and so are parts with another name or other arguments."""
    first, second = call("f", args={"a": 1}, id="c"), call("f", args={"a": 2}, id="c")
    told = [whole(n, "f", text, id_="c") for n, text in ((1, '{"a": 1}'), (2, '{"a": 1}'), (3, '{"a": 2}'))]

    assert [*told[0], *told[1]] == said(response(first, first))
    assert [*told[0], *told[1], *told[2]] == said(response(first), response(first, first), response(second))


def test_a_part_may_grow() -> None:
    """An empty object is filled by the next frame that has arguments under the same id."""
    empty, filled = call("f", args={}, id="c"), call("f", args={"a": 1}, id="c")

    assert [*whole(1, "f", "{}", id_="c"), *whole(1, "f", '{"a": 1}', id_="c")] == said(
        response(empty), response(filled)
    )


def test_signatures_stay_with_their_parts() -> None:
    """A signature goes to its call, to its thought, or for visible text to a separate block (quirk 96)."""
    signed = {"thoughtSignature": "c2ln"}
    deltas = said(
        response({"text": "hm", "thought": True}, {"text": "", "thought": True, **signed}),
        response({**call("f", args={"a": 1}), **signed, "partMetadata": {"k": 1}}),
        response({"text": "Hi", **signed}, {"text": "", **signed}),
    )

    assert [
        ReasoningFragment(0, "hm"),
        ReasoningFragment(0, "", signature="c2ln"),
        *whole(1, "f", '{"a": 1}', extra={**signed, "partMetadata": {"k": 1}}),
        TextFragment(0, "Hi"),
        ReasoningFragment(0, "", "text", signature="c2ln"),
        ReasoningFragment(0, "", "text", signature="c2ln"),
    ] == deltas


# Code and its result, a tool and its response, code that says nothing, a picture.
PARTS: list[dict[str, Any]] = [
    {"executableCode": {"language": "PYTHON", "code": "print(1)\n", "id": "e1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
    {
        "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}, "id": "s1"},
        "thoughtSignature": "c2ln",
    },
    {"toolResponse": {"id": "s1"}},
    {"executableCode": {}},
    {"inlineData": {"mimeType": "image/png", "data": ""}},
]


def test_the_provider_executes_some_calls() -> None:
    """Code and tools of the provider are server calls; their results say nothing of calls; all go back as they came."""
    deltas = said(
        response(PARTS[0]),
        response(PARTS[1]),
        response(*PARTS[2:4]),
        response(*PARTS[4:]),
    )
    code, extra = '{"input":"print(1)\\n"}', {"language": "PYTHON"}

    assert [
        *whole(1, "code_execution", code, id_="e1", kind="server", extra=extra),
        *(BlockKept(0, part) for part in PARTS[:2]),
        *whole(
            2,
            "GOOGLE_SEARCH_WEB",
            '{"queries": ["x"]}',
            id_="s1",
            kind="server",
            extra={"thoughtSignature": "c2ln"},
        ),
        *(BlockKept(0, part) for part in PARTS[2:4]),
        *whole(3, "code_execution", "", kind="server"),
        *(BlockKept(0, part) for part in PARTS[4:]),
        over(3),
    ] == deltas


def test_the_spelling_of_the_sdk() -> None:
    """The Python SDK writes snake_case, and null for absent members."""
    part = {"text": None, "function_call": {"id": None, "name": "f", "args": {"a": 1}, "partial_args": None}}
    kept = [{"executable_code": {"code": "1"}}, {"tool_call": {"tool_type": "t", "args": {"a": 1}}}]
    deltas = translate(
        {
            "candidates": [
                {
                    "content": {
                        "parts": [{**part, "thought_signature": "c2ln", "code_execution_result": None}]
                    },
                    "finish_reason": "MALFORMED_FUNCTION_CALL",
                    "finish_message": "x(",
                }
            ],
            "model_version": "g",
            "response_id": "r1",
            "usage_metadata": {"total_token_count": 1},
            "prompt_feedback": {"block_reason": "OTHER"},
        },
        response(*kept),
    )

    assert [
        OPENED,
        *whole(1, "f", '{"a": 1}', extra={"thoughtSignature": "c2ln"}),
        refused("unparseable", "the provider could not read the call that the model wrote", "x(", 2),
        Finish(0, "malformed", "MALFORMED_FUNCTION_CALL"),
        Finish(0, "content_filter", "OTHER"),
        UsageSeen({"total_token_count": 1}),
        *whole(3, "code_execution", '{"input":"1"}', kind="server"),
        BlockKept(0, kept[0]),
        *whole(4, "t", '{"a": 1}', kind="server"),
        BlockKept(0, kept[1]),
    ] == deltas


def test_the_wrapped_form() -> None:
    """Some servers put each frame one level down, errors too."""
    fault = WireFault("provider_error", "no", error={"message": "no"}, fatal=True)

    assert [OPENED, *whole(1, "f", '{"a": 1}')] == translate({"response": response(call("f", args={"a": 1}))})
    assert [fault] == translate({"response": {"error": {"message": "no"}}})


def test_candidates_are_choices() -> None:
    """Each candidate has its own number, without one it is the first; they are reported in order."""
    first, second = response(call("f", args={"a": 1})), response(call("f", args={"a": 1}), index=1)
    frame = {**first, "candidates": [*second["candidates"], *first["candidates"]]}

    assert [*whole(1, "f", '{"a": 1}'), *whole(2, "f", '{"a": 1}', choice=1)] == said(frame)


# Reasons, errors, odd frames.


def test_a_malformed_call_is_told_once() -> None:
    """The provider could not read a call: its text is kept, whatever else is absent (quirk 68)."""
    reason = "MALFORMED_FUNCTION_CALL"
    finish = Finish(0, "malformed", reason)
    detail = "the provider could not read the call that the model wrote"
    text = "Malformed function call: print(default_api.f(a=1))"
    frame = {"candidates": [{"content": {}, "finishReason": reason, "finishMessage": text}]}

    assert [refused("unparseable", detail, text), finish, finish] == said(frame, frame)
    bare = {"candidates": [{"finishReason": reason}]}
    told = [refused("unparseable", detail, ""), finish]
    assert [*told, TurnEnded(of_transport=True), TurnOpened(None, restart=True), *told] == said(
        bare, "[DONE]", bare
    )


@pytest.mark.parametrize(
    ("feedback", "deltas"),
    [
        ({"blockReason": "PROHIBITED_CONTENT"}, [Finish(0, "content_filter", "PROHIBITED_CONTENT")]),
        ({"safetyRatings": []}, []),
        ({"blockReason": None}, []),
    ],
)
def test_a_blocked_prompt_ends_the_turn(feedback: dict[str, Any], deltas: list[Delta]) -> None:
    """Without candidates the block reason ended the turn; feedback alone is not a reason."""
    assert deltas == said({"promptFeedback": feedback})


def test_an_error_is_fatal() -> None:
    """Errors come bare, and pretty-printed, among the frames (quirk 52)."""
    error = {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}
    fault = WireFault("provider_error", "503: overloaded", error=error, fatal=True)

    assert [fault] == translate(json.dumps({"error": error}, indent=2))


def test_a_done_mark_ends_the_turn() -> None:
    """Proxies add it; the following frames begin another turn."""
    ended = TurnEnded("r1", of_transport=True)
    assert [OPENED, TextFragment(0, "x"), ended, OPENED, TextFragment(0, "x")] == translate(
        response({"text": "x"}), "[DONE]", response({"text": "x"})
    )


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Keep-alives say nothing, unknown things are counted, an unreadable frame is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", "null", {"type": "ping"})
    assert [fault] == translate("{")
    assert [UNKNOWN] == said({"responseId": "r1"}, {"sdkHttpResponse": {}}, "null")
    assert [UNKNOWN, BlockKept(0, {"future": {}})] == said(response({"future": {}}))
    assert [TextFragment(1, "\ud83d")] == said(
        '{"candidates":[{"index":1,"content":{"parts":[{"text":"\\ud83d"},{"text":7}]}}]}'
    )
    assert [UNKNOWN, TextFragment(0, "x")] == said(response({"functionCall": "f"}, {"text": "x"}))
    assert [] == said({"candidates": [{"content": []}, {"content": {"parts": None}}, None]})


def test_a_nameless_call_keeps_its_text() -> None:
    """Arguments without a name are a call without a name; an empty part is not a call."""
    assert whole(1, None, '{"a": 1}') == said(response(call(args={"a": 1})))
    assert [] == said(response(call(), call(willContinue=True), call(id="c1")))


# Calls in pieces (quirk 67).


def test_pieces_build_a_call() -> None:
    """Start, values, heartbeat and end are one call; its text comes at the end."""
    deltas = translate(
        response({**call("f", willContinue=True, id="c1"), "thoughtSignature": "c2ln"}),
        response(pieces(value("$.city", "Br", more=True))),
        response(call(willContinue=True)),
        response(pieces(value("$.city", "est", more=True))),
        response(pieces(value("$.city", ""), {"jsonPath": "$.legs[0].km", "numberValue": 12})),
        response(call()),
        response(call()),
        response({"text": ""}, reason="STOP"),
    )
    begun = CallSeen(0, 1, None, "c1", "f", extra={"thoughtSignature": "c2ln"})

    assert [OPENED, begun, *built('{"city":"Brest","legs":[{"km":12}]}'), STOP] == deltas


@pytest.mark.parametrize(
    "end",
    [
        [response(call())],
        [response(call(willContinue=False))],
        [response({"text": ""}, reason="STOP")],
        [response(pieces(value("$.b", "y"), more=None))],
        [response(pieces(value("$.b", "y"), name="f", more=None))],
    ],
)
def test_what_ends_a_call_in_pieces(end: list[dict[str, Any]]) -> None:
    """An empty part, a last piece, and STOP end it; no other call's text goes in."""
    deltas = said(response(call("f", willContinue=True)), response(pieces(value("$.a", "x"))), *end)
    text = '{"a":"x","b":"y"}' if "$.b" in json.dumps(end) else '{"a":"x"}'

    assert [seen(), *built(text)] == [delta for delta in deltas if delta != STOP]


def test_another_named_call_displaces_it() -> None:
    """A name opens a call, except with pieces under the same name; STOP ends both where no piece ended any."""
    first, stop = response(pieces(value("$.a", "x"), name="f")), response(reason="STOP")
    unended = refused("unterminated", "the answer ended before this call did", '{"a":"x"')

    assert [seen(), seen(2, "g"), STOP, *built('{"a":"x"}'), *built('{"a":"y"}', 2)] == said(
        first, response(pieces(value("$.a", "y"), name="g")), stop
    )
    second = response(pieces(value("$.a", "y"), name="g"))
    assert [seen(), seen(2, "g"), *built('{"a":"x"}'), *built('{"a":"y"}', 2), STOP] == said(
        first, second, response(call()), response(call()), stop
    )
    assert [seen(), seen(2, "g"), STOP, unended, replace(unended, index=2, text='{"a":"y"')] == said(
        first, second, response(call()), stop
    )
    assert [seen(), *whole(2, "f", '{"a": 1}'), STOP, *built('{"a":"x"}')] == said(
        first, response(call("f", args={"a": 1})), stop
    )
    assert [seen(), *whole(2, "f", '{"a": 1}'), unended] == said(first, response(call("f", args={"a": 1})))
    assert [seen(), *built('{"a":"x","b":"y"}')] == said(
        first, response(pieces(value("$.b", "y"), name="f", more=None))
    )


def test_a_call_in_pieces_without_pieces_is_empty() -> None:
    """No argument came and the wire ended the call: there is no text, and the end is final."""
    assert [seen(), CallClosed(0, 1, None)] == said(response(call("f", willContinue=True)), response(call()))


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY", "OTHER", "MALFORMED_RESPONSE", "CONTINUATION"])
def test_another_reason_cuts_it(reason: str) -> None:
    """Built arguments look whole, so any reason but STOP drops the call; the last brace is missing."""
    deltas = said(response(pieces(value("$.a", "x"), name="f")), response(reason=reason))

    assert [seen(), refused("truncated", CUT, '{"a":"x"')] == deltas[:2]


@pytest.mark.parametrize("end", [response(call()), response(reason="STOP")])
def test_an_open_value_cuts_it(end: dict[str, Any]) -> None:
    """A value that was to continue makes the call truncated, however the call ends."""
    deltas = said(response(pieces(value("$.a", "x", more=True), name="f")), end)
    detail = "the call ended inside a value that was to go on"

    assert [seen(), refused("truncated", detail, '{"a":"x"')] == [delta for delta in deltas if delta != STOP][
        :2
    ]


def test_a_reason_in_every_frame_ends_nothing() -> None:
    """STOP ends a call of which nothing follows; the one next to a first part ends none without pieces."""
    start, piece = call("f", willContinue=True), pieces(value("$.a", "x"))
    told = said(
        response(start, reason="STOP"), response(piece, reason="STOP"), response(call(), reason="STOP")
    )

    assert [seen(), STOP, STOP, *built('{"a":"x"}'), STOP] == told
    assert refused("unterminated", CUT, "") == said(response(start, reason="STOP"))[-1]
    assert CallClosed(0, 1, None) == said(response(start), response(reason="STOP"))[-1]
    assert built('{"a":"x"}') == said(response(pieces(value("$.a", "x"), name="f"), reason="STOP"))[-2:]


@pytest.mark.parametrize("end", [(), ("[DONE]",)])
def test_the_end_of_the_stream_does_not_end_it(end: tuple[str, ...]) -> None:
    """Only the wire's own end of the call, or its reason, says that nothing is missing."""
    deltas = said(response(pieces(value("$.a", "x"), name="f")), *end)

    assert [seen(), refused("unterminated", CUT, '{"a":"x"')] == deltas[:2]


def test_open_calls_of_all_candidates_end() -> None:
    """They end in the order of their candidates."""
    frames = [response(pieces(value("$.a", "x"), name="f"), index=index) for index in (1, 0)]
    ends = [delta for delta in said(*frames) if isinstance(delta, CallRefused)]

    assert [(0, 2, "unterminated"), (1, 1, "unterminated")] == [
        (end.choice, end.index, end.reason) for end in ends
    ]


def test_calls_that_are_built_at_once_are_bounded() -> None:
    """Beyond 128 candidates nothing is built; each of their calls ends for itself."""
    begun = [response(pieces(value("$.a", "x"), name="f"), index=index) for index in range(129)]
    *rest, last = (delta for delta in said(*begun) if isinstance(delta, CallRefused))
    detail = "more than 128 calls are streamed at once"

    assert [("unterminated", '{"a":"x"')] * 128 == [(end.reason, end.text) for end in rest]
    assert CallRefused(128, 129, None, "too_many_calls", detail, "") == last


def test_an_error_shows_what_was_built() -> None:
    """The raw text of a call that an error drops is not lost."""
    deltas = said(response(pieces(value("$.a", "x"), name="f")), {"error": {"message": "no"}})

    assert [seen(), Slot(0, 1, None, '{"a":"x"')] == deltas[:2]
    assert isinstance(deltas[2], WireFault)


@pytest.mark.parametrize(
    ("part", "detail"),
    [
        (call(id="c2"), "a piece of the arguments names another call"),
        (call(args={"b": 1}), "an object came beside the pieces of the arguments"),
        (call(partialArgs="$.b"), "pieces of the arguments could not be read"),
        (call(partialArgs="[{}]"), "pieces of the arguments could not be read"),
        (call(partialArgs={"jsonPath": "$.b"}), "a piece of the arguments has no place or no value"),
        (call(partialArgs=[], partial_args=7), "pieces of the arguments could not be read"),
        (pieces({"jsonPath": "$.b"}, more=None), "a piece of the arguments has no place or no value"),
    ],
)
def test_what_has_no_place_is_a_hole(part: dict[str, Any], detail: str) -> None:
    """Argument text that belongs nowhere makes the call incomplete, never shorter."""
    start = pieces(value("$.a", "x"), name="f")
    start["functionCall"]["id"] = "c1"
    deltas = said(response(start), response(part, reason="STOP"))

    assert [seen(1, "f", "c1"), refused("incomplete_input", detail, '{"a":"x"'), STOP] == deltas


def test_a_frame_of_another_shape_may_have_held_a_piece() -> None:
    """A member of a wrong type is read over, but an open call does not outlive it."""
    deltas = said(
        response(pieces(value("$.a", "x"), name="f")),
        {"candidates": [{"content": {"parts": pieces(value("$.b", "y"))}}]},
        response(call()),
    )
    detail = "a frame that may hold a piece could not be read"

    assert [seen(), refused("incomplete_input", detail, '{"a":"x"')] == deltas


def test_halves_of_a_character_meet() -> None:
    """A surrogate pair that was cut over two pieces is one character again (quirk 35)."""
    first, second = (json.dumps(response(pieces(value("$.a", "X", more=more)))) for more in (True, False))
    deltas = said(
        response(call("f", willContinue=True)),
        first.replace("X", "\\ud83c"),
        second.replace("X", "\\udf0a"),
        response(call()),
    )

    assert [seen(), *built('{"a":"🌊"}')] == deltas


def test_replaced_bytes_spoil_a_piece() -> None:
    """Bytes that are not UTF-8 were replaced inside a value: the original is unknown."""
    frame = Frame("message", json.dumps(response(pieces(value("$.a", "\ufffd")))), replaced=True)
    opened, *deltas = translate(response(call("f", willContinue=True)), frame, response(call()))
    detail = "the argument text held bytes that are not UTF-8"

    assert OPENED == opened
    assert [seen(), refused("invalid_utf8", detail, "")] == deltas


def test_a_late_id_is_learnt() -> None:
    """The id may come with any piece."""
    deltas = said(
        response(pieces(value("$.a", "x"), name="f")),
        response(call(id="c1", willContinue=True)),
        response(call()),
    )

    assert [seen(), seen(1, None, "c1"), *built('{"a":"x"}')] == deltas


def test_pieces_without_a_start_have_no_name() -> None:
    """Pieces of a call whose start was lost are a call without a name, with their text."""
    assert [seen(1, None), *built('{"a":"x"}')] == said(response(pieces(value("$.a", "x"), more=None)))
