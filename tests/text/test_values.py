from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.calls.arguments.equal import spelled_alike
from wholecall.text.values import Schema, is_half_quoted, json_typed, quoted, self_typed, typed, written

ANY_TEXT = st.text(st.characters()) | st.lists(
    st.sampled_from([*"{}[]():,\"'\\ -+.", "1", "e9", "null", "true", "None", "\ud800", "a", "\n"])
).map("".join)
KINDS = ("string", "integer", "number", "boolean", "object", "array", "null")
ANY_KINDS = st.frozensets(st.sampled_from(KINDS))
FINITE = st.floats(allow_nan=False, allow_infinity=False)
INNER = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
OF_KIND: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(),
    "number": FINITE | st.integers(),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.lists(INNER, max_size=3),
    "object": st.dictionaries(st.text(), INNER, max_size=3),
}


def read(raw: str, kinds: str) -> Any:
    """Return the value of a raw text where these kinds are allowed, and its type."""
    value = typed(raw, frozenset(kinds.split()), max_depth=4)
    return type(value), value


# --- the table of types --------------------------------------------------------------------------------------


@together("raw", ["02139", '{"a": 1}', "null", "25", "true", '"quoted"', "  x \n", "", "\ud800"])
def test_where_only_a_string_is_allowed_the_text_is_untouched(raw: str) -> None:
    """Nothing is ever retyped, unquoted or trimmed for a string."""
    assert (str, raw) == read(raw, "string")


@together(
    ("raw", "value"),
    [
        *(("null", None), ("None", None), (" null ", None)),
        *((raw, raw) for raw in ("NULL", "", "nil", " none", "25", "true", '{"a": 1}', '"null"', " x ")),
    ],
)
def test_a_string_or_null(raw: str, value: object) -> None:
    """`null` and `None` are null; anything else is the text."""
    assert (type(value), value) == read(raw, "string null")


@together(
    ("raw", "kinds", "value"),
    [
        ('{"a": 1}', "string object", {"a": 1}),
        (' {"a": 1}\n', "string object", {"a": 1}),
        ("[1]", "string array", [1]),
        ("[1]", "string object", "[1]"),
        ('{"a": 1}', "string array", '{"a": 1}'),
        ("{'a': 1}", "string object", "{'a': 1}"),
        ('{"a": 1', "string object", '{"a": 1'),
        ("5", "string object", "5"),
        ("null", "string object", "null"),
        ("null", "string object null", None),
        ('"x"', "string object", '"x"'),
    ],
)
def test_a_string_or_a_container(raw: str, kinds: str, value: object) -> None:
    """The text is the container that it holds as JSON if that one is allowed, else it is the text."""
    assert (type(value), value) == read(raw, kinds)


@together(
    ("raw", "kinds", "value"),
    [
        ("25", "string integer", 25),
        ("2.5", "string number", 2.5),
        ("25", "string number", 25),
        ("true", "string boolean", True),
        ("2.5", "string integer", "2.5"),
        ("3.0", "string integer", "3.0"),
        ("025", "string integer", "025"),
        ("+5", "string integer", "+5"),
        ("True", "string boolean", "True"),
        ("25", "string boolean", "25"),
        ("None", "string integer null", None),
        ("1e309", "string number", "1e309"),
        ('"25"', "string integer", '"25"'),
    ],
)
def test_a_string_or_another_scalar(raw: str, kinds: str, value: object) -> None:
    """The text is the scalar that it spells as JSON if that one is allowed, else it is the text."""
    assert (type(value), value) == read(raw, kinds)


@together(
    ("raw", "kinds", "value"),
    [
        (" 25\n", "integer", 25),
        ("3.0", "integer", 3),
        ("-3.00", "integer", -3),
        ("1e3", "integer", 1000),
        ("3.0", "integer null", 3),
        ("3.0", "number", 3.0),
        ("3.0", "integer number", 3.0),
        ("3.5", "integer", 3.5),
        ("12345678901234567890.0", "integer", 12345678901234567890),
        ("12345678901234567890123", "integer", 12345678901234567890123),
        ("007", "integer", 7),
        ("+7", "integer", 7),
        ("1_000", "integer", 1000),
        ("true", "boolean", True),
        ("True", "boolean", True),
        ("FALSE", "boolean", False),
        ("tRuE", "boolean integer", True),
        ("null", "integer null", None),
        ("None", "integer null", None),
        ('{"a": [true]}', "object", {"a": [True]}),
        ("{'a': True, 'b': (1, None)}", "object", {"a": True, "b": [1, None]}),
        ("['a']", "array", ["a"]),
        ('"{\\"a\\": 1}"', "object", {"a": 1}),
        ('"[1]"', "array", [1]),
        ("'[1]'", "array", [1]),
    ],
)
def test_where_no_string_is_allowed_the_text_is_code(raw: str, kinds: str, value: object) -> None:
    """It is JSON, else Python, else a boolean in any case; a string may hold the container that is wanted."""
    assert (type(value), value) == read(raw, kinds)


@together(
    ("raw", "kinds"),
    [
        *(("", "integer"), ("abc", "integer"), ("5 apples", "integer"), ("1,000", "integer"), ("1 000", "number")),
        *(("NaN", "number"), ("Infinity", "number"), ("-Infinity", "number"), ("1e309", "number")),
        *(("'abc'", "object"), ("'5'", "integer"), ("'a' 'b'", "array"), ("yes", "boolean"), ("TRUE", "integer"), ("{a: 1}", "object"), ('{"a": 1', "object"), ("[1", "array")),
        *(('{"a": 1, "a": 2}', "object"), ('[{"a": 1, "a": 2}]', "array"), ('{"a": "\\ud800"}', "object")),
        *(("[" * 5 + "]" * 5, "array"), ("[1e309]", "array"), ("9" * 5000, "integer")),
    ],
)  # fmt: skip
def test_what_is_no_code_stays_the_text(raw: str, kinds: str) -> None:
    """Text without a reading is left to the tool's check: no number beyond floats, no key with two values, no half
    character.
    """
    assert (str, raw) == read(raw, kinds)


def test_brackets_in_strings_are_no_depth() -> None:
    """Only brackets outside strings count for the bound on depth."""
    assert (list, ["[" * 9]) == read('["' + "[" * 9 + '"]', "array")


def test_code_of_another_kind_is_what_it_is() -> None:
    """A value that is not allowed is returned as written, so that the tool's check can describe it."""
    expected = [5, "5", [1], None]

    assert expected == [
        read(raw, kinds)[1]
        for raw, kinds in [("5", "boolean"), ('"5"', "integer"), ("[1]", "object"), ("null", "integer")]
    ]


@together(
    ("raw", "value"),
    [
        ("5", 5),
        (" 2.5 ", 2.5),
        ("true", True),
        ("null", None),
        ('{"a": 1}', {"a": 1}),
        ("[1, 2, 3]", [1, 2, 3]),
        ("{'a': None}", {"a": None}),
        ("['a', True]", ["a", True]),
        (" True ", True),
        ("False", False),
        ("None", None),
        *((raw, raw) for raw in ("'a'", "(1, 2)", "{1, 2}", "02139", "+5", '"quoted"', " text ")),
        *((raw, raw) for raw in ("{a}", "[x](y)", "", "1e309", '{"a": 1, "a": 2}', "[x for x in y]")),
    ],
)
def test_where_nothing_is_known_the_text_speaks_for_itself(raw: str, value: object) -> None:
    """JSON is read as JSON unless it is a string, and so are Python's lists, dicts and words; all else is the text."""
    assert (type(value), value) == read(raw, "")


# --- types in the format -------------------------------------------------------------------------------------


@together(
    ("raw", "name", "value"),
    [
        ("25", "string", "25"),
        (' {"a": 1}', "str", ' {"a": 1}'),
        ("25", "number", 25),
        ("3.0", "number", 3),
        ("25", "INTEGER", 25),
        ("True", "boolean", True),
        ("{'a': 1}", "object", {"a": 1}),
        ("[1]", "list[int]", [1]),
        ("null", "null", None),
        ("abc", "number", "abc"),
        ("25", "file", 25),
        ("abc", "", "abc"),
    ],
)
def test_a_type_in_the_format_wins(raw: str, name: str, value: object) -> None:
    """The format's word counts before the schema's; a word that is not a type says nothing."""
    actual = self_typed(raw, name, frozenset({"integer"}), max_depth=4)

    assert (type(value), value) == (type(actual), actual)


@together(
    ("raw", "kinds", "value"),
    [
        ("25", "string", 25),
        (' "25"\n', "integer", "25"),
        ("null", "string", None),
        ("3.0", "integer", 3),
        ("3.0", "number", 3.0),
        ("hello", "string null", "hello"),
        ("True", "boolean", True),
        ("True", "", True),
        ("{'a': 1}", "", {"a": 1}),
        ("abc", "integer", "abc"),
    ],
)
def test_what_the_format_calls_json_is_json(raw: str, kinds: str, value: object) -> None:
    """It is JSON of any kind; other text is read by the schema, or stays the text."""
    actual = json_typed(raw, frozenset(kinds.split()), max_depth=4)

    assert (type(value), value) == (type(actual), actual)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None, True]}, '{"a":[1,null,true]}'),
        ("ä😀\n", '"ä😀\\n"'),
        (10**40, "1" + "0" * 40),
        (1.0, "1.0"),
    ],
)
def test_a_value_is_written_compactly(value: object, text: str) -> None:
    """Without white space, text beyond ASCII as it is, integers with all their digits."""
    assert text == written(value)


# --- laws ----------------------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from(sorted(OF_KIND)))
def test_json_of_a_kind_is_that_value(data: st.DataObject, kind: str) -> None:
    """The JSON of a value, where its kind is allowed, is that value, next to other kinds and where nothing is known."""
    value = data.draw(OF_KIND[kind])
    others = data.draw(st.frozensets(st.sampled_from(sorted(OF_KIND))))
    whole = isinstance(value, float) and value.is_integer() and "number" not in others
    kinds = [
        frozenset({kind}),
        frozenset({kind, "string"}),
        frozenset(),
        *([] if whole else [others | {kind}]),
    ]

    assert all(spelled_alike(value, typed(written(value), allowed, max_depth=None)) for allowed in kinds)


@given(ANY_TEXT, ANY_KINDS, st.sampled_from([*KINDS, "file", ""]), st.sampled_from([None, 0, 2]))
def test_no_text_raises(raw: str, kinds: frozenset[str], name: str, most: int | None) -> None:
    """Any text has a value by any rule; with a string alone it is the text."""
    values = [
        typed(raw, kinds, max_depth=most),
        json_typed(raw, kinds, max_depth=most),
        self_typed(raw, name, kinds, max_depth=most),
    ]

    assert [raw, *values] == [
        typed(raw, frozenset({"string"}), max_depth=most),
        *map(json.loads, map(json.dumps, values)),
    ]


@together("kinds", [frozenset(), frozenset({"object"}), frozenset({"string", "array"})], one_in=4)
@together("piece", ["[", "{", '{"a":', "'", '"', ",", "\\", '[{"a":1,"a":1},', "0", " ", "'a' "])
def test_hostile_texts_stay_text(piece: str, kinds: frozenset[str]) -> None:
    """Brackets, quotes and commas without end are read in one pass, and have no value."""
    raw = piece * 100_000

    assert [raw, raw] == [typed(raw, kinds, max_depth=most) for most in (128, None)]


# --- schemas -------------------------------------------------------------------------------------------------

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


@together(
    ("schema", "kinds"),
    [
        (STRING, "string"),
        ({"type": ["integer", "null"]}, "integer null"),
        ({"type": "STRING"}, "string"),
        *(({"type": name}, kind) for name, kind in [("str", "string"), ("int", "integer"), ("float", "number"), ("bool", "boolean"), ("dict", "object"), ("list", "array"), ("list[str]", "array")]),
        ({"type": "anything"}, ""),
        ({"anyOf": [STRING, INTEGER]}, "string integer"),
        ({"oneOf": [STRING, {"type": "null"}]}, "string null"),
        ({"anyOf": [STRING, {}]}, ""),
        ({"anyOf": [STRING, False]}, "string"),
        ({"anyOf": [STRING, INTEGER], "type": ["string", "object"]}, "string"),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}, {"description": "x"}]}, "integer"),
        ({"allOf": [{"type": "number"}, INTEGER]}, "integer"),
        ({"type": "array", "allOf": [{"minItems": 1}]}, "array"),
        ({"$ref": "#/$defs/text"}, "string"),
        ({"$ref": "#/$defs/a~1b%20c"}, "integer"),
        ({"$ref": "#/$defs/list/0"}, "boolean"),
        ({"anyOf": [{"$ref": "#/$defs/text"}, {"type": "null"}]}, "string null"),  # the form that `nullable` takes
        ({"$ref": "#/$defs/none"}, ""),
        ({"$ref": "other.json#/$defs/text"}, ""),
        ({"enum": ["a", 1, 1.5, None, True, [1], {}]}, "string integer number null boolean array object"),
        ({"const": 3}, "integer"),
        ({"type": "number", "enum": [1, 2]}, "integer"),
        ({"properties": {}}, "object"),
        ({"items": STRING}, "array"),
        ({"prefixItems": [STRING]}, "array"),
        *((schema, "") for schema in ({}, True, False, None, [], "string", {"type": 3}, {"anyOf": {}}, {"$ref": 1})),
    ],
)  # fmt: skip
def test_the_kinds_that_a_schema_allows(schema: Any, kinds: str) -> None:
    """Types in words of JSON and Python, alternatives, conjunctions, references, constants, and keywords that imply a
    type.
    """
    defs = {"text": STRING, "a/b c": INTEGER, "list": [{"type": "boolean"}]}
    document = Schema({"properties": {"key": schema}, "$defs": defs})

    assert [frozenset(kinds.split())] * 2 == [document.kinds("key"), document.of("key").allowed]


def test_a_chain_of_references_is_followed_eight_times() -> None:
    """The ninth reference says nothing, and neither does one that leads to itself."""
    chain = {f"r{step}": {"$ref": f"#/$defs/r{step + 1}"} for step in range(9)}
    document = Schema(
        {
            "properties": {
                "eight": {"$ref": "#/$defs/r2"},
                "nine": {"$ref": "#/$defs/r1"},
                "self": {"$ref": "#/properties/self"},
            },
            "$defs": {**chain, "r9": STRING},
        }
    )

    assert ["string"] == [kind for key in ("eight", "nine", "self") for kind in document.kinds(key)]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": STRING}},
        {"$ref": "#/$defs/it", "$defs": {"it": {"properties": {"a": STRING}}}},
        {"allOf": [{"properties": {"a": STRING}}, {"required": ["a"]}]},
        {"anyOf": [{"properties": {"a": STRING}}, {"type": "null"}]},
    ],
)
def test_the_members_of_a_schema(schema: dict[str, Any]) -> None:
    """They are listed by the schema itself, or by the schemas that it refers to and consists of."""
    document = Schema(schema)

    assert ({"a"}, {"string"}, frozenset()) == (document.properties, document.kinds("a"), document.kinds("b"))


@together(
    ("schema", "kinds"),
    [
        ({"allOf": [{"properties": {"a": {"type": ["string", "null"]}}}, {"properties": {"a": STRING}}]}, "string"),
        ({"oneOf": [{"properties": {"a": STRING}}, {"properties": {"a": INTEGER}}]}, "string integer"),
        ({"additionalProperties": INTEGER}, "integer"),
        ({"properties": {"b": STRING}, "additionalProperties": INTEGER}, "integer"),
        ({"properties": {"a": STRING}, "additionalProperties": INTEGER}, "string"),
        ({"properties": {"a": True}, "additionalProperties": INTEGER}, ""),
        ({"additionalProperties": False}, ""),
        ({"type": "object"}, ""),
    ],
)  # fmt: skip
def test_the_kinds_of_a_member(schema: dict[str, Any], kinds: str) -> None:
    """All schemas of a member are joined; an unlisted member has the kind of additional members."""
    assert frozenset(kinds.split()) == Schema(schema).kinds("a")


@pytest.mark.parametrize(
    "schema",
    [
        {"items": INTEGER},
        {"$ref": "#/$defs/it", "$defs": {"it": {"items": {"$ref": "#/$defs/one"}}, "one": INTEGER}},
        {"items": [INTEGER]},
        {"prefixItems": [INTEGER], "items": INTEGER},
        {"anyOf": [{"items": INTEGER}, STRING]},
    ],
)
def test_the_elements_of_an_array(schema: dict[str, Any]) -> None:
    """They have one schema, at any position."""
    assert {"integer"} == Schema(schema).items.allowed


def test_parts_of_parts_know_the_whole_document() -> None:
    """References count from the root document, at any depth."""
    tree = {
        "properties": {
            "child": {"$ref": "#"},
            "rows": {"items": {"properties": {"size": {"$ref": "#/$defs/n"}}}},
        }
    }
    document = Schema({**tree, "$defs": {"n": INTEGER}})

    assert {"integer"} == document.of("child").of("child").of("rows").items.of("size").allowed


def test_a_schema_that_multiplies_is_answered() -> None:
    """Alternatives that refer to themselves, and ones that are nested without end, cost a bounded number of looks."""
    endless: dict[str, Any] = {}
    for _ in range(5000):
        endless = {"anyOf": [endless]}
    document = Schema(
        {"anyOf": [{"$ref": "#"}] * 50, "properties": {"a": {"allOf": [{"$ref": "#"}] * 50}, "b": endless}}
    )

    assert (frozenset(), frozenset()) == (document.kinds("a") - {"object"}, document.kinds("b"))


@together(
    ("raw", "kinds", "value"),
    [
        ('"Oban"', "string", "Oban"),
        ('"Oban"', "", "Oban"),
        (' "a\\n\\"b\\"" \n', "string null", 'a\n"b"'),
        ('"5"', "string", "5"),
        ('"5"', "integer", "5"),
        ("5", "string", "5"),
        ("5", "", 5),
        ("Oban", "string", "Oban"),
        ('["a"]', "array", ["a"]),
    ],
)
def test_a_quoted_text_is_the_string_that_it_spells(raw: str, kinds: str, value: Any) -> None:
    """Where a format writes texts in quotes, a JSON string is its value; all else is left to the schema."""
    assert value == quoted(raw, frozenset(kinds.split()), max_depth=4)


@together(
    ("raw", "is_one"),
    [
        ('"a"', False), ('"a', True), ('a"', True), ('"a" "b"', True), ('"a\\"', True), ('the "A" berth', False),
        ("", False), ("a", False), ('["a"]', False), ('"', True),
    ],
)  # fmt: skip
def test_a_quote_at_one_end_is_half_of_a_pair(raw: str, is_one: bool) -> None:
    """A text with a quote at an end that is no JSON string can be read in two ways."""
    assert is_one == is_half_quoted(raw)
