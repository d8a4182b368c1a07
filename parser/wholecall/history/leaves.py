r"""The cut of a string of a JSON text between two of its characters, without decoding it.

Theory of operation. A string token is spelled in units: a plain character, an escape such as `\n`, or the two
halves of a surrogate pair. Each unit is one character of the decoded string. `Leaf` knows the units that are
longer than one character of text, therefore a place in the decoded string is found in the text by bisection, and a cut
never falls inside a unit. Nor does it fall before a combining mark, a variation selector or an emoji's modifier, or
after a zero-width joiner: a character as a reader sees it stays whole.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from typing import NamedTuple

from wholecall.arguments.tokens import utf8_size
from wholecall.history.values import dumped

__all__ = ["Cut", "Leaf", "Marker"]

# Surrogates may be spelled as escapes or be in the text directly; two in a row are one character.
_UNIT = re.compile(
    r"(?:\\u[dD][89abAB][0-9a-fA-F]{2}|[\ud800-\udbff])(?:\\u[dD][c-fC-F][0-9a-fA-F]{2}|[\udc00-\udfff])"
    r"|\\u[0-9a-fA-F]{4}|\\."
)
_JOINER = "\u200d"
_NEAR = 64  # characters; a longer row of marks is not a readable character
_MODIFIERS = range(0x1F3FB, 0x1F400)  # skin tones


def _extends(character: str) -> bool:
    """Return whether the character belongs to the one before it."""
    if character.isascii() or len(character) != 1:
        return False
    return unicodedata.category(character)[0] == "M" or character == _JOINER or ord(character) in _MODIFIERS


class Marker:
    """The marker in the place of text that was cut.

    Attributes:
        text: as the caller gave it.
        spelled: as it is written inside a JSON string.
        joins: whether a reader would see it merge with the adjacent text.

    Raises:
        ValueError: the marker contains a lone surrogate.
    """

    def __init__(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("a marker with a lone surrogate cannot be sent; give another one") from None
        self.text = text
        self.spelled = dumped(text)[1:-1]
        # A marker that joins its neighbours would move the next cut: then characters are split.
        self.joins = any(map(_extends, text))


class Cut(NamedTuple):
    """The new spelling of a string without its quotes, and how many decoded characters are missing."""

    body: str
    elided: int


class Leaf:
    """A string that may be cut.

    Attributes:
        number: its number among the string values of the text.
        start, end: the range of its spelling in the text, without the quotes.
        size: UTF-8 bytes of the spelling.
        length: decoded characters.
    """

    __slots__ = ("_body", "_excess", "_marker", "_places", "end", "length", "number", "size", "start")

    def __init__(self, text: str, number: int, start: int, end: int, marker: Marker) -> None:
        self.number, self.start, self.end = number, start, end
        self._body = body = text[start:end]
        self._marker = marker
        self._places: list[int] = []  # of the long units, in decoded characters
        self._excess = [0]  # the excess length of the first n of them over one character each, in total
        if "\\" in body or not body.isascii():
            for unit in _UNIT.finditer(body):
                excess = self._excess[-1]
                self._places.append(unit.start() - excess)
                self._excess.append(excess + len(unit.group()) - 1)
        self.size = utf8_size(body)
        self.length = len(body) - self._excess[-1]

    def cut(self, keep: int, tail: int) -> Cut | None:
        """Return the string cut to `keep` characters, `tail` of them at its end; None if that is not shorter."""
        if self.length <= keep:
            return None
        head, rest = keep - tail, self.length - tail
        if not self._marker.joins:
            head, rest = self._between(head, -1), self._between(rest, 1)
        new = self._body[: self._at(head)] + self._marker.spelled + self._body[self._at(rest) :]
        if len(new) >= len(self._body) or utf8_size(new) >= self.size:
            return None
        return Cut(new, rest - head)

    def _at(self, n: int) -> int:
        """Return the offset in the spelling at which decoded character `n` begins."""
        return n + self._excess[bisect_left(self._places, n)]

    def _between(self, n: int, step: int) -> int:
        """Return the next place between two signs, from `n` on in steps; `n` itself if none is near."""
        for at in range(n, n + step * _NEAR, step):
            if not 0 < at < self.length or not self._joined(at):
                return at
        return n

    def _joined(self, n: int) -> bool:
        """Return whether decoded character `n` belongs to the one before it."""
        return _extends(self._character(n)) or self._character(n - 1) == _JOINER

    def _character(self, n: int) -> str:
        unit = self._body[self._at(n) : self._at(n + 1)]
        return str(json.loads(f'"{unit}"')) if unit[0] == "\\" else unit
