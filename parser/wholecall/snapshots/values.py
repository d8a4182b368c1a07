"""Values as MessagePack has them, whatever texts and numbers they hold, and however deep they nest.

Theory of operation. MessagePack knows no lone surrogates and no integers beyond 64 bits; streams do. Both go as
extensions. So does a plain value (what JSON can say) that nests deep: as a flat row, in which a list or an object is a
header (is it an object, of how many parts), after which its parts stand, the last one first. So neither side recurses.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec.msgpack import Ext

from wholecall.errors import BadSnapshot

__all__ = ["decoded", "depth_of", "encoded", "flat_if_deep"]

_TEXT, _NUMBER, _DEEP = 1, 2, 3  # the codes of the extensions
_DEEPEST: Final = 24  # levels that are packed as they are
_LONGEST_NUMBER: Final = 10**4300  # as many digits as Python writes
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
T = TypeVar("T")


# An extension cannot be a key; what makes it late can.
_ENCODER = msgspec.msgpack.Encoder(enc_hook=lambda late: late())


def encoded(value: Any) -> bytes:
    """Return scalars, lists, tuples and dictionaries as MessagePack."""
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return _ENCODER.encode(_escaped(value))


def _escaped(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_escaped, value))
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        return partial(Ext, _TEXT, value.encode("utf-8", "surrogatepass"))
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return partial(Ext, _NUMBER, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))
    return value


def flat_if_deep(value: Any) -> Any:
    """Return a plain value as it can be encoded; raises BadSnapshot if it is none."""
    if depth_of(value) <= _DEEPEST:
        return value
    row, waiting = list[Any](), [value]
    while waiting:
        part = waiting.pop()
        is_object = type(part) is dict
        parts = [half for member in part.items() for half in member] if is_object else part
        is_whole = type(parts) is not list
        row.append(parts if is_whole else [is_object, len(parts)])
        waiting += [] if is_whole else parts
    return partial(Ext, _DEEP, encoded(row))


def depth_of(value: Any) -> int:
    """Return how deep a plain value nests; raises BadSnapshot if it is none."""
    depth, level = 0, [] if type(value) in _SCALARS else [value]
    while level:
        inner: list[Any] = []
        for part in level:
            if type(part) is list or (type(part) is dict and all(type(key) is str for key in part)):
                inner += part.values() if type(part) is dict else part
            elif type(part) not in _SCALARS:
                raise BadSnapshot(f"a {type(part).__name__} is no plain value")
        depth, level = depth + 1, inner
    return depth


def decoded(data: bytes, kind: type[T]) -> T:
    """Return what was encoded, of which `kind` leaves only `Any` open; raises BadSnapshot for anything else."""
    try:
        return msgspec.msgpack.decode(data, type=kind, ext_hook=_extended)
    except (ValueError, TypeError, RecursionError):
        raise BadSnapshot("the snapshot is cut or damaged, or this is none") from None


def _extended(code: int, data: memoryview) -> Any:
    if code != _DEEP:
        return _scalar(code, data)
    values: list[Any] = []  # that no header has taken yet
    for part in reversed(msgspec.msgpack.decode(data, type=list[Any], ext_hook=_scalar)):
        values.append(_joined(values, *part) if type(part) is list else part)
    (value,) = values
    return value


def _joined(values: list[Any], is_object: bool, count: int) -> Any:
    start = len(values) - count
    parts = values[start:]
    if not 0 <= start <= len(values):
        raise ValueError("a header does not fit its row")
    del values[start:]
    return dict(zip(parts[::2], parts[1::2], strict=True)) if is_object else parts


def _scalar(code: int, data: memoryview) -> str | int:
    number = int.from_bytes(data, "big", signed=True) if code == _NUMBER else 0
    if code not in (_TEXT, _NUMBER) or abs(number) >= _LONGEST_NUMBER:
        raise ValueError("it is no extension of ours")
    return number if code == _NUMBER else str(data, "utf-8", "surrogatepass")
