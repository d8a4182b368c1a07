"""The result of a check of arguments: misfits by place, rule and fitting type, or coercions; never their text.

A check may run foreign code: exceptions of the kinds in `REFUSALS` mean that the arguments do not fit, and only the
name of the exception is reported. Any other exception is a fault of that code, and is passed on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Union

import msgspec

ANY_MEMBER = None  # a part of a path that stands for every member of an object
Path = tuple[Union[str, int, None], ...]


class Want(msgspec.Struct, frozen=True):
    """A place that holds a string where another type was wanted.

    Attributes:
        path: keys and indices from the arguments down.
        types: JSON types that would do there, of `object`, `array`, `integer`, `number`.
    """

    path: Path
    types: frozenset[str]


class Misfit(msgspec.Struct, frozen=True):
    """Why arguments do not fit.

    Attributes:
        detail: a sentence for people; it names declared parts of the tool, never content of the arguments.
        wants: strings that would have to be of another type.
    """

    detail: str
    wants: tuple[Want, ...] = ()


class Coerced(msgspec.Struct, frozen=True):
    """Arguments that fit because the tool's own type converts values.

    Attributes:
        value: the converted arguments.
        paths: the places of such values, each once; empty paths where that is not known.
    """

    value: Any
    paths: tuple[Path, ...]


Check = Callable[[dict[str, Any]], Any]  # the value of the arguments, a `Coerced` value, or a `Misfit`

REFUSALS = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError),
    RecursionError,
)


def refused(error: BaseException) -> Misfit:
    """Return the misfit for an exception of the tool's own check."""
    return Misfit(f"the type's own check raised {type(error).__name__}")


def shown(path: Path, declared: Callable[[str], bool] = lambda _: True) -> str:
    """Return the path as people read it; keys that the tool does not declare are argument text: `[...]`."""

    def part_of(part: str | int | None) -> str:
        if isinstance(part, int):
            return f"[{part}]"
        return f".{part}" if part is not None and declared(part) else "[...]"

    return "$" + "".join(map(part_of, path))


def declared_in(schema: Callable[[], Any]) -> Callable[[str], bool]:
    """Return a function that says whether a JSON Schema declares a name; the schema is read at the first misfit."""

    @cache
    def names() -> frozenset[str]:
        found: set[str] = set()
        waiting: list[Any] = [schema()]
        for part in waiting:  # it grows on the way
            if isinstance(part, dict):
                properties = part.get("properties")
                found.update(properties if isinstance(properties, dict) else ())
                waiting.extend(part.values())
            elif isinstance(part, list):
                waiting.extend(part)
        return frozenset(found)

    return lambda key: key in names()
