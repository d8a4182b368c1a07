"""Tools as a request lists them: each provider's shape of a name, a description and a JSON Schema.

Theory of operation. A tool is described once, by a type, a function or a schema. Its JSON Schema is msgspec's for the
types that msgspec converts to, pydantic's for its own types, and the given one for definitions. A shape wraps it.

Sources: as in `definitions`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Union, get_origin

import msgspec

from wholecall.calls.tools.definitions import Defined
from wholecall.calls.tools.types import parameters_of

JSON = dict[str, Any]
About = Callable[[], tuple[Union[str, None], JSON]]  # gives a tool's description and its JSON Schema


def about_definition(defined: Defined) -> tuple[str | None, JSON]:
    """Return the content of a definition; a tool without a schema takes any object."""
    return defined.description, {"type": "object"} if defined.schema is None else dict(defined.schema)


def about_form(form: Any) -> tuple[str | None, JSON]:
    """Return the description of a type or a function: its docstring, and the JSON Schema of its arguments.

    Raises:
        TypeError: JSON Schema cannot describe them.
    """
    schema = _schema_of(form)
    schema.pop("title", None)
    said = schema.pop("description", None)
    return inspect.getdoc(form) if inspect.isroutine(form) else said, schema


def _schema_of(form: Any) -> JSON:
    for name in ("model_json_schema", "json_schema"):  # of a pydantic model, of a `TypeAdapter`
        made: Any = getattr(form, name, None)
        if callable(made):
            schema: Any = made()
            return dict(schema)
    if hasattr(form, "__pydantic_validator__"):  # of a dataclass of pydantic's
        from pydantic import TypeAdapter  # noqa: PLC0415 - whoever gives one has it

        return dict(TypeAdapter(form).json_schema())
    is_type = isinstance(form, type) or get_origin(form) is not None
    return _rooted(msgspec.json.schema(form if is_type else parameters_of(form)))


def _rooted(schema: JSON) -> JSON:
    """Return a schema whose root is not a reference: requests want an object there."""
    root = schema.pop("$ref", None)
    if root is None:
        return schema
    parts = schema.pop("$defs")
    inner = parts.pop(root.rpartition("/")[2])
    return {**inner, **({"$defs": parts} if parts else {})}


def _chat(name: str, about: JSON, schema: JSON) -> JSON:
    return {"type": "function", "function": {"name": name, **about, "parameters": schema}}


def _typed(name: str, about: JSON, schema: JSON) -> JSON:
    return {"type": "function", "name": name, **about, "parameters": schema}


def _anthropic(name: str, about: JSON, schema: JSON) -> JSON:
    return {"name": name, **about, "input_schema": schema}


def _converse(name: str, about: JSON, schema: JSON) -> JSON:
    return {"toolSpec": {"name": name, **about, "inputSchema": {"json": schema}}}


def _gemini(name: str, about: JSON, schema: JSON) -> JSON:
    return {"name": name, **about, "parametersJsonSchema": schema}


def _ag_ui(name: str, about: JSON, schema: JSON) -> JSON:
    return {"name": name, "description": "", **about, "parameters": schema}


def _mcp(name: str, about: JSON, schema: JSON) -> JSON:
    return {"name": name, **about, "inputSchema": schema}


def _each(write: Callable[[str, JSON, JSON], JSON]) -> Callable[[Iterable[Listed]], list[Any]]:
    return lambda tools: [write(*tool) for tool in tools]


def _together(tools: Iterable[Listed]) -> list[Any]:
    return [{"functionDeclarations": [_gemini(*tool) for tool in tools]}]


Listed = tuple[str, JSON, JSON]  # a tool's name, its description as a member if it has one, its JSON Schema

SHAPES: Final[Mapping[str, Callable[[Iterable[Listed]], list[Any]]]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *(
                    "chat-completions",
                    "bedrock-invoke-chat-completions",
                    "dashscope",
                    "kimi",
                    "minimax",
                    "mistral",
                ),
                *(
                    "stepfun",
                    "mistral-conversations",
                    "cohere-v2",
                    "bedrock-invoke-cohere-v2",
                    "llama-api",
                    "ollama",
                ),
                "langchain",
            ),
            _each(_chat),
        ),
        **dict.fromkeys(("responses", "openai-realtime", "gemini-interactions", "otel"), _each(_typed)),
        **dict.fromkeys(("anthropic", "bedrock-invoke-anthropic"), _each(_anthropic)),
        **dict.fromkeys(("bedrock-converse", "bedrock-invoke-nova"), _each(_converse)),
        **dict.fromkeys(("gemini", "gemini-live"), _together),
        "ag-ui": _each(_ag_ui),
        "mcp": _each(_mcp),
    }
)
"""How the tools of a request are written, by the names of formats, and for MCP.

Cohere's first version knows no JSON Schema, and a request to xAI in gRPC or from the Vercel AI SDK is no JSON.
"""
