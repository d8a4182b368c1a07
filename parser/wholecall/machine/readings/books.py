"""Solves a book of marked pieces: the calls on which its readings agree, or those that the wire lists at the end.

Theory of operation. A *book* holds all pieces of the calls of one run, each marked as a start, a text or an end, or as
a chunk that holds both. `marked_readings` reads it in each way in which a server can mean it. Two things are added
here. A connection that was restarted may have sent all of it twice, so a book whose halves are equal is also read as
one half (that a model makes all of its calls again, in the same pieces, is about as likely). And if the wire lists the
calls at the end, a reading with just these calls is the meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.machine.readings.marked import Book, marked_readings
from wholecall.machine.readings.solve import NEAR, Solution, agreed, meaning
from wholecall.machine.readings.texts import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wholecall.arguments.verdict import Verdict


def solve_book(
    book: Book,
    read: Callable[[str], Verdict[Any]],
    *,
    known: Callable[[str], bool] | None = None,
    listed: Sequence[tuple[str | None, str]] = (),
) -> Solution:
    """Return the meaning of the pieces of a book.

    Args:
        book: the pieces, in the order of the stream.
        read: returns the verdict on a text, as if its call had ended well.
        known: whether there is a tool of a name.
        listed: names and texts of the calls that the wire lists at the end.
    """
    values = Values(read)
    readings = marked_readings(book, values)
    half, odd = divmod(len(book.pieces), 2)
    once = book.part(0, half)
    if not odd and once == book.part(half, 2 * half):
        readings += [r._replace(cost=r.cost + NEAR) for r in marked_readings(once, values)]
    meant = [(name, values.value(text)) for name, text in listed]
    same = [reading for reading in readings if [meaning(call, values)[:2] for call in reading.calls] == meant]
    return agreed(same or readings, values, known=known)._replace(is_listed=bool(meant and same))
