"""Values at paths, which the statements of a dialect's table read: a label, a text, arguments, or any other value.

Theory of operation. A *path* names a member of the object that a statement is about, and may be absent anywhere:

    delta.message.id      a member of a member of the object; absent where one of them is
    function.name|name    the first of several members that holds something
    /index                a member of the event itself, within statements about other objects
    ../role               a member of the object around this one
    outputs[].model       the first member that holds something, of the objects of a list

How a value is read decides what counts as nothing: `at.id("id")` takes what servers send as ids, and None for all else;
`at.json_text("arguments")` keeps the wire's own text. `wholecall.dialects.compiled` makes an expression of each value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, Union

import msgspec

from wholecall.dialects import decode, labels


class Value(NamedTuple):
    """The value at a path, and how it is read.

    Attributes:
        path: of the member; `#` is the position of the object in its list.
        read: turns the member into a label or a text; None takes it as it is.
        kind: the type of the member's field in the view.
        truth: the part of the result that is true if there is something, so that no alternative is read; None if
            anything but None is something, as the index 0 is.
    """

    path: str
    read: Callable[[Any], Any] | None = None
    kind: Any = Any
    truth: str | None = ""


class FirstOf(NamedTuple):
    """The first of several values that holds something, where they are read in different ways."""

    values: tuple[Value, ...]


class State(NamedTuple):
    """The value of an attribute of the translator, which earlier events left there."""

    attribute: str


POSITION: Final = Value("#")  # of the object in its list

# The members of a call in the family of chat completions, flat calls included.
CHAT_NAME: Final = "function.name|name"
ARGUMENTS: Final = ("arguments", "parsed_arguments", "args", "input", "parameters")
CHAT_ARGUMENTS: Final = "|".join(f"{of}{name}" for of in ("function.", "") for name in ARGUMENTS)
CHAT_PIECES: Final = tuple(
    f"{of}{','.join(ARGUMENTS)}" for of in ("function.", "")
)  # see `hidden_text.Pieces`


def value(path: str) -> Value:
    """Read any value as it is; None where it is absent."""
    return Value(path, truth=None)


def id(path: str) -> Value:
    """Read an id: a text that says something, or a whole number."""
    return Value(path, labels.id_label)


def name(path: str) -> Value:
    """Read a name: a text that says something."""
    return Value(path, labels.name_label)


def index(path: str) -> Value:
    """Read an index: a whole number in any spelling."""
    return Value(path, labels.index_label, truth=None)


def first_of(*values: Value) -> FirstOf:
    """Read the first of several values that holds something."""
    return FirstOf(values)


def state(attribute: str) -> State:
    """Read an attribute of the translator, as it is when the statement is made."""
    return State(attribute)


def choice(path: str) -> Value:
    """Read the number of a choice; it has one path, for an absent number is 0."""
    return Value(path, labels.choice_label, truth=None)


def text(path: str) -> Value:
    """Read a text that is not empty."""
    return Value(path, labels.text_label)


def json_text(path: str) -> Value:
    """Read arguments: the content of a string, or the wire's own text of any other value."""
    return Value(path, decode.wire_text, msgspec.Raw)


def json_value(path: str) -> Value:
    """Read arguments as `json_text` does, and whether they are a whole value."""
    return Value(path, decode.value_text, msgspec.Raw, "[0]")


def raw(path: str) -> Value:
    """Read the wire's own text, as bytes."""
    return Value(path, kind=msgspec.Raw)


Label = Union[Value, FirstOf]  # that names a call, a block or a choice
