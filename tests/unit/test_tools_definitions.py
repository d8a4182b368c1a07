"""Tools as a request lists them: calls are checked against the same definitions that the model is given."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, TypedDict

import msgspec
import pydantic
import pytest

from tests.support.together import together
from wholecall import Tools, UnknownDialect
from wholecall.calls.tools.described import SHAPES
from wholecall.calls.tools.misfit import Misfit


class Tide(msgspec.Struct):
    """The tide at a port."""

    port: str
    hours: list[int] = []


class Ship(msgspec.Struct):
    """A ship and its tides."""

    tides: list[Tide]


class Crew(pydantic.BaseModel):
    """Who is aboard."""

    port: str


@dataclasses.dataclass
class Dock:
    """The place to moor."""

    port: str


class Buoy(TypedDict):
    """A mark."""

    port: str


def sail(port: str, knots: float = 5.0) -> None:
    """Set a course."""


SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
WIRE = {"type": "function", "function": {"name": "wire", "description": "Send.", "parameters": SCHEMA}}
FORMS: list[Any] = [Tide, Crew, Dock, Buoy, sail, WIRE]
SAID = ["The tide at a port.", "Who is aboard.", "The place to moor.", "A mark.", "Set a course.", "Send."]


@pytest.mark.slow
@together("shape", sorted(SHAPES))
def test_what_is_listed_takes_what_the_tools_take(shape: str) -> None:
    """Definitions in each shape, read again as a provider's, accept and refuse the same arguments."""
    tools = Tools(FORMS)
    again = Tools(json.loads(json.dumps(tools.definitions(shape))))

    assert list(tools) == list(again)
    for name in tools:
        for arguments, fits in (({"port": "Brest"}, True), ({}, False), ({"port": 1}, False)):
            found = [held.check_of(name)(dict(arguments)) for held in (tools, again)]  # type: ignore[misc]
            assert [fits, fits] == [not isinstance(value, Misfit) for value in found], (name, arguments)


def _definitions(shape: str) -> list[dict[str, Any]]:
    listed = Tools(FORMS).definitions(shape)
    return listed[0]["functionDeclarations"] if shape == "gemini" else listed  # type: ignore[no-any-return]


def test_descriptions_are_docstrings_or_those_of_definitions() -> None:
    """They are next to the schema, and not in it."""
    listed = [entry["function"] for entry in _definitions("openai")]

    assert SAID == [entry["description"] for entry in listed]
    assert [False] * 6 == ["description" in entry["parameters"] for entry in listed]
    assert "description" not in Tools({"f": {"type": "object"}}).definitions("anthropic")[0]


@pytest.mark.parametrize(
    ("shape", "members"),
    [
        ("openai", {"type", "function"}),
        ("responses", {"type", "name", "description", "parameters"}),
        ("anthropic", {"name", "description", "input_schema"}),
        ("gemini", {"name", "description", "parametersJsonSchema"}),
        ("mcp", {"name", "description", "inputSchema"}),
    ],
)
def test_each_shape_has_its_members(shape: str, members: set[str]) -> None:
    """Providers refuse members that they do not know."""
    assert [members] * 6 == [set(entry) for entry in _definitions(shape)]


def test_types_within_types_are_defined_beside_the_root() -> None:
    """Requests want an object at the root, not a reference to one."""
    (ship,) = Tools([Ship]).definitions("anthropic")
    schema = ship["input_schema"]

    assert ("object", ["Tide"]) == (schema["type"], list(schema["$defs"]))
    assert {"$ref": "#/$defs/Tide"} == schema["properties"]["tides"]["items"]


def test_a_name_that_was_given_beside_a_form_is_the_tools() -> None:
    """A mapping gives names; a `TypeAdapter` has no name."""
    tools = Tools({"moor": Dock, "check": pydantic.TypeAdapter(dict[str, int]), "any": WIRE})

    assert ["moor", "check", "any"] == [entry["name"] for entry in tools.definitions("mcp")]
    assert tools.definitions("mcp") == Tools(tools).definitions("mcp")


def test_an_unknown_shape_is_a_callers_mistake() -> None:
    """The message lists the valid choices."""
    with pytest.raises(
        UnknownDialect, match="there is no shape 'antropic' of tools; did you mean 'anthropic'"
    ):
        Tools(FORMS).definitions("antropic")
