"""Rewrite a tool's schema in the words of JSON Schema, from any known spelling.

Theory of operation. People and hosts write schemas in words of Python, OpenAPI 3.0 and Gemini: `float`, `STRING`,
`nullable`, `any_of`, counts as text. One pass over all schemas in a schema spells them as JSON Schema does, so that the
check, requests and the readers of texts see one language. A table lists the members that hold schemas; the content of
any other member (`enum`, `const`, `default`, `examples` …) is data, and is unchanged. The target of a reference is a
schema in any place.

Sources: JSON Schema 2020-12 and draft 7 (which members hold schemas), OpenAPI 3.0.3 (`nullable`), the `Schema` of
Gemini's API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Union
from urllib.parse import unquote

from wholecall.calls.tools.misfit import Path, shown
from wholecall.errors import choices

JSON = dict[str, Any]

_SPELLINGS: Final = {
    "string": "str text char date datetime date-time time duration uuid uri url email bytes binary path",
    "integer": "int long short int32 int64 uint uint32 uint64 bigint",
    "number": "float double decimal float32 float64 real numeric",
    "boolean": "bool",
    "array": "list tuple set sequence",
    "object": "dict map mapping record struct",
    "null": "none nil nonetype",
}

# JSON Schema's name for a type of that name, in lower case; None: any type is allowed.
TYPES: Final[Mapping[str, Union[str, None]]] = MappingProxyType(
    {
        **{name: name for name in _SPELLINGS},
        **{name: json_type for json_type, names in _SPELLINGS.items() for name in names.split()},
        **dict.fromkeys(("any", "unknown", "type_unspecified")),
    }
)
_OF_PARTS = re.compile(r"([a-z]+)\s*\[.+\]", re.DOTALL)  # `list[str]`, `Dict[str, int]`


def type_named(name: str) -> str:
    """Return a type's name as `TYPES` has it, in lower case and without the types of parts."""
    bare = name.strip().casefold()
    parts = _OF_PARTS.fullmatch(bare)
    return parts[1] if parts and TYPES.get(parts[1]) in ("array", "object") else bare


# --- which members hold schemas -----------------------------------------------------------------------------

_COUNTS = (
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
)  # int64 is text
_SNAKE_CASE = {
    re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", key): key
    for key in (*_COUNTS, "anyOf", "prefixItems", "additionalProperties")
}
# A schema, or a list of them.
_HOLDERS = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"),
        *("additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema"),
    }
)
# Schemas by name; in `dependencies` some are lists of names.
_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _schemas(root: JSON) -> Iterator[tuple[Path, JSON]]:
    """Yield each schema of a document once, with its path; none may change before all are found."""
    waiting: list[tuple[Path, Any]] = [((), root)]
    seen: set[int] = set()
    for path, schema in waiting:  # it grows on the way
        if type(schema) is not dict or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield path, schema
        for key, value in schema.items():
            waiting += [((*path, *steps), inner) for steps, inner in _held(key, value)]
        if isinstance(found := schema.get("$ref"), str):
            waiting.append((tuple(_steps(found)), target(root, found)))


def _held(key: str, value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the possible schemas in a member of a schema, with the steps to them."""
    known = _SNAKE_CASE.get(key, key)
    if known in _BY_NAME and type(value) is dict:
        yield from (((key, name), inner) for name, inner in value.items())
    elif known in _HOLDERS and type(value) is list:
        yield from (((key, number), inner) for number, inner in enumerate(value))
    elif known in _HOLDERS:
        yield (key,), value


def _steps(reference: str) -> list[str]:
    parts = unquote(reference[1:]).split("/")[1:]
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def target(root: Any, reference: str) -> Any:
    """Return the target of a JSON pointer (`#/$defs/port`) in a document, None if it has none there."""
    if not reference.startswith("#"):
        return None
    found = root
    for step in _steps(reference):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and re.fullmatch("[0-9]{1,6}", step) and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


def unresolved(schema: Any) -> Iterator[tuple[Path, str]]:
    """Yield the references of a schema that lead out of it, or nowhere (`#/…`), with the path to each."""
    found = list(_schemas(schema)) if type(schema) is dict else []
    ids = {inner["$id"] for _, inner in found if isinstance(inner.get("$id"), str)}
    for path, inner in found:
        for key in _REFERENCES:
            said = inner.get(key)
            if not isinstance(said, str):
                continue
            is_lost = said.startswith("#/") and target(schema, said) is None
            if is_lost or said.partition("#")[0] not in ("", *ids):
                yield (*path, key), said
    if found and isinstance(meta := schema.get("$schema"), str) and "//json-schema.org/" not in meta:
        yield ("$schema",), meta


# --- the pass -----------------------------------------------------------------------------------------------


def json_schema(schema: Any, name: str) -> Any:
    """Return a schema in the words of JSON Schema; the given schema does not change.

    Args:
        schema: a tool's schema; any value other than a mapping or a boolean is returned unchanged.
        name: the tool's, for errors.

    Raises:
        ValueError: a type has a name that is not known, or the schema is too deep to be read.
    """
    try:
        made = _plain(schema)
    except RecursionError as error:
        raise invalid(name, (), "it is nested too deeply") from error
    for path, inner in list(_schemas(made)) if type(made) is dict else ():
        _spell(inner, path, name)
    return made


def invalid(name: str, path: Path, why: str) -> ValueError:
    """Return the error that names the invalid schema, its place, and the reason."""
    whose = f"the JSON Schema of the tool {name!r}" if name else "the JSON Schema"
    return ValueError(f"{whose} is not valid at {shown(path)}: {why}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _spell(schema: JSON, path: Path, name: str) -> None:
    for key, known in _SNAKE_CASE.items():
        if key in schema and known not in schema:
            schema[known] = schema.pop(key)
    for key in _COUNTS:
        if isinstance(count := schema.get(key), str) and count.isdecimal():
            schema[key] = int(count)
    if "type" in schema:
        _spell_type(schema, path, name)
    if schema.pop("nullable", None) is True and path:  # arguments as a whole are an object
        _allow_null(schema)


def _spell_type(schema: JSON, path: Path, name: str) -> None:
    said = schema["type"]
    names: list[Any] = said if isinstance(said, list) else [said]
    if not all(isinstance(one, str) for one in names):
        return  # no type at all: the check reports it
    for one in names:
        if type_named(one) not in TYPES:
            raise invalid(name, (*path, "type"), f"{one!r} names no type; {choices(one, TYPES)}")
    types = list(dict.fromkeys(TYPES[type_named(one)] for one in names))
    if None in types:
        del schema["type"]
    else:
        schema["type"] = types if isinstance(said, list) else types[0]


# Words that may refuse null, and can only be made to accept it from outside.
_REFUSE_NULL = (*_REFERENCES, "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_NULL: Final = {"type": "null"}


def _allow_null(schema: JSON) -> None:
    """Allow null in addition; members keep their place as far as possible, because references point at them."""
    if "type" in schema:
        types = schema["type"]
        schema["type"] = list(dict.fromkeys([*(types if isinstance(types, list) else [types]), "null"]))
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    refusing = {key: schema.pop(key) for key in _REFUSE_NULL if key in schema}
    if list(refusing) == ["anyOf"] and isinstance(refusing["anyOf"], list):
        schema["anyOf"] = [*refusing["anyOf"], dict(_NULL)]
    elif refusing:
        schema["anyOf"] = [refusing, dict(_NULL)]
