"""A shape: a record of how the messages of a wire are read, changed and made; a view is its reading half.

Theory of operation. The repair has one algorithm for all shapes; a shape only knows the places of facts, and the form of
a result that is made because the real one is missing. Made results are recognised by their text, also those of other
tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from wholecall.calls.output.results import Answer, tool_result
from wholecall.history.parts import Line, Message, Part, rebuild


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


def _itself(results: list[Any], _near: Message) -> Message:
    message: Message = results[0]
    return message


def held_by_user(results: list[Any], _near: Message) -> Message:
    """Return a message of the user whose content is results, as a `carrier`."""
    return {"role": "user", "content": results}


class Shape(View, frozen=True, kw_only=True):
    """A kind of transcript that can be sent or stored again.

    Attributes:
        result: makes a result that states that the real one is missing, from a call and its block: a block, an item or
            a message.
        carrier: makes a message that contains results, like the message given with them (the message of the call, or
            the original message of the results); by default a result is a message itself.
        write: makes a message from the remaining parts.
        holder: the member of a message that holds results, "" if a result is a separate message.
        gathers: all results of a turn are in one message, before its other content.
        merges: messages of the model that follow each other are one turn, answered together.
        within: a result is in the block of its call; `result` makes such a block.
        alternates: roles alternate, therefore a result goes into the user's next message.
        joins: whether two consecutive messages must be joined.
    """

    result: Callable[[Part, Message], Message]
    carrier: Callable[[list[Any], Message], Message] = _itself
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


def expect_messages(messages: object) -> list[Message]:
    """Return messages, each a dict.

    Raises:
        TypeError: they are not a list or tuple, or something in it is not a dict.
    """
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"messages are of type {type(messages).__name__}, not a list")
    return [expect_dict(message, f"messages[{index}]") for index, message in enumerate(messages)]


# --- results that are missing --------------------------------------------------------------------------

# A made result is marked only by its text: providers refuse unknown members, and a model that reads the history should
# know about it as well.
MISSING_RESULT = (
    "[wholecall] The result of this tool call is missing from the history. "
    "It is not known whether the call was executed."
)

# The texts in results made by other tools: pi, turnsafe, then openclaw and its plugins.
_OTHERS = frozenset(
    {
        MISSING_RESULT,
        "No result provided",
        (
            "Error: this tool call was not executed, or its result was lost from the conversation history. "
            "Do not assume it succeeded."
        ),
    }
)
_OPENCLAW = re.compile(
    r"\[[\w-]{1,40}\] missing tool result in session history; "
    r"inserted synthetic error result for transcript repair\."
)
_LONGEST = 200


def missing(dialect: str) -> Callable[[Part, Message], Message]:
    """Return the maker of results of a dialect that state that the real one is missing, as a `result`."""
    return lambda call, _block: tool_result(dialect, Answer(call.id, call.name, MISSING_RESULT, failed=True))


def is_made(content: Any) -> bool:
    """Return whether a result's content is that of a result that was made to fill a gap."""
    text = _text_of(content).strip()
    return len(text) <= _LONGEST and (text in _OTHERS or _OPENCLAW.fullmatch(text) is not None)


def _text_of(content: Any) -> str:
    """Return the text of a result, if it is one text: a string, one block of text, an object's one member."""
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
        if isinstance(content, dict):
            content = content.get("text") or content.get("stderr")
    elif isinstance(content, dict) and len(content) == 1:
        content = next(iter(content.values()))
    return content if isinstance(content, str) else ""
