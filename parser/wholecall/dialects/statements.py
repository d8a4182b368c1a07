"""Statements, of which the rows of a dialect's table are made: what an event means, by the paths of its members.

Theory of operation. A row is what one event says, in order: `text("delta.text")` reports visible text, `usage("usage")`
token counts. A statement names members by *paths*, which are read as labels, texts or values as the statement needs:

    delta.message.id      a member of a member of the object that the statement is about; absent where one of them is
    function.name|name    the first of several members that holds something
    /index                a member of the event itself, within `each` and `given`
    ../role               a member of the object around this one
    outputs[].model       the first member that holds something, of the objects of a list

`each` and `given` contain statements about the objects of a list, or about one object; `when` and `by` contain
statements that depend on a value, `when` also on the translator's `state`. A dialect with a rule of its own calls a
function, or a method of its translator: `own("_call", as_id("id"), json_text("arguments"))`. Statements are data:
`wholecall.dialects.compiled` makes a function of each row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, Union

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects import report
from wholecall.dialects.decode import value_text, wire_text
from wholecall.dialects.labels import choice_label, id_label, index_label, name_label, text_label
from wholecall.types import Kind, TurnReason

__all__ = [
    "CHAT_ARGUMENTS",
    "CHAT_NAME",
    "POSITION",
    "By",
    "Do",
    "Each",
    "FirstOf",
    "Given",
    "Piece",
    "Row",
    "Rows",
    "Say",
    "State",
    "Statement",
    "Stop",
    "Value",
    "When",
    "as_choice",
    "as_id",
    "as_index",
    "as_is",
    "as_name",
    "as_text",
    "begin",
    "by",
    "closed",
    "counts",
    "do",
    "each",
    "end",
    "finish",
    "first_of",
    "given",
    "json_text",
    "json_value",
    "opened",
    "own",
    "piece",
    "state",
    "stop_unless_open",
    "text",
    "thought",
    "usage",
    "when",
]


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
CHAT_ARGUMENTS: Final = "|".join(
    f"{of}{name}"
    for of in ("function.", "")
    for name in ("arguments", "parsed_arguments", "args", "input", "parameters")
)


def as_is(path: str) -> Value:
    """Read any value."""
    return Value(path, truth=None)


def as_id(path: str) -> Value:
    """Read an id."""
    return Value(path, id_label)


def as_name(path: str) -> Value:
    """Read a name."""
    return Value(path, name_label)


def as_index(path: str) -> Value:
    """Read an index."""
    return Value(path, index_label, truth=None)


def first_of(*values: Value) -> FirstOf:
    """Read the first of several values that holds something."""
    return FirstOf(values)


def state(attribute: str) -> State:
    """Read an attribute of the translator, as it is when the statement is made."""
    return State(attribute)


def as_choice(path: str) -> Value:
    """Read the number of a choice; it has one path, for an absent number is 0."""
    return Value(path, choice_label, truth=None)


def as_text(path: str) -> Value:
    """Read a text that is not empty."""
    return Value(path, text_label)


def json_text(path: str) -> Value:
    """Read arguments: the content of a string, or the wire's own text of any other value."""
    return Value(path, wire_text, msgspec.Raw)


def json_value(path: str) -> Value:
    """Read arguments as `json_text` does, and whether they are a whole value."""
    return Value(path, value_text, msgspec.Raw, "[0]")


class Piece(NamedTuple):
    """A piece of one text, which an event may hold alone (see `wholecall.dialects.narrow`).

    Attributes:
        kind: of the text.
        path: of the piece.
        block: of a call or of reasoning.
    """

    kind: Literal["text", "thought", "call"]
    path: str
    block: Any = None


class Say(NamedTuple):
    """Report what a function returns for values: a function of this package, or a method of the translator.

    Attributes:
        piece: what the statement means if nothing else is in the event, and the member is a text.
    """

    function: Report
    values: tuple[Any, ...] = ()
    named: Mapping[str, Any] = {}
    piece: Piece | None = None


class Do(NamedTuple):
    """Call a method of the translator, or of its state, that reports nothing."""

    method: str


class Each(NamedTuple):
    """Make statements about each object of a list; a text in it stands for an object with the member `text`."""

    path: str
    row: Row
    text: str = ""
    alone: bool = False


class Given(NamedTuple):
    """Make statements about an object, if it is there."""

    path: str
    row: Row


class When(NamedTuple):
    """Make statements if a value is among some, others if it is not."""

    value: Value | State
    among: tuple[Any, ...]
    row: Row
    otherwise: Row = ()


class By(NamedTuple):
    """Make the statements of the row that a value names; one that is not `quiet` and has no row is unknown."""

    value: Value
    rows: Rows
    quiet: tuple[str, ...] = ()


class Stop(NamedTuple):
    """Leave out the rest of the row, unless a message is open."""


Slot = Union[Value, FirstOf]
Report = Union[Callable[..., list[Delta]], str]  # a function of this package, or a method of the translator
Statement = Union[Say, Do, Each, Given, When, By, Stop]
Row = tuple[Any, ...]  # of statements
Rows = Mapping[str, Row]


# The life of a message.


def begin(id: str = "", model: str = "") -> Say:
    """Begin a message."""
    return Say("_begin", _labels(id, model))


def opened(id: str = "", model: str = "", *, repeats: bool = False) -> Say:
    """Begin a message, unless it goes on; an event that `repeats` the last message's end begins none."""
    return Say("_opened", _labels(id, model), {"repeats": True} if repeats else {})


def _labels(id: str, model: str) -> tuple[Any, ...]:
    return as_id(id) if id else None, as_name(model) if model else None


def finish(path: str, choice: Slot | None = None, *, drops_at: TurnReason | None = None) -> Say:
    """Report why a choice ended; with the reason `drops_at` the provider takes back the open calls."""
    values = (as_is(path),) if choice is None else (as_is(path), choice)
    return Say(report.finish, values, {"drops_at": drops_at} if drops_at else {})


def end() -> Say:
    """End the message."""
    return Say("_end")


def stop_unless_open() -> Stop:
    """Leave out the rest of the row, unless a message is open."""
    return Stop()


# Content.


def text(path: str, choice: Slot | None = None, report: Report = report.text) -> Say:
    """Report visible text; a dialect that remembers it names its own method."""
    values = (as_is(path),) if choice is None else (as_is(path), choice)
    return Say(report, values, piece=Piece("text", path) if choice is None else None)


def thought(path: str, block: Slot | str | None = None, report: Report = report.thought, **of: str) -> Say:
    """Report reasoning, with its `signature` and its encrypted `data` where the wire has them."""
    values = (as_is(path),) if block is None else (as_is(path), block)
    piece = Piece("thought", path, block)
    return Say(report, values, {name: as_is(path) for name, path in of.items()}, piece)


def usage(path: str) -> Say:
    """Report token counts."""
    return Say(report.usage, (as_is(path),))


def counts(*names: str) -> Say:
    """Report token counts that are separate members."""
    return Say(_counts, (), {name: as_is(name) for name in names})


def _counts(**counts: object) -> list[Delta]:
    return report.usage({name: count for name, count in counts.items() if count is not None})


# Calls.


def piece(slot: Slot, path: str, kind: Kind = "function") -> Say:
    """Report a piece of a call's text, or its whole value."""
    values = (slot, json_value(path)) if kind == "function" else (slot, json_value(path), kind)
    return Say(_piece, values, piece=Piece("call", path, slot) if kind == "function" else None)


def _piece(slot: Any, said: tuple[str, bool], kind: Kind = "function") -> list[Delta]:
    return report.piece(slot, said[0], kind, whole=said[1])


def closed(slot: Slot, *, final: bool = True) -> Say:
    """Report that the wire ended a call."""
    return Say(report.closed, (slot,), {} if final else {"final": False})


# Statements about other objects, and statements of a dialect.


def each(path: str, *row: Statement, text: str = "", alone: bool = False) -> Each:
    """Make statements about each object of a list.

    Args:
        path: of the list.
        row: the statements.
        text: the member of an object that a text in the list stands for, as in lists of parts.
        alone: an object without a list is usual.
    """
    return Each(path, row, text, alone)


def given(path: str, *row: Statement) -> Given:
    """Make statements about an object, if it is there."""
    return Given(path, row)


def when(value: Value | State, among: tuple[Any, ...], *row: Statement, otherwise: Row = ()) -> When:
    """Make statements if a value is among some, `otherwise` others."""
    return When(value, among, row, otherwise)


def by(value: Value, rows: Rows, quiet: tuple[str, ...] = ()) -> By:
    """Make the statements of the row that a value names."""
    return By(value, rows, quiet)


def own(function: Report, *values: Any, piece: Piece | None = None, **named: Any) -> Say:
    """Report the deltas of a function of the dialect, or of a method of its translator."""
    return Say(function, values, named, piece)


def do(method: str) -> Do:
    """Call a method of the translator, or of its state, that reports nothing."""
    return Do(method)
