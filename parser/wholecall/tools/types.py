"""Checks by types: what msgspec can convert to, pydantic's validators, and the parameters of a function.

Theory of operation. A check is made once per tool and takes the decoded arguments. msgspec states in a sentence
what does not fit and where; only the part about the type is taken over, because the rest of it may quote the
arguments. The same applies to pydantic, whose errors are lists. A validator is foreign code: exceptions of the
kinds below mean that the arguments do not fit, and only the name of the exception is reported. Any other
exception is a fault of that code, and is passed on.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Union, get_type_hints

import msgspec

from wholecall.tools.misfit import ANY_MEMBER, Check, Misfit, Path, Want, declared_in, shown

__all__ = ["function_check", "is_validator", "parameters_of", "type_check", "validator_check"]

_REFUSALS = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError),
    RecursionError,
)
# What msgspec names in messages, as JSON Schema names it; only these can be made of a string.
_JSON_TYPES = {"int": "integer", "float": "number", "object": "object", "array": "array"}
_MESSAGE = re.compile(r"(?P<rule>.*?)(?: - at `(?P<key>key` in `)?\$(?P<path>[^`]*)`)?", re.DOTALL)
_GOT_TEXT = re.compile(r"Expected `([^`]*)`, got `str`")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]")
# Rules that speak of the type alone.
_HARMLESS = ("Expected `", "Object missing required field `", "Invalid RFC3339 encoded ", "Invalid UUID")
_DISCREET = {
    "Object contains unknown field": "a field that the type does not know",
    "Invalid enum value": "none of the values that the type allows",
    "Invalid value": "no tag that the type knows",
}


def type_check(type_: Any) -> Check:
    """Return the check by a type that msgspec knows: a Struct, a dataclass, a TypedDict, a mapping.

    Raises:
        TypeError: msgspec does not know the type, cannot resolve its annotations, or no JSON object can fit it.
    """
    try:
        info = msgspec.inspect.type_info(type_)
    except NameError as error:
        raise TypeError(f"the annotations of {type_!r} cannot be resolved: {error}") from error
    takes_objects = isinstance(info, _OBJECTS) and not getattr(info, "array_like", False)
    if not takes_objects:
        raise TypeError(
            f"{type_!r} is not a type that a JSON object can fit; use a Struct, dataclass or TypedDict"
        )
    msgspec.json.Decoder(type_, dec_hook=_foreign)  # what msgspec cannot check raises here

    def check(arguments: dict[str, Any]) -> Any:
        try:
            return msgspec.convert(arguments, type_, dec_hook=_foreign, str_keys=True)
        except msgspec.ValidationError as error:
            return _misfit(error)
        except _REFUSALS as error:
            return _refused(error)

    return check


_OBJECTS = (
    msgspec.inspect.StructType,
    msgspec.inspect.DataclassType,
    msgspec.inspect.TypedDictType,
    msgspec.inspect.DictType,
    msgspec.inspect.UnionType,
)


def _refused(error: BaseException) -> Misfit:
    return Misfit(f"the tool's own check raised {type(error).__name__}")


def _misfit(error: msgspec.ValidationError) -> Misfit:
    if error.__cause__ is not None:  # raised by a hook of the type: its words may be anything
        return _refused(error.__cause__)
    match = _MESSAGE.fullmatch(str(error))
    assert match is not None
    rule, is_key = match["rule"], match["key"] is not None
    path = _path(match["path"] or "")
    got_text = _GOT_TEXT.fullmatch(rule)
    wants: tuple[Want, ...] = ()
    if got_text and not is_key:
        types = frozenset(_JSON_TYPES[name] for name in got_text[1].split(" | ") if name in _JSON_TYPES)
        wants = (Want(path, types),)
    return Misfit(f"at {shown(path)}: {_rule(rule)}", wants)


def _path(text: str) -> Path:
    parts = _PART.finditer(text)
    return tuple(part[1] or (int(part[2]) if part[2] else ANY_MEMBER) for part in parts)


def _rule(rule: str) -> str:
    if rule.startswith(_HARMLESS):
        return rule
    return next((said for begins, said in _DISCREET.items() if rule.startswith(begins)), "it does not fit")


# --- pydantic, by the shape of its objects ----------------------------------------------------------------


def is_validator(form: object) -> bool:
    """Whether the form validates by itself: a pydantic model or dataclass, or a `TypeAdapter`."""
    return _validate_with(form) is not None


def _validate_with(form: Any) -> Callable[[Any], Any] | None:
    if isinstance(form, type):
        own: Any = getattr(form, "__pydantic_validator__", None)  # of a dataclass
        validate: Any = getattr(form, "model_validate", None) or getattr(own, "validate_python", None)
    else:
        validate = getattr(form, "validate_python", None)
    return validate if callable(validate) else None


def _foreign(type_: type, value: Any) -> Any:
    """Convert what msgspec meets inside a type and does not know itself."""
    validate = _validate_with(type_)
    if validate is None:
        raise TypeError(f"{type_!r} is not a type that msgspec or pydantic can check")
    return validate(value)


def validator_check(form: Any) -> Check:
    """Return the check by a form of which `is_validator` holds; its own rules decide what fits."""
    validate = _validate_with(form)
    assert validate is not None
    is_declared = declared_in(lambda: _schema_of(form))

    def check(arguments: dict[str, Any]) -> Any:
        try:
            return validate(arguments)
        except _REFUSALS as error:
            return _listed(error, is_declared)

    return check


def _schema_of(form: Any) -> Any:
    """Return the JSON Schema of a form, an empty one if it has none."""
    for name in ("model_json_schema", "json_schema"):  # of a model, of a `TypeAdapter`
        if callable(made := getattr(form, name, None)):
            try:
                return made()
            except _REFUSALS:  # a type that JSON Schema cannot say
                return {}
    return {}


# The types of pydantic's errors that say what a string should have been.
_PYDANTIC = (
    (re.compile(r"int_"), "integer"),
    (re.compile(r"float_"), "number"),
    (re.compile(r"(dict|model|dataclass|mapping|typed_dict)_"), "object"),
    (re.compile(r"(list|tuple|set|frozen_set|iterable)_"), "array"),
)


# Those whose messages speak of the type alone; others may quote the arguments.
_OPEN = re.compile(
    r"missing|extra_forbidden|(int|float|bool|string|list|tuple|set|dict|model|dataclass|none|bytes)_(type|required)"
    r"|(int|float|bool)_parsing|int_from_float|finite_number|(greater|less)_than(_equal)?|multiple_of|(too|string_too)_"
    r"(short|long)|string_pattern_mismatch|literal_error|enum"
)
_MOST = 5  # misfits that are listed: a model mends them all at once


def _listed(error: Exception, is_declared: Callable[[str], bool]) -> Misfit:
    errors: Any = getattr(error, "errors", None)
    if not callable(errors):
        return _refused(error)
    found: Any = errors(include_url=False, include_context=False, include_input=False)
    wants = tuple(
        Want(tuple(one["loc"]), frozenset({json_type}))
        for one in found
        for pattern, json_type in _PYDANTIC
        if pattern.match(one["type"])
    )
    said = [
        f"at {shown(one['loc'], is_declared)}: {one['msg'] if _OPEN.fullmatch(one['type']) else one['type']}"
        for one in found[:_MOST]
    ]
    return Misfit("; ".join(said) or "at $: it does not fit", wants)


# --- functions ----------------------------------------------------------------------------------------------


def function_check(function: Callable[..., Any]) -> Check:
    """Return the check by a function's annotated parameters; the value is a dict of keyword arguments.

    Raises:
        TypeError: a parameter cannot be given by name, or its annotation cannot be resolved or checked.
    """
    struct = parameters_of(function)
    return _by_name(type_check(struct), struct)


def parameters_of(function: Callable[..., Any]) -> type[msgspec.Struct]:
    """Return a Struct of a function's parameters.

    Raises:
        TypeError: a parameter cannot be given by name, or its annotation cannot be resolved.
    """
    name = getattr(function, "__name__", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = get_type_hints(_annotated(function), include_extras=True)
    except (NameError, ValueError) as error:
        raise TypeError(f"the annotations of {name}() cannot be resolved: {error}") from error
    fields: list[Any] = []
    is_open = False
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"{name}() takes {parameter.name!r} by position only; tools are called by name")
        hint = hints.get(parameter.name, Any)
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
        elif parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, Union[hint, msgspec.UnsetType], msgspec.UNSET))
    return msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=not is_open)


def _annotated(function: Any) -> Any:
    """Return what carries the annotations: a callable object's are its `__call__`'s."""
    return function if inspect.isroutine(function) else function.__call__


def _by_name(check: Check, struct: type[msgspec.Struct]) -> Check:
    names = struct.__struct_fields__

    def check_parameters(arguments: dict[str, Any]) -> Any:
        value = check(arguments)
        if isinstance(value, Misfit):
            return value
        given = {name: getattr(value, name) for name in names if name in arguments}
        return {name: given.get(name, argument) for name, argument in arguments.items()}

    return check_parameters
