"""Equality of decoded JSON values: two definitions, for two purposes.

`same_value`: do they mean the same to the executed tool? Numbers are compared by value: 1 and 1.0 are equal.
`same_text` asks that of two texts, and `key_of` writes values that mean the same as one text.
`spelled_alike`: can one writer have meant one value by both? Numbers are compared by type as well: 1 and 1.0 differ,
and so do 0.0 and -0.0.

For both, `true` is not a number, and the order of members never matters.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_FLOAT = re.compile(r"\d[.e]")  # is in every text with a float, and in some others


def same_value(one: object, other: object) -> bool:
    """Return whether two decoded values mean the same: members in any order, 1 equals 1.0, true is not a number."""
    pairs: list[tuple[Any, Any]] = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is dict and type(other) is dict:
            if one.keys() != other.keys():
                return False
            pairs += [(value, other[key]) for key, value in one.items()]
        elif type(one) is list and type(other) is list:
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif one != other or (type(one) is bool) != (type(other) is bool):
            return False
    return True


def same_text(one: str, other: str, value_of: Callable[[str], object]) -> bool:
    """Return whether two texts have the same value; `value_of` returns None for a text that has none."""
    if one == other:
        return True
    value = value_of(one)
    if value is None:
        return False
    other_value = value_of(other)
    return other_value is not None and same_value(value, other_value)


def key_of(value: object) -> str:
    """Return a text that is equal for two decoded values that mean the same, and for no others."""
    text = json.dumps(value, sort_keys=True)
    return json.dumps(json.loads(text, parse_float=_number)) if _FLOAT.search(text) else text


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


def spelled_alike(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal, order of members aside; 1, 1.0 and true differ, so do 0.0 and -0.0."""
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        kind = type(one)
        if kind is not type(other) or (kind in (dict, list, str) and len(one) != len(other)):
            return False
        if kind is dict:
            if one.keys() != other.keys():
                return False
            pairs += [(member, other[key]) for key, member in one.items()]
        elif kind is list:
            pairs += zip(one, other, strict=True)
        elif one != other or (kind is float and str(one) != str(other)):
            return False
    return True
