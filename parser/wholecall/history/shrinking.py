"""The shortening of transcripts: the arguments of old calls are shrunk, and nothing else is changed.

Theory of operation. The messages are read through the view of their shape, as for a repair; the arguments of each call
but the last ones go through `shrink_arguments`, text as text and objects as objects. Calls, ids and results stay in
place, and messages without shrunk arguments are the same objects as before. Nothing is repaired here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import islice
from typing import Any, Generic

import msgspec

from wholecall.history.book import Book
from wholecall.history.parts import Message, MessagesT, Part
from wholecall.history.shapes.table import ShapeName
from wholecall.history.shrink import Shrunk, shrink_arguments
from wholecall.history.transcripts import new_messages, read_book

__all__ = ["ShrunkTranscript", "shorten", "shrink_transcript"]


class ShrunkTranscript(msgspec.Struct, Generic[MessagesT], frozen=True):
    """A transcript whose old calls are short; ids are those of the input, or names if there is none.

    Attributes:
        messages: the input itself if nothing was shrunk, else a new list (a tuple for a tuple), of the same type as the
            input.
        changed: whether anything was shrunk.
        shrunk: the calls whose arguments were.
        invalid: the old calls whose arguments are not JSON: they are not changed, `repair_transcript` handles them.
        elided: the number of missing characters, as in `Shrunk.elided`.
        fits: whether the arguments of each old call have at most `max_bytes`; True without a budget.
    """

    messages: MessagesT
    changed: bool
    shrunk: list[str] = []
    invalid: list[str] = []
    elided: int = 0
    fits: bool = True

    def __repr__(self) -> str:
        return (
            f"ShrunkTranscript(messages=<{len(self.messages)}>, changed={self.changed}, shrunk={self.shrunk!r}, "
            f"invalid={self.invalid!r}, elided={self.elided}, fits={self.fits})"
        )


def shrink_transcript(
    messages: MessagesT,
    *,
    keep_recent: int,
    max_leaf: int = 200,
    threshold: int = 500,
    marker: str = "...[truncated]",
    tail: int = 0,
    protect: Collection[str] = (),
    max_bytes: int | None = None,
    shape: ShapeName = "auto",
) -> ShrunkTranscript[MessagesT]:
    """Shrink the arguments of all calls of a transcript but the last ones; nothing is changed in place.

    Free text (of custom tools) and the arguments of the provider's own tools are not changed. A second shrinking
    changes nothing.

    Args:
        messages: requests' messages or items, or the decoded lines of a session file, as dicts.
        keep_recent: the number of calls at the end of the transcript that are not changed.
        max_leaf: the number of decoded characters that a string keeps.
        threshold: arguments of at most this many characters are not changed.
        marker: the replacement of the text that was cut.
        tail: decoded characters to keep at the end of a string, out of `max_leaf`.
        protect: keys below which nothing is cut.
        max_bytes: UTF-8 bytes that the arguments of each call should have at most.
        shape: as in `repair_transcript`.

    Raises:
        TypeError: `messages` is not a list or tuple, or something in it is not a dict; also as in `shrink_arguments`.
        UnknownDialect: as in `repair_transcript`.
        ValueError: `keep_recent` is negative, the shape is not known; also as in `shrink_arguments`.
    """
    if keep_recent < 0:
        raise ValueError("keep_recent is a number of calls, and cannot be negative")
    shrink = partial(
        shrink_arguments,
        max_leaf=max_leaf,
        threshold=threshold,
        marker=marker,
        tail=tail,
        protect=protect,
        max_bytes=max_bytes,
    )
    shrink("")  # an invalid option raises even if there is no call
    book = read_book(messages, shape)
    shorter = shorten(book, keep_recent, shrink)
    if not shorter.calls:
        return ShrunkTranscript(messages, changed=False, invalid=shorter.invalid, fits=shorter.fits)
    made = [messages[page] if isinstance(page, int) else page for page in shorter.pages(book)]
    shrunk = [call.label for call in shorter.calls]
    return ShrunkTranscript(
        new_messages(messages, made), True, shrunk, shorter.invalid, shorter.elided, shorter.fits
    )


class Shorter(msgspec.Struct, eq=False):
    """The shortened parts of a book.

    Attributes:
        calls: the calls whose arguments were shrunk.
        invalid, elided, fits: as in `ShrunkTranscript`.
    """

    calls: list[Part] = []
    invalid: list[str] = []
    elided: int = 0
    fits: bool = True

    def pages(self, book: Book) -> Iterator[int | Message]:
        """Yield the messages; for unchanged messages their index.

        In messages with a shrunk call only the member that contains it is written.
        """
        fields: dict[int, set[str]] = {}
        for call in self.calls:
            fields.setdefault(call.row, set()).add(call.field)
        for line in book.lines:
            parts = [part for part in line.parts if part.field in fields.get(line.index, ())]
            yield book.written(line, parts, parts) if parts else line.index


def shorten(book: Book, keep_recent: int, shrink: Callable[[Any], Shrunk[Any]]) -> Shorter:
    """Shrink the arguments of all calls of a book but the last ones."""
    shorter = Shorter()
    calls = list(_calls(book))
    for call in islice(calls, max(0, len(calls) - keep_recent)):
        made = shrink(book.arguments(call))
        shorter.elided += made.elided
        shorter.fits = shorter.fits and made.fits
        if made.changed:
            call.set("arguments", made.text)
            shorter.calls.append(call)
        if not made.valid:
            shorter.invalid.append(call.label)
    return shorter


def _calls(book: Book) -> Iterator[Part]:
    """Yield the calls that have arguments, and have them as JSON."""
    for line in book.lines:
        for part in line.parts:
            if part.form in ("object", "string") and part.carried in ("object", "empty", "text"):
                yield part
