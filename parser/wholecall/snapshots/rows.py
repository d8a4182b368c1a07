"""A snapshot: how a parser was made and its objects as numbered rows, in bytes under a checksum.

Theory of operation. A row is an array: which shape it has (see `shapes`), and the fields. The first one is the
parser's. An object has its row after those of all objects that were met before it, so rows have one order and equal
parsers have equal ones; where it stands is its number. A Struct is a row where it is, without the last fields that
have their defaults. Reading goes the same way: a number that was met is its object, the next one is a new object,
anything else is refused, and so is a row that nobody refers to. Nothing that is read names a class.

An object that is there already is filled (a parser is made with its translator and its framing, and those make what
they need). Any other is made by what `makers` says for its class, by its class if that has something to make
again, else without a constructor. When all have their state, each that has a method `remade` is asked to make the
rest again and to check that its state makes sense; it says no with a ValueError.

All this is MessagePack: `["wholecall.snapshot", format, checksum, body]`, and the body an array of the shapes, the row
of the parser's options, and the rows. The checksum finds damage, not forgery. What is read costs memory in proportion
to its size; whatever is wrong with it is one exception, `BadSnapshot`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec
from msgspec.structs import asdict, astuple, replace

from wholecall.errors import BadSnapshot
from wholecall.framing.base import BytesLike, checked
from wholecall.output.events import ToolCall
from wholecall.snapshots import shapes
from wholecall.snapshots.shapes import Asked, converted, row_of, shape_of
from wholecall.snapshots.values import decoded, depth_of, encoded, folded

__all__ = ["Reading", "Writing", "opened", "sealed"]

_MAGIC: Final = "wholecall.snapshot"
_FORMAT: Final = 1
_ENVELOPE, _BODY = tuple[str, int, int, bytes], tuple[list[int], list[Any], list[Any]]
T = TypeVar("T", bound=msgspec.Struct)


def sealed(parser: object, options: msgspec.Struct) -> bytes:
    """Return a parser and its options as bytes; raises TypeError if it has state that cannot be kept."""
    writing = Writing()
    try:
        made, rows = writing.struct(options), writing.rows(parser)
    except BadSnapshot as error:
        raise TypeError(f"a snapshot cannot hold {error}") from None
    body = encoded([[*writing.shapes], made, rows])
    return msgspec.msgpack.encode([_MAGIC, _FORMAT, crc32(body), body])


def opened(data: BytesLike, kind: type[T]) -> tuple[T, Reading]:
    """Return options of this kind, and the rows of a parser; raises BadSnapshot."""
    magic, form, checksum, body = decoded(checked(data), _ENVELOPE)
    if magic != _MAGIC:
        raise BadSnapshot("this is no snapshot of a parser")
    if form != _FORMAT:
        raise BadSnapshot(f"the snapshot has a format that this version cannot read; it reads {_FORMAT}")
    if checksum != crc32(body):
        raise BadSnapshot("the snapshot is damaged")
    numbers, made, rows = decoded(body, _BODY)
    reading = Reading(numbers, rows)
    return reading.struct((kind,), made), reading


@cache
def _is_abstract(cls: type) -> bool:
    """Return whether a class stands for the object that is there already: a translator, a framing."""
    return inspect.isabstract(cls) or getattr(cls, "_is_protocol", False)


class Writing:
    """Numbers objects and shapes."""

    def __init__(self) -> None:
        self.shapes: dict[int, int] = {}  # and their numbers
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def rows(self, root: object) -> list[Any]:
        """Return the rows of an object and of all that it holds; BadSnapshot or TypeError says what cannot be kept."""
        self._number_of(root)
        return [self._of_object(value, type(value)) for value in self._objects]  # the list grows meanwhile

    def _of_object(self, value: Any, cls: type) -> tuple[Any, ...]:
        shapes.check_kept(cls, {*getattr(value, "__dict__", ())})
        return self._row(cls, [getattr(value, name) for name in shapes.annotations_of(cls)])

    def struct(self, value: Any) -> tuple[Any, ...]:
        """Return the row of a Struct."""
        # The caller's object that typed a call is not kept, only that there was one.
        is_typed = type(value) is ToolCall and value.typed is not msgspec.UNSET
        values = [*astuple(replace(value, typed=True) if is_typed else value)]
        for default in reversed(value.__struct_defaults__):
            if type(values[-1]) is not type(default) or values[-1] != default:
                break
            values.pop()
        return self._row(type(value), values)

    def _row(self, cls: Any, values: list[Any]) -> tuple[Any, ...]:
        shape = self.shapes.setdefault(shape_of(cls), len(self.shapes))
        return (shape, *astuple(converted(values, row_of(cls), self._packed))[: len(values)])

    def _packed(self, kind: Asked, value: Any) -> Any:
        if not kind.classes:
            return folded(value)
        if type(value) not in kind.classes and not _is_abstract(kind.classes[0]):
            raise BadSnapshot(f"a {type(value).__name__} stands there")
        if kind.items:
            return sorted(converted([*value], kind.items, self._packed), key=encoded)
        return self.struct(value) if isinstance(value, msgspec.Struct) else self._number_of(value)

    def _number_of(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self._objects))
        if number == len(self._objects):
            self._objects.append(value)
        return number


class Reading:
    """Finds objects by their numbers, and makes the next one; `numbers` are those of the shapes, by their places."""

    def __init__(self, numbers: list[int], rows: list[Any]) -> None:
        self._shapes, self._rows = numbers, rows

    def fill(self, root: object, makers: Mapping[type, Callable[[], Any]]) -> None:
        """Fill an object, and make all that it holds; raises BadSnapshot if the rows are none of such an object."""
        value: Any = root
        self._makers, self._objects = makers, [value]
        for value, row in zip(self._objects, self._rows, strict=False):  # the list grows meanwhile
            self._owner = value
            for name, part in asdict(self._row((type(value),), row)[1]).items():
                setattr(value, name, part)
        if len(self._objects) != len(self._rows):
            raise BadSnapshot("there are objects that nothing holds")
        try:
            for value in reversed(self._objects):
                getattr(value, "remade", bool)()
        except ValueError as error:
            raise BadSnapshot(f"{type(value).__qualname__}: {error}") from None

    def struct(self, classes: tuple[Any, ...], row: Any) -> Any:
        """Return a Struct of one of these classes; raises BadSnapshot if the row is none of theirs."""
        cls, fields = self._row(classes, row)
        try:
            return cls(
                **{name: value for name, value in asdict(fields).items() if value is not msgspec.UNSET}
            )
        except (TypeError, ValueError):
            raise BadSnapshot(f"{cls.__qualname__}: it is not whole") from None

    def _row(self, classes: tuple[Any, ...], row: Any) -> tuple[Any, Any]:
        if type(row) not in (list, tuple) or not row or type(row[0]) is not int:
            raise BadSnapshot("a row was expected")
        for cls in classes:
            if [shape_of(cls)] == self._shapes[row[0] : row[0] + 1]:
                return cls, converted(row[1:], row_of(cls), self._read)
        raise BadSnapshot(
            "the snapshot was taken by another version of wholecall, or of a registered dialect; "
            "streams move between workers of one version only"
        )

    def _read(self, kind: Asked, data: Any) -> Any:
        if not kind.classes:
            depth_of(data)  # this checks that it is plain
            return data
        cls = kind.classes[0]
        if kind.items:
            return cls(converted(data, kind.items, self._read))
        return self.struct(kind.classes, data) if issubclass(cls, msgspec.Struct) else self._at(data, kind)

    def _at(self, number: Any, kind: Asked) -> Any:
        present, cls = getattr(self._owner, kind.field, None), kind.classes[0]
        cls = type(present) if _is_abstract(cls) else cls
        if number == len(self._objects) < len(self._rows):
            self._objects.append(present if type(present) is cls else self._made(cls))
        if type(number) is int and 0 <= number < len(self._objects) and type(self._objects[number]) is cls:
            return self._objects[number]
        raise BadSnapshot("there is no such object")

    def _made(self, cls: type) -> Any:
        make = self._makers.get(cls) or (cls if shapes.derived_of(cls) else partial(object.__new__, cls))
        return make()
