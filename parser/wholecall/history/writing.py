"""The repaired list: which messages are kept as they are, which are written again, and how entries are linked.

A message that was not changed is the same object as before. Where the entries of a file refer to each other, the
children of a removed entry become those of the entry before it, and what is put after an entry comes between it and
its children.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wholecall.history.parts import Line, Message
from wholecall.history.placing import Plan
from wholecall.history.shapes.base import Links, Shape

__all__ = ["Written", "write"]


class Written(msgspec.Struct, eq=False, gc=False):
    """A message of the output.

    Attributes:
        line: where it came from, None for a new one.
        message: what it is now.
        put_after: the line after which it was put, None for one that was not moved.
    """

    line: Line | None
    message: Message
    put_after: Line | None = None

    @property
    def changed(self) -> bool:
        """Whether it is not what it was, or not where it was."""
        return self.line is None or self.put_after is not None or self.message is not self.line.message


def write(lines: list[Line], plan: Plan, shape: Shape) -> list[Written]:
    """Return the messages of the output."""
    output: list[Written] = []
    for line in lines:
        if not line.relocated:
            output += _of_line(line, shape)
        for item in plan.put_after.get(line.index, ()):
            output += _of_line(item, shape, line) if isinstance(item, Line) else [Written(None, item, line)]
    if shape.links is not None:
        _relink(lines, output, shape.links)
    return output


def _of_line(line: Line, shape: Shape, put_after: Line | None = None) -> list[Written]:
    if line.side == "other":
        return [Written(line, line.message, put_after)]
    if not line.visible:
        return []
    message = shape.write(line.message, line.parts, line.left) if line.touched else line.message
    return [Written(line, message, put_after)]


# --- entries that name each other ----------------------------------------------------------------------


def _relink(lines: list[Line], output: list[Written], links: Links) -> None:
    ids = {id for line in lines if (id := _id(line.message, links)) and links.parent in line.message}
    unchanged = len(output) == len(lines) and not any(item.changed for item in output)
    if unchanged or not ids:
        return
    staying = {item.line.index for item in output if item.line is not None and item.put_after is None}
    gone: dict[str | None, str | None] = {
        _id(line.message, links): _named(line.message, links.parent)
        for line in lines
        if line.index not in staying
    }
    tails = _chain([item for item in output if item.put_after is not None], ids, links)
    for item in output:
        if item.put_after is None:
            item.message = _linked(item.message, gone, tails, links)


def _id(message: Message, links: Links) -> str | None:
    return _named(message, links.id)


def _named(message: Message, member: str) -> str | None:
    """Return the entry that a member names, None if it names none."""
    id = message.get(member)
    return id if isinstance(id, str) else None


def _chain(put: Iterable[Written], ids: set[str], links: Links) -> dict[str, str]:
    """Chain what was put after each line; return the end of each chain by the id of that line."""
    tails: dict[str, str] = {}
    for number, item in enumerate(put):
        assert item.put_after is not None
        start = _id(item.put_after.message, links)
        before = start if start is None else tails.get(start, start)
        own = _id(item.message, links) or ""
        while not own or (item.line is None and own in ids):
            own = links.mint(f"{before}/{number}/{own}")
        ids.add(own)
        item.message = {**item.message, links.id: own, links.parent: before}
        if start is not None:
            tails[start] = own
    return tails


def _linked(
    message: Message, gone: dict[str | None, str | None], tails: dict[str, str], links: Links
) -> Message:
    """Return an entry that names entries that are there; the same object where it did already."""
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
    return {**message, **changed} if changed else message


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
