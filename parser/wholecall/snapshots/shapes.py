"""What a snapshot holds of each class: the fields that the class annotates, and what may stand in them.

Theory of operation. An object that has state is a row of the fields that its class and its bases annotate in their
bodies, the farthest base first; a `msgspec.Struct` is one of its fields. What a class names in `DERIVED` is made again:
tables, ways in, caches. An attribute that is neither is an error, so that none can be forgotten. `converted` holds a
row against the annotations, on its way out and on its way in. It is msgspec that does it, and asks a hook for what is
no scalar, list, tuple or dictionary: sets, classes, and plain values (`Any` and `object`).
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from functools import cache
from types import GenericAlias, UnionType
from typing import Annotated, Any, ClassVar, Final, Literal, Union, get_args, get_origin
from zlib import crc32

import msgspec

from wholecall import deltas, framing
from wholecall.dialects.openai.responses import ResponsesTranslator
from wholecall.errors import BadSnapshot
from wholecall.machine import record, turns
from wholecall.output import events

__all__ = ["Asked", "annotations_of", "check_kept", "converted", "derived_of", "row_of", "shape_of"]

# Names in the core's annotations that its modules import for type checkers only.
_NAMES: Final[dict[str, Any]] = {"ResponsesTranslator": ResponsesTranslator}
for _home in (deltas, events, framing, record, turns):
    _NAMES.update(vars(_home))
_AS_THEY_ARE: Final = frozenset({str, int, bool, bytes, bytearray, type(None), Literal})
_SETS: Final[frozenset[Any]] = frozenset({set, frozenset})
_HOLDING: Final[dict[Any, Any]] = {kind: kind for kind in (list, tuple, dict, Union)} | {UnionType: Union}
_WRONG = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)  # raised by `convert`
_PLACE: Final = re.compile(r"`\$\[(\d+)\][^`]*`$")  # the place that an error of msgspec names


class Asked(type):
    """What the hook is asked for: one of `classes` (several are Structs), a plain value if there are none.

    A set holds what `items` says, a list. `field` is which field of an object it is, empty for one of a Struct.
    """

    classes: tuple[Any, ...]
    items: Any
    field: str

    def __instancecheck__(cls, value: object) -> bool:
        return True  # msgspec takes whatever the hook gives


def converted(values: Any, kind: Any, hook: Callable[[Any, Any], Any]) -> Any:
    """Return values as a kind of row, or of list; raises BadSnapshot, which names the field that is another."""
    try:
        return msgspec.convert(values, kind, dec_hook=hook)
    except _WRONG as error:
        found = None if kind.__name__ == "list" else _PLACE.search(str(error))
        place = f".{kind.__struct_fields__[int(found[1])]}" if found else ""
        cause = error.__cause__
        reason = str(cause) if isinstance(cause, BadSnapshot) else "it is not what is annotated"
    # Raised outside of the handler, so that it does not hold the other error, which quotes values.
    raise BadSnapshot(f"{kind.__name__}{place}: {reason}")


@cache
def row_of(cls: type) -> Any:
    """Return the kind of row that the fields of a class make; those of a Struct may lack the last ones."""
    is_struct, fields, annotations = issubclass(cls, msgspec.Struct), list[Any](), annotations_of(cls)
    for name in getattr(cls, "__struct_fields__", annotations):
        kind = _kind(annotations[name], "" if is_struct else name)
        fields.append((name, kind, msgspec.UNSET) if is_struct else (name, kind))
    return msgspec.defstruct(cls.__qualname__, fields, array_like=True, forbid_unknown_fields=True)


def _kind(annotated: Any, field: str) -> Any:
    """Return what msgspec needs to know of an annotation; raises TypeError if nothing of it could be kept."""
    origin, parts = get_origin(annotated) or annotated, get_args(annotated)
    origin = parts[0] if origin is Annotated else origin
    if origin in _AS_THEY_ARE or annotated in (None, Ellipsis):
        return annotated
    if origin in (Any, object):
        return _asked(field)
    if isinstance(origin, type) and origin.__module__ not in ("builtins", "collections.abc", "types"):
        return _asked(field, origin)
    kinds = [_kind(part, field) for part in parts if origin in _HOLDING or origin in _SETS]
    asked = [kind for kind in kinds if isinstance(kind, Asked)] if _HOLDING.get(origin) is Union else []
    classes = [cls for kind in asked for cls in kind.classes]
    if not kinds or (asked[1:] and not all(issubclass(cls, msgspec.Struct) for cls in classes)):
        raise TypeError(f"a snapshot cannot hold what is annotated as {annotated}")
    if origin in _SETS:
        return _asked(field, origin, items=GenericAlias(list, (kinds[0],)))
    if asked[1:]:
        kinds = [*(kind for kind in kinds if kind not in asked), _asked(field, *classes)]
    return _HOLDING[origin][tuple(kinds)]


def _asked(field: str, *classes: type, items: Any = None) -> Asked:
    return Asked("Asked", (), {"classes": classes, "items": items, "field": field})


@cache
def annotations_of(cls: type) -> dict[str, Any]:
    """Return what the class and its bases annotate in their bodies, the farthest base first."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        names = {**_NAMES, **vars(sys.modules[base.__module__])}
        found |= inspect.get_annotations(base, globals=names, locals={}, eval_str=True)
    no_field = {ClassVar, *derived_of(cls)}
    return {name: kind for name, kind in found.items() if not {name, get_origin(kind) or kind} & no_field}


@cache
def derived_of(cls: type) -> frozenset[str]:
    """Return the attributes that the class and its bases make again."""
    return _in_bases(cls, "DERIVED")


@cache
def _in_bases(cls: type, name: str) -> frozenset[str]:
    return frozenset().union(*(vars(base).get(name, ()) for base in cls.__mro__))


@cache
def shape_of(cls: type) -> int:
    """Return a number that stands for what a class writes of its fields."""
    written = [inspect.get_annotations(base) for base in cls.__mro__]
    return crc32(f"{cls.__qualname__} {written} {getattr(cls, '__struct_defaults__', ())}".encode())


def check_kept(cls: type, names: set[str]) -> None:
    """Check that a class names all attributes of its object; raises TypeError for one that it does not name."""
    unknown = (names | _in_bases(cls, "__slots__")) - annotations_of(cls).keys() - derived_of(cls)
    if unknown:
        raise TypeError(
            f"a snapshot cannot hold a {cls.__qualname__}: annotate {min(unknown)!r} in its class, "
            "or name it in DERIVED if it is made anew"
        )
