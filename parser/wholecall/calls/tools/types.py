"""Checks by types: those that msgspec can convert to, and the parameters of a function.

Theory of operation. A check is made once per tool and takes the decoded arguments. msgspec states the misfit and its
place in a sentence; only the part about the type is reported, because the rest of it may quote the
arguments. A type inside a type that msgspec does not know is checked as pydantic's (`validators`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Union, get_type_hints

import msgspec

from wholecall.calls.tools import misfit, validators

# JSON Schema's names for the types in msgspec's messages; only these can be made from a string.
_JSON_TYPES = {"int": "integer", "float": "number", "object": "object", "array": "array"}
_MESSAGE = re.compile(r"(?P<rule>.*?)(?: - at `(?P<key>key` in `)?\$(?P<path>[^`]*)`)?", re.DOTALL)
_GOT_TEXT = re.compile(r"Expected `([^`]*)`, got `str`")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]")
# Rules that mention only the type.
_HARMLESS = ("Expected `", "Object missing required field `", "Invalid RFC3339 encoded ", "Invalid UUID")
_DISCREET = {
    "Object contains unknown field": "a field that the type does not know",
    "Invalid enum value": "none of the values that the type allows",
    "Invalid value": "no tag that the type knows",
}


def type_check(type_: Any) -> misfit.Check:
    """Return the check by a type that msgspec knows: a Struct, a dataclass, a TypedDict, a mapping.

    Raises:
        TypeError: msgspec does not know the type, cannot resolve its annotations, or no JSON object can fit it.
    """
    info = _info(type_)
    takes_objects = isinstance(info, _OBJECTS) and not getattr(info, "array_like", False)
    if not takes_objects:
        raise TypeError(
            f"{type_!r} is not a type that a JSON object can fit; use a Struct, dataclass or TypedDict"
        )
    return value_check(type_)


def _info(type_: Any) -> msgspec.inspect.Type:
    try:
        return msgspec.inspect.type_info(type_)
    except NameError as error:
        raise TypeError(f"the annotations of {type_!r} cannot be resolved: {error}") from error


def value_check(type_: Any) -> misfit.Check:
    """Return the check by any type that msgspec knows, whether or not an object fits it.

    Raises:
        TypeError: msgspec does not know the type, or cannot resolve its annotations.
    """
    _info(type_)
    msgspec.json.Decoder(type_, dec_hook=_foreign)  # a type that msgspec cannot check raises here

    def check(arguments: Any) -> Any:
        coerced: list[misfit.Path] = []
        hook = partial(_foreign, coerced=coerced)
        try:
            value = msgspec.convert(arguments, type_, dec_hook=hook, str_keys=True)
        except msgspec.ValidationError as error:
            return _misfit(error)
        except misfit.REFUSALS as error:
            return misfit.refused(error)
        return misfit.Coerced(value, tuple(coerced)) if coerced else value

    return check


def _foreign(type_: type, value: Any, coerced: list[misfit.Path] | None = None) -> Any:
    """Convert a type inside a type that msgspec does not know; note if something was coerced for it."""
    validator = validators.validator_of(type_)
    if validator is None:
        raise TypeError(f"{type_!r} is not a type that msgspec or pydantic can check")
    made, paths = validator.validated(value)
    if coerced is not None and paths:
        coerced.append(())  # msgspec does not report the place
    return made


_OBJECTS = (
    msgspec.inspect.StructType,
    msgspec.inspect.DataclassType,
    msgspec.inspect.TypedDictType,
    msgspec.inspect.DictType,
    msgspec.inspect.UnionType,
)


def _misfit(error: msgspec.ValidationError) -> misfit.Misfit:
    if error.__cause__ is not None:  # raised by a hook of the type: its words may be anything
        return misfit.refused(error.__cause__)
    match = _MESSAGE.fullmatch(str(error))
    assert match is not None
    rule, is_key = match["rule"], match["key"] is not None
    path = _path(match["path"] or "")
    got_text = _GOT_TEXT.fullmatch(rule)
    wants: tuple[misfit.Want, ...] = ()
    if got_text and not is_key:
        types = frozenset(_JSON_TYPES[name] for name in got_text[1].split(" | ") if name in _JSON_TYPES)
        wants = (misfit.Want(path, types),)
    return misfit.Misfit(f"at {misfit.shown(path)}: {_rule(rule)}", wants)


def _path(text: str) -> misfit.Path:
    parts = _PART.finditer(text)
    return tuple(part[1] or (int(part[2]) if part[2] else misfit.ANY_MEMBER) for part in parts)


def _rule(rule: str) -> str:
    if rule.startswith(_HARMLESS):
        return rule
    return next((said for begins, said in _DISCREET.items() if rule.startswith(begins)), "it does not fit")


# --- functions ----------------------------------------------------------------------------------------------


def function_check(function: Callable[..., Any]) -> misfit.Check:
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
    """Return the object with the annotations: for a callable object its `__call__`."""
    return function if inspect.isroutine(function) else function.__call__


def _by_name(check: misfit.Check, struct: type[msgspec.Struct]) -> misfit.Check:
    names = struct.__struct_fields__

    def check_parameters(arguments: dict[str, Any]) -> Any:
        checked = check(arguments)
        if isinstance(checked, misfit.Misfit):
            return checked
        value = checked.value if isinstance(checked, misfit.Coerced) else checked
        given = {name: getattr(value, name) for name in names if name in arguments}
        named = {name: given.get(name, argument) for name, argument in arguments.items()}
        return misfit.Coerced(named, checked.paths) if isinstance(checked, misfit.Coerced) else named

    return check_parameters
