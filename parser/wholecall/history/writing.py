"""The repaired list: unchanged messages, rewritten messages, and links between entries.

Theory of operation. The fate of each message is recorded, and the message itself is made only on request; an unchanged
message is the same object as before. If the entries of a file refer to each other, the children of a removed entry
become those of the entry before it, and entries put after an entry come between it and its children.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

import msgspec

from wholecall.history.book import Book
from wholecall.history.parts import Line, Message
from wholecall.history.placing import Plan
from wholecall.history.shapes.base import Links

__all__ = ["Written", "pages", "write"]


class Written(msgspec.Struct, eq=False, gc=False):
    """A message of the output.

    Attributes:
        line: its original line, None for a new message.
        made: the new message, None for the message of a line.
        put_after: the line after which it was put, None if it was not moved.
        links: the changed members that name other entries.
    """

    line: Line | None
    made: Message | None = None
    put_after: Line | None = None
    links: Message | None = None

    @property
    def rewritten(self) -> bool:
        """True if its content changed."""
        return self.line is None or self.links is not None or self._touched

    @property
    def changed(self) -> bool:
        """True if its content or position changed."""
        return self.put_after is not None or self.rewritten

    @property
    def _touched(self) -> bool:
        return self.line is not None and self.line.side != "other" and self.line.touched

    def message(self, book: Book) -> Message:
        """Return the message of the output."""
        if self.line is None:
            message = self.made or {}
        elif self._touched:
            message = book.written(self.line, self.line.parts, self.line.left)
        else:
            message = book.message(self.line)
        return {**message, **self.links} if self.links else message


def write(book: Book, plan: Plan) -> list[Written]:
    """Return the messages of the output."""
    output: list[Written] = []
    for line in book.lines:
        if _stays(line) and not line.relocated:
            output.append(Written(line))
        for item in plan.put_after.get(line.index, ()):
            if not isinstance(item, Line):
                output.append(Written(None, item, line))
            elif _stays(item):
                output.append(Written(item, None, line))
    if book.shape.joins is not None:
        output = list(_joined(output, book.shape.joins))
    if book.shape.links is not None:
        _relink(book, output, book.shape.links)
    return output


def _joined(output: Iterable[Written], joins: Callable[[Line, Line], bool]) -> Iterator[Written]:
    """Yield the messages; of messages that must be joined only the first, with the content of all."""
    last: dict[str, Line | None] = {}
    for item in output:
        line, near = item.line, item.line or item.put_after
        before = last.get(near.thread) if near is not None else None
        if line is not None and line.side != "other" and before is not None and joins(before, line):
            _absorb(before, line)
            continue
        if near is not None and near.side != "other":
            last[near.thread] = line
        yield item


def _absorb(line: Line, after: Line) -> None:
    """Append the content of a line to that of another."""
    if line.order is None or line.head:
        line.order, line.head = line.left, ()
    line.order += after.left
    after.head = ()
    for part in after.parts:
        part.away = True


def pages(book: Book, output: Iterable[Written]) -> Iterator[int | Message]:
    """Yield the messages of the output; for unchanged messages their index in the input."""
    for item in output:
        same = item.line is not None and not item.rewritten
        yield item.line.index if same and item.line else item.message(book)


def _stays(line: Line) -> bool:
    return line.side == "other" or line.visible


# --- entries that name each other ----------------------------------------------------------------------


def _relink(book: Book, output: list[Written], links: Links) -> None:
    if len(output) == len(book.lines) and not any(item.changed for item in output):
        return
    taken = _Taken(id for one in book.messages if (id := _id(one, links)) and links.parent in one)
    if not taken:
        return
    staying = bytearray(len(book.lines))
    for item in output:
        if item.line is not None and item.put_after is None:
            staying[item.line.index] = True
    gone: dict[str | None, str | None] = {
        _id(message := book.message(line), links): _named(message, links.parent)
        for line in book.lines
        if not staying[line.index]
    }
    tails = _chain([item for item in output if item.put_after is not None], taken, book, links)
    if not gone and not tails:
        return
    for item in output:
        if item.put_after is None and item.line is not None:
            item.links = _linked(book.message(item.line), gone, tails, links) or None


class _Taken:
    """The ids of all entries, as sorted hashes: they are many, and rarely looked up."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._hashes = array("q", sorted(map(hash, ids)))
        self._made: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def __contains__(self, id: str) -> bool:
        place = bisect_left(self._hashes, hash(id))
        return id in self._made or self._hashes[place : place + 1] == array("q", [hash(id)])

    def add(self, id: str) -> None:
        """Add a generated id."""
        self._made.add(id)


def _id(message: Message, links: Links) -> str | None:
    return _named(message, links.id)


def _named(message: Message, member: str) -> str | None:
    """Return the entry that a member names, None if it names none."""
    id = message.get(member)
    return id if isinstance(id, str) else None


def _chain(put: Iterable[Written], taken: _Taken, book: Book, links: Links) -> dict[str, str]:
    """Chain the messages put after each line; return the end of each chain by the id of that line."""
    tails: dict[str, str] = {}
    for number, item in enumerate(put):
        assert item.put_after is not None
        start = _id(book.message(item.put_after), links)
        before = start if start is None else tails.get(start, start)
        own = _id(item.message(book), links) or ""
        while not own or (item.line is None and own in taken):
            own = links.mint(f"{before}/{number}/{own}")
        taken.add(own)
        item.links = {links.id: own, links.parent: before}
        if start is not None:
            tails[start] = own
    return tails


def _linked(
    message: Message, gone: dict[str | None, str | None], tails: dict[str, str], links: Links
) -> Message:
    """Return the members of an entry that must name other entries than before."""
    changed = {
        name: target
        for name in links.others
        if isinstance(message.get(name), str) and (target := _resolve(message[name], gone)) != message[name]
    }
    parent = message.get(links.parent)
    if isinstance(parent, str):
        target = _resolve(parent, gone)
        target = target if target is None else tails.get(target, target)
        if target != parent:
            changed[links.parent] = target
    return changed


def _resolve(id: str | None, gone: dict[str | None, str | None]) -> str | None:
    """Return the nearest remaining entry before, and remember it for all entries passed."""
    passed: dict[str, None] = {}
    while id is not None and id in gone:
        if id in passed:  # entries in a reference cycle have no entry before them
            id = None
            break
        passed[id] = None
        id = gone[id]
    gone.update(dict.fromkeys(passed, id))
    return id
