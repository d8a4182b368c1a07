"""Checks by pydantic: models, its own dataclasses, and `TypeAdapter`s, recognized by their shape.

Theory of operation. Strictness is one rule for all kinds of tools: a value of another type does not fit, and is read as
the wanted type only on request: by the policy (`fit` does that, for all kinds), or by the form itself. Arguments are
validated as JSON in pydantic's strict mode, where dates and enums are texts and a tuple is an array, as with msgspec. A
form that says `strict=False`, in its configuration, in a field, or in those of a model inside, has decided for itself:
its own rules apply. A value that they accept and strict mode refuses is a coercion, and its places are reported.

pydantic's errors are lists. Only the part about the type is reported; the rest may quote the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, get_args

from wholecall.calls.tools import misfit
from wholecall.discreet import compact

# The types of pydantic's errors that say which type a string should have been.
_JSON_TYPES = (
    (re.compile(r"int_"), "integer"),
    (re.compile(r"float_"), "number"),
    (re.compile(r"(dict|model|dataclass|mapping|typed_dict)_"), "object"),
    (re.compile(r"(list|tuple|set|frozen_set|iterable)_"), "array"),
)
# Errors whose messages mention only the type; others may quote the arguments.
_OPEN = re.compile(
    r"missing|extra_forbidden|(int|float|bool|string|list|tuple|set|dict|model|dataclass|none|bytes)_(type|required)"
    r"|(int|float|bool)_parsing|int_from_float|finite_number|(greater|less)_than(_equal)?|multiple_of|(too|string_too)_"
    r"(short|long)|string_pattern_mismatch|literal_error|enum"
)
_MOST = 5  # misfits that are listed: a model corrects them all at once


def validator_of(form: Any) -> Validator | None:
    """Return the validator of a form that validates by itself, None for any other form."""
    own: Any = getattr(form, "__pydantic_validator__", None) if isinstance(form, type) else None
    for holder, names in (
        (form if isinstance(form, type) else None, ("model_validate", "model_validate_json")),  # a model
        (own, ("validate_python", "validate_json")),  # of a dataclass
        (None if isinstance(form, type) else form, ("validate_python", "validate_json")),  # a `TypeAdapter`
    ):
        of_value, of_json = (getattr(holder, name, None) for name in names)
        if callable(of_value) and callable(of_json):
            return Validator(form, of_value, of_json)
    return None


class Validator:
    """Validates arguments by a form of pydantic's.

    Args:
        form: the form.
        of_value: its method that takes a value.
        of_json: its method that takes JSON.
    """

    __slots__ = ("_is_declared", "_is_lax", "_of_json", "_of_value")

    def __init__(self, form: Any, of_value: Callable[..., Any], of_json: Callable[..., Any]) -> None:
        self._of_value, self._of_json = of_value, of_json
        self._is_lax = cache(lambda: _says_lax(form))  # asked late: names in a model may be resolved late
        self._is_declared = misfit.declared_in(lambda: _schema_of(form))

    def check(self, arguments: dict[str, Any]) -> Any:
        """Return the value of the arguments, a `Coerced` value, or a `Misfit`."""
        try:
            value, paths = self.validated(arguments)
        except misfit.REFUSALS as error:
            return self._misfit(error, arguments)
        return misfit.Coerced(value, paths) if paths else value

    def validated(self, value: Any) -> tuple[Any, tuple[misfit.Path, ...]]:
        """Return the converted value, and the places where a coercion was needed.

        Raises:
            Exception: pydantic's, or that of a validator of the form's; the value does not fit.
        """
        text = _json_of(value)
        if not self._is_lax():
            return self._validate(value, text, strict=True), ()
        made = self._validate(value, text, strict=None)
        try:
            self._validate(value, text, strict=True)
        except misfit.REFUSALS as error:
            places = dict.fromkeys(_existing(value, tuple(one["loc"])) for one in _errors(error))
            return made, tuple(places)
        return made, ()

    def _validate(self, value: Any, text: bytes | None, *, strict: bool | None) -> Any:
        return self._of_value(value, strict=strict) if text is None else self._of_json(text, strict=strict)

    def _misfit(self, error: Exception, arguments: dict[str, Any]) -> misfit.Misfit:
        found = _errors(error)
        if not found:
            return misfit.refused(error)
        said = [
            f"at {misfit.shown(one['loc'], self._is_declared)}: {one['msg'] if _OPEN.fullmatch(one['type']) else one['type']}"
            for one in found[:_MOST]
        ]
        return misfit.Misfit("; ".join(said), tuple(_wants(found, arguments)))


def _json_of(value: Any) -> bytes | None:
    """Return a value as JSON, None for one with half a surrogate pair, which pydantic does not accept in JSON."""
    try:
        return compact(value).encode()
    except UnicodeEncodeError:
        return None


def _says_lax(form: Any) -> bool:
    """Return whether a form says `strict=False` anywhere: in a configuration, in a field or in a field's parts."""
    waiting: list[Any] = [form]
    seen: set[int] = set()
    for part in waiting:  # it grows on the way
        if id(part) in seen:
            continue
        seen.add(id(part))
        configs = (getattr(part, name, None) for name in ("model_config", "__pydantic_config__", "_config"))
        if any(isinstance(config, Mapping) and config.get("strict") is False for config in configs):
            return True
        if not isinstance(part, type) and getattr(part, "strict", None) is False:  # in an `Annotated`
            return True
        waiting += get_args(part)
        waiting += (getattr(part, "_type", None),)  # of a `TypeAdapter`
        for field in _fields(part).values() if isinstance(part, type) else ():
            waiting += (field.annotation, *field.metadata)
    return False


def _fields(form: type) -> Mapping[str, Any]:
    """Return the fields of a model, or of a dataclass of pydantic's."""
    found: Any = getattr(form, "model_fields", None) or getattr(form, "__pydantic_fields__", None)
    return found if isinstance(found, Mapping) else {}


def _schema_of(form: Any) -> Any:
    """Return the JSON Schema of a form, an empty one if it has none."""
    for name in ("model_json_schema", "json_schema"):  # of a model, of a `TypeAdapter`
        if callable(made := getattr(form, name, None)):
            try:
                return made()
            except misfit.REFUSALS:  # a type that JSON Schema cannot describe
                return {}
    return {}


def _errors(error: Exception) -> list[Any]:
    """Return the errors that pydantic lists; nothing for another exception."""
    errors: Any = getattr(error, "errors", None)
    if not callable(errors):
        return []
    found: Any = errors(include_url=False, include_context=False, include_input=False)
    return list(found)


def _wants(found: Iterable[Any], arguments: dict[str, Any]) -> Iterator[misfit.Want]:
    for one in found:
        for pattern, json_type in _JSON_TYPES:
            if pattern.match(one["type"]):
                yield misfit.Want(_existing(arguments, tuple(one["loc"])), frozenset({json_type}))


def _existing(value: Any, path: misfit.Path) -> misfit.Path:
    """Return the existing beginning of a path: pydantic's paths continue with the names of types in a union."""
    for length, part in enumerate(path):
        in_object = isinstance(value, dict) and part in value
        in_array = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if not (in_object or in_array):
            return path[:length]
        at: Any = value
        value = at[part]
    return path
