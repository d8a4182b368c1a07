"""Statements of the rows of a dialect's table: the meaning of an event, by the paths of its members.

Theory of operation. A row has the statements of one event, in order: `say.text("delta.text")` reports visible text,
`say.usage("usage")` token counts. A statement names members by paths, which it reads as it needs them
(`wholecall.dialects.at`). `each` and `given` contain statements about the objects of a list, or about one object;
`when` and `by` contain statements that depend on a value, `when` also on the translator's state. A dialect with a rule
of its own calls a function, or a method of its translator: `say.own("_call", at.id("id"), at.json_text("arguments"))`.
Statements are data: `wholecall.dialects.compiled` makes a function of each row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Union

from wholecall.deltas import Delta
from wholecall.dialects import at, report
from wholecall.dialects.at import Label, State, Value
from wholecall.types import Kind, TurnReason


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
    """Report the deltas of a function for some values: a function of this package, or a method of the translator.

    Attributes:
        piece: the meaning of the statement if nothing else is in the event, and the member is a text.
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
    return at.id(id) if id else None, at.name(model) if model else None


def finish(path: str, choice: Label | None = None, *, drops_at: TurnReason | None = None) -> Say:
    """Report why a choice ended; with the reason `drops_at` the provider takes back the open calls."""
    values = (at.value(path),) if choice is None else (at.value(path), choice)
    return Say(report.finish, values, {"drops_at": drops_at} if drops_at else {})


def end() -> Say:
    """End the message."""
    return Say("_end")


def stop_unless_open() -> Stop:
    """Leave out the rest of the row, unless a message is open."""
    return Stop()


# Content.


def text(path: str, choice: Label | None = None, report: Report = report.text) -> Say:
    """Report visible text; a dialect that remembers it names its own method."""
    values = (at.value(path),) if choice is None else (at.value(path), choice)
    return Say(report, values, piece=Piece("text", path) if choice is None else None)


def thought(path: str, block: Label | str | None = None, report: Report = report.thought, **of: str) -> Say:
    """Report reasoning, with its `signature` and its encrypted `data` where the wire has them."""
    values = (at.value(path),) if block is None else (at.value(path), block)
    piece = Piece("thought", path, block)
    return Say(report, values, {name: at.value(path) for name, path in of.items()}, piece)


def usage(path: str) -> Say:
    """Report token counts."""
    return Say(report.usage, (at.value(path),))


def counts(*names: str) -> Say:
    """Report token counts that are separate members."""
    return Say(report.counts, (), {name: at.value(name) for name in names})


# Calls.


def piece(slot: Label, path: str, kind: Kind = "function") -> Say:
    """Report a piece of a call's text, or its whole value."""
    values = (slot, at.json_value(path)) if kind == "function" else (slot, at.json_value(path), kind)
    return Say(_piece, values, piece=Piece("call", path, slot) if kind == "function" else None)


def _piece(slot: Any, said: tuple[str, bool], kind: Kind = "function") -> list[Delta]:
    return report.piece(slot, said[0], kind, whole=said[1])


def closed(slot: Label, *, final: bool = True) -> Say:
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
