"""The object that is built from values at paths: the effect of each piece, and its limits."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.support.together import together
from wholecall.dialects.google.gemini.streamed import ArgumentsBuilder, steps
from wholecall.dialects.google.gemini.views import Piece

NO_PLACE = "a piece of the arguments has no place or no value"
DEEP = "$" + ".a" * 600


def piece(path: object, more: bool | None = None, **value: Any) -> str:
    """Write a piece."""
    return json.dumps({"jsonPath": path} | value | ({} if more is None else {"willContinue": more}))


def put(path: object, value: Any, *, more: bool | None = None) -> str:
    """Write a piece of the kind that fits the value."""
    kinds = {str: "stringValue", bool: "boolValue", type(None): "nullValue"}
    return piece(path, more, **{kinds.get(type(value), "numberValue"): value})


def build(*pieces: str) -> ArgumentsBuilder:
    """Build from pieces, each as the text of the wire."""
    builder = ArgumentsBuilder()
    for text in pieces:
        builder.take(msgspec.json.decode(text, type=Piece))
    return builder


def built(*pieces: str) -> str:
    """Return the whole text of an object that nothing speaks against."""
    builder = build(*pieces)
    assert (None, False) == (builder.reason, builder.open)
    return builder.text(whole=True)


@together(
    ("path", "expected"),
    [
        ("$.a", ["a"]),
        ("$.a.b[0][12].c", ["a", "b", 0, 12, "c"]),
        ("$['odd key']", ["odd key"]),
        ('$["a.b[0]"].c', ["a.b[0]", "c"]),
        (r"$['it\'s \\ \"so\"']", ['it\'s \\ "so"']),
        ("$['']", [""]),
        ("$.été 🌊", ["été 🌊"]),
        ("$[0]", [0]),
        ("$", None),
        ("", None),
        ("a", None),
        (".a", None),
        ("$a", None),
        ("$.", None),
        ("$..a", None),
        ("$.a[", None),
        ("$.a[-1]", None),
        ("$.a[1.0]", None),
        ("$.a[*]", None),
        ("$.a[9999999999]", None),
        ("$['a", None),
        (r"$['\n']", None),
        (None, None),
        (7, None),
    ],
)
def test_paths(path: object, expected: list[str | int] | None) -> None:
    """Keys and indices after `$`; whatever else JSONPath may say names no single place."""
    assert expected == steps(path)


def test_values_of_every_kind() -> None:
    """Scalars are set, containers come to be on the way, members keep the order in which they came."""
    text = built(
        put("$.s", "x"),
        put("$.o.n", 12),
        put("$.o.list[0]", True),
        put("$.o.list[1]", False),
        put("$.o.list[2].deep", None),
        put("$['odd \"key\"']", "é"),
        piece("$.z", nullValue="NULL_VALUE"),
    )

    expected = '{"s":"x","o":{"n":12,"list":[true,false,{"deep":null}]},"odd \\"key\\"":"é","z":null}'
    assert expected == text


def test_numbers_keep_their_text() -> None:
    """A number is never written again."""
    numbers = ["1.0", "1e2", "-0", "123456789012345678901234567890"]
    text = built(*(f'{{"jsonPath":"$.a[{n}]","numberValue":{number}}}' for n, number in enumerate(numbers)))

    assert f'{{"a":[{",".join(numbers)}]}}' == text


def test_strings_go_on_while_they_are_open() -> None:
    """An open string is appended to, a closed one is set anew."""
    assert '{"a":"xyz"}' == built(put("$.a", "x", more=True), put("$.a", "y", more=True), put("$.a", "z"))
    assert '{"a":"y"}' == built(put("$.a", "x"), put("$.a", "y"))
    assert '{"a":"y"}' == built(put("$.a", 1, more=True), put("$.a", "y"))
    assert '{"a":["x",["z"]]}' == built(
        put("$.a[0]", 1), put("$.a[0]", "x"), put("$.a[1][0]", "y"), put("$.a[1][0]", "z")
    )
    assert '{"a":"x","b":"y"}' == built(put("$.a", "x", more=True), put("$.b", "y"), put("$['a']", ""))


def test_an_open_value_is_remembered() -> None:
    """The last piece of each value says whether it continues, of a number as of a string."""
    assert build(put("$.a", "x", more=True)).open
    assert build(put("$.a", 1, more=True)).open
    assert build(put("$.a", "x", more=True), put("$.b", "y", more=True), put("$.a", "")).open
    assert not build(put("$.a", "x", more=True), put("$.a", "y", more=True), put("$.a", "")).open
    assert not build(put("$.a", "x", more=True), put("$.a", 1)).open


def test_an_sdk_writes_nulls() -> None:
    """Null next to a value is not a value, and a piece of an open string that says nothing ends it."""
    first = piece("$.a", True, stringValue="x", numberValue=None, boolValue=None, nullValue=None)

    assert '{"a":"x"}' == built(first, piece("$.a", stringValue=None, nullValue=None))
    assert '{"a":"x"}' == built(first, piece("$.a"))
    assert '{"a":null}' == built(first, piece("$.a", nullValue="NULL_VALUE"))
    snake = {"json_path": "$.a", "number_value": 1, "null_value": None, "will_continue": None}
    assert '{"a":1}' == built(json.dumps(snake))
    assert '{"b":false}' == built('{"json_path":"$.b","bool_value":false,"number_value":null}')
    assert '{"c":"x"}' == built('{"json_path":"$.c","string_value":"x"}')
    assert build('{"json_path":"$.c","string_value":"x","will_continue":true}').open
    assert '{"d":null}' == built('{"json_path":"$.d","null_value":"NULL_VALUE"}')


@together(
    "pieces",
    [
        [put("$.a[1]", 1)],
        [put("$.a[0]", 1), put("$.a[2]", 1)],
        [put("$[0]", 1)],
        [put("$.a", 1), put("$.a.b", 1)],
        [put("$.a", 1), put("$.a.b.c", 1)],
        [put("$.a.b", 1), put("$.a", 1)],
        [put("$.a[0]", 1), put("$.a.b", 1)],
        [put("$.a.b", 1), put("$.a[0]", 1)],
        [piece("$.a")],
        [piece("$.a", numberValue="NaN")],
        [piece("$.a", stringValue=1)],
        [piece("$.a", boolValue="true")],
        [put("$.a", "x", more=True), piece("$.a", stringValue=[])],
        [put("$.a", "x", more=True), piece("$.a", numberValue={})],
        [put("$.a", "x", more=True), piece("$.a", boolValue=0)],
    ],
)
def test_pieces_without_a_place_or_a_value(pieces: list[str]) -> None:
    """Gaps, containers where values were due, values where containers were, and values of a wrong type."""
    builder = build(*pieces)

    assert ("incomplete_input", NO_PLACE) == (builder.reason, builder.detail)


def test_a_path_that_cannot_be_followed() -> None:
    """The value's place is unknown."""
    builder = build(put("$.a", 1), put("$..a", 2), put("$.b", 3))

    assert "incomplete_input" == builder.reason
    assert "a piece of the arguments has a path that cannot be followed" == builder.detail
    assert '{"a":1' == builder.text(whole=False)  # after a fault nothing more is built


def test_the_text_of_what_is_not_whole() -> None:
    """The last brace is missing, so no reader can take it for the whole; nothing is nothing."""
    assert '{"a":{"b":1}' == build(put("$.a.b", 1)).text(whole=False)
    assert ("", "") == (build().text(whole=False), build().text(whole=True))


def test_the_first_reason_stands() -> None:
    """The first error is the reason."""
    builder = build()
    builder.refuse("incomplete_input", "first")
    builder.refuse("truncated", "second")

    assert ("incomplete_input", "first") == (builder.reason, builder.detail)


def test_depth_is_bounded_and_nothing_recurses() -> None:
    """A path may have 512 steps, and the text of the built object is written without recursion."""
    builder = build(put(DEEP, 1))

    assert ("nesting_too_deep", "a path of more than 512 steps") == (builder.reason, builder.detail)
    text = built(put("$" + ".a" * 512, 1))
    assert '{"a":' * 512 + "1" + "}" * 512 == text


def test_size_is_bounded() -> None:
    """Values count by their characters and each node by its cost, so tiny values weigh too."""
    large = "x" * (5 * 1024 * 1024)
    builder = build(put("$.a", large, more=True), put("$.a", large), put("$.b", 1))

    assert "arguments_too_large" == builder.reason
    assert '"b"' not in builder.text(whole=False)
    assert build(*(put(f"$.a[{n}]", 1) for n in range(1000))).reason is None
    assert build(put("$.a", large, more=True), piece("$.a", True), piece("$.a")).reason is None


@pytest.mark.parametrize("step", ["[0]", ".a"])
def test_nodes_weigh_what_they_cost(step: str) -> None:
    """Paths of many steps cannot make much out of little."""
    builder = ArgumentsBuilder()
    for n in range(300):
        builder.take(Piece(path=f"$.k{n}" + step * 500, null="NULL_VALUE"))

    assert "arguments_too_large" == builder.reason
