"""How the value of an annotated field is packed, and what may be read for it.

Theory of operation. Nothing that is read names a class: the annotation says what stands there, so nothing can be
made that no annotation leads to.

=========================  =================================================================================
annotation                 packed as
=========================  =================================================================================
`str`, `int`, `Any` …      see `values`; `object` is a plain value as well
`list`, `set`, `tuple` …   an array; sets in a fixed order, mappings as keys and values by turns
`Literal`                  its word
a `msgspec.Struct`         an array of its fields
a union                    nothing for None; else as its only part or the scalar that fits, or the number of
                           the part and what that is packed as
any other class            the number of the object's row
`Annotated[T, Meta(ge=…)]` as T, with a lower bound
`Annotated[T, Class]`      a plain value whose leaves are objects of the class
=========================  =================================================================================
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Union, get_args, get_origin

import msgspec

from wholecall.output.events import ToolCall
from wholecall.snapshots.values import (
    Odd,
    packed_number,
    packed_text,
    packed_value,
    read_number,
    read_text,
    read_value,
)

__all__ = ["Codec", "Numbers", "Objects", "codec_of", "is_abstract"]


class Numbers(Protocol):
    """Where objects that have state get the numbers of their rows."""

    def number_of(self, value: Any, /) -> int:
        """Return the number of an object's row."""
        ...


class Objects(Protocol):
    """Where objects that have state are found by the numbers of their rows."""

    def object_at(self, number: int, wanted: type, /) -> Any:
        """Return the object of a row.

        Raises:
            Odd: there is no such row, or it is of another class.
        """
        ...

    def typed(self, call: ToolCall[Any], /) -> ToolCall[Any]:
        """Return a call with what its tool's type makes of it.

        Raises:
            Odd: the tool does not take it.
        """
        ...


class Codec(NamedTuple):
    """Both ways of one annotation.

    Attributes:
        pack: raises TypeError for what does not fit the annotation.
        read: raises Odd for it.
    """

    pack: Callable[[Any, Numbers], Any]
    read: Callable[[Any, Objects], Any]


def codec_of(kind: Any) -> Codec:
    """Return how values of an annotated type are packed and read.

    Raises:
        TypeError: nothing is known of the type.
    """
    origin = type(None) if kind is None else get_origin(kind) or kind
    if origin in _SCALARS:
        return _SCALARS[origin]
    if origin in _MAKERS and origin is not kind:
        return _MAKERS[origin](kind)
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct):
        return _struct(origin)
    if isinstance(origin, type) and origin.__module__ not in _BUILTIN:
        return _reference(origin)
    raise TypeError(f"a snapshot cannot hold what is annotated as {kind}")


@cache
def is_abstract(cls: type) -> bool:
    """Whether a class stands for the object that is there already: a translator, a framing."""
    return inspect.isabstract(cls) or getattr(cls, "_is_protocol", False)


def _checked(value: Any, wanted: type) -> Any:
    if type(value) is not wanted:
        raise TypeError(f"a {type(value).__name__} stands where a {wanted.__name__} is annotated")
    return value


def _expected(data: Any, wanted: type, what: str) -> Any:
    if type(data) is not wanted:
        raise Odd(f"{what} was expected")
    return data


def _scalar(wanted: type | None, packed: Callable[[Any], Any], read: Callable[[Any], Any]) -> Codec:
    def pack(value: Any, _: Numbers) -> Any:
        return packed(value if wanted is None else _checked(value, wanted))

    def read_any(data: Any, _: Objects) -> Any:
        return read(data)

    return Codec(pack, read_any)


def _itself(value: Any) -> Any:
    return value


_BYTES = partial(_expected, wanted=bytes, what="bytes")
_NOTHING = partial(_expected, wanted=type(None), what="nothing")
_BOOL = partial(_expected, wanted=bool, what="true or false")
_SCALARS: dict[Any, Codec] = {
    str: _scalar(str, packed_text, read_text),
    int: _scalar(int, packed_number, read_number),
    bool: _scalar(bool, _itself, _BOOL),
    bytes: _scalar(bytes, _itself, _BYTES),
    bytearray: _scalar(bytearray, bytes, lambda data: bytearray(_BYTES(data))),
    type(None): _scalar(type(None), _itself, _NOTHING),
    Any: _scalar(None, packed_value, read_value),
    object: _scalar(None, packed_value, read_value),
}


def _literal(kind: Any) -> Codec:
    words = frozenset(get_args(kind))

    def read(data: Any, _: Objects) -> Any:
        if type(data) is not str or data not in words:
            raise Odd("a word of a fixed list was expected")
        return data

    def pack(value: Any, _: Numbers) -> Any:
        if value not in words:
            raise TypeError("a value is none of the annotated words")
        return value

    return Codec(pack, read)


def _array(make: Callable[[list[Any]], Any], kind: Any) -> Codec:
    origin: type = get_origin(kind)
    of = codec_of(get_args(kind)[0])

    def pack(value: Any, numbers: Numbers) -> Any:
        packed = [of.pack(item, numbers) for item in _checked(value, origin)]
        return packed if origin in (list, tuple) else sorted(packed, key=msgspec.msgpack.encode)

    def read(data: Any, objects: Objects) -> Any:
        items = [of.read(item, objects) for item in _expected(data, list, "an array")]
        value = make(items) if origin in (list, tuple) else _hashed(make, items)
        if len(value) != len(items):
            raise Odd("the same stands twice in a set")
        return value

    return Codec(pack, read)


def _hashed(make: Callable[[list[Any]], Any], items: list[Any]) -> Any:
    try:
        return make(items)
    except TypeError:
        raise Odd("a key is an object or a list") from None


def _tuple(kind: Any) -> Codec:
    parts = get_args(kind)
    if len(parts) == 2 and parts[1] is Ellipsis:
        return _array(tuple, kind)
    of = [codec_of(part) for part in parts]

    def pack(value: Any, numbers: Numbers) -> Any:
        return [codec.pack(item, numbers) for codec, item in zip(of, _checked(value, tuple), strict=True)]

    def read(data: Any, objects: Objects) -> Any:
        if len(_expected(data, list, "an array")) != len(of):
            raise Odd("an array is too short or too long")
        return tuple([codec.read(item, objects) for codec, item in zip(of, data, strict=True)])

    return Codec(pack, read)


def _mapping(kind: Any) -> Codec:
    keys, values = map(codec_of, get_args(kind))

    def pack(value: Any, numbers: Numbers) -> Any:
        items = _checked(value, dict).items()
        return [part for key, item in items for part in (keys.pack(key, numbers), values.pack(item, numbers))]

    def read(data: Any, objects: Objects) -> Any:
        if len(_expected(data, list, "an array")) % 2:
            raise Odd("a key has no value")
        parts = iter(data)
        pairs = zip(parts, parts, strict=True)
        items = [(keys.read(key, objects), values.read(item, objects)) for key, item in pairs]
        value = _hashed(dict, items)
        if len(value) != len(items):
            raise Odd("a key stands twice in a mapping")
        return value

    return Codec(pack, read)


def _union(kind: Any) -> Codec:
    parts = [part for part in get_args(kind) if part is not type(None)]
    of = [codec_of(part) for part in parts]
    tagged = len(parts) > 1 and not all(part in _SCALARS or get_origin(part) is Literal for part in parts)
    optional = len(parts) < len(get_args(kind))

    def pack(value: Any, numbers: Numbers) -> Any:
        if value is None and optional:
            return None
        for number, codec in enumerate(of):
            try:
                packed = codec.pack(value, numbers)
            except TypeError:
                continue
            return [number, packed] if tagged else packed
        raise TypeError(f"a {type(value).__name__} stands where {kind} is annotated")

    def read(data: Any, objects: Objects) -> Any:
        if data is None and optional:
            return None
        if not tagged:
            return _first(of, data, objects)
        if type(data) is not list or len(data) != 2 or data[0] not in range(len(of)):
            raise Odd("one of several things was expected")
        return of[data[0]].read(data[1], objects)

    return Codec(pack, read)


def _first(of: list[Codec], data: Any, objects: Objects) -> Any:
    """Read what the first of the codecs takes that takes it."""
    for codec in of[:-1]:
        with suppress(Odd):
            return codec.read(data, objects)
    return of[-1].read(data, objects)


def _annotated(kind: Any) -> Codec:
    of, meta = get_args(kind)
    if isinstance(meta, type):
        return _tree(get_origin(of), meta)
    codec, least = codec_of(of), meta.ge

    def read(data: Any, objects: Objects) -> Any:
        number = codec.read(data, objects)
        if number < least:
            raise Odd(f"a number of at least {least} was expected")
        return number

    return Codec(codec.pack, read)


def _tree(root: type | None, cls: type) -> Codec:
    leaf = _reference(cls)

    def pack(value: Any, numbers: Numbers) -> Any:
        return packed_value(value, lambda item: leaf.pack(item, numbers))

    def read(data: Any, objects: Objects) -> Any:
        value = read_value(data, lambda item: leaf.read(item, objects))
        if type(value) is not root:
            raise Odd("a tree has another root")
        return value

    return Codec(pack, read)


def _reference(cls: type) -> Codec:
    abstract = is_abstract(cls)

    def pack(value: Any, numbers: Numbers) -> Any:
        return numbers.number_of(value if abstract else _checked(value, cls))

    def read(data: Any, objects: Objects) -> Any:
        return objects.object_at(_expected(data, int, "an object"), cls)

    return Codec(pack, read)


def _struct(cls: Any) -> Codec:
    fields = [
        (field.name, _TYPED if cls is ToolCall and field.name == "typed" else codec_of(field.type))
        for field in msgspec.structs.fields(cls)
    ]

    def pack(value: Any, numbers: Numbers) -> Any:
        _checked(value, cls)
        return [codec.pack(getattr(value, name), numbers) for name, codec in fields]

    def read(data: Any, objects: Objects) -> Any:
        if len(_expected(data, list, "an array")) != len(fields):
            raise Odd("an array is too short or too long")
        items = zip(fields, data, strict=True)
        value = cls(**{name: codec.read(item, objects) for (name, codec), item in items})
        return value if getattr(value, "typed", None) is not True else objects.typed(value)

    return Codec(pack, read)


def _is_typed(value: Any) -> bool:
    return value is not msgspec.UNSET


def _to_be_typed(data: Any) -> Any:
    return True if _BOOL(data) else msgspec.UNSET


# What a tool's type made of a call is nobody's to pack: only whether there is any.
_TYPED = _scalar(None, _is_typed, _to_be_typed)

_BUILTIN = frozenset({"builtins", "collections.abc"})
_MAKERS: dict[Any, Callable[[Any], Codec]] = {
    list: partial(_array, list),
    set: partial(_array, set),
    frozenset: partial(_array, frozenset),
    tuple: _tuple,
    dict: _mapping,
    Literal: _literal,
    Union: _union,
    types.UnionType: _union,
    Annotated: _annotated,
}
