"""Estimate a translator's memory of its stream: labels of calls, repeatable texts, turns, sessions.

Theory of operation. Each dialect keeps its own records, and a server can fill any of them: by calls beyond their limit,
by labels that are new in each frame. The records need not know each other's size: the annotations of a class list its
state, as for snapshots, so all of it can be weighed. The weight is that of the content, not of its form: a stream that
moved to another worker weighs the same. A text that comes in small pieces, and has to be kept, is joined as it comes:
else its pieces would take many times its size.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any
from zlib import crc32

import msgspec

_EACH = 64  # bytes of an entry, in addition to its text
_JOINED = 4096  # pieces of this many characters stay as they are
_PLAIN = frozenset({int, float, bool, type(None)})


def remembered(translator: object) -> int:
    """Return about how many bytes a translator, or any other object that annotates its state, holds."""
    waiting: list[Any] = [translator]
    total, met = 0, set[int]()
    while waiting:
        value = waiting.pop()
        kind: Any = type(value)
        total += _EACH
        if kind in _PLAIN:
            continue
        if isinstance(value, (str, bytes)):
            total += len(value)
        elif isinstance(value, dict):
            waiting += value
            waiting += value.values()
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting += value
        elif isinstance(value, msgspec.Struct):
            waiting += msgspec.structs.astuple(value)
        elif id(value) not in met:  # an object that several records hold is counted once
            met.add(id(value))
            waiting += [getattr(value, name, None) for name in _names(kind)]
    return total


def checksum(text: str | bytes) -> int:
    """Return a number that is remembered in place of a text: that of an equal text is the same, in every process."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return len(data) << 32 | crc32(data)


def keep_piece(parts: list[str], piece: str) -> None:
    """Append a piece to a text's pieces, joined so that they stay few: a character is copied a dozen times at most."""
    parts.append(piece)
    while len(parts) > 1 and len(parts[-2]) <= len(parts[-1]) < _JOINED:
        last = parts.pop()
        parts[-1] += last


@cache
def _names(cls: type) -> tuple[str, ...]:
    """Return the state of a class: the names that it and its bases annotate, except those that are made anew."""
    kinds = {name: kind for base in cls.__mro__ for name, kind in inspect.get_annotations(base).items()}
    made_anew = frozenset().union(*(vars(base).get("DERIVED", ()) for base in cls.__mro__))
    return tuple(
        name for name, kind in kinds.items() if name not in made_anew and "ClassVar" not in str(kind)
    )
