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

from typing import TYPE_CHECKING, Final

import msgspec

from wholecall.dialects.decode import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable

_TEST_WORD: Final = "wholecall"
string = msgspec.json.Decoder(str).decode


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
            if "\n" in content:  # another event, or one of several lines
                return None
            try:
                pieces = [piece if _is_plain(piece) else string(f'"{piece}"') for piece in pieces]
            except UNREADABLE:
                return None
        return pieces if all(pieces) else None

    def is_of(self, event: str) -> bool:
        """Return whether an event has this form."""
        return event.startswith(self.head) and event.endswith(self.tail)


def _is_plain(text: str) -> bool:
    """Return whether a JSON string may contain these characters, and they mean themselves."""
    return '"' not in text and "\\" not in text and text.isprintable()


def template_of(prefix: str, text: str, piece: str, read: Callable[[str], str | None]) -> Template | None:
    """Return the template of a frame, None if its text does not show its piece.

    `prefix` precedes the frames of pieces; `read` decodes a frame to the next piece of the same text, or to None.
    """
    before, found, after = text.rpartition(msgspec.json.encode(piece).decode())
    if not found:
        return None
    head, tail = f'{before}"', f'"{after}'
    if read(f"{head}{_TEST_WORD}{tail}") != _TEST_WORD:
        return None
    return Template(f"{prefix}{head}", tail)
