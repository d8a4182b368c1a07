"""The forms in which servers write events: the fields on the lines of an event, and their order.

Theory of operation. A server writes all of its events in one form, or in few: `data` alone, `event` and `data`, `id`,
`event` and `data`, with or without a space after each colon. The form of a block's first event gives a pattern that
takes the data of all its events at once. A match ends where its event ends, so that no event has two; if there are as
many matches as events, nothing is between them. A block with another form in it is not read here.

Few callers need more of an event than its data. Names and ids are read on request (`Block`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from wholecall.framing.frame import Frame, Like

NO_PREFIX = ""  # takes nothing off an event
_FIELD = re.compile(r"(id|event|data|): ?")  # one without a name is a comment
_NAME = re.compile(r"(event:[^\n]*\n)?")
_ID = re.compile(r"(?:\A|\n)id: ?([^\n]*)")
_LONG = 80  # characters; no line of a name is so long
_MOST_LINES = 6  # of an event in a form


class Form(NamedTuple):
    """A form of events.

    Attributes:
        pattern: finds the data of one event after the other.
        has_name: whether each event has a name; `has_id`: whether it has an id.
        is_bare: whether no space comes before the data.
    """

    pattern: re.Pattern[str]
    has_name: bool
    has_id: bool
    is_bare: bool

    def texts(self, block: str) -> list[str] | None:
        """Return the data of the events in a block without its last blank line; None if one is of another form."""
        texts = self.pattern.findall(block)
        return texts if len(texts) == block.count("\n\n") + 1 else None

    def prefix(self, event: str) -> str:
        """Return the prefix of the data of an event, and of others of its name; `NO_PREFIX` if ids differ."""
        if self.has_id:
            return NO_PREFIX
        head, field, _ = event.rpartition("\ndata:")
        bare = head + field if field else "data:"
        return bare if self.is_bare else f"{bare} "


class Block:
    """Whole events of one form, each made a frame on request.

    Args:
        text: the events, without the last blank line.
        id: the last event id before them.
    """

    __slots__ = ("_events", "_id", "_text")

    def __init__(self, text: str, id: str) -> None:
        self._text, self._id = text, id
        self._events: list[str] = []

    def mentions(self, event: str) -> bool:
        """Return whether the name of an event occurs, possibly only in some data."""
        return f"event: {event}" in self._text or f"event:{event}" in self._text

    def __iter__(self) -> Iterator[Frame]:
        return map(self.__getitem__, range(self._text.count("\n\n") + 1))

    def __getitem__(self, at: int) -> Frame:
        self._events = self._events or self._text.split("\n\n")
        if usual := named(self._events[at]):
            return Frame(*usual, self._id)
        fields = {"event": "", "id": self._id}
        for line in self._events[at].split("\n"):
            field, _, value = line.partition(":")
            fields[field] = value.removeprefix(" ")
        return Frame(fields["event"] or "message", fields["data"], fields["id"])


def may_be_named(like: Like, event: str) -> bool:
    """Return whether any of the frames that texts belong to may have this name."""
    if isinstance(like, Frame):
        return like.event == event
    return like.mentions(event) if isinstance(like, Block) else event in [frame.event for frame in like]


def id_of(event: str) -> str:
    """Return the id of an event that has one."""
    found = _ID.search(event)
    assert found is not None, "its form has an id"
    return found[1]


def named(event: str) -> tuple[str, str] | None:
    """Return name and data of an event; None if it has more than these."""
    head, field, data = event.partition("data: ")
    name = _name(head) if field and len(head) < _LONG and "\n" not in data else None
    return None if name is None else (name, data)


@lru_cache(maxsize=256)
def _name(head: str) -> str | None:
    """Return the name of an event with this text before its data, if that is empty or the line of its name."""
    return head[len("event:") : -1].removeprefix(" ") or "message" if _NAME.fullmatch(head) else None


def form_of(block: str) -> Form | None:
    """Return the form of a block's first event; None if it is rare."""
    lines = block.partition("\n\n")[0].split("\n", _MOST_LINES)
    return _form(tuple([found[0] if (found := _FIELD.match(line)) else "" for line in lines]))


@lru_cache(maxsize=64)
def _form(heads: tuple[str, ...]) -> Form | None:
    fields = [head.rstrip(": ") for head in heads]
    known = [field for field in fields if field]
    if "" in heads or len(heads) > _MOST_LINES or "data" not in fields or len(set(known)) < len(known):
        return None
    # A space after a colon is not part of the value: without one in the form, no value begins with one. An id with
    # U+0000 is not an id.
    values = {"data": r"([^\n]*)", "id": r"[^\n\0]*"}
    lines = [
        head + ("" if head.endswith(" ") else "(?! )") + values.get(head.rstrip(": "), r"[^\n]*")
        for head in heads
    ]
    pattern = re.compile(r"(?:\A|(?<=\n\n))" + "\n".join(lines) + r"(?:\n\n|\Z)")
    return Form(pattern, "event" in fields, "id" in fields, "data:" in heads)
