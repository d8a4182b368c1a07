"""Readers that know nothing of wholecall and are written for plainness: what it is compared with."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["Refused", "reference"]


class Refused(ValueError):
    """The reference reader refuses what strict JSON knows, and we do not accept."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise Refused("duplicate key")
    return dict(pairs)


def _constant(name: str) -> Any:
    raise Refused(name)


def _float(text: str) -> float:
    if math.isinf(float(text)):
        raise Refused("too large")
    return float(text)


def reference(text: str) -> Any:
    """Read strict JSON with the standard library, without what we do not accept either.

    Raises:
        Refused: it is JSON, or nearly, with what we refuse: repeated keys, NaN, numbers beyond the range.
        ValueError: it is no JSON, holds a lone surrogate or an integer that is too long.
    """
    value = json.loads(text, object_pairs_hook=_members, parse_constant=_constant, parse_float=_float)
    json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    return value
