"""Check arguments against their tool; coerce them where a policy allows it.

Theory of operation. A check returns the misfits, and the places with a string instead of another type. With
`Policy(coerce="schema")` those strings are read once more: as nested JSON where an object or array was wanted,
as a number where a number was wanted. Only strict JSON of the wanted type is taken, each change is listed as
an edit, and the result is checked again. Where a tool's own type converts values, the check reports it, and those are
edits, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from wholecall.calls.arguments import strict, tokens
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.calls.tools.misfit import ANY_MEMBER, Check, Coerced, Misfit, Path, Want

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wholecall.limits import Limits
    from wholecall.policy import Policy
    from wholecall.types import EditKind


def fit(verdict: Verdict[Any], raw: str, check: Check, policy: Policy, limits: Limits) -> Verdict[Any]:
    """Return the verdict on readable arguments, now that their tool is known."""
    arguments = cast("dict[str, Any]", verdict.arguments)
    value = check(arguments)
    edits: list[Edit] = []
    while isinstance(value, Misfit) and policy.coerce == "schema":
        changed = [edit for want in value.wants for edit in _mended(arguments, want, raw, policy, limits)]
        edits += changed
        if not changed or (limits.max_edits is not None and len(edits) > limits.max_edits):
            break
        value = check(arguments)
    if isinstance(value, Misfit):
        reason = "empty_arguments" if verdict.status == "empty" else "schema"
        return replace(verdict, status="dropped", arguments=None, edits=(), flags=(), reason=reason,
                       detail=value.detail)  # fmt: skip
    if isinstance(value, Coerced):
        edits += [Edit("coerced", _offset(raw, path)) for path in value.paths]
        value = value.value
    if not edits:
        return replace(verdict, value=value)
    status = "normalised" if verdict.status == "exact" else verdict.status
    in_order = sorted((*verdict.edits, *edits), key=lambda edit: edit.offset)
    return replace(verdict, status=status, edits=tuple(in_order), value=value)


# --- coercion -----------------------------------------------------------------------------------------------

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(_INTEGER.pattern + r"(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _mended(
    arguments: dict[str, Any], want: Want, raw: str, policy: Policy, limits: Limits
) -> Iterator[Edit]:
    """Replace the strings at the wanted place by their values; yield an edit for each."""
    for holder, key, path in _places(arguments, want.path):
        text = holder[key]
        kind = _meaning(text, want.types) if isinstance(text, str) else None
        if kind is None:
            continue
        read = strict.read_strict(text, policy, limits)
        if read.reason is None:
            holder[key] = read.value
            yield Edit(kind, _offset(raw, path))


def _meaning(text: str, types: frozenset[str]) -> EditKind | None:
    """Return the kind of value that the text can be, by its form alone."""
    if "number" in types and _NUMBER.fullmatch(text):
        return "numeric_string"
    if "integer" in types and _INTEGER.fullmatch(text):
        return "numeric_string"
    first = text.lstrip()[:1]
    if (first == "{" and "object" in types) or (first == "[" and "array" in types):
        return "nested_json"
    return None


def _places(arguments: dict[str, Any], path: Path) -> Iterator[tuple[Any, Any, Path]]:
    """Yield (container, key, path) of the values at the path; parts that lead nowhere are left out."""
    found: list[tuple[Any, Path]] = [(arguments, ())]
    for part in path[:-1]:
        found = [(at[key], (*here, key)) for at, here in found for key in _keys(at, part)]
    for at, here in found if path else ():
        for key in _keys(at, path[-1]):
            yield at, key, (*here, key)


def _keys(container: Any, part: str | int | None) -> list[Any]:
    if type(container) is dict:
        return list(container) if part is ANY_MEMBER else [part] if part in container else []
    if type(container) is list and isinstance(part, int) and part < len(container):
        return [part]
    return []


def _offset(raw: str, path: Path) -> int:
    """Return where the value at the path begins, or the string that holds it; 0 if it cannot be found."""
    here: list[Any] = []  # the path to the token; None: a key comes next
    for token in tokens.scan(raw, max(raw.find("{"), 0)) if path else ():
        kind = token.kind
        if kind in ("{", "[", "string", "word") and here and here[-1] is not None:  # a value begins
            if tuple(here) == path or (kind == "string" and tuple(here) == path[: len(here)]):
                return token.start
        elif kind in ("string", "word") and here:
            text = raw[token.start : token.end]
            here[-1] = tokens.plain(text) if kind == "string" else text
        if kind in ("{", "["):
            here.append(None if kind == "{" else 0)
        elif kind in ("}", "]") and here:
            here.pop()
        elif kind == "," and here:
            here[-1] = here[-1] + 1 if type(here[-1]) is int else None
    return 0
