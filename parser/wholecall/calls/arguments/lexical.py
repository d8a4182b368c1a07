"""A resumable lexical scan of JSON text: is the text one complete value, and may a value start here?

Theory of operation. A JSON object has no proper prefix that is itself a complete object, so "is this text
complete?" never flips back and distinguishes a changed id from a new call. The scan answers it without
parsing: it keeps a stack of open brackets, whether it is inside a string, and the last significant
character. Text is fed in pieces, and each character is examined once, however the text is split.

The scan uses only brackets and quotes. It does not notice a missing comma or a bad number: the verdict on the whole
text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

_LONGEST_BLANK = 1024  # characters

_check = msgspec.json.Decoder(msgspec.Raw).decode  # reads all of the text and builds nothing

# Inside a string: everything up to the closing quote, or up to a backslash that ends the piece.
_STRING = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)


def is_object(text: str) -> bool:
    """Return whether the text is strictly a JSON object: the quick test for a complete text."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        _check(text if text.isascii() else text.encode())  # else the text keeps a second copy of itself
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def begins_object(parts: Iterable[str]) -> bool:
    """Return whether a text in pieces begins with a brace, after at most about a thousand blanks."""
    left = _LONGEST_BLANK
    for part in parts:
        if (text := part[:_LONGEST_BLANK].lstrip()) or left < 0:
            return text[:1] == "{"
        left -= len(part)
    return False


class Scan:
    """The lexical state after all text fed so far.

    Attributes:
        complete: whether one complete value (object, array or string) has been closed; never flips back.
        overfull: whether more than white space followed it.
    """

    __slots__ = ("_escaped", "_inside", "_last", "_stack", "complete", "overfull")

    def __init__(self) -> None:
        self.complete = False
        self.overfull = False
        self._stack: list[str] = []
        self._last = ""  # the last significant token outside strings
        self._inside = False
        self._escaped = False

    @property
    def inside_string(self) -> bool:
        """True if a string is open, in which any text may follow."""
        return self._inside

    @property
    def value_may_start(self) -> bool:
        """True if JSON allows a value to begin at the current position."""
        if self._last == ",":
            return bool(self._stack) and self._stack[-1] == "["
        return self._last in {"", ":", "["}

    def feed(self, text: str) -> None:
        """Scan one more piece of the text."""
        position, end = 0, len(text)
        while position < end and not self.complete:
            position = self._in_string(text, position) if self._inside else self._outside(text, position)
        if position < end and not self.overfull:
            self.overfull = not text[position:].isspace()

    def _in_string(self, text: str, position: int) -> int:
        if self._escaped:
            self._escaped = False
            return position + 1
        if '"' not in text and "\\" not in text:
            return len(text)  # most pieces of a long string
        match = _STRING.match(text, position)
        assert match is not None  # the pattern also matches the empty text
        position = match.end()
        if position == len(text):
            return position
        if text[position] == "\\":
            self._escaped = True
        else:
            self._inside = False
            self.complete = not self._stack
        return position + 1

    def _outside(self, text: str, position: int) -> int:
        """Read brackets and complete strings up to the end of the value or the text, or to an unclosed string."""
        stack = self._stack
        for match in _TOKEN.finditer(text, position):
            token = match.group()
            first = self._last = token[0]
            position = match.end()
            if first == '"':
                self._inside = len(token) == 1
                self.complete = not (self._inside or stack)
            elif first in "{[":
                stack.append(first)
            elif stack:
                stack.pop()
                self.complete = not stack
            if self._inside or self.complete:
                return position
        self._last = text[position:].rstrip()[-1:] or self._last
        return len(text)
