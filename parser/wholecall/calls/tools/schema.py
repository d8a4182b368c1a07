"""Checks by JSON Schema, with the library `jsonschema-rs` of the extra `schema`.

Theory of operation. The library compiles a schema once, of any draft, and answers in well under a microsecond;
it was chosen over `jsonschema` (a hundred times slower) and `fastjsonschema` (old drafts only). Nothing is
ever fetched: a schema that refers to another document checks nothing, and the reason is reported; one with a reference
to a missing part of itself is the caller's mistake. Of the library's errors only the rule and the place are reported,
because its messages quote the arguments.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from wholecall.calls.tools.misfit import Check, Misfit, Want, declared_in, shown
from wholecall.calls.tools.spelling import invalid, unresolved

_MAX_ERRORS = 256  # more than a person reads, and than coercion may mend


class Checked(NamedTuple):
    """A check, and the reason why it checks nothing; an empty text if it checks."""

    check: Check
    unchecked: str = ""


def schema_check(schema: Any, name: str) -> Checked:
    """Return the check by a JSON Schema; the value is the arguments themselves.

    Args:
        schema: the schema; None checks nothing.
        name: the tool's, for errors; empty if no tool has the schema.

    Raises:
        ImportError: the extra `schema` is not installed.
        ValueError: the schema is not valid, or refers to a part of itself that is not there.
    """
    if schema is None:
        return Checked(_anything, "its definition has no schema")
    try:
        import jsonschema_rs as library  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError("a JSON Schema needs the extra: pip install 'wholecall[schema]'") from error
    try:
        validator: Any = library.validator_for(schema, retriever=_refuse)
    except ValueError as error:  # the library's errors are some
        return Checked(_anything, _outside(schema, name, error))
    return Checked(_check_by(validator, schema))


def _anything(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def _outside(schema: Any, name: str, error: Any) -> str:
    """Return the reference that leads out of a schema that the library refused.

    Raises:
        ValueError: it was refused for another reason.
    """
    path, why = tuple(getattr(error, "instance_path", ())), getattr(error, "message", str(error))
    if getattr(getattr(error, "kind", None), "name", None) != "$ref":
        raise invalid(name, path, why) from error
    found = list(unresolved(schema))
    for where, reference in found:
        if reference.startswith("#"):
            raise invalid(name, where, f"{reference!r} points at nothing in it") from error
    if not found:
        raise invalid(name, path, why) from error
    where, reference = found[0]
    return f"at {shown(where)}: {reference!r} is not part of its schema, and nothing is fetched"


def _check_by(validator: Any, schema: Any) -> Check:
    is_declared = declared_in(lambda: schema)

    def check(arguments: dict[str, Any]) -> Any:
        try:
            if validator.is_valid(arguments):
                return arguments
            errors = list(islice(validator.iter_errors(arguments), _MAX_ERRORS))
        except ValueError as error:  # arguments that the library cannot read, such as very deep ones
            return Misfit(f"the arguments cannot be checked: {type(error).__name__}")
        where = shown(errors[0].instance_path, is_declared)
        return Misfit(f"at {where}: {_rule(errors[0])}", tuple(_wants(errors)))

    return check


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not part of the schema, and nothing is fetched")


def _rule(error: Any) -> str:
    """Return the rule that was broken; a missing property and the types are words of the schema."""
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
