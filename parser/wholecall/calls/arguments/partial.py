"""Half-finished JSON, to show while it streams: the closed values, and the open string's text so far.

Theory of operation. `PartialArguments` is a snapshot, not a call: it is not a dict, it has no `arguments`, and its
value is a read-only view that is not a dict either. Therefore no code that executes calls accepts it as one. The
snapshots of answers (`PartialOutput`) and of texts without a stream (`PartialJson`) are of the same kind.

The scanner only ever appends: members to the containers on the open path, pieces to the open string. Therefore a
snapshot copies nothing. It records the length of each of them, which costs one step per open container, and builds the
value from these beginnings only on request. Closed members are shared by all snapshots of a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, Union

import msgspec

# Keys and list indices from the arguments down to a value; () is the arguments themselves.
Path = tuple[Union[str, int], ...]
# An open container, and its number of members at the time.
Mark = tuple[Union[dict[str, Any], list[Any]], int]


def size_of(value: object) -> str:
    """Return the text for a value in a repr that must not show argument text: its length, or nothing."""
    return f"<{len(value)}>" if isinstance(value, (str, tuple, list, dict, Mapping)) else "<1>"


class StringDelta(msgspec.Struct, frozen=True, gc=False):
    """More text of an open string value.

    Attributes:
        path: the place of the string.
        text: the new text, decoded and never empty; the texts of one path add up to the string.
    """

    path: Path
    text: str

    def __repr__(self) -> str:
        return f"StringDelta(path={size_of(self.path)}, text={size_of(self.text)})"


class Closed(msgspec.Struct, frozen=True, gc=False):
    """A finished value: a string, number or literal, or an object or list whose members were reported before it.

    Attributes:
        path: the place of the value; each path closes at most once.
        value: the whole value, shared with snapshots: read it, do not change it.
    """

    path: Path
    value: Any

    def __repr__(self) -> str:
        return f"Closed(path={size_of(self.path)}, value={size_of(self.value)})"


Piece = Union[StringDelta, Closed]


class OpenText:
    """The text of one open string, in the pieces in which it arrived; append-only.

    It keeps the longest beginning that was requested. Repeated reads of a growing string then cost the copying, not the
    joining of all pieces.
    """

    __slots__ = ("_count", "_joined", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._joined = ""
        self._count = 0  # its number of pieces

    def beginning(self, count: int) -> str:
        """Return the first `count` pieces as one text."""
        if count < self._count:
            return "".join(self.pieces[:count])
        if count > self._count:
            self._joined += "".join(self.pieces[self._count : count])
            self._count = count
        return self._joined

    def compacted(self) -> OpenText:
        """Return the same text with few pieces if it has very many; this object does not change for its readers.

        All text is copied; this waits until the new pieces are a large enough part for the total work to be linear.
        """
        pieces = self.pieces
        if len(pieces) < 1000 or len(pieces) < len(pieces[0]) // 16:
            return self
        other = OpenText()
        other.pieces.append("".join(pieces))
        return other


class Partial:
    """A snapshot of a JSON value that is still being read; later text does not change it."""

    __slots__ = ("_complete", "_count", "_marks", "_open_path", "_text", "_value")

    def __init__(
        self, marks: Sequence[Mark], open_path: Path | None, text: OpenText | None, complete: bool
    ) -> None:
        self._marks = marks
        self._open_path = open_path
        self._text = text
        self._count = 0 if text is None else len(text.pieces)
        self._complete = complete
        self._value: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the state for copies and pickles: the content of the snapshot, without any later text."""
        marks = [(_beginning(container, count), count) for container, count in self._marks]
        text = None if self._text is None else self._text.beginning(self._count)
        return _copied, (type(self), marks, self._open_path, text, self._complete, *self._further())

    def _further(self) -> tuple[Any, ...]:
        """Return the further fields of a subclass."""
        return ()

    @property
    def closed(self) -> tuple[str, ...]:
        """The keys of the finished top-level members, in order."""
        if not self._marks or isinstance(self._marks[0][0], list):
            return ()
        members, count = self._marks[0]
        return tuple(islice(members, count))

    @property
    def open_path(self) -> Path | None:
        """The path of the innermost value that has begun and not ended: text continues there.

        () is the whole value, None before it begins and once it is complete.
        """
        return self._open_path

    @property
    def complete(self) -> bool:
        """True if the text is one complete value; only the wire can show that no more text follows."""
        return self._complete

    def _put_together(self) -> Any:
        """Return the beginnings of the containers on the open path, nested in each other; None if there are none."""
        path = self._open_path or ()
        inner: Any = None if self._text is None else self._text.beginning(self._count)
        for level in range(len(self._marks) - 1, -1, -1):
            outer = _beginning(*self._marks[level])
            if isinstance(outer, list):
                outer += [] if inner is None else [inner]
            elif inner is not None:
                outer[path[level]] = inner
            inner = outer
        return inner


class PartialArguments(Partial):
    """A snapshot of a call's arguments at one moment; to show, never to execute.

    Later text does not change a snapshot. In later snapshots of the same call (with the same `resets`) strings have
    only grown, lists and objects have only gained members, and closed members are the same.
    """

    __slots__ = ("_resets", "_stopped")

    def __init__(
        self,
        marks: Sequence[Mark],
        open_path: Path | None,
        text: OpenText | None,
        complete: bool,
        stopped: bool,
        resets: int,
    ) -> None:
        super().__init__(marks, open_path, text, complete)
        self._stopped = stopped
        self._resets = resets

    def __repr__(self) -> str:
        path = None if self._open_path is None else size_of(self._open_path)
        return (
            f"{type(self).__name__}(value={size_of(self.value)}, closed={size_of(self.closed)}, open_path={path}, "
            f"complete={self._complete}, stopped={self._stopped}, resets={self._resets})"
        )

    def _further(self) -> tuple[Any, ...]:
        return self._stopped, self._resets

    @property
    def value(self) -> Mapping[str, Any]:
        """The value so far, read-only: closed members, open containers, the open string's text so far.

        It contains no unfinished key, number or literal. It is built on first access, at the cost of the open
        containers' members and the open string's characters; nested values are shared with other snapshots: read them,
        do not change them.
        """
        if self._value is None:
            self._value = shown(self._put_together(), {})
        value: Mapping[str, Any] = self._value
        return value

    @property
    def stopped(self) -> bool:
        """True if reading stopped; nothing more is added."""
        return self._stopped

    @property
    def resets(self) -> int:
        """The number of restarts, each of which discards everything before it."""
        return self._resets


def shown(value: Any, empty: Any = None) -> Any:
    """Return an inert form of a value: an object as a read-only mapping, a list as a tuple; `empty` for None."""
    value = empty if value is None else value
    if isinstance(value, dict):
        return MappingProxyType(value)
    return tuple(value) if isinstance(value, list) else value


def _beginning(container: dict[str, Any] | list[Any], count: int) -> Any:
    """Return a copy of the first `count` members of a container that has only grown since."""
    return container[:count] if isinstance(container, list) else dict(islice(container.items(), count))


def _copied(
    view: type[Partial], marks: Sequence[Mark], open_path: Path | None, text: str | None, *facts: Any
) -> Partial:
    """Return a snapshot that shares nothing with a scanner."""
    pieces = None if text is None else OpenText()
    if pieces is not None and text:
        pieces.pieces.append(text)
    return view(marks, open_path, pieces, *facts)


# The facts of a snapshot: the open containers, `open_path`, the open string, `complete`, `stopped`, `resets`.
Facts = tuple[Sequence[Mark], Union[Path, None], Union[OpenText, None], bool, bool, int]
