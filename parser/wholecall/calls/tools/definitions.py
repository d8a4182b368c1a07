"""Read names and JSON Schemas from tool definitions in the shapes that providers take.

Theory of operation. Shapes differ in the wrapper of a definition and in the key of its schema; there is a table for
each. A definition without a name is a tool that the provider defines; nothing is checked then.

Sources: the request references of OpenAI (Chat Completions `tools[].function`, Responses `tools[]`), Anthropic
(`input_schema`), Gemini (`functionDeclarations[].parameters` with upper-case types, `parametersJsonSchema`),
Amazon Bedrock (`toolSpec.inputSchema.json`), Cohere v1 (`parameter_definitions`), and the Model Context Protocol
(`inputSchema`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from wholecall.calls.tools.spelling import TYPES, type_named

_LISTS = ("function_declarations", "functionDeclarations", "tools")
_WRAPPERS = ("function", "custom", "toolSpec", "tool_spec")
_SCHEMAS = (
    *("input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "parameters"),
    "parameter_definitions",
)

Definition = Mapping[str, Any]


def is_definition(described: Definition) -> bool:
    """Return whether this is the definition of a tool, not the JSON Schema of its arguments."""
    return any(isinstance(described.get(key), (Mapping, list)) for key in (*_LISTS, *_WRAPPERS, *_SCHEMAS))


class Defined(NamedTuple):
    """The definition of one tool; None where it has no schema, or no description."""

    name: str
    schema: Any
    description: str | None


def definitions(described: Definition) -> Iterator[Defined]:
    """Yield each tool in a definition.

    Raises:
        TypeError: there is neither a name nor a type: this is not a shape that a provider takes.
    """
    for key in _LISTS:
        for inner in described.get(key) or ():
            yield from definitions(inner)
        if key in described:
            return
    inner = _unwrapped(described)
    name = inner.get("name")
    if isinstance(name, str) and name:
        yield Defined(name, schema_of(inner), text_of(inner))
    elif described.get("type") in (None, "function", "object"):
        raise TypeError(
            "a tool definition has no name; give plain JSON Schemas as a mapping: tools={'name': schema}"
        )


def defined(described: Definition, name: str) -> Defined:
    """Return the tool of a definition under a name that was given separately."""
    return Defined(name, schema_of(described), text_of(_unwrapped(described)))


def text_of(described: Definition) -> str | None:
    """Return a description, None if there is none."""
    said = described.get("description")
    return said if isinstance(said, str) else None


def _unwrapped(described: Definition) -> Definition:
    return next((described[key] for key in _WRAPPERS if isinstance(described.get(key), Mapping)), described)


def schema_of(described: Definition) -> Any:
    """Return the schema of a definition's arguments as written, None if it has none."""
    inner = _unwrapped(described)
    for key in _SCHEMAS:
        schema = inner.get(key)
        if schema is None:
            continue
        if key == "parameter_definitions":
            return _from_parameters(schema)
        wrapped = schema.get("json") if isinstance(schema, Mapping) and len(schema) == 1 else None
        return wrapped if isinstance(wrapped, Mapping) else schema
    return None


# --- Cohere v1 ----------------------------------------------------------------------------------------------


def _from_parameters(parameters: Any) -> dict[str, Any]:
    """Return the JSON Schema for `{"port": {"type": "str", "required": true}}`."""
    named = parameters.items() if isinstance(parameters, Mapping) else ()
    known = {name: TYPES.get(type_named(str(parameter.get("type", "")))) for name, parameter in named}
    required = [name for name, parameter in named if parameter.get("required") is True]
    properties = {name: {"type": json_type} if json_type else {} for name, json_type in known.items()}
    return {"type": "object", "properties": properties, "required": required}
