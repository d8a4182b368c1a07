"""The repaired list: which messages are kept as they are, which are written again, and how entries are linked.

Theory of operation. What becomes of each message is noted, and the message itself is made only when it is asked for:
one that was not changed is what it was before. Where the entries of a file refer to each other, the
children of a removed entry become those of the entry before it, and what is put after an entry comes between it and
its children.
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
        line: where it came from, None for a new one.
        made: a message that is new, None for one of a line.
        put_after: the line after which it was put, None for one that was not moved.
        links: the members that name other entries, where they change.
    """

    line: Line | None
    made: Message | None = None
    put_after: Line | None = None
    links: Message | None = None

    @property
    def rewritten(self) -> bool:
        """Whether it is not what it was."""
        return self.line is None or self.links is not None or self._touched

    @property
    def changed(self) -> bool:
        """Whether it is not what it was, or not where it was."""
        return self.put_after is not None or self.rewritten

    @property
    def _touched(self) -> bool:
        return self.line is not None and self.line.side != "other" and self.line.touched

    def message(self, book: Book) -> Message:
        """Return what it is now."""
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
    """Yield the messages, of those that have to be one the first, with all that they hold."""
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
    """Put all that a line holds behind what another holds."""
    if line.order is None or line.head:
        line.order, line.head = line.left, ()
    line.order += after.left
    after.head = ()
    for part in after.parts:
        part.away = True


def pages(book: Book, output: Iterable[Written]) -> Iterator[int | Message]:
    """Yield the messages of the output, of those that are as they were their index in the input."""
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
    """The ids of all entries, of which there are many, and which are rarely asked for: as their sorted hashes."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._hashes = array("q", sorted(map(hash, ids)))
        self._made: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def __contains__(self, id: str) -> bool:
        place = bisect_left(self._hashes, hash(id))
        return id in self._made or self._hashes[place : place + 1] == array("q", [hash(id)])

    def add(self, id: str) -> None:
        """Note an id that was made."""
        self._made.add(id)


def _id(message: Message, links: Links) -> str | None:
    return _named(message, links.id)


def _named(message: Message, member: str) -> str | None:
    """Return the entry that a member names, None if it names none."""
    id = message.get(member)
    return id if isinstance(id, str) else None


def _chain(put: Iterable[Written], taken: _Taken, book: Book, links: Links) -> dict[str, str]:
    """Chain what was put after each line; return the end of each chain by the id of that line."""
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
    """Return the members of an entry that must name other entries than they do."""
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
    """Return the nearest entry before that is still there, and remember it for all that were passed."""
    passed: dict[str, None] = {}
    while id is not None and id in gone:
        if id in passed:  # entries that name each other in a circle have nobody before them
            id = None
            break
        passed[id] = None
        id = gone[id]
    gone.update(dict.fromkeys(passed, id))
    return id
