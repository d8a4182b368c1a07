"""JSON texts without a stream: the value of a cut text, the place and reason of faults, and the order of use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from tests.support.together import together
from wholecall import (
    Limits,
    PartialArguments,
    PartialJson,
    PartialJsonParser,
    StreamClosed,
    json_state,
    parse_arguments,
    partial_json,
)

SECRET = "hunter2"


@together(
    ("text", "value", "path"),
    [
        ("", None, None),
        (" \n", None, None),
        ("{", {}, ()),
        ('{"port', {}, ()),
        ('{"port": "Bre', {"port": "Bre"}, ("port",)),
        ('{"port": "Bre\\', {"port": "Bre"}, ("port",)),
        ('{"port": "Bre\\u00', {"port": "Bre"}, ("port",)),
        ('{"port": "Brest", "heights": [6.1, 1', {"port": "Brest", "heights": [6.1]}, ("heights", 1)),
        ('{"a": {"b": [{"c": tru', {"a": {"b": [{}]}}, ("a", "b", 0, "c")),
        ("[", (), ()),
        ('["a", ["b', ("a", ["b"]), (1, 0)),
        ('"', "", ()),
        ('"Bre', "Bre", ()),
        ("-", None, ()),
        ("1.", None, ()),
        ("1e+", None, ()),
        ("tru", None, ()),
    ],
)
def test_the_value_of_a_cut_text(text: str, value: object, path: object) -> None:
    """Closed values and the open string's text are shown; an unfinished key, number or literal is not."""
    partial = partial_json(text)

    assert ("incomplete", None, None) == (partial.state, partial.reason, partial.offset)
    assert (value, path) == (partial.value, partial.open_path)
    assert not partial.complete
    assert json_state(text) == "incomplete"


@together(
    ("text", "value"),
    [
        ("{}", {}),
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ("[]", ()),
        ("[1, [2]]", (1, [2])),
        ('""', ""),
        ('"Brest"', "Brest"),
        ("12", 12),
        ("-0.5e-7", -0.5e-7),
        ("0", 0),
        ("true", True),
        ("false", False),
        ("null", None),
        (" \t\r\n[1]\n", (1,)),
        ("\ufeff{}", {}),
        (" \ufeff 7 ", 7),
        ('{"a": 1, "a": 1}', {"a": 1}),
        ('"\\ud83d"', "\ud83d"),
        ("[" * 128 + "]" * 128, None),
    ],
)
def test_complete_texts(text: str, value: object) -> None:
    """Any value, white space around it, one byte order mark before it, equal repeated keys, half of a pair."""
    partial = partial_json(text)

    assert ("complete", None, None, None) == (
        partial.state,
        partial.reason,
        partial.offset,
        partial.open_path,
    )
    assert partial.complete
    assert value is None or (type(value), value) == (
        dict if isinstance(partial.value, Mapping) else type(partial.value),
        partial.value,
    )
    assert json_state(text) == "complete"


@together(
    ("text", "reason", "offset"),
    [
        ("hello", "invalid_json", 0),
        ("NaN", "invalid_json", 0),
        ("[Infinity]", "invalid_json", 1),
        ("-Infinity", "invalid_json", 1),
        ("```json\n{}\n```", "invalid_json", 0),
        ("{'a': 1}", "invalid_json", 1),
        ('{"a": 1,}', "invalid_json", 8),
        ('{"a" 1}', "invalid_json", 5),
        ("[1, tru]", "invalid_json", 7),
        ("nullx", "invalid_json", 4),
        ("[01]", "invalid_json", 2),
        ("[1.e5]", "invalid_json", 3),
        ("[1.]", "invalid_json", 3),
        ("[-]", "invalid_json", 2),
        ("[1e+]", "invalid_json", 4),
        ("[1 2]", "invalid_json", 3),
        ('[1"', "invalid_json", 2),
        ("1 2", "invalid_json", 2),
        ('"\\x', "invalid_json", 2),
        ('["\\u00g0"]', "invalid_json", 6),
        ('"a\nb"', "invalid_json", 2),
        ("{}{}", "invalid_json", 2),
        ("{} done", "invalid_json", 3),
        ("\ufeff\ufeff{}", "invalid_json", 1),
        ("{}\ufeff", "invalid_json", 2),
        ('{"a": 1, "a": 2}', "duplicate_key", 15),
        ('{"a": 1, "a": [2], "b": 3}', "duplicate_key", 17),
        ("1e999", "number_out_of_range", 0),
        ("[7, -1e999]", "number_out_of_range", 4),
        ("1" * 4301, "number_too_long", 4300),
        ("1" * 4300 + "x", "invalid_json", 4300),
        ("[" * 129, "nesting_too_deep", 128),
    ],
)
def test_invalid_texts(text: str, reason: str, offset: int) -> None:
    """The reason is a word of `parse_arguments`, the offset that of the first character without a place."""
    for pieces in ([text], [*text]):
        parser = PartialJsonParser()
        for piece in pieces:
            parser.feed(piece)
        assert ("invalid", reason, offset) == (*facts(parser.close()),)
    assert json_state(text) == "invalid"


def facts(partial: PartialJson) -> tuple[Any, ...]:
    """Return a partial value's statements about its text."""
    return partial.state, partial.reason, partial.offset


def test_limits_are_the_caller_s() -> None:
    """Bounds on bytes, depth and numbers are those of `Limits`; without any, Python's own limits apply."""
    text = '{"a": "\u00e9\u00e9"}'

    assert ("invalid", "arguments_too_large", 8) == facts(
        partial_json(text, limits=Limits(max_arguments_bytes=9))
    )
    assert ("invalid", "nesting_too_deep", 1) == facts(partial_json("[[", limits=Limits(max_depth=1)))
    assert ("invalid", "number_too_long", 3) == facts(
        partial_json("123456", limits=Limits(max_number_chars=3))
    )
    assert ("invalid", "number_too_long", 0) == facts(partial_json("1" * 5000, limits=Limits.none()))
    assert partial_json("[" * 3000, limits=Limits.none()).state == "incomplete"
    assert json_state("[" * 3000 + "]" * 3000, limits=Limits.none()) == "complete"


def test_a_number_at_the_top_ends_with_the_text() -> None:
    """`12` may become `123`, until white space or the end comes."""
    parser = PartialJsonParser()

    assert [(None, "incomplete")] * 2 == [
        (known.value, known.state) for known in map(parser.feed, ("1", "2"))
    ]
    assert (12, "complete") == (parser.close().value, parser.close().state)
    assert (12, "complete") == ((parser := PartialJsonParser()).feed("12 ").value, parser.close().state)


def test_what_follows_a_complete_text() -> None:
    """White space changes nothing; anything else makes the text invalid, and the shown value stays."""
    parser = PartialJsonParser()

    assert ["complete", "complete", "invalid"] == [parser.feed(text).state for text in ("[1]", "\n", "x")]
    assert (1,) == parser.close().value


def test_snapshots_stay() -> None:
    """A snapshot keeps its content from when it was taken, also if it is first asked later."""
    parser = PartialJsonParser()
    partials = [parser.feed(piece) for piece in ('{"a": "x', "y", '", "b": [1', ",2", "]}")]

    assert [
        {"a": "x"},
        {"a": "xy"},
        {"a": "xy", "b": []},
        {"a": "xy", "b": [1]},
        {"a": "xy", "b": [1, 2]},
    ] == [dict(partial.value) for partial in partials]
    assert [(), (), ("a",), ("a",), ("a", "b")] == [partial.closed for partial in partials]


def test_a_partial_value_is_never_taken_for_arguments() -> None:
    """A partial value has no arguments, is not a preview of a call, and an object is read-only and not a dict."""
    partial = partial_json('{"path": "/tmp/x"}')

    assert not hasattr(partial, "arguments")
    assert not isinstance(partial, (dict, PartialArguments))
    assert type(partial.value) is MappingProxyType
    with pytest.raises(TypeError):
        partial.value["path"] = "/"


@pytest.mark.parametrize("text", [f'{{"{SECRET}": "{SECRET}', f'"{SECRET}', f'["{SECRET}", {SECRET}', SECRET])
def test_nothing_shows_the_text(text: str) -> None:
    """A repr holds sizes only, for the parser and for its results."""
    parser = PartialJsonParser()

    assert SECRET not in repr(parser.feed(text)) + repr(parser) + repr(parser.close()) + repr(parser)
    assert repr(partial_json('["a')) == "PartialJson(value=<1>, state='incomplete', reason=None, offset=None)"


def test_a_closed_parser_reads_no_more() -> None:
    """Feeding after `close` is a mistake, and so is input that is not text."""
    parser = PartialJsonParser()
    with pytest.raises(TypeError, match="text is a str, not bytes"):
        parser.feed(b"{}")  # type: ignore[arg-type]
    parser.close()

    assert repr(parser) == "<PartialJsonParser closed>"
    with pytest.raises(StreamClosed):
        parser.feed("")


def test_what_is_complete_may_still_be_no_arguments() -> None:
    """Complete refers to JSON; whether a call may be executed is for the verdict."""
    for text, reason in (("[1]", "not_an_object"), ('{"a": "\\ud83d"}', "lone_surrogate")):
        assert ("complete", reason) == (json_state(text), parse_arguments(text).reason)
