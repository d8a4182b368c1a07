"""Settled messages: the beginning of a sound list, which a repair of the grown list need not read again.

Theory of operation. An agent repairs its messages before each request, and has added only a few since the last one. A
*settled* beginning of a sound list ends before an answer of the model, with each of its calls answered in it: later
messages can neither answer nor continue anything there. If the next list begins with the same objects, only the rest is
read and repaired, as a separate list. If the rest is sound, begins with an answer, and has no id of the beginning, the
whole is sound, and the beginning grows. In any other case the whole list is read again: the result is always that of a
full repair.

    user, [assistant calls c1, result c1], [assistant calls c2, result c2], assistant calls c3
    ------------------- settled -------------------------------------------
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any, Final, Optional

import msgspec

from wholecall.errors import UnknownDialect
from wholecall.history.book import Book
from wholecall.history.ids import is_counted
from wholecall.history.judging import Rules
from wholecall.history.mending import mend
from wholecall.history.parts import RUN, Line, Message
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.chat import CHAT
from wholecall.history.shapes.table import NOTHING, Seen, seen_in, shape_of

__all__ = ["Settled", "settle"]

_RUN: Final = re.compile(rf"{RUN} \d+")


class Settled(msgspec.Struct, frozen=True, eq=False):
    """The settled beginning of a list of messages.

    Attributes:
        rules: the rules by which it is sound.
        asked: the shape that the caller named.
        shape: the shape by which it was read.
        messages: the messages themselves, never changed.
        seen: the evidence of their shape.
        labels: ids and aliases of their calls, and names of their answers.
    """

    rules: Rules
    asked: str
    shape: Shape
    messages: tuple[Message, ...] = ()
    seen: Seen = NOTHING
    labels: frozenset[str] = frozenset()

    def grown(self, messages: Sequence[Any], rules: Rules, asked: str) -> Optional[Settled]:
        """Return the settled part of a sound list that begins with this, None if the whole list must be read."""
        n = len(self.messages)
        if (self.rules, self.asked) != (rules, asked) or len(messages) < n or not n:
            return None
        if not all(map(is_, self.messages, messages)):
            return None
        book = self._read(messages[n:])
        if book is None or not self._goes_on(book.lines) or mend(book, rules)[1].changed:
            return None
        return _extended(self, book)

    def _read(self, rest: Sequence[Any]) -> Book | None:
        """Read the following messages; None if they are refused, or show that all are of another shape."""
        if not all(isinstance(message, dict) for message in rest):
            return None
        try:
            shape = shape_of(rest, self.asked, self.seen)
        except UnknownDialect:
            return None
        return Book(rest, shape) if shape is self.shape else None

    def _goes_on(self, lines: Sequence[Line]) -> bool:
        """Return whether messages begin with an answer, and name nothing in the settled beginning."""
        if not lines:
            return True
        first = lines[0]
        begins = first.side == "model" and first.visible and _is_plain(lines)
        return begins and self.labels.isdisjoint(_named(lines, counted=self.shape is CHAT))


def settle(book: Book, rules: Rules, asked: str) -> Settled:
    """Return the settled beginning of a list that needed no repair."""
    nothing = Settled(rules, asked, book.shape)
    return _extended(nothing, book) if _is_plain(book.lines) else nothing


def _extended(before: Settled, book: Book) -> Settled:
    """Return the settled beginning of sound messages and those before them."""
    n = _n_closed(book.lines)
    if not n:
        return before
    closed = book.messages[:n]
    return msgspec.structs.replace(
        before,
        messages=(*before.messages, *closed),
        seen=seen_in(closed, before.seen) if before.asked == "auto" else before.seen,
        labels=before.labels.union(_labels(book.lines[:n])),
    )


def _is_plain(lines: Iterable[Line]) -> bool:
    """Return whether all lines are one conversation, and no call may be hidden by a reference."""
    threads = {line.thread for line in lines if line.side != "other"}
    return threads <= {""} and not any(part.kind == "reference" for line in lines for part in line.parts)


def _n_closed(lines: Sequence[Line]) -> int:
    """Return how many lines there are before the last answer at which no call is open, 0 if there is none."""
    found = 0
    latest = -1  # the last line of a result of the calls so far; beyond all lines if one has none
    for index, line in enumerate(lines):
        before = lines[index - 1].side if index else "other"
        if line.side == "model" and line.visible and before in ("user", "result") and latest < index:
            found = index
        for call in (part for part in line.parts if part.kind == "call"):
            row = len(lines) if call.result is None else call.result.row
            latest = max(latest, row)
    return found


def _labels(lines: Iterable[Line]) -> set[str]:
    """Return the labels by which later messages could name calls and answers of these lines."""
    labels: set[str] = set()
    for line in lines:
        if line.answer and not _RUN.fullmatch(line.answer):
            labels.add(line.answer)
        for part in line.parts:
            if part.kind == "call":
                labels.update((part.id, *part.aliases))
    return labels - {""}


def _named(lines: Sequence[Line], *, counted: bool) -> set[str]:
    """Return the labels that messages name, without the ids that models count within each answer if these are kept."""
    parts = [part for line in lines for part in line.parts]
    own = {part.id for part in parts if counted and part.kind == "call" and is_counted(part.id, part.name)}
    return _labels(lines).union(part.id for part in parts if part.kind == "result") - own
