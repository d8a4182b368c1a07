"""The messages of a transcript, and the facts kept about them.

Theory of operation. A session file may be larger than memory. Therefore each message is read once, the facts by which a
repair decides are kept as lines of parts, and the message is released. Changes are recorded in the parts. If the
contents of a part decide, or a message must be written, that message is read again, and the changes are applied to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wholecall.history.parts import ABSENT, RUN, SIDE, Carried, Line, Message, Part
from wholecall.history.shapes.base import Links, Shape, View
from wholecall.history.shapes.table import shape_of

__all__ = ["Book"]

_MANY = 10_000  # remembered words


class Book:
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
