"""The frames of one text, read without decoding them: all but the piece repeats.

Theory of operation. Most servers write the frames of a text with the same characters, apart from the piece:

    data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}
    data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"lo"}}]}

A template holds the characters before and after the piece of a frame that was decoded. It is only made if the same
frame with a test word in place of the piece is decoded to the test word. Then the piece is the content of one JSON
string, and nothing else in the frame depends on it. A later frame that begins and ends like the template has the same
meaning, if the characters between are the content of a JSON string as well: they contain no quote, backslash or control
character, or are decoded as one string. An empty piece is left to the decoder, because another member may replace it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from wholecall.dialects.decode import UNREADABLE

_TEST_WORD: Final = "wholecall"
# Pieces of a text that are decoded before its template is made; twice as many after each that did not last.
_FIRST_WAIT: Final = 4
_LASTING: Final = 64  # characters that were read by a template that lasted
string = msgspec.json.Decoder(str).decode


class Event(NamedTuple):
    """An event that holds a piece: its lines before the data, the data and the piece.

    `read` decodes such data to the next piece of the same text, or to None.
    """

    prefix: str
    data: str
    piece: str
    read: Callable[[str], str | None]


class Template:
    """The characters around the pieces of one text.

    Attributes:
        head, tail: an event's text before and after its piece.
        start, end: the slice of the piece in an event.
    """

    __slots__ = ("_between", "end", "head", "start", "tail")

    def __init__(self, head: str, tail: str) -> None:
        self.head, self.tail = head, tail
        self.start, self.end = len(head), -len(tail)
        self._between = f"{tail}\n\n{head}"

    def pieces(self, content: str) -> list[str] | None:
        """Return the pieces of whole events, the first without its head, the last without its tail.

        None of them is empty; None is returned if one is, or if one event is not of this form.
        """
        pieces = content.split(self._between)
        content = "".join(pieces)
        if not _is_plain(content):
            try:
                pieces = [piece if _is_plain(piece) else string(f'"{piece}"') for piece in pieces]
            except UNREADABLE:  # another event, or one of several lines
                return None
        return pieces if all(pieces) else None

    def is_of(self, event: Event) -> bool:
        """Return whether an event has this form."""
        return f"{event.prefix}{event.data}".startswith(self.head) and event.data.endswith(self.tail)


def _is_plain(text: str) -> bool:
    """Return whether a JSON string may contain these characters, and they mean themselves."""
    return '"' not in text and "\\" not in text and text.isprintable()


class Templates:
    """The templates of one text after the other: when one is made, and how long it stays."""

    __slots__ = ("_made", "_n_waiting", "_wait")

    def __init__(self) -> None:
        self._wait = self._n_waiting = _FIRST_WAIT
        self._made = 0  # the place in the text where the latest template was made

    def begin(self) -> None:
        """Note that another text begins."""
        self._n_waiting = self._wait

    def next(self, latest: Template | None, event: Event, n: int, size: int) -> Template | None:
        """Return the template after an event that was decoded: the latest one, a new one or none.

        `n` pieces were decoded in a row, of which the event holds the last; `size` is the text's.
        """
        if latest is not None:
            if latest.is_of(event):
                return latest
            self._wait = self._n_waiting = _FIRST_WAIT if size - self._made > _LASTING else self._wait * 2
            return None
        if self._n_waiting > n:
            self._n_waiting -= n
            return None
        template = template_of(event)
        self._wait = self._wait if template is not None else self._wait * 2
        self._n_waiting, self._made = self._wait, size
        return template


def template_of(event: Event) -> Template | None:
    """Return the template of an event, None if its text does not show its piece."""
    before, found, after = event.data.rpartition(msgspec.json.encode(event.piece).decode())
    if not found:
        return None
    head, tail = f'{before}"', f'"{after}'
    if event.read(f"{head}{_TEST_WORD}{tail}") != _TEST_WORD:
        return None
    return Template(f"{event.prefix}{head}", tail)
