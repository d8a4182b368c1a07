"""One tool described in every form that wholecall takes, for the tests of validated calls.

The tool is `book_berth(port, nights, options)`: `port` is text, `nights` an integer, `options` an object with a
text `side`; all are required. Its neighbour `list_berths` requires nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec
import pydantic
import pydantic.dataclasses
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12


class StructOptions(msgspec.Struct):
    """Options as a Struct."""

    side: str


class AsStruct(msgspec.Struct):
    """The tool as a Struct."""

    port: str
    nights: int
    options: StructOptions


class NothingStruct(msgspec.Struct):
    """The neighbour as a Struct."""

    port: str | None = None


@dataclasses.dataclass
class DataclassOptions:
    """Options as a dataclass."""

    side: str


@dataclasses.dataclass
class AsDataclass:
    """The tool as a dataclass."""

    port: str
    nights: int
    options: DataclassOptions


@dataclasses.dataclass
class NothingDataclass:
    """The neighbour as a dataclass."""

    port: str = ""


class DictOptions(TypedDict):
    """Options as a TypedDict."""

    side: str


class AsTypedDict(TypedDict):
    """The tool as a TypedDict."""

    port: str
    nights: int
    options: DictOptions


class NothingTypedDict(TypedDict, total=False):
    """The neighbour as a TypedDict."""

    port: str


class ModelOptions(pydantic.BaseModel):
    """Options as a model."""

    side: str


class AsModel(pydantic.BaseModel):
    """The tool as a pydantic model; usual, not strict by itself."""

    port: str
    nights: int
    options: ModelOptions


class NothingModel(pydantic.BaseModel):
    """The neighbour as a model."""

    port: str = ""


@pydantic.dataclasses.dataclass
class AsPydanticDataclass:
    """The tool as a pydantic dataclass."""

    port: str
    nights: int
    options: DictOptions


@pydantic.dataclasses.dataclass
class NothingPydanticDataclass:
    """The neighbour as a pydantic dataclass."""

    port: str = ""


def book_berth(port: str, nights: int, options: StructOptions) -> str:
    """Book, for real."""
    return f"{port}: {nights} nights, {options.side}"


def list_berths(port: str = "") -> str:
    """List, for real."""
    return port


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "port": {"type": "string"},
        "nights": {"type": "integer"},
        "options": {"type": "object", "properties": {"side": {"type": "string"}}, "required": ["side"]},
    },
    "required": ["port", "nights", "options"],
}
NOTHING: dict[str, Any] = {"type": "object", "properties": {"port": {"type": "string"}}}
GEMINI: dict[str, Any] = {
    "type": "OBJECT",
    "properties": {
        "port": {"type": "STRING"},
        "nights": {"type": "INTEGER", "format": "int32"},
        "options": {"type": "OBJECT", "properties": {"side": {"type": "STRING"}}, "required": ["side"]},
    },
    "required": ["port", "nights", "options"],
}
COHERE: dict[str, Any] = {
    "port": {"type": "str", "required": True, "description": "where"},
    "nights": {"type": "int", "required": True},
    "options": {"type": "Dict[str, str]", "required": True},
}


class Sdk(pydantic.BaseModel):
    """A tool definition as an SDK's own object, with an alias as the Model Context Protocol's has."""

    name: str
    input_schema: dict[str, Any] = pydantic.Field(alias="inputSchema")


# The tools in the shapes of providers, as a sequence.
DEFINITIONS: dict[str, list[Any]] = {
    "chat": [
        {"type": "function", "function": {"name": "book_berth", "parameters": SCHEMA, "strict": True}},
        {"type": "function", "function": {"name": "list_berths"}},
    ],
    "responses": [
        {"type": "function", "name": "book_berth", "parameters": SCHEMA},
        {"type": "function", "name": "list_berths", "parameters": NOTHING},
        {"type": "web_search"},
    ],
    "anthropic": [
        {"name": "book_berth", "input_schema": SCHEMA},
        {"name": "list_berths", "input_schema": NOTHING},
        {"type": "bash_20250124", "name": "bash"},
    ],
    "gemini": [
        {
            "functionDeclarations": [
                {"name": "book_berth", "parameters": GEMINI},
                {"name": "list_berths", "parametersJsonSchema": NOTHING},
            ]
        },
        {"googleSearch": {}, "type": "provider"},
    ],
    "mcp": [
        {"name": "book_berth", "inputSchema": SCHEMA},
        {"name": "list_berths", "inputSchema": NOTHING},
    ],
    "mcp-objects": [
        Sdk(name="book_berth", inputSchema=SCHEMA),
        Sdk(name="list_berths", inputSchema=NOTHING),
    ],
    "converse": [
        {"toolSpec": {"name": "book_berth", "inputSchema": {"json": SCHEMA}}},
        {"toolSpec": {"name": "list_berths", "inputSchema": {"json": NOTHING}}},
    ],
    "cohere-v1": [
        {"name": "book_berth", "description": "book", "parameter_definitions": COHERE},
        {"name": "list_berths", "description": "list", "parameter_definitions": {}},
    ],
}
# All forms, each as `tools=` takes it.
FORMS: dict[str, Callable[[], Any]] = {
    "struct": lambda: {"book_berth": AsStruct, "list_berths": NothingStruct},
    "dataclass": lambda: {"book_berth": AsDataclass, "list_berths": NothingDataclass},
    "typed-dict": lambda: {"book_berth": AsTypedDict, "list_berths": NothingTypedDict},
    "model": lambda: {"book_berth": AsModel, "list_berths": NothingModel},
    "type-adapter": lambda: {
        "book_berth": pydantic.TypeAdapter(AsModel),
        "list_berths": pydantic.TypeAdapter(NothingModel),
    },
    "pydantic-dataclass": lambda: {
        "book_berth": AsPydanticDataclass,
        "list_berths": NothingPydanticDataclass,
    },
    "function": lambda: [book_berth, list_berths],
    "json-schema": lambda: {"book_berth": SCHEMA, "list_berths": NOTHING},
    **{name: (lambda tools=tools: tools) for name, tools in DEFINITIONS.items()},  # type: ignore[misc]
}
