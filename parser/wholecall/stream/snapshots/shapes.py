"""Fields of each class in a snapshot: those that the class annotates, and the values that they allow.

Theory of operation. An object that has state is a row of the fields that its class and its bases annotate in their
bodies, the farthest base first; a `msgspec.Struct` is a row of its fields. Fields that a class names in `DERIVED` are
made again: tables, ways in, caches. An attribute that is neither is an error, so that none can be forgotten.
`converted` checks a row against the annotations, when writing and when reading. It uses msgspec, which calls a hook for
everything except scalars, lists, tuples and dictionaries: sets, classes, and plain values (`Any` and `object`: any JSON
value).

A list or dictionary that is a plain value is *folded*, so that neither side recurses at any depth: it and its whole
content are in one row, in the order of reading, with None in place of the items of each list and dictionary.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Final, Literal, Union, get_args, get_origin
from zlib import crc32

import msgspec

from wholecall.dialects.openai.responses.translator import ResponsesTranslator
from wholecall.errors import BadSnapshot

_LATE: Final[dict[str, Any]] = {"ResponsesTranslator": ResponsesTranslator}  # its user imports it late
_AS_THEY_ARE: Final = frozenset({str, int, bool, bytes, bytearray, type(None), Literal})
_HOLDING: Final[dict[Any, Any]] = {kind: kind for kind in (list, tuple, dict, Union)}
_HOLDING.update({UnionType: Union, set: list, frozenset: list})
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_OF_STRUCTS: Final = frozenset({"__msgspec_cached_hash__"})  # of those with `cache_hash`; it is made anew
_Folded = list[Union[str, int, float, bool, list[None], dict[str, None], None]]


class Asked(type):
    """The type for the hook: one of `classes` (several are Structs), or a plain value; a set has a list of `items`."""

    classes: tuple[Any, ...]
    items: Any

    def __instancecheck__(cls, value: object) -> bool:
        return True  # msgspec accepts anything that the hook returns


def converted(values: Any, kind: Any, hook: Callable[[Any, Any], Any] | None) -> Any:
    """Return values as a kind of row, or of list; raises BadSnapshot, which names the field that does not fit."""
    try:
        return msgspec.convert(values, kind, dec_hook=hook)
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        found = None if kind.__name__ == "list" else re.search(r"`\$\[(\d+)\][^`]*`$", str(error))
        place = f".{kind.__struct_fields__[int(found[1])]}" if found else ""
        cause = error.__cause__
        reason = str(cause) if isinstance(cause, BadSnapshot) else "it is not what is annotated"
    # Raised outside the handler, so that it does not hold the other error, which quotes values.
    raise BadSnapshot(f"{kind.__name__}{place}: {reason}")


@cache
def row_of(cls: type) -> Any:
    """Return the kind of row for the fields of a class."""
    fields = [(name, _kind(kind)) for name, kind in kept_by(cls).items()]
    return msgspec.defstruct(cls.__qualname__, fields, array_like=True, forbid_unknown_fields=True)


def _kind(annotated: Any) -> Any:
    """Return the msgspec type of an annotation; raises TypeError if none of its values could be kept."""
    origin, parts = get_origin(annotated) or annotated, get_args(annotated)
    origin = parts[0] if origin is Annotated else origin
    if origin in _AS_THEY_ARE or annotated in (None, Ellipsis):
        return annotated
    if origin in (Any, object):
        return _asked()
    is_class = isinstance(origin, type) and origin.__module__ not in ("builtins", "collections.abc", "types")
    if is_class and origin not in _HOLDING:  # Union is a class from CPython 3.14 on
        return _asked(origin)
    kinds = [_kind(part) for part in parts if origin in _HOLDING]
    asked = [kind for kind in kinds if isinstance(kind, Asked)] if _HOLDING.get(origin) is Union else []
    classes = [cls for kind in asked for cls in kind.classes]
    if not kinds or (asked[1:] and not all(issubclass(cls, msgspec.Struct) for cls in classes)):
        raise TypeError(f"a snapshot cannot hold what is annotated as {annotated}")
    if asked[1:]:
        kinds = [*(kind for kind in kinds if kind not in asked), _asked(*classes)]
    held = _HOLDING[origin][tuple(kinds)]
    return _asked(origin, items=held) if origin in (set, frozenset) else held


def _asked(*classes: type, items: Any = None) -> Asked:
    return Asked("Asked", (), {"classes": classes, "items": items})


@cache
def kept_by(cls: type) -> dict[str, Any]:
    """Return the fields that the class and its bases annotate in their bodies, the farthest base first."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found |= inspect.get_annotations(base, locals=_LATE, eval_str=True)
    no_field = {ClassVar, *listed(cls, "DERIVED")}
    return {name: kind for name, kind in found.items() if not {name, get_origin(kind) or kind} & no_field}


@cache
def listed(cls: type, table: str) -> frozenset[str]:
    """Return the attributes that the class and its bases name in a table: `DERIVED`, `__slots__`."""
    return frozenset().union(*(vars(base).get(table, ()) for base in cls.__mro__))


@cache
def shape_of(cls: type) -> int:
    """Return a number that identifies the written fields of a class."""
    written = [inspect.get_annotations(base) for base in cls.__mro__]
    return crc32(f"{cls.__qualname__} {written} {getattr(cls, '__struct_defaults__', ())}".encode())


def state_of(value: object, cls: Any) -> list[Any]:
    """Return the field values of an object; raises TypeError for an attribute that its class does not name."""
    fields = kept_by(cls)
    names = listed(cls, "__slots__").union(getattr(value, "__dict__", ()))
    unknown = names - fields.keys() - listed(cls, "DERIVED") - _OF_STRUCTS
    if unknown:
        raise TypeError(
            f"a snapshot cannot hold a {cls.__qualname__}: annotate {min(unknown)!r} in its class, "
            "or name it in DERIVED if it is made anew"
        )
    return [getattr(value, name) for name in fields]


def folded(value: Any) -> Any:
    """Return a plain value in an encodable form; raises BadSnapshot for any other value."""
    if type(value) in _SCALARS:
        return value
    row, waiting = list[Any](), [value]
    while waiting:
        part = waiting.pop()
        if type(part) is list:
            waiting += reversed(part)
            part = [None] * len(part)
        elif type(part) is dict and all(type(key) is str for key in part):
            waiting += reversed(part.values())
            part = dict.fromkeys(part)
        elif type(part) not in _SCALARS:
            raise BadSnapshot(f"a {type(part).__name__} is no plain value")
        row.append(part)
    return row


def unfolded(row: Any) -> Any:
    """Return the plain value that was folded; raises BadSnapshot, ValueError or IndexError if there is none."""
    if type(row) in _SCALARS:
        return row
    done = list[Any]()
    for part in reversed(converted(row, _Folded, None)):
        if type(part) is list:
            done.append([done.pop() for _ in part])
        elif type(part) is dict:
            done.append({key: done.pop() for key in part})
        else:
            done.append(part)
    (value,) = done
    return value
