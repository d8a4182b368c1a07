"""A snapshot as bytes: how a parser was made, and the rows of its state, under a checksum.

Theory of operation. A snapshot is MessagePack, `["wholecall.snapshot", format, checksum, body]`; the body is an array
of the shapes of all classes in it, the row of the parser's options, and the rows of its objects (see `rows`). The
checksum finds damage, not forgery. What is read is held against annotations and against what the code relies on, and
costs memory in proportion to its size; whatever is wrong with it is one exception, `BadSnapshot`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec

from wholecall.errors import BadSnapshot
from wholecall.framing.base import BytesLike, checked
from wholecall.snapshots.rows import Reading, Writing
from wholecall.snapshots.values import decoded, encoded

__all__ = ["fill", "opened", "sealed"]

_MAGIC: Final = "wholecall.snapshot"
_FORMAT: Final = 1
T = TypeVar("T", bound=msgspec.Struct)


def sealed(parser: object, options: msgspec.Struct) -> bytes:
    """Return a parser and how it was made as bytes; raises TypeError if it has state that cannot be kept."""
    writing = Writing()
    try:
        made, rows = writing.struct(options), writing.rows(parser)
    except BadSnapshot as error:
        raise TypeError(f"a snapshot cannot hold {error}") from None
    body = encoded([[*writing.shapes], made, rows])
    return msgspec.msgpack.encode([_MAGIC, _FORMAT, crc32(body), body])


def opened(data: BytesLike, kind: type[T]) -> tuple[T, Reading]:
    """Return what a snapshot holds: options of this kind, and the state of a parser; raises BadSnapshot."""
    magic, form, checksum, body = decoded(checked(data), tuple[str, int, int, bytes])
    if magic != _MAGIC:
        raise BadSnapshot("this is no snapshot of a parser")
    if form != _FORMAT:
        raise BadSnapshot(f"the snapshot has a format that this version cannot read; it reads {_FORMAT}")
    if checksum != crc32(body):
        raise BadSnapshot("the snapshot is damaged")
    shapes, made, rows = decoded(body, tuple[list[int], list[Any], list[Any]])
    reading = Reading(shapes, rows)
    try:
        return reading.struct((kind,), made), reading
    except TypeError:
        raise BadSnapshot("the options of the parser are not whole") from None


def fill(parser: object, reading: Reading, makers: Mapping[type, Callable[[], Any]]) -> None:
    """Put the state that a snapshot holds into a parser that was made with its options; raises BadSnapshot."""
    try:
        reading.fill(parser, makers)
    except (TypeError, RecursionError):
        raise BadSnapshot("the snapshot holds what no parser does") from None
