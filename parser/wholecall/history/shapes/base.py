"""A shape: a record of how its messages are read, written and made; a view is the half of it that reads.

`wholecall.history.transcripts` holds the one algorithm; a shape only knows where things are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from wholecall.history.parts import Line, Message, Part, rebuild

__all__ = ["Links", "Shape", "View", "expect_dict"]


class Links(msgspec.Struct, frozen=True):
    """How the entries of a file form a tree.

    Attributes:
        id: the member that names an entry.
        parent: the member that names the entry before it.
        others: further members that name entries.
        mint: makes the id of a new entry from a text that no other new entry has.
    """

    id: str
    parent: str
    others: tuple[str, ...]
    mint: Callable[[str], str]


def _never(_message: Message) -> bool:
    return False


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How the messages of a transcript are read.

    Attributes:
        name: what they are called.
        read: takes a message apart.
        is_own: whether a message has what no other shape has; asked of each message of a list.
        is_like: whether a message has what is usual in this shape; asked where no message is anybody's own.
        by_order: a thought belongs to what follows it, and goes with that.
        links: where entries name each other.
    """

    name: str
    read: Callable[[Message], Line]
    is_own: Callable[[Message], bool]
    is_like: Callable[[Message], bool] = _never
    by_order: bool = False
    links: Links | None = None


class Shape(View, frozen=True, kw_only=True):
    """A kind of transcript that can be sent or stored again.

    Attributes:
        result: makes a result that says that there is none, of a call and its block: a block, an item or a message.
        carrier: makes a message that holds results, like the message given beside them (that of the call, or
            the one that the results come from).
        write: makes a message from the parts that are left.
        holder: the member of a message that holds results, "" where a result is a message of its own.
        gathers: all results of a turn stand in one message, before anything else in it.
        merges: messages of the model that follow each other are one turn, answered together.
        within: a result stands in the block of its call; `result` makes such a block.
        alternates: roles alternate, so a result goes into whatever the user says next.
        joins: whether two messages that follow each other have to be one.
    """

    result: Callable[[Part, Message], Message]
    carrier: Callable[[list[Any], Message], Message]
    write: Callable[[Message, list[Part], list[Part]], Message] = rebuild
    holder: str = ""
    gathers: bool = False
    merges: bool = False
    within: bool = False
    alternates: bool = False
    joins: Callable[[Line, Line], bool] | None = None


def expect_dict(value: object, what: str) -> Message:
    """Return a message or block that is a dict.

    Raises:
        TypeError: it is an object of an SDK, or anything else.
    """
    if isinstance(value, dict):
        return value
    raise TypeError(
        f"{what} is of type {type(value).__name__}, not a dict; turn the objects of an SDK into dicts first, "
        f"with `model_dump(exclude_none=True)` for example"
    )
