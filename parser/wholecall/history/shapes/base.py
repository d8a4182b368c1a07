"""A shape: a record of how its messages are read, written and made; a view is its reading half.

`wholecall.history.transcripts` contains the one algorithm; a shape only knows the places of facts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from wholecall.history.parts import Line, Message, Part, rebuild

__all__ = ["Links", "Shape", "View", "expect_dict"]


class Links(msgspec.Struct, frozen=True):
    """The members by which the entries of a file form a tree.

    Attributes:
        id: the member that names an entry.
        parent: the member that names the entry before it.
        others: further members that name entries.
        mint: makes the id of a new entry from a text that is unique to the entry.
    """

    id: str
    parent: str
    others: tuple[str, ...]
    mint: Callable[[str], str]


def _never(_message: Message) -> bool:
    return False


class View(msgspec.Struct, frozen=True, kw_only=True):
    """The rules for reading the messages of a transcript.

    Attributes:
        name: the name of the shape.
        read: reads a message into a line.
        is_own: whether a message has a feature that no other shape has; tested on each message of a list.
        is_like: whether a message has a usual feature of this shape; tested if no message has an exclusive feature.
        by_order: whether a thought belongs to the part after it, and is removed with it.
        links: the members by which entries name each other.
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
        result: makes a result that states that the real one is missing, from a call and its block: a block, an item or
            a message.
        carrier: makes a message that contains results, like the message given with them (the message of the call, or
            the original message of the results).
        write: makes a message from the remaining parts.
        holder: the member of a message that holds results, "" if a result is a separate message.
        gathers: all results of a turn are in one message, before its other content.
        merges: messages of the model that follow each other are one turn, answered together.
        within: a result is in the block of its call; `result` makes such a block.
        alternates: roles alternate, therefore a result goes into the user's next message.
        joins: whether two consecutive messages must be joined.
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
        TypeError: it is an object of an SDK, or of any other type.
    """
    if isinstance(value, dict):
        return value
    raise TypeError(
        f"{what} is of type {type(value).__name__}, not a dict; turn the objects of an SDK into dicts first, "
        f"with `model_dump(exclude_none=True)` for example"
    )
