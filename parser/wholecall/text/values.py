"""The type of a raw value between tags: the format's, else one that the tool's schema allows.

Theory of operation. A `Schema` answers which kinds of JSON value a tool allows for a key. It reads the words that state
a type and leaves the rest of JSON Schema to the tool's check. References and alternatives are followed within bounds,
so that a schema that contains itself ends. `typed` turns a raw text into a value by these kinds, one rule for each
case: where a string is allowed the text itself counts, unless it spells one of the others; where none is, the text is
read as JSON, then as Python. Nothing here raises for text that a model wrote: text that no rule reads stays raw, and
the tool's check drops the call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, Final

import msgspec

from wholecall.calls.arguments import equal, tokens
from wholecall.calls.tools.spelling import TYPES, target, type_named
from wholecall.text.python_values import DEEPEST, NotPython, python_value

Kinds = frozenset[str]  # of `string integer number boolean object array null`; none: nothing is known

_TYPES: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}
_MISSING: Final = object()

# --- kinds that a schema allows -----------------------------------------------------------------------------

_NONE: Final = Kinds()
_LINKS = 8  # references on one path
_LEVELS = 64  # of schemas within schemas, without those of members
_NODES = 1000  # that one question visits


def _listed(node: dict[str, Any], key: str) -> list[Any]:
    value = node.get(key)
    return value if isinstance(value, list) else []


def _named(name: Any) -> str | None:
    """Return the kind of JSON that a type's name means, also for `list[str]` and `STRING`."""
    return TYPES.get(type_named(name)) if isinstance(name, str) else None


def _stated(node: dict[str, Any]) -> Iterator[Kinds]:
    """Yield the kinds that each word of a schema allows, each a separate bound."""
    said = node.get("type")
    types = frozenset(filter(None, map(_named, said if isinstance(said, list) else [said])))
    constants = [*_listed(node, "enum"), *([node["const"]] if "const" in node else [])]
    if types:
        yield types
    if constants:
        yield frozenset(_TYPES[type(value)] for value in constants if type(value) in _TYPES)
    if types or constants:
        return
    if isinstance(node.get("properties"), dict):
        yield frozenset({"object"})
    if "items" in node or "prefixItems" in node:
        yield frozenset({"array"})


def _both(one: Kinds, other: Kinds) -> Kinds:
    """Return the kinds that both allow; an integer is a number."""
    mixed = {"integer"} if {"integer", "number"} <= one | other else set[str]()
    return (one & other) | (mixed & (one ^ other))


class _Walk:
    """Answers one question about a schema, looking at a bounded number of schemas."""

    __slots__ = ("left", "root")

    def __init__(self, root: Any) -> None:
        self.root = root
        self.left = _NODES

    def _enter(self, node: Any, links: int, level: int) -> dict[str, Any] | None:
        """Return the schema if it has content, and may be visited."""
        self.left -= 1
        bounded = self.left >= 0 and links <= _LINKS and level <= _LEVELS
        return node if bounded and isinstance(node, dict) else None

    def _joined(self, node: dict[str, Any], links: int) -> Iterator[tuple[Any, int]]:
        """Yield the schemas that apply in addition to this one, with the references on the way."""
        if isinstance(node.get("$ref"), str):
            yield target(self.root, node["$ref"]), links + 1
        for inner in _listed(node, "allOf"):
            yield inner, links

    def kinds(self, node: Any, links: int = 0, level: int = 0) -> Kinds | None:
        """Return the kinds that a schema allows, None if nothing is known."""
        if node is False:
            return _NONE
        schema = self._enter(node, links, level)
        if schema is None:
            return None
        bounds: list[Kinds | None] = [*_stated(schema)]
        bounds += [self.kinds(inner, deeper, level + 1) for inner, deeper in self._joined(schema, links)]
        for key in ("anyOf", "oneOf"):
            if branches := _listed(schema, key):
                bounds.append(_either([self.kinds(branch, links, level + 1) for branch in branches]))
        known = [bound for bound in bounds if bound is not None]
        return reduce(_both, known) if known else None

    def names(self, node: Any, links: int = 0, level: int = 0) -> Iterator[str]:
        """Yield the names of the members that a schema lists."""
        schema = self._enter(node, links, level)
        if schema is None:
            return
        if isinstance(schema.get("properties"), dict):
            yield from schema["properties"]
        for inner, deeper in self._joined(schema, links):
            yield from self.names(inner, deeper, level + 1)
        for branch in (*_listed(schema, "anyOf"), *_listed(schema, "oneOf")):
            yield from self.names(branch, links, level + 1)

    def part(
        self, node: Any, pick: Callable[[dict[str, Any]], list[Any]], links: int = 0, level: int = 0
    ) -> Any:
        """Return the schema of a part that `pick` finds in a schema, joined from all that describe it."""
        schema = self._enter(node, links, level)
        if schema is None:
            return None
        found = pick(schema)
        joined = [self.part(inner, pick, deeper, level + 1) for inner, deeper in self._joined(schema, links)]
        branches = [
            self.part(branch, pick, links, level + 1)
            for branch in (*_listed(schema, "anyOf"), *_listed(schema, "oneOf"))
        ]
        found = [part for part in (*found, *joined, _one_of(branches, "anyOf")) if part is not None]
        return _one_of(found, "allOf")


def _either(branches: list[Kinds | None]) -> Kinds | None:
    """Return the kinds that alternatives allow together: any kind, if one alternative is unknown."""
    known = [branch for branch in branches if branch is not None]
    return _NONE.union(*known) if len(known) == len(branches) else None


def _one_of(parts: list[Any], word: str) -> Any:
    known = [part for part in parts if part is not None]
    return {word: known} if len(known) > 1 else known[0] if known else None


class Schema:
    """A tool's JSON Schema, or the part of it for one value: which kinds of value does it allow?

    Attributes:
        properties: the names of members that it lists; empty if it lists none.
        allowed: the kinds of this value; empty if nothing is known.
    """

    __slots__ = ("_document", "_each", "_node", "_parts", "allowed", "properties")

    def __init__(self, schema: dict[str, Any] | bool | None, document: Any = _MISSING) -> None:
        """Read a tool's schema, or a part of one, whose references are read in the whole `document`."""
        self._node = schema
        self._document = schema if document is _MISSING else document
        self._parts: dict[str, Schema] = {}  # of listed names, so that keys of a text cannot fill it
        self._each: Schema | None = None
        self.allowed: Kinds = _Walk(self._document).kinds(schema) or _NONE
        self.properties: frozenset[str] = frozenset(_Walk(self._document).names(schema))

    def _within(self, pick: Callable[[dict[str, Any]], list[Any]]) -> Schema:
        return Schema(_Walk(self._document).part(self._node, pick), self._document)

    def kinds(self, key: str) -> Kinds:
        """Return the kinds of the member `key`; empty if nothing is known."""
        return self.of(key).allowed

    def of(self, key: str) -> Schema:
        """Return the schema of the member `key`."""
        if key not in self.properties:
            return self._within(lambda node: [node.get("additionalProperties")])
        if key not in self._parts:
            self._parts[key] = self._within(lambda node: [_mapped(node, "properties").get(key)])
        return self._parts[key]

    @property
    def items(self) -> Schema:
        """The schema of the elements of an array; one for all of them."""
        if self._each is None:
            self._each = self._within(lambda node: [_items(node)])
        return self._each


def _mapped(node: dict[str, Any], key: str) -> dict[str, Any]:
    value = node.get(key)
    return value if isinstance(value, dict) else {}


def _items(node: dict[str, Any]) -> Any:
    """Return the schema that any element has to fit, at any index."""
    said = node.get("items")
    later = said if isinstance(said, list) else [] if said is None else [said]
    return _one_of([*_listed(node, "prefixItems"), *later], "anyOf")


# --- from a raw text to a value ----------------------------------------------------------------------------

_decode = msgspec.json.Decoder().decode
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_STRING: Final = Kinds({"string"})
_NULLS = frozenset({"null", "None"})
_BOOLEANS: Final = {"true": True, "false": False}
_WORDS: Final = {"True": True, "False": False, "None": None}
_CONTAINERS: Final[dict[str, type]] = {"{": dict, "[": list}
_WHOLE = re.compile(r"([+-]?[0-9][0-9_]*)\.[0_]*")
_EXACT = 2**53  # up to here a float is the number that was written


def written(value: Any) -> str:
    """Return the compact JSON of a value; text and the digits of integers stay as they are."""
    return _encode(value)


def typed(raw: str, kinds: Kinds, *, max_depth: int | None) -> Any:
    """Return the value of a raw text where a schema allows these kinds; the text itself where none fits."""
    if kinds == _STRING:
        return raw
    rule = _beside_strings if "string" in kinds else _as_code if kinds else _by_itself
    return rule(raw, kinds, max_depth)


def self_typed(raw: str, name: str, kinds: Kinds, *, max_depth: int | None) -> Any:
    """Return the value of a raw text whose format names its type; an unknown name leaves it to the schema."""
    kind = _named(name)
    if kind is None:
        return typed(raw, kinds, max_depth=max_depth)
    return _whole(typed(raw, frozenset({kind}), max_depth=max_depth), raw, kinds)


def json_typed(raw: str, kinds: Kinds, *, max_depth: int | None) -> Any:
    """Return the value of a raw text that its format calls JSON; text that is not JSON is left to the schema."""
    value = _json(raw.strip(), max_depth)
    return typed(raw, kinds, max_depth=max_depth) if value is _MISSING else _whole(value, raw, kinds)


def quoted(raw: str, kinds: Kinds, *, max_depth: int | None) -> Any:
    """Return the value of a raw text that may be a JSON string with its quotes; all other text is left to the schema."""
    value = _json(raw.strip(), max_depth) if raw.strip()[:1] == '"' else _MISSING
    is_meant = type(value) is str and (not kinds or "string" in kinds)
    return value if is_meant else typed(raw, kinds, max_depth=max_depth)


def is_half_quoted(raw: str) -> bool:
    """Return whether a raw text begins or ends with a quote, and is no JSON string: a text, or a slip in a string."""
    text = raw.strip()
    return '"' in (text[:1], text[-1:]) and type(_json(text, None)) is not str


def _beside_strings(raw: str, kinds: Kinds, max_depth: int | None) -> Any:
    """Where a string and other kinds are allowed: return the text, unless it is exactly another kind's spelling."""
    text = raw.strip()
    if "null" in kinds and text in _NULLS:
        return None
    if kinds <= {"string", "null"}:  # JSON cannot be any other kind, and need not be read
        return raw
    value = _json(text, max_depth)
    return value if type(value) is not str and _fits(value, kinds) else raw


def _as_code(raw: str, kinds: Kinds, max_depth: int | None) -> Any:
    """Where no string is allowed: read the text as JSON, else as Python, else as a spelling with only one meaning."""
    text = raw.strip()
    value = _json(text, max_depth)
    strict = value is not _MISSING
    if not strict:
        value = _python(text, max_depth)
    if type(value) is str:
        inner = _json(value.strip(), max_depth)
        held = isinstance(inner, (dict, list)) and _fits(inner, kinds)
        return inner if held else value if strict else raw
    if value is not _MISSING:
        return _whole(value, text, kinds)
    return _BOOLEANS.get(text.lower(), raw) if "boolean" in kinds else raw


def _by_itself(raw: str, _: Kinds, max_depth: int | None) -> Any:
    """Where nothing is known: read JSON, or Python's list, dict or word; a quoted string is the text with quotes."""
    text = raw.strip()
    value = _WORDS.get(text, _MISSING)
    if value is _MISSING:
        value = _json(text, max_depth)
    if value is not _MISSING:
        return raw if type(value) is str else value
    container = _CONTAINERS.get(text[:1])
    if container is None:
        return raw
    value = _python(text, max_depth)
    return value if type(value) is container else raw  # a set in braces may be prose


def _fits(value: Any, kinds: Kinds) -> bool:
    kind = _TYPES.get(type(value))
    return kind in kinds or (kind == "integer" and "number" in kinds)


def _whole(value: Any, text: str, kinds: Kinds) -> Any:
    """Return `3.0` as the integer 3 where no other number is allowed; digits that a float lost come from the text."""
    if type(value) is not float or "integer" not in kinds or "number" in kinds or not value.is_integer():
        return value
    digits = _WHOLE.fullmatch(text.strip())
    if digits is not None:
        return int(digits.group(1))
    return int(value) if abs(value) <= _EXACT else value


def _python(text: str, max_depth: int | None) -> Any:
    try:
        return python_value(text, max_depth=max_depth)
    except NotPython:
        return _MISSING


def _json(text: str, max_depth: int | None) -> Any:
    """Return the value of strict JSON, `_MISSING` for anything else."""
    most = DEEPEST if max_depth is None else max_depth
    if text.count("{") + text.count("[") > most and tokens.nesting(text).depth > most:
        return _MISSING
    try:
        value = _decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return _MISSING
    return _MISSING if "{" in text and _tells_twice(text, value) else value


class _DifferingError(ValueError):
    """A key occurs twice with different values."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and not equal.spelled_alike(found[key], value):
            raise _DifferingError
        found[key] = value
    return found


def _tells_twice(text: str, value: Any) -> bool:
    """Return whether an object in valid JSON has one key with two values; reread only if the decoder lost members."""
    if tokens.members(text) == _count_members(value):
        return False
    try:
        json.loads(text, object_pairs_hook=_unique)
    except _DifferingError:
        return True
    return False


def _count_members(value: Any) -> int:
    count = 0
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            count += len(item)
            item = item.values()
        elif type(item) is not list:
            continue
        stack += item
    return count
