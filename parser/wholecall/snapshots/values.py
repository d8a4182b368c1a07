"""Values as MessagePack has them, whatever texts and numbers they hold, and however deep they nest.

Theory of operation. MessagePack knows no lone surrogates and no integers beyond 64 bits; streams do. Both go as
extensions. So does a plain value (what JSON can say) that nests deep, in folds, so that neither side recurses: a row
of its lists and objects in which an empty list stands for each inner one, and the inner ones follow in their order.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec
from msgspec.msgpack import Ext

from wholecall.errors import BadSnapshot

__all__ = ["decoded", "depth_of", "encoded", "folded"]

_TEXT, _NUMBER, _FOLDS = 1, 2, 3  # the codes of the extensions
_DEEPEST: Final = 24  # levels that are packed as they are
_LONGEST_NUMBER: Final = 10**4300  # as many digits as Python writes
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
# An extension cannot be a key of a dictionary, but a function that makes it can.
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


def folded(value: Any) -> Any:
    """Return a plain value as it can be encoded; raises BadSnapshot if it is none."""
    if depth_of(value) <= _DEEPEST:
        return value
    row, whole = list[Any](), [value]
    for part in whole:  # the list grows meanwhile
        items = part.values() if type(part) is dict else part
        whole += [item for item in items if type(item) not in _SCALARS]
        items = [item if type(item) in _SCALARS else [] for item in items]
        row.append(dict(zip(part, items, strict=True)) if type(part) is dict else items)
    return partial(Ext, _FOLDS, encoded(row))


def _unfolded(row: list[Any]) -> Any:
    rest = iter(row)
    root = next(rest)
    for part in row:
        for place, item in list(part.items() if type(part) is dict else enumerate(part)):
            if type(item) is list:
                part[place] = next(rest)
    return root


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


def decoded(data: bytes, kind: Any) -> Any:
    """Return what was encoded, of which `kind` leaves only `Any` open; raises BadSnapshot for anything else."""
    try:
        return msgspec.msgpack.decode(data, type=kind, ext_hook=_extended)
    except (msgspec.MsgspecError, ValueError, TypeError, StopIteration, RecursionError):
        pass  # the error quotes data, and one raised in here would hold it
    raise BadSnapshot("the snapshot is cut or damaged, or this is none")


def _extended(code: int, data: memoryview) -> Any:
    if code == _FOLDS:
        return _unfolded(msgspec.msgpack.decode(data, type=list[Any], ext_hook=_scalar))
    return _scalar(code, data)


def _scalar(code: int, data: memoryview) -> str | int:
    number = int.from_bytes(data, "big", signed=True) if code == _NUMBER else 0
    if code not in (_TEXT, _NUMBER) or abs(number) >= _LONGEST_NUMBER:
        raise ValueError("it is no extension of ours")
    return number if code == _NUMBER else str(data, "utf-8", "surrogatepass")
