"""The frames of one text, read without decoding them: all but the piece repeats.

Theory of operation. Most servers write the frames of a text with the same characters, apart from the piece and padding:

    data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}],"obfuscation":"x7"}

A template holds the characters between these. It is made from a frame that was decoded, and only if the same frame with
test words in place of piece and padding is decoded to the test word. Then each of them is the content of one JSON
string, and nothing else in the frame depends on it. A later frame with the same characters has the same meaning, if
piece and padding are contents of JSON strings as well: they contain no quote, backslash or control character, or are
decoded as strings. An empty piece is left to the decoder, because another member may replace it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from wholecall.dialects.decode import UNREADABLE

_TEST_WORD: Final = "wholecall"
# Pieces of a text that are decoded before its template is made; twice as many after each that did not last.
_FIRST_WAIT: Final = 4
_LASTING: Final = 64  # characters that were read by a template that lasted
# OpenAI's, against conclusions from the sizes of packets.
_PADDING: Final = re.compile(r'"obfuscation": ?"([^"\\]*)"')
# Between strings of one array: no string contains a line's end, so a backslash before it joins no two of them.
_COMMA: Final = '",\n"'
_string = msgspec.json.Decoder(str).decode
_strings = msgspec.json.Decoder(list[str]).decode


class Event(NamedTuple):
    """An event that was decoded to a piece: its lines before the data, the data, and the piece.

    `read` decodes data of such an event to a piece of the same text, or to None.
    """

    prefix: str
    data: str
    piece: str
    read: Callable[[str], str | None]


class Template:
    """The characters of the events of one text that repeat: `head PIECE [middle PADDING] tail`.

    Attributes:
        head, tail: the beginning and the end of an event.
        start, end: the slice between them.
        is_bare: whether only the piece is between them.
    """

    __slots__ = ("_between", "_middle", "end", "head", "is_bare", "start", "tail")

    def __init__(self, head: str, middle: str, tail: str) -> None:
        self.head, self.tail = head, tail
        self.start, self.end = len(head), -len(tail)
        self.is_bare = not middle
        self._middle = middle
        self._between = f"{tail}\n\n{head}"

    def piece(self, content: str) -> str | None:
        """Return the piece of an event without its head and tail; None if it has another form.

        An empty piece is returned as one.
        """
        if self._middle:
            content, _, padding = content.rpartition(self._middle)
            if not _is_plain(padding):
                return None
        if _is_plain(content):
            return content
        try:
            return _string(f'"{content}"')
        except UNREADABLE:
            return None

    def pieces(self, content: str) -> list[str] | None:
        """Return the pieces of events in a row, without the first head and the last tail.

        None of them is empty; None is returned if one is, or if one event has another form.
        """
        contents = content.split(self._between)
        if self._middle:
            parts = [content.rpartition(self._middle) for content in contents]
            if not _is_plain("".join([padding for _, _, padding in parts])):
                return None
            contents = [content for content, _, _ in parts]
        return _meant(contents)

    def is_of(self, event: Event) -> bool:
        """Return whether an event has this form."""
        text = f"{event.prefix}{event.data}"
        is_like = text.startswith(self.head) and text.endswith(self.tail)
        return is_like and self.piece(text[self.start : self.end]) == event.piece


def _is_plain(text: str) -> bool:
    """Return whether a JSON string may contain these characters, and they mean themselves."""
    return '"' not in text and "\\" not in text and text.isprintable()


def _meant(contents: list[str]) -> list[str] | None:
    """Return the meanings of contents of JSON strings; None if one is none, or empty."""
    n = len(contents)
    if not _is_plain("".join(contents)):
        try:
            contents = _strings(f'["{_COMMA.join(contents)}"]')
        except UNREADABLE:  # another event, or one of several lines
            return None
    return contents if len(contents) == n and all(contents) else None


class Templates:
    """The templates of one text after the other: when one is made, and how long it stays."""

    __slots__ = ("_made", "_n_waiting", "_wait")

    def __init__(self) -> None:
        self._wait = self._n_waiting = _FIRST_WAIT
        self._made = 0  # the place in the text where the latest template was made

    def begin(self) -> None:
        """Note that another text begins."""
        self._n_waiting = self._wait

    def waits(self, n: int) -> bool:
        """Return whether a text without a template waits for more pieces than these, which were decoded in a row."""
        self._n_waiting -= n
        return self._n_waiting > 0

    def next(self, latest: Template | None, event: Event, size: int) -> Template | None:
        """Return the template after an event that was decoded: the latest one, a new one or none.

        `size` is the text's.
        """
        if latest is not None:
            if latest.is_of(event):
                return latest
            self._wait = self._n_waiting = _FIRST_WAIT if size - self._made > _LASTING else self._wait * 2
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
    head, middle, tail = f'{before}"', "", f'"{after}'
    if padding := _PADDING.search(tail):
        middle, tail = tail[: padding.start(1)], tail[padding.end(1) :]
    test = f"{head}{_TEST_WORD}{middle}{_TEST_WORD if middle else ''}{tail}"
    return Template(f"{event.prefix}{head}", middle, tail) if event.read(test) == _TEST_WORD else None
