"""The objects of a parser as numbered rows, and back.

Theory of operation. The first row is the parser's. An object has its row after those of all objects that were
met before it, so rows have one order and equal parsers have equal ones. Reading goes the same way: a number that
was met is its object, the next free number is a new one, anything else is odd; so is a row that nobody refers to.

An object that is there already is filled (a parser is made with its translator and its framing, and those make
what they need). Any other is made by what `makers` says for its class, by its class if that has something to
make anew, else without a constructor. When all have their state, each that has a method `remade` is asked to make
the rest anew and to see that its state makes sense; it says no with a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wholecall.snapshots.codecs import is_abstract
from wholecall.snapshots.shapes import check_kept, derived_of, fields_of
from wholecall.snapshots.values import Odd

if TYPE_CHECKING:
    from wholecall.output.events import ToolCall

__all__ = ["packed_objects", "read_objects"]

Rows = list[list[Any]]
Typed = Callable[["ToolCall[Any]"], "ToolCall[Any]"]


def packed_objects(root: object) -> Rows:
    """Return the rows of an object and of all that it holds.

    Raises:
        TypeError: something is no state that could be kept; the message names the class.
    """
    return _Packing(root).rows()


def read_objects(
    rows: Rows, root: object, makers: Mapping[type, Callable[[], Any]], typed: Typed
) -> list[Any]:
    """Fill an object, and make all that it holds; return these objects.

    Args:
        rows: what was packed.
        root: the object to fill.
        makers: how to make objects of classes whose constructors make what is not kept.
        typed: gives a call what its tool's type makes of it.

    Raises:
        Odd: the rows are not what the annotations say.
    """
    return _Reading(rows, root, makers, typed).objects()


class _Packing:
    """Gives numbers to objects."""

    def __init__(self, root: object) -> None:
        self._objects = [root]
        self._numbers = {id(root): 0}

    def rows(self) -> Rows:
        return [self._row(value) for value in self._objects]  # which grow

    def _row(self, value: Any) -> list[Any]:
        check_kept(value)
        cls: type = type(value)
        row: list[Any] = []
        name = ""
        try:
            for name, codec in fields_of(cls):
                row.append(codec.pack(getattr(value, name), self))
        except TypeError as error:
            raise TypeError(f"a snapshot cannot hold {cls.__qualname__}.{name}: {error}") from None
        return row

    def number_of(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self._objects))
        if number == len(self._objects):
            self._objects.append(value)
        return number


class _Reading:
    """Finds objects by their numbers, and makes the next one."""

    def __init__(
        self, rows: Rows, root: object, makers: Mapping[type, Callable[[], Any]], typed: Typed
    ) -> None:
        self._rows = rows
        self._objects = [root]
        self._makers = makers
        self._present: Any = None  # what is in the field at hand
        self.typed = typed

    def objects(self) -> list[Any]:
        for value, row in zip(self._objects, self._rows, strict=False):
            self._fill(value, row)
        if len(self._objects) != len(self._rows):
            raise Odd("there are objects that nothing holds")
        for value in reversed(self._objects):
            _remake(value)
        return self._objects

    def _fill(self, value: Any, row: Any) -> None:
        cls: type = type(value)
        fields = fields_of(cls)
        if type(row) is not list or len(row) != len(fields):
            raise Odd(f"the row of a {type(value).__qualname__} is too short or too long")
        name = ""
        try:
            for (name, codec), data in zip(fields, row, strict=True):
                self._present = getattr(value, name, None)
                setattr(value, name, codec.read(data, self))
        except Odd as odd:
            raise Odd(f"{cls.__qualname__}.{name}: {odd}") from None

    def object_at(self, number: int, wanted: type) -> Any:
        cls = type(self._present) if is_abstract(wanted) else wanted
        if number == len(self._objects) < len(self._rows):
            self._objects.append(self._made(cls))
        if not (0 <= number < len(self._objects) and type(self._objects[number]) is cls):
            raise Odd("there is no such object")
        return self._objects[number]

    def _made(self, cls: type) -> Any:
        if type(self._present) is cls:
            return self._present
        make = self._makers.get(cls)
        if make is not None:
            return make()
        return cls() if derived_of(cls) else object.__new__(cls)


def _remake(value: Any) -> None:
    remade = getattr(value, "remade", None)
    if remade is None:
        return
    try:
        remade()
    except ValueError as error:
        raise Odd(f"{type(value).__qualname__}: {error}") from None
