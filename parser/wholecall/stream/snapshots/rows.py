"""A snapshot: the options of a parser and its objects as numbered rows, in bytes under a checksum.

Theory of operation. A row is an array: the number of its shape (see `shapes`), and the fields. The first rows are those
of the *roots*: the parser, and the parts that a new parser has as well. Any other object has its row after those of all
objects that were met before it, so rows have one order and equal parsers have equal rows; its place is its number. A
Struct is stored inline as a row. Reading follows the same order: a known number is its object, the next number is a new
object, anything else is refused, and so is an unreferenced row. The data that is read never names a class.

Roots are filled. Any other object is made by the entry of `makers` for its class, by its class if that has something to
make again, else without a constructor. When all have their state, each that has a method `remade` is asked to make the
rest again and to check its state; it refuses with a ValueError.

All this is MessagePack: `["wholecall.snapshot.1", shape of the options, checksum, body]`, and the body an array of the
shapes, the options by their names, and the rows. MessagePack knows no lone surrogates and no integers beyond 64 bits;
streams do, and both are stored as an extension that holds their JSON. The checksum finds damage, not forgery. Reading
costs memory in proportion to the size of the snapshot; any defect raises one exception, `BadSnapshot`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec
from msgspec.msgpack import Ext
from msgspec.structs import asdict, astuple

from wholecall.errors import BadSnapshot
from wholecall.framing.base import BytesLike, checked
from wholecall.stream.snapshots import shapes

_MAGIC: Final = "wholecall.snapshot.1"  # with the number of the format
_UTF8: Final = ("utf-8", "surrogatepass")
# An extension cannot be a key of a dictionary, but a function that makes it can.
_ENCODER = msgspec.msgpack.Encoder(enc_hook=lambda late: late())
_ANOTHER: Final = (
    "the snapshot was taken by another version of wholecall, or of a registered dialect; "
    "streams move between workers of one version only"
)
T = TypeVar("T", bound=msgspec.Struct)


def sealed(options: msgspec.Struct, roots: list[object]) -> bytes:
    """Return a parser and its options as bytes; raises TypeError if it has state that cannot be kept."""
    writing, made = Writing(roots), msgspec.to_builtins(options, order="deterministic")
    try:
        rows = writing.rows()
        body = encoded([[*writing.shapes], made, rows])
    except ValueError as error:  # also BadSnapshot, and a number that Python does not write
        raise TypeError(f"a snapshot cannot hold this state: {error}") from None
    return msgspec.msgpack.encode([_MAGIC, shapes.shape_of(type(options)), crc32(body), body])


def opened(data: BytesLike, kind: type[T]) -> tuple[T, Reading]:
    """Return options of this kind, and the rows of a parser; raises BadSnapshot for anything else."""
    magic, shape, checksum, body = decoded(checked(data), tuple[str, int, int, bytes])
    if magic != _MAGIC:
        raise BadSnapshot(f"this is no snapshot of a parser that this version can read; it reads {_MAGIC}")
    if shape != shapes.shape_of(kind):
        raise BadSnapshot(_ANOTHER)
    if checksum != crc32(body):
        raise BadSnapshot("the snapshot is damaged")
    numbers, made, rows = decoded(body, tuple[list[int], Any, list[list[Any]]])
    return shapes.converted(made, kind, None), Reading(numbers, rows)


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
    is_long = isinstance(value, int) and not -(1 << 63) <= value < 1 << 64
    if is_long or (isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)):
        return partial(Ext, 1, json.dumps(value, ensure_ascii=False).encode(*_UTF8))
    return value


def decoded(data: bytes, kind: Any) -> Any:
    """Decode MessagePack, in which `kind` leaves only `Any` open; raises BadSnapshot for anything else."""
    try:
        return msgspec.msgpack.decode(data, type=kind, ext_hook=lambda _, text: json.loads(str(text, *_UTF8)))
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        pass  # the error quotes data, and an exception raised here would hold it
    raise BadSnapshot("the snapshot is cut or damaged, or this is none")


class Writing:
    """Numbers objects and shapes, in the order in which they are met."""

    def __init__(self, roots: list[Any]) -> None:
        self.shapes: dict[int, int] = {}  # and their numbers
        self._objects = [*roots]
        self._numbers = {id(value): number for number, value in enumerate(roots)}

    def rows(self) -> list[Any]:
        """Return the rows of the roots and of all objects in them; BadSnapshot or TypeError names unsupported state."""
        return [self._row(value) for value in self._objects]  # the list grows meanwhile

    def _row(self, value: Any) -> tuple[Any, ...]:
        cls: Any = type(value)
        shape = self.shapes.setdefault(shapes.shape_of(cls), len(self.shapes))
        return (
            shape,
            *astuple(shapes.converted(shapes.state_of(value, cls), shapes.row_of(cls), self._packed)),
        )

    def _packed(self, kind: shapes.Asked, value: Any) -> Any:
        if not kind.classes:
            return shapes.folded(value)
        is_met = id(value) in self._numbers  # a root may be of a subclass, which a new parser also has
        if not (isinstance(value, kind.classes) if is_met else type(value) in kind.classes):
            raise BadSnapshot(f"a {type(value).__name__} stands there")
        if kind.items:
            return sorted(shapes.converted([*value], kind.items, self._packed), key=repr)
        if isinstance(value, msgspec.Struct):
            return self._row(value)
        number = self._numbers.setdefault(id(value), len(self._objects))
        if number == len(self._objects):
            self._objects.append(value)
        return number


class Reading:
    """Finds objects by their numbers, and makes the next one; `numbers` are those of the shapes, by their places."""

    def __init__(self, numbers: list[int], rows: list[list[Any]]) -> None:
        self._shapes, self._rows = numbers, rows

    def fill(self, roots: list[Any], makers: Mapping[type, Callable[[], Any]]) -> None:
        """Fill objects, and make all objects in them; raises BadSnapshot if the rows do not fit such objects."""
        value: Any = None
        self._makers, self._objects = makers, [*roots]
        for value, row in zip(self._objects, self._rows, strict=False):  # the list grows meanwhile
            for name, part in self._fields((type(value),), row)[1].items():
                setattr(value, name, part)
        if len(self._objects) != len(self._rows):
            raise BadSnapshot("there are objects that nothing holds")
        try:
            for value in reversed(self._objects):
                getattr(value, "remade", bool)()
        except ValueError as error:
            raise BadSnapshot(f"{type(value).__qualname__}: {error}") from None

    def _fields(self, classes: tuple[Any, ...], row: Any) -> tuple[Any, dict[str, Any]]:
        if not isinstance(row, (list, tuple)) or not row or type(row[0]) is not int:
            raise BadSnapshot("a row was expected")
        for cls in classes:
            if self._shapes[row[0] : row[0] + 1] == [shapes.shape_of(cls)]:
                return cls, asdict(shapes.converted(row[1:], shapes.row_of(cls), self._read))
        raise BadSnapshot(_ANOTHER)

    def _read(self, kind: shapes.Asked, data: Any) -> Any:
        if not kind.classes:
            return shapes.unfolded(data)
        cls = kind.classes[0]
        if kind.items:
            return cls(shapes.converted(data, kind.items, self._read))
        if not issubclass(cls, msgspec.Struct):
            return self._at(data, cls)
        cls, fields = self._fields(kind.classes, data)
        return cls(**fields)

    def _at(self, number: Any, cls: type) -> Any:
        if number == len(self._objects) < len(self._rows):
            again = cls if shapes.listed(cls, "DERIVED") else partial(object.__new__, cls)
            self._objects.append(self._makers.get(cls, again)())
        is_known = type(number) is int and 0 <= number < len(self._objects)
        if is_known and isinstance(self._objects[number], cls):
            return self._objects[number]
        raise BadSnapshot("there is no such object")
