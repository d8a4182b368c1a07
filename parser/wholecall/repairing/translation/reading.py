"""Read the objects of a request member by member, so that none is lost without a word.

Theory of operation. Readers *take* the members of an object that they can express. What was not taken when they are done
is left out with a note, unless it says no more than its absence would. A member whose loss would change the task is
refused: the whole request is. A member that is `null` counts as absent, as servers read it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from wholecall.errors import WholecallError

_private = True

T = TypeVar("T")

_MOST_NOTES: Final = 64
_MOST_WHOLE: Final = 2**53
_MOST_PATH: Final = 128  # characters
_MOST_WORD: Final = 64  # characters
_ODD: Final = re.compile(r"[^\w.\[\]-]", re.ASCII)
_NAMES: Final[dict[Any, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
}


class Untranslatable(WholecallError, ValueError):
    """A request that cannot be said in another wire; the message tells the member and the reason, and no content.

    What the request calls by a type that has no equal is named by that type.

    Attributes:
        member: the path of the member, such as `tools[].type`.
    """

    def __init__(self, member: str, reason: str) -> None:
        super().__init__(f"{member}: {reason}")
        self.member = member


def shown(word: str) -> str:
    """Return a word of the client's as messages show it: anything but plain letters becomes a question mark."""
    return _ODD.sub("?", word)[:_MOST_WORD]


class Notes:
    """The members of a request that were left out.

    Attributes:
        left_out: their paths, each once, in the order in which they were found; places in lists have no number.
    """

    def __init__(self) -> None:
        self.left_out: list[str] = []

    def leave(self, path: str) -> None:
        """Note that a member was left out; beyond 64 of them, the last entry is `...`.

        A client chooses the names of unknown members: anything but plain letters becomes a question mark.
        """
        path = _ODD.sub("?", path)[:_MOST_PATH]
        if path in self.left_out:
            return
        if len(self.left_out) < _MOST_NOTES:
            self.left_out.append(path)
        elif self.left_out[-1] != "...":
            self.left_out.append("...")


class Members:
    """The members of one object that were not taken yet.

    Args:
        value: the object.
        path: its place in the request, empty for the request itself.
        notes: where members are noted that nobody took.

    Raises:
        Untranslatable: it is not an object.
    """

    def __init__(self, value: object, path: str, notes: Notes) -> None:
        if not isinstance(value, dict):
            raise Untranslatable(path or "the request", "must be an object")
        self._rest: dict[str, Any] = {name: each for name, each in value.items() if each is not None}
        self.path = path
        self.notes = notes

    def at(self, name: str) -> str:
        """Return the path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def __contains__(self, name: str) -> bool:
        return name in self._rest

    def take(self, name: str, kind: type[T]) -> T | None:
        """Return a member, None if it is absent.

        Raises:
            Untranslatable: it is of another type.
        """
        value = self._rest.pop(name, None)
        if value is None:
            return None
        if not isinstance(value, kind) or (type(value) is bool and kind is not bool):
            raise Untranslatable(self.at(name), f"must be {_NAMES.get(kind, 'a list')}")
        return value

    def number(self, name: str) -> float | None:
        """Return a member that is a number, None if it is absent.

        Raises:
            Untranslatable: it is of another type.
        """
        value = self._rest.get(name)
        if type(value) is int and abs(value) < _MOST_WHOLE:
            del self._rest[name]
            return float(value)
        return self.take(name, float)

    def text(self, name: str) -> str:
        """Return a member that is text, empty if it is absent."""
        return self.take(name, str) or ""

    def need(self, name: str, kind: type[T]) -> T:
        """Return a member that must be there.

        Raises:
            Untranslatable: it is absent, or of another type.
        """
        value = self.take(name, kind)
        if value is None:
            raise Untranslatable(self.at(name), "is missing")
        return value

    def any(self, name: str) -> Any:
        """Return a member of any type, None if it is absent."""
        return self._rest.pop(name, None)

    def inner(self, name: str) -> Members | None:
        """Return the members of an object, None if it is absent."""
        value = self._rest.pop(name, None)
        return None if value is None else Members(value, self.at(name), self.notes)

    def each(self, name: str) -> list[Members]:
        """Return the members of each object in a list; none if the list is absent."""
        place = self.at(name) + "[]"
        return [Members(one, place, self.notes) for one in self.take(name, list) or ()]

    def leave(self, name: str) -> None:
        """Note that a member is left out, if it is there."""
        if self._rest.pop(name, None) is not None:
            self.notes.leave(self.at(name))

    def close(
        self, usual: Mapping[str, tuple[Any, ...]] | None = None, refused: Mapping[str, str] | None = None
    ) -> None:
        """Note the members that nobody took.

        Args:
            usual: by name, the values that say no more than absence.
            refused: by name, why a request with this member cannot be translated.

        Raises:
            Untranslatable: one of these is there.
        """
        for name, value in self._rest.items():
            if any(value == one and type(value) is type(one) for one in (usual or {}).get(name, ())):
                continue
            if refused is not None and name in refused:
                raise Untranslatable(self.at(name), refused[name])
            self.notes.leave(self.at(name))
        self._rest = {}
