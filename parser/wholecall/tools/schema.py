"""Checks by JSON Schema, with the library `jsonschema-rs` of the extra `schema`.

Theory of operation. The library compiles a schema once, of any draft, and answers in well under a microsecond;
it was chosen over `jsonschema` (a hundred times slower) and `fastjsonschema` (old drafts only). Nothing is
ever fetched: a reference that the schema does not resolve itself is the caller's mistake. Of the library's
errors only the rule and the place are reported, because its messages quote the arguments.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from wholecall.tools.misfit import Check, Misfit, Want, declared_in, shown

__all__ = ["schema_check"]

_MAX_ERRORS = 256  # more than anyone reads, and than coercion may mend


def schema_check(schema: dict[str, Any] | bool) -> Check:
    """Return the check by a JSON Schema; the value is the arguments themselves.

    Raises:
        ImportError: the extra `schema` is not installed.
        ValueError: the schema is not valid, or refers to what it does not hold.
    """
    try:
        import jsonschema_rs as library  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(
            "tools described by a JSON Schema need the extra: pip install 'wholecall[schema]'"
        ) from error
    try:
        validator: Any = library.validator_for(schema, retriever=_refuse)
    except ValueError as error:  # the library's errors are some
        raise ValueError(f"a tool's JSON Schema is not valid: {error}") from error
    is_declared = declared_in(lambda: schema)

    def check(arguments: dict[str, Any]) -> Any:
        try:
            if validator.is_valid(arguments):
                return arguments
            errors = list(islice(validator.iter_errors(arguments), _MAX_ERRORS))
        except ValueError as error:  # what the library cannot look at, such as very deep arguments
            return Misfit(f"the arguments cannot be checked: {type(error).__name__}")
        where = shown(errors[0].instance_path, is_declared)
        return Misfit(f"at {where}: {_rule(errors[0])}", tuple(_wants(errors)))

    return check


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not part of the schema, and nothing is fetched")


def _rule(error: Any) -> str:
    """Return which rule was broken; a missing property and the types are words of the schema."""
    kind = error.kind
    if kind.name == "required":
        return f"the required member `{kind.property}` is missing"
    if kind.name == "type":
        return f"it is not of type {' or '.join(f'`{name}`' for name in kind.types)}"
    return f"it breaks the rule `{error.schema_path[-1] if error.schema_path else kind.name}`"


def _wants(errors: list[Any]) -> list[Want]:
    """Return the places where another type was wanted, also those inside of alternatives."""
    wants = []
    for error in errors:  # it grows on the way
        if error.kind.name == "type":
            wants.append(Want(tuple(error.instance_path), frozenset(error.kind.types)))
        for branch in getattr(error.kind, "context", ()):
            errors.extend(branch)
    return wants
