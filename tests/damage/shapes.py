"""Frames in which one container has another shape: a list for an object, an object for a list, their text for either.

Servers and gateways differ most here: one call for a list of calls, a list of one element for a delta. A reader that
treats a container of a wrong shape as absent loses the arguments in it, and runs the call without them. The content of
arguments belongs to the call and is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.damage.ways import payload_of, with_other

Place = tuple[Any, ...]

# Members whose values are a call's own arguments, those of calls of providers, an answer, or a schema.
_OWN = frozenset(
    {
        *("arguments", "args", "input", "parameters", "parsed_arguments"),
        *("action", "operation", "result", "output_schema"),
    }
)


def _numbered(value: list[Any]) -> dict[str, Any]:
    return {str(number): item for number, item in enumerate(value)}


# Replacements of an object or a list that is not empty; None where there is no such replacement.
SHAPES: dict[str, Callable[[Any], Any]] = {
    "in a list": lambda value: [value],
    "in a list of two": lambda value: [value, {}],
    "by number": lambda value: _numbered(value) if isinstance(value, list) else None,
    "as text": lambda value: json.dumps(value, ensure_ascii=False),
    "alone": lambda value: value[0] if isinstance(value, list) and len(value) == 1 else None,
}


def places(value: Any) -> Iterator[Place]:
    """Yield the paths to the containers within a value that are not empty, except arguments and their content."""
    stack: list[tuple[Place, Any]] = [((), value)]
    while stack:
        place, inner = stack.pop()
        if place and isinstance(inner, (dict, list)) and inner:
            yield place
        if isinstance(inner, dict):
            stack += [((*place, key), inner[key]) for key in inner if key not in _OWN]
        elif isinstance(inner, list):
            stack += [((*place, key), item) for key, item in enumerate(inner)]


def with_value(value: Any, place: Place, change: Callable[[Any], Any]) -> Any:
    """The value with another value at a place; None where the change gives none."""
    if not place:
        return change(value)
    key, *rest = place
    inner = with_value(value[key], tuple(rest), change)
    if inner is None:
        return None
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[key] = inner
    return copy


def reshaped_ones(frame: bytes) -> Iterator[tuple[str, bytes]]:
    """The frame with each of its containers in each other shape, and the change."""
    value = container_of(frame)
    for place in places(value):
        for shape, change in SHAPES.items():
            changed = with_value(value, place, change)
            if changed is not None:
                payload = json.dumps(changed, ensure_ascii=False).encode("utf-8", "surrogatepass")
                yield f"{shape}: {named(place)}", with_other(frame, payload)


def container_of(frame: bytes) -> Any:
    """The value of a frame; None if it has none, or if a new payload would repair a wrong checksum."""
    payload = payload_of(frame)
    try:
        return json.loads(payload) if with_other(frame, payload) == frame else None
    except ValueError:
        return None


def named(place: Place) -> str:
    """The way to a container, whichever item of a list it is."""
    return ".".join("*" if isinstance(key, int) else key for key in place)
