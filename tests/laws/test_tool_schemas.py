"""Schemas of tools in other words than JSON Schema's mean the same at each place of a schema, and nowhere else."""

from __future__ import annotations

import copy
import itertools
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.together import together
from wholecall import Tool, Tools, parse_arguments
from wholecall.calls.tools.spelling import TYPES

Build = Callable[[Any], dict[str, Any]]

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
# Each member that holds schemas, round a schema.
POSITIONS: dict[str, Build] = {
    **{
        key: lambda inner, key=key: {key: inner}  # type: ignore[misc]
        for key in (
            *("not", "if", "then", "else", "items", "unevaluatedItems", "contains"),
            *("additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema"),
        )
    },
    **{
        key: lambda inner, key=key: {key: [True, inner]}  # type: ignore[misc]
        for key in ("allOf", "anyOf", "oneOf", "prefixItems")
    },
    **{
        key: lambda inner, key=key: {key: {"type": inner}}  # type: ignore[misc]
        for key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
    },
    "items, a list": lambda inner: {"$schema": DRAFT_7, "items": [inner]},
    "additionalItems": lambda inner: {"$schema": DRAFT_7, "items": [True], "additionalItems": inner},
    "dependencies": lambda inner: {"dependencies": {"type": inner, "enum": ["type"]}},
    "a reference's target": lambda inner: {
        "$ref": "#/components/schemas/a~1b",
        "components": {"schemas": {"a/b": inner}},
    },
}
DATA: dict[str, Build] = {
    "enum": lambda value: {"enum": [value]},
    **{
        key: lambda value, key=key: {key: value}  # type: ignore[misc]
        for key in ("const", "default", "examples", "example", "x-of-a-vendor")
    },
    "a list of names": lambda _: {"required": ["type", "nullable", "float"]},
}


def _at(build: Build, inner: Any) -> dict[str, Any]:
    """Return the schema of an object whose member holds `build`'s result; a document's definitions are at the root."""
    made = build(inner)
    root = {key: made.pop(key) for key in ("components", "$schema") if key in made}
    return {"properties": {"a": made}, **root}


def _read(schema: Any) -> Any:
    return Tools({"f": schema}).schema_of("f")


@together("position", POSITIONS, one_in=2)
def test_names_of_types_are_read_wherever_a_schema_stands(position: str) -> None:
    """Each name is that of a type of JSON Schema, in any case; a schema of any type states none."""
    for name, json_type in TYPES.items():
        means = {} if json_type is None else {"type": json_type}
        for spelt in (name, name.upper(), name.title()):
            assert _at(POSITIONS[position], means) == _read(_at(POSITIONS[position], {"type": spelt}))


@together("outer", POSITIONS)
def test_schemas_in_schemas_are_read(outer: str) -> None:
    """However members with schemas are nested, the innermost is read; the input is not changed."""
    for inner in POSITIONS.values():
        given = _at(lambda held: POSITIONS[outer](inner({"type": held})), ["float", "any"])  # noqa: B023
        before = copy.deepcopy(given)
        if "components" in str(inner({})) or "$schema" in str(inner({})):
            continue  # at the root only

        assert _at(lambda held: POSITIONS[outer](inner(held)), {}) == _read(given)  # noqa: B023
        assert before == given


@together("position", POSITIONS)
def test_a_name_of_no_type_is_named_with_its_place(position: str) -> None:
    """The error names the tool, the member and the name, alone and in a list."""
    for said, where in (("flaot", "type"), (["string", "flaot"], "type")):
        with pytest.raises(
            ValueError, match=rf"tool 'f' is not valid at \$\..*{where}: 'flaot' names no type"
        ):
            Tools({"f": _at(POSITIONS[position], {"type": said})})


@together("position", POSITIONS)
def test_nullable_lets_null_through_wherever_a_schema_stands(position: str) -> None:
    """`nullable: true` is one more type; `false` has no meaning."""
    for nullable, means in ((True, ["string", "null"]), (False, "string")):
        given = _at(POSITIONS[position], {"type": "string", "nullable": nullable})

        assert _at(POSITIONS[position], {"type": means}) == _read(given)


SAMPLES: list[Any] = ["x", "y", 1, 1.5, True, None, [], ["x"], {}, {"b": 1}, {"b": "x"}]
# Members of a schema other than `nullable`, each of which may refuse null.
SAID: list[dict[str, Any]] = [
    {},
    {"type": "string"},
    {"type": ["string", "integer"]},
    {"type": "STRING", "enum": ["x"]},
    {"enum": ["x", 1]},
    {"const": "x"},
    {"type": "string", "const": "x"},
    {"$ref": "#/$defs/s"},
    {"anyOf": [{"type": "string"}, {"type": "array"}]},
    {"oneOf": [{"type": "string"}, {"type": "array"}]},
    {"allOf": [{"type": "string"}]},
    {"type": "string", "allOf": [{"enum": ["x"]}], "anyOf": [{"minLength": 1}]},
    {"not": {"type": ["null", "integer"]}},
    {"if": {"type": "null"}, "then": False, "else": {"type": "string"}},
    {"type": "object", "properties": {"b": {"type": "integer"}}},
    {"anyOf": [{"type": "object"}], "properties": {"b": {"type": "integer"}}},
]


@together("said", SAID, ids=str)
def test_nullable_changes_what_null_means_and_nothing_else(said: dict[str, Any]) -> None:
    """For any other content of a schema, null fits, and the other values that fitted still fit."""
    tools = [
        Tool({"properties": {"a": {**said, **more}}, "$defs": {"s": {"type": "string"}}}, "f")
        for more in ({}, {"nullable": True})
    ]
    fits = [[parse_arguments(_json(value), tool=tool).reason is None for value in SAMPLES] for tool in tools]
    expected = [fitted or value is None for value, fitted in zip(SAMPLES, fits[0], strict=True)]

    assert expected == fits[1]


def _json(value: Any) -> str:
    return json.dumps({"a": value})


@together(("position", "data"), list(itertools.product(POSITIONS, DATA)))
def test_data_is_not_touched(position: str, data: str) -> None:
    """Content at a place without a schema belongs to the tool, whatever it looks like."""
    value = [{"type": "float", "nullable": True, "minItems": "1", "any_of": []}, "float"]
    given = _at(POSITIONS[position], DATA[data](value))

    assert given == _read(given)


def test_members_may_have_the_names_of_keywords() -> None:
    """Properties called `type`, `nullable`, `items` are properties."""
    given = {"properties": {name: {"type": "string"} for name in ("type", "nullable", "items", "any_of")}}

    assert given == _read(given)


def test_members_in_snake_case_are_members() -> None:
    """Gemini's libraries write `any_of` and counts as text."""
    given = {"properties": {"a": {"any_of": [{"type": "ARRAY", "min_items": "2"}, {"type": "INT"}]}}}
    means = {"properties": {"a": {"anyOf": [{"type": "array", "minItems": 2}, {"type": "integer"}]}}}

    assert means == _read(given)


REMOTE = ["https://example.org/port.json", "file:///port.json", "port.json#/a", "urn:x:port", "Port"]


@pytest.mark.parametrize("position", POSITIONS)
def test_who_refers_to_another_document_is_unchecked_alone(
    position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a tool accepts any arguments, `unchecked` names the reference; others are checked, nothing is fetched."""
    monkeypatch.setattr(socket, "socket", None)
    for reference in REMOTE:
        given = _at(POSITIONS[position], {"$ref": reference})
        tools = Tools({"f": given, "g": {"required": ["a"]}})
        checks = [tools.check_of(name) for name in ("f", "g")]

        assert ["f"] == list(tools.unchecked)
        assert tools.unchecked["f"].endswith(
            f".$ref: {reference!r} is not part of its schema, and nothing is fetched"
        )
        assert {} == checks[0]({})  # type: ignore[misc]
        assert "at $: the required member `a` is missing" == checks[1]({}).detail  # type: ignore[misc]
        assert given == tools.schema_of("f")


def test_what_is_another_document() -> None:
    """An `$id` inside of the schema makes none; an unknown vocabulary is one, a dynamic reference may be."""
    own = {"$id": "https://e.org/t", "$defs": {"p": {"$id": "p", "type": "int"}}}
    inner = Tools({"f": {**own, "properties": {"a": {"$ref": "p"}}}})
    meta = Tools({"f": {"$schema": "https://e.org/words"}, "g": {"name": "g"}})

    assert ({}, "schema") == (inner.unchecked, _reason(inner, '{"a": "x"}'))
    assert {
        "f": "at $.$schema: 'https://e.org/words' is not part of its schema, and nothing is fetched"
    } == meta.unchecked
    assert ["f"] == list(Tools({"f": {"$dynamicRef": "https://e.org/a"}, "g": {}}).unchecked)


def _reason(tools: Tools[Any], raw: str) -> str | None:
    return parse_arguments(raw, tool=Tool(tools.schema_of("f"), "f")).reason


def test_the_page_has_every_name() -> None:
    """Each name of a type is in the table of the page."""
    page = Path(__file__).parents[2].joinpath("docs", "tools.md").read_text("utf-8")
    json_types = {"string", "integer", "number", "boolean", "array", "object", "null"}

    assert [] == [name for name in TYPES if name not in json_types and f"`{name}`" not in page]
