"""The objects of a parser as numbered rows, and back.

Theory of operation. A row is an array: which shape it has (see `shapes`), and the fields. The first one is the
parser's. An object has its row after those of all objects that were met before it, so rows have one order and equal
parsers have equal ones; where it stands is its number. A Struct is a row where it is, without the last fields that
have their defaults. Reading goes the same way: a number that was met is its object, the next one is a new object,
anything else is refused, and so is a row that nobody refers to. Nothing that is read names a class.

An object that is there already is filled (a parser is made with its translator and its framing, and those make what
they need). Any other is made by what `makers` says for its class, by its class if that has something to make
anew, else without a constructor. When all have their state, each that has a method `remade` is asked to make the
rest anew and to see that its state makes sense; it says no with a ValueError.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import asdict, astuple, replace

from wholecall.errors import BadSnapshot
from wholecall.output.events import ToolCall
from wholecall.snapshots.shapes import (
    Asked,
    annotations_of,
    check_kept,
    converted,
    derived_of,
    row_of,
    shape_of,
)
from wholecall.snapshots.values import depth_of, encoded, flat_if_deep

__all__ = ["Reading", "Writing"]


@cache
def _is_abstract(cls: type) -> bool:
    """Whether a class stands for the object that is there already: a translator, a framing."""
    return inspect.isabstract(cls) or getattr(cls, "_is_protocol", False)


class Writing:
    """Gives numbers to objects and to shapes."""

    def __init__(self) -> None:
        self.shapes: dict[int, int] = {}  # and their numbers
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def rows(self, root: object) -> list[Any]:
        """Return the rows of an object and of all that it holds; BadSnapshot or TypeError says what cannot be kept."""
        self._number_of(root)
        return [self._of_object(value) for value in self._objects]  # which grow

    def _of_object(self, value: Any) -> tuple[Any, ...]:
        check_kept(value)
        cls: type = type(value)
        return self._row(cls, [getattr(value, name) for name in annotations_of(cls)])

    def struct(self, value: Any) -> tuple[Any, ...]:
        """Return the row of a Struct."""
        is_typed = (
            type(value) is ToolCall and value.typed is not msgspec.UNSET
        )  # by an object of the caller's
        values = [*astuple(replace(value, typed=True) if is_typed else value)]
        for default in reversed(value.__struct_defaults__):
            if type(values[-1]) is not type(default) or values[-1] != default:
                break
            values.pop()
        return self._row(type(value), values)

    def _row(self, cls: type, values: list[Any]) -> tuple[Any, ...]:
        shape = self.shapes.setdefault(shape_of(cls), len(self.shapes))
        return (shape, *astuple(converted(values, row_of(cls), self._packed))[: len(values)])

    def _packed(self, kind: Asked, value: Any) -> Any:
        if not kind.classes:
            return flat_if_deep(value)
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
    """Finds objects by their numbers, and makes the next one.

    Args:
        shapes: what rows have the numbers of.
        rows: of objects.
    """

    def __init__(self, shapes: list[int], rows: list[Any]) -> None:
        self._shapes, self._rows = shapes, rows

    def fill(self, root: object, makers: Mapping[type, Callable[[], Any]]) -> None:
        """Fill an object, and make all that it holds; raises BadSnapshot if the rows are none of such an object.

        Args:
            root: the object.
            makers: how to make objects of classes whose constructors make what is not kept.
        """
        self._makers, self._objects = makers, [root]
        for value, row in zip(self._objects, self._rows, strict=False):  # which grow
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
        """Return a Struct of one of these classes; raises BadSnapshot or TypeError if the row is none of theirs."""
        cls, fields = self._row(classes, row)
        return cls(**{name: value for name, value in asdict(fields).items() if value is not msgspec.UNSET})

    def _row(self, classes: tuple[Any, ...], row: Any) -> tuple[Any, Any]:
        if type(row) not in (list, tuple) or not row or row[0] not in range(len(self._shapes)):
            raise BadSnapshot("a row was expected")
        for cls in classes:
            if shape_of(cls) == self._shapes[row[0]]:
                return cls, converted(row[1:], row_of(cls), self._read)
        raise BadSnapshot(
            "the snapshot was taken by another version of wholecall, or of a registered dialect; "
            "streams move between workers of one version only"
        )

    def _read(self, kind: Asked, data: Any) -> Any:
        if not kind.classes:
            depth_of(data)
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
        make = self._makers.get(cls)
        if make is not None:
            return make()
        return cls() if derived_of(cls) else object.__new__(cls)
