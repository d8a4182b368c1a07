r"""Finds JSON that readers differ about: an object that names a member twice, control characters as they are, NaN.

Theory of operation. JSON leaves open what `{"arguments":"{}","arguments":"{\"a\":1}"}` means: most readers take the
last value, some the first one, some none. A frame whose call was judged by one value must not reach a client that reads
another. And what is no JSON in the strict sense (a tab inside a string, `NaN`) is read by some clients and makes others
fail. So what passes names each member once, in strict JSON; whatever does not is written anew, with the values that were
judged.
"""

from __future__ import annotations

import json
from typing import Any, Final

from wholecall.dialects.decode import integer, plain

__all__ = ["once"]


class _NamedTwice(ValueError):
    """An object names a member twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NamedTwice
    return found


def _constant(name: str) -> float:
    raise ValueError(name)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_int=integer, parse_constant=_constant)


def once(text: str) -> tuple[Any, bool]:
    """Return the value of a JSON text, as the parser reads it, and whether readers may differ about it.

    They may, too, where the text cannot be read so far down. The value is None where the text is no JSON.
    """
    try:
        return _DECODER.decode(text), False
    except (ValueError, RecursionError):
        return plain(text), True
