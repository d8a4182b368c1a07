"""Values that msgspec lets pass, on which the views of dialects must not rely."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

import wholecall.dialects


def decoded() -> Iterator[tuple[str, Any]]:
    """Yield the type that each decoder of a dialect decodes, with the decoder's name."""
    for module in pkgutil.walk_packages(wholecall.dialects.__path__, "wholecall.dialects."):
        for name, value in vars(importlib.import_module(module.name)).items():
            decoder = getattr(value, "__self__", value)  # a decoder, or its method
            if isinstance(decoder, msgspec.json.Decoder):
                yield f"{module.name}.{name}", decoder.type


def is_struct(kind: Any) -> bool:
    """Return whether a type is a class of Structs."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def alone(kind: Any, place: str, met: set[Any]) -> Iterator[str]:
    """Yield the places of tagged Structs that no other Struct may replace."""
    parts = get_args(kind)
    if get_origin(kind) in (Union, UnionType) and sum(map(is_struct, parts)) > 1:
        structs: Any = parts
    else:
        structs = (kind,) if is_struct(kind) else ()
        if structs and kind.__struct_config__.tag is not None:
            yield f"{place}: {kind.__qualname__}"
        for part in parts:
            yield from alone(part, place, met)
    for struct in filter(is_struct, structs):
        if struct not in met:
            met.add(struct)
            for field in msgspec.structs.fields(struct):
                yield from alone(field.type, f"{place}.{field.name}", met)


def test_a_tag_is_asked_for() -> None:
    """A tag may be absent where no other class is possible: then a view takes objects of another kind, or of none."""
    assert [] == [found for name, kind in decoded() for found in alone(kind, name, set())]
