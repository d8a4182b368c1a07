"""The messages of a transcript: read into facts, and written again where they changed.

Theory of operation. A session file may be larger than memory. Therefore each message is read once, the facts by which a
repair decides are kept as lines of parts, and the message is released. Changes are recorded in the parts. If the
contents of a part decide, or a message must be written, that message is read again, and the changes are applied to it.

The fate of each message of the output is recorded, too, and the message itself is made only on request; an unchanged
message is the same object as before. If the entries of a file refer to each other, the children of a removed entry
become those of the entry before it, and entries put after an entry come between it and its children.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from wholecall.history.parts import ABSENT, RUN, SIDE, Carried, Line, Message, Part
from wholecall.history.shapes.base import Links, Shape, View
from wholecall.history.shapes.table import shape_of

_MANY = 10_000  # remembered words


class IndexedTranscript:
    """A transcript that is read through the view of its shape.

    Attributes:
        messages: the messages, read as often as needed.
        view: the view by which they are read.
        lines: the facts, a line for each message.

    Args:
        messages: the messages, each a dict.
        shape: as for `repair_transcript`, or the view itself.

    Raises:
        TypeError: a block is not a dict.
        ValueError: there is no such shape.
    """

    def __init__(self, messages: Sequence[Message], shape: str | View) -> None:
        self.messages = messages
        self.view = shape if isinstance(shape, View) else shape_of(messages, shape)
        self._open: tuple[int, Line] | None = None  # the line that was read again last
        words = _Words()
        self.lines = [_facts(self.view.read(message), n, words) for n, message in enumerate(messages)]
        _count_runs(self.lines)
        if self.view.links is not None and any(line.thread == SIDE for line in self.lines):
            _part_threads(self.lines, messages, self.view.links)

    @property
    def shape(self) -> Shape:
        """The shape of the messages; they must not be a read-only record."""
        assert isinstance(self.view, Shape)
        return self.view

    def message(self, line: Line) -> Message:
        """Return the unchanged message of a line."""
        return self.messages[line.index]

    def arguments(self, call: Part) -> Any:
        """Return the arguments of a call as read."""
        return self._part(call).arguments

    def value(self, part: Part) -> Any:
        """Return the block of a part with its changes; for a new or a fetched part, its own block."""
        if part.value is not None or part.row < 0:
            return part.value
        value = self._part(part).value
        for edit in part.edits:
            value = edit(value)
        return value

    def fetch(self, parts: Iterable[Part]) -> None:
        """Load the blocks of parts, line by line."""
        for part in sorted(parts, key=lambda part: part.row):
            part.value = self.value(part)

    def written(self, line: Line, parts: Sequence[Part], left: Iterable[Part]) -> Message:
        """Return the message of a line, made of the remaining parts."""
        whole = [Part(part.kind, self.value(part), part.field, part.listed) for part in left]
        return self.shape.write(self.message(line), list(parts), whole)

    def _part(self, part: Part) -> Part:
        if self._open is None or self._open[0] != part.row:
            self._open = part.row, self.view.read(self.messages[part.row])
        return self._open[1].parts[part.number]


class _Words(dict[str, str]):
    """Ids, names and reasons, many of which repeat soon: equal words become one object."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MANY:
            self.clear()
        self[word] = word
        return word


def _facts(line: Line, index: int, words: _Words) -> Line:
    """Return a line without the contents of its message."""
    line.index = index
    line.parts = tuple(line.parts)
    line.thread = words[line.thread]
    line.stop = words[line.stop] if isinstance(line.stop, str) else line.stop
    line.answer = words[line.answer] if line.answer else line.answer
    for number, part in enumerate(line.parts):
        part.row, part.number = index, number
        part.id, part.name = words[part.id], words[part.name]
        part.label = part.id or part.name
        part.carried = _carried(part.arguments)
        part.value, part.arguments = None, ABSENT
    return line


def _carried(arguments: Any) -> Carried:
    """Return the kind of arguments of a call."""
    if isinstance(arguments, str):
        return "text" if arguments.strip() else "blank"
    if isinstance(arguments, dict):
        return "object" if arguments else "empty"
    return "absent" if arguments is ABSENT else "null" if arguments is None else "other"


def _count_runs(lines: Iterable[Line]) -> None:
    """Number the runs; each is one answer, because no message interrupts it."""
    run, ended, name = 0, False, f"{RUN} 0"
    for line in lines:
        if line.answer == RUN:
            if ended:
                run, ended, name = run + 1, False, f"{RUN} {run + 1}"
            line.answer = name
        elif line.visible:
            ended = True


def _part_threads(lines: Iterable[Line], messages: Iterable[Message], links: Links) -> None:
    """Distinguish side conversations that only their links identify: each has a first entry."""
    first: dict[str, str] = {}
    for line, message in zip(lines, messages, strict=True):
        id, parent = message.get(links.id), message.get(links.parent)
        if isinstance(id, str):
            first[id] = first.get(parent, id) if isinstance(parent, str) else id
            line.thread += f" {first[id]}" if line.thread == SIDE else ""


# --- writing -------------------------------------------------------------------------------------------


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

    def message(self, indexed: IndexedTranscript) -> Message:
        """Return the message of the output."""
        if self.line is None:
            message = self.made or {}
        elif self._touched:
            message = indexed.written(self.line, self.line.parts, self.line.left)
        else:
            message = indexed.message(self.line)
        return {**message, **self.links} if self.links else message


def write(indexed: IndexedTranscript, put_after: Mapping[int, Sequence[Line | Message]]) -> list[Written]:
    """Return the messages of the output; `put_after` are those to put after a line, by the index of that line."""
    output: list[Written] = []
    for line in indexed.lines:
        if _stays(line) and not line.relocated:
            output.append(Written(line))
        for item in put_after.get(line.index, ()):
            if not isinstance(item, Line):
                output.append(Written(None, item, line))
            elif _stays(item):
                output.append(Written(item, None, line))
    if indexed.shape.joins is not None:
        output = list(_joined(output, indexed.shape.joins))
    if indexed.shape.links is not None:
        _relink(indexed, output, indexed.shape.links)
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


def pages(indexed: IndexedTranscript, output: Iterable[Written]) -> Iterator[int | Message]:
    """Yield the messages of the output; for unchanged messages their index in the input."""
    for item in output:
        same = item.line is not None and not item.rewritten
        yield item.line.index if same and item.line else item.message(indexed)


def _stays(line: Line) -> bool:
    return line.side == "other" or line.visible


# --- entries that name each other ----------------------------------------------------------------------


def _relink(indexed: IndexedTranscript, output: list[Written], links: Links) -> None:
    if len(output) == len(indexed.lines) and not any(item.changed for item in output):
        return
    taken = _Taken(id for one in indexed.messages if (id := _id(one, links)) and links.parent in one)
    if not taken:
        return
    staying = bytearray(len(indexed.lines))
    for item in output:
        if item.line is not None and item.put_after is None:
            staying[item.line.index] = True
    gone: dict[str | None, str | None] = {
        _id(message := indexed.message(line), links): _named(message, links.parent)
        for line in indexed.lines
        if not staying[line.index]
    }
    tails = _chain([item for item in output if item.put_after is not None], taken, indexed, links)
    if not gone and not tails:
        return
    for item in output:
        if item.put_after is None and item.line is not None:
            item.links = _linked(indexed.message(item.line), gone, tails, links) or None


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


def _chain(put: Iterable[Written], taken: _Taken, indexed: IndexedTranscript, links: Links) -> dict[str, str]:
    """Chain the messages put after each line; return the end of each chain by the id of that line."""
    tails: dict[str, str] = {}
    for number, item in enumerate(put):
        assert item.put_after is not None
        start = _id(indexed.message(item.put_after), links)
        before = start if start is None else tails.get(start, start)
        own = _id(item.message(indexed), links) or ""
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
