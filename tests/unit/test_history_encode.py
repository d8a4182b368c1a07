"""Arguments as formats take them back: byte for byte where that is right, wrapped where it is not."""

from __future__ import annotations

import copy
import json
from itertools import product
from typing import Any, get_args

import pytest

from tests.support.events import builtin, call, custom, drop, server
from tests.support.together import together
from wholecall import ToolCallParser, parse_arguments
from wholecall.calls.output.call_events import ArgumentsDelta, ToolCall
from wholecall.history import HISTORY_FORMATS, HistoryFormat, encode_arguments
from wholecall.types import DropReason

CUT = '{"path": "/foo'
STRINGS = ("chat-completions", "responses", "cohere-v2", "mistral", "mistral-conversations", "kimi")
STRICT = ("minimax", "stepfun", HistoryFormat("a template", "string", strict_json_arguments=True))
OBJECTS = ("anthropic", "gemini", "bedrock-converse", "ollama")

strings = together("format", STRINGS)
stricts = together("format", STRICT)
objects = together("format", OBJECTS)

SPELLINGS = (
    '{"path":"/x"}',
    '{ "a" : 1.0, "b":1e2 }',
    ' {"a":1}\n',
    r'{"a":"\u2192 \/ →"}',
    '{"n":123456789012345678901234567890,"m":-0.10}',
    '{"a":1,"a":1}',
)
MALFORMED = (CUT, "[1]", '"x"', "3", '{"a":1}{"b":2}', '{"s":"\\ud83d"}', '{"a":1,"a":2}', "nothing", "{'a':")


# Exact text.


@strings
@together("raw", SPELLINGS)
def test_exact_text_goes_back_byte_for_byte(format: str, raw: str) -> None:
    """Where text is carried, exact text goes back unchanged: spaces, escapes and spellings of numbers."""
    assert raw == encode_arguments(call(raw), format)
    assert raw == encode_arguments(raw, format)


@stricts
@together("raw", SPELLINGS)
def test_exact_text_is_good_enough_for_strict_formats(format: Any, raw: str) -> None:
    """A strict format requires an object's text, and exact text is that."""
    assert raw == encode_arguments(call(raw), format)


@strings
def test_nothing_is_encoded_twice(format: str) -> None:
    r"""The result is the text itself: one encoding by the HTTP layer gives `"{\"path\"...`, never `"\"{\\\"..."`."""
    body = json.dumps({"arguments": encode_arguments(drop(CUT), format)})

    assert r'{"arguments": "{\"path\": \"/foo"}' == body


# Objects.


@objects
@together("raw", SPELLINGS)
def test_objects_go_where_objects_are_carried(format: str, raw: str) -> None:
    """Where an object is carried, an emitted call gives its arguments."""
    assert parse_arguments(raw).arguments == encode_arguments(call(raw), format)
    assert parse_arguments(raw).arguments == encode_arguments(raw, format)


@objects
def test_objects_are_not_shared(format: str) -> None:
    """The encoded object is a new one throughout, and the given object stays unchanged."""
    given: dict[str, Any] = {"a": {"b": [{"c": 1}]}}
    before = copy.deepcopy(given)
    encoded: Any = encode_arguments(given, format)
    encoded["a"]["b"][0]["c"] = 2

    assert before == given
    made = call('{"a":{"b":1}}')
    found: Any = encode_arguments(made, format)
    found["a"]["b"] = 2
    assert {"a": {"b": 1}} == made.arguments


@strings
def test_an_object_as_text(format: str) -> None:
    """An object becomes compact text, with non-ASCII kept: a model should see its own spelling again."""
    assert '{"city":"Zürich →","n":[1,2.5,null]}' == encode_arguments(
        {"city": "Zürich →", "n": [1, 2.5, None]}, format
    )


def test_our_dumps() -> None:
    r"""Dumped text is compact, keeps non-ASCII, writes lone surrogates as `\udXXX`, and contains no NaN."""
    recovered = call('{"a": "é \ud83d", "b": 1.10,}', keep=True)

    assert "recovered" == recovered.status
    assert r'{"a":"é \ud83d","b":1.1}' == encode_arguments(recovered, "chat-completions")
    assert r'{"INVALID_JSON":"{\"a\": \"\ud83d"}' == encode_arguments(drop('{"a": "\ud83d'), "minimax")
    for format in ("chat-completions", "anthropic"):
        with pytest.raises(ValueError, match="NaN"):
            encode_arguments({"a": float("nan")}, format)


# Calls executed after an edit.


EDITED = {
    '{"a":1,}': {"a": 1},
    "{'a': True, /* b */ }": {"a": True},
    '```json\n{"a":1}\n```': {"a": 1},
    '{}{"a":1}': {"a": 1},
    '"{\\"path\\":\\"/x\\"}"': {"path": "/x"},
}


@together("raw", EDITED)
@together("format", [*STRINGS, *STRICT])
def test_recovered_calls_go_back_as_they_were_executed(format: Any, raw: str) -> None:
    """History shows the executed arguments, and the next request is valid: never the text before its edits."""
    written = json.dumps(EDITED[raw], separators=(",", ":"))

    assert written == encode_arguments(call(raw), format) == encode_arguments(raw, format)


@objects
@together("raw", EDITED)
def test_recovered_objects(format: str, raw: str) -> None:
    """The same for objects."""
    assert EDITED[raw] == encode_arguments(call(raw), format) == encode_arguments(raw, format)


def test_double_encoding_is_undone_once() -> None:
    """One level of text in a string in a string is removed, and only if an object appears; leaves stay strings."""
    once, twice = json.dumps('{"s":"{\\"a\\":1}"}'), json.dumps(json.dumps('{"a":1}'))

    assert '{"s":"{\\"a\\":1}"}' == encode_arguments(once, "chat-completions")
    assert {"s": '{"a":1}'} == encode_arguments(once, "anthropic")
    assert {"INVALID_JSON": twice} == encode_arguments(twice, "anthropic")


@pytest.mark.parametrize("raw", ["", "null", "None", " "])
def test_empty_arguments(raw: str) -> None:
    """A call without arguments, ended by the provider, has an empty object."""
    assert ("{}", "{}", {}) == tuple(encode_arguments(raw, name) for name in ("kimi", "minimax", "ollama"))
    assert ("{}", {}) == tuple(encode_arguments(call(raw), name) for name in ("responses", "gemini"))


def test_exact_calls_that_have_no_text() -> None:
    """A call that was made without its text has its arguments."""
    made = ToolCall(0, 0, 0, "c", "f", {"a": 1}, "", "exact")

    assert '{"a":1}' == encode_arguments(made, "chat-completions")


# Malformed text.


@strings
@together("raw", MALFORMED)
def test_malformed_text_keeps_its_bytes(format: str, raw: str) -> None:
    """Text that is not an object stays in history as the model wrote it, wherever text is carried."""
    assert raw == encode_arguments(drop(raw), format)
    assert raw == encode_arguments(raw, format)
    for word in ("empty", "omit"):  # about places that cannot carry such text
        assert raw == encode_arguments(drop(raw), format, on_malformed=word)


@objects
@together("raw", MALFORMED)
def test_malformed_text_is_wrapped_in_objects(format: str, raw: str) -> None:
    """An object format always gets an object: other text is wrapped, never replaced by `{}` (quirk 84)."""
    assert {"INVALID_JSON": raw} == encode_arguments(drop(raw), format)
    assert {"INVALID_JSON": raw} == encode_arguments(raw, format)


@stricts
@together("raw", MALFORMED)
def test_malformed_text_is_wrapped_for_strict_formats(format: Any, raw: str) -> None:
    """Where text has to be an object's, malformed text goes as the text of a wrapper: it poisons no later turn."""
    encoded = encode_arguments(drop(raw), format)

    assert isinstance(encoded, str)
    assert {"INVALID_JSON": raw} == json.loads(encoded)
    assert encoded == encode_arguments(raw, format)


def test_strictness_can_be_asked_for() -> None:
    """The option makes any string format strict, and does not affect object formats."""
    found = [
        encode_arguments(CUT, name, strict_json_arguments=True) for name in ("chat-completions", "anthropic")
    ]

    assert [r'{"INVALID_JSON":"{\"path\": \"/foo"}', {"INVALID_JSON": CUT}] == found


@pytest.mark.parametrize("raw", ["[1]", "1", '"x"', "true"])
def test_json_that_is_no_object_is_malformed(raw: str) -> None:
    """Valid JSON of another type has no place where an object belongs, and is not lost either."""
    assert {"INVALID_JSON": raw} == encode_arguments(raw, "anthropic")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("wrap", (CUT, r'{"INVALID_JSON":"{\"path\": \"/foo"}', {"INVALID_JSON": CUT})),
        ("empty", (CUT, "{}", {})),
        ("omit", (CUT, None, None)),
    ],
)
def test_what_to_do_with_malformed_text(word: Any, found: tuple[Any, ...]) -> None:
    """The caller may have it wrapped, emptied, or the call left out."""
    formats = ("chat-completions", "minimax", "anthropic")

    assert found == tuple(encode_arguments(drop(CUT), name, on_malformed=word) for name in formats)


@pytest.mark.parametrize("word", ["empty", "omit"])
def test_good_arguments_are_never_left_out(word: Any) -> None:
    """The policy for malformed text does not affect emitted calls."""
    for raw, value in EDITED.items():
        assert value == encode_arguments(call(raw), "anthropic", on_malformed=word)


@together("format", [*HISTORY_FORMATS, STRICT[-1]])
def test_a_dropped_object_goes_back_as_what_it_is(format: Any) -> None:
    """Whatever the reason for the drop: where its text is the JSON of an object, no format gets it wrapped."""
    for raw, reason in product(('{"gate":2}', ' { "gate" : 2.0 }\n', "{}"), get_args(DropReason)):
        encoded = encode_arguments(drop(raw, reason=reason), format)

        assert (raw if isinstance(encoded, str) else json.loads(raw)) == encoded, reason


@together("raw", MALFORMED)
def test_only_what_is_no_object_is_wrapped(raw: str) -> None:
    """Text that is not the JSON of one object, or not without loss, is wrapped, whatever the reason for the drop."""
    for reason in get_args(DropReason):
        dropped = drop(raw, reason=reason)

        assert {"INVALID_JSON": raw} == encode_arguments(dropped, "anthropic"), reason
        assert {"INVALID_JSON": raw} == json.loads(str(encode_arguments(dropped, "stepfun"))), reason
        assert raw == encode_arguments(dropped, "chat-completions"), reason


@pytest.mark.parametrize(("raw", "arguments"), [("", {}), ("{'gate': 2,}", {"gate": 2})])
def test_what_was_held_against_a_tool_was_read(raw: str, arguments: Any) -> None:
    """A call dropped by its tool goes back as read, mended or empty; for other reasons a mended text is a guess."""
    for reason in ("schema", "unknown_tool", "empty_arguments"):
        dropped = drop(raw, reason=reason)
        assert arguments == encode_arguments(dropped, "anthropic")
        assert arguments == json.loads(str(encode_arguments(dropped, "stepfun")))
        assert (raw or "{}") == encode_arguments(dropped, "chat-completions")
    for reason in ("truncated", "unterminated", "incomplete_input", "nameless"):
        assert {"INVALID_JSON": raw} == encode_arguments(drop(raw, reason=reason), "gemini")


def test_the_wrapper_has_a_name() -> None:
    """Another key may be used."""
    own = HistoryFormat("anthropic", "object", wrapper="raw")

    assert {"raw": CUT} == encode_arguments(CUT, own)


# Decoding once.


TEXTS = {
    r'{"old": "\\u2192"}': {"old": "\\u2192"},
    r'{"old": "\u2192"}': {"old": "→"},
    r'{"p":"C:\new\table"}': {"p": "C:\new\table"},
    r'{"s":"{\"a\": 1}"}': {"s": '{"a": 1}'},
    '{"s":"&lt;b&gt; &amp;quot;"}': {"s": "&lt;b&gt; &amp;quot;"},
    '{"code":"f(x, )"}': {"code": "f(x, )"},
    r'{"u":"\u0000e5"}': {"u": "\x00e5"},
}


@pytest.mark.parametrize("raw", TEXTS)
def test_leaves_are_decoded_once(raw: str) -> None:
    """Valid text is decoded once: no escape, entity, quote or literal inside a string is read a second time."""
    assert TEXTS[raw] == json.loads(raw) == encode_arguments(raw, "anthropic")
    assert raw == encode_arguments(raw, "chat-completions")


@together("raw", TEXTS)
@together("size", [1, 3, 1000])
def test_pieces_are_joined_before_they_are_decoded(raw: str, size: int) -> None:
    """However a text is cut on its way, the call is the same; meanwhile it is text, never half an object."""
    parser = ToolCallParser("chat-completions")
    entry: dict[str, Any] = {"index": 0, "id": "c1", "function": {"name": "f"}}
    events = parser.feed_event({"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]})
    for start in range(0, len(raw), size):
        piece = {"index": 0, "function": {"arguments": raw[start : start + size]}}
        events += parser.feed_event({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]})
    events += parser.feed_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    shown = [event.delta for event in [*events, *parser.close()] if isinstance(event, ArgumentsDelta)]

    assert raw == "".join(shown)
    assert [TEXTS[raw]] == [encode_arguments(found, "gemini") for found in parser.turn.calls]


# Mistakes.


@together(
    "arguments",
    [
        None,
        1,
        b"{}",
        ["a"],
        custom("x"),
        builtin("shell", {}),
        server("web_search", {}),
        parse_arguments("{}"),
    ],
)
def test_what_are_no_arguments(arguments: Any) -> None:
    """Only calls with JSON arguments, drops, texts and objects can be encoded; the message lists them."""
    with pytest.raises(TypeError, match="a ToolCall, a ToolCallDropped, JSON text or a dict, not "):
        encode_arguments(arguments, "anthropic")


def test_an_unknown_word() -> None:
    """An unknown policy is refused, also where it would not be used."""
    word: Any = "drop"
    with pytest.raises(ValueError, match="one of wrap, empty, omit, not 'drop'"):
        encode_arguments("{}", "anthropic", on_malformed=word)


def test_depth_is_no_danger() -> None:
    """Objects that nest deeper than Python's stack are encoded like any other."""
    value: dict[str, Any] = {}
    for _ in range(5000):
        value = {"k": value}

    assert '{"k":' * 5000 + "{}" + "}" * 5000 == encode_arguments(value, "kimi")
    assert "k" in (encode_arguments(value, "ollama") or {})
