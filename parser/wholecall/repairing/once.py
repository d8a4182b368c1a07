r"""Finds objects that name a member twice: readers differ about which of its values counts.

Theory of operation. JSON leaves open what `{"arguments":"{}","arguments":"{\"a\":1}"}` means: most readers take the
last value, some the first one, some none. A frame whose call was judged by one value must not reach a client that reads
another. So what passes names each member once; whatever does not is written anew, with the values that were judged.
"""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["names_twice"]

_UNREAD: Final = str  # numbers are not looked at


class _Twice(Exception):
    """An object names a member twice."""


def _members(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _Twice


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_UNREAD, parse_float=_UNREAD, strict=False
)


def names_twice(text: str) -> bool:
    """Return whether an object of a JSON text names a member twice, or may, as it cannot be read so far down."""
    try:
        _DECODER.decode(text.lstrip("\ufeff"))
    except (_Twice, RecursionError):
        return True
    except ValueError:
        return False
    return False
