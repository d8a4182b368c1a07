r"""The strings and arrays of a strict JSON text, and the cut of a string between two of its characters.

Theory of operation. One regular expression finds the tokens, and strings only as the grammar allows them; one table
lists which token may come in which state; any other is not JSON. All RFC 8259 text passes, even if a verdict on
arguments would refuse it: repeated keys, numbers of any size, lone surrogates, any depth. Open containers are on a
stack, therefore nothing recurses, and each token is examined once. A value below a protected key is skipped; its place
is recorded, so that an array that contains it is not cut.

A string token is spelled in units: a plain character, an escape such as `\n`, or the two halves of a surrogate pair.
Each unit is one character of the decoded string. `Leaf` knows the units that are longer than one character of text,
therefore a place in the decoded string is found in the text by bisection, and a cut never falls inside a unit. Nor does
it fall before a combining mark, a variation selector or an emoji's modifier, or after a zero-width joiner: a character
as a reader sees it stays whole.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Container
from typing import Final, NamedTuple

from wholecall.calls.arguments.tokens import utf8_size
from wholecall.history.values import dumped


class String(NamedTuple):
    """A string value: its number among all strings, and the range of its token, quotes included."""

    number: int
    start: int
    end: int


class Array:
    """An array: its number among all arrays, and the ranges of its items, at least one."""

    __slots__ = ("ends", "number", "starts")

    def __init__(self, number: int) -> None:
        self.number = number
        self.starts: list[int] = []
        self.ends: list[int] = []


class Spans:
    """The parts of a text that may be shortened.

    Attributes:
        strings: the string values that are neither the whole text nor protected, in order.
        arrays: if requested, the arrays that are not protected and have more than two items, in order of their
            beginnings.
    """

    def __init__(self) -> None:
        self.strings: list[String] = []
        self.arrays: list[Array] = []
        self._protected: list[int] = []  # the places of protected keys

    def protect(self, place: int) -> None:
        """Remember a protected key; places come in order."""
        self._protected.append(place)

    def is_protected(self, start: int, end: int) -> bool:
        """Return whether a protected key is in the range."""
        at = bisect_left(self._protected, start)
        return at < len(self._protected) and self._protected[at] < end


def read_spans(text: str, protect: Container[str] = (), *, arrays: bool = False) -> Spans | None:
    """Return the places of the strings (and, if requested, the arrays); None if the text is not strict JSON."""
    reader = _Reader(text, protect, arrays=arrays)
    if not reader.read():
        return None
    reader.spans.arrays.sort(key=lambda array: array.starts[0])  # they were found at their ends
    return reader.spans


_STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'  # no character matches in two ways
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<scalar>{_NUMBER}|true|false|null)|(?P<open>[{{\[])|(?P<close>[}}\]])|(?P<mark>[,:])"
    r"|[ \t\r\n]+|(?P<junk>[\s\S])"
)
# The state after a value, by the state before it. A state names the open container, and the last token.
_AFTER: Final = {"start": "end", "{:": "{v", "[": "[v", "[,": "[v"}
_NEXT: Final = {("{v", ","): "{,", ("[v", ","): "[,", ("{k", ":"): "{:"}
_KEY: Final = frozenset({"{", "{,"})
_CLOSES: Final = {"}": frozenset({"{", "{v"}), "]": frozenset({"[", "[v"})}


class _Open(NamedTuple):
    """An open container: the state before it, whether it is protected, its items if it is an array."""

    state: str
    protected: bool
    array: Array | None


class _Reader:
    def __init__(self, text: str, protect: Container[str], *, arrays: bool) -> None:
        self.spans = Spans()
        self._arrays = arrays
        self._text = text
        self._protect = protect
        self._state = "start"
        self._stack = [_Open("start", False, None)]
        self._n_strings = self._n_arrays = 0
        self._guarded = False  # the next value is protected

    def read(self) -> bool:
        """Read all of the text; return whether it is strict JSON."""
        # Not an attribute: a reader that refers to its own methods is freed late, and its text with it.
        steps: dict[str, Callable[[int, int], bool]] = {
            "string": self._string,
            "scalar": self._scalar,
            "open": self._open,
            "close": self._close,
            "mark": self._mark,
        }
        for token in _TOKEN.finditer(self._text):
            kind = token.lastgroup
            if kind is None:  # space
                continue
            step = steps.get(kind)
            if step is None or not step(*token.span()):
                return False
        return self._state == "end"

    def _mark(self, start: int, _end: int) -> bool:
        state = _NEXT.get((self._state, self._text[start]))
        self._state = state or self._state
        return state is not None

    def _string(self, start: int, end: int) -> bool:
        if self._state in _KEY:
            self._key(start, end)
            return True
        if self._state not in _AFTER:
            return False
        if not self._guarded and self._state != "start":
            self.spans.strings.append(String(self._n_strings, start, end))
        self._n_strings += 1
        return self._scalar(start, end)

    def _key(self, start: int, end: int) -> None:
        self._state = "{k"
        within = self._stack[-1].protected
        self._guarded = within or (bool(self._protect) and self._name(start, end) in self._protect)
        if self._guarded and not within:
            self.spans.protect(start)

    def _name(self, start: int, end: int) -> str:
        name = self._text[start:end]
        return str(json.loads(name)) if "\\" in name else name[1:-1]

    def _scalar(self, start: int, end: int) -> bool:
        if self._state not in _AFTER:
            return False
        self._begin(start)
        self._end(self._state, end)
        return True

    def _begin(self, start: int) -> None:
        array = self._stack[-1].array
        if array is not None:
            array.starts.append(start)

    def _end(self, state: str, end: int) -> None:
        within = self._stack[-1]
        if within.array is not None:
            within.array.ends.append(end)
        self._state = _AFTER[state]
        self._guarded = within.protected

    def _open(self, start: int, _end: int) -> bool:
        if self._state not in _AFTER:
            return False
        self._begin(start)
        bracket, array = self._text[start], None
        if self._arrays and bracket == "[":
            array = Array(self._n_arrays)
            self._n_arrays += 1
        self._stack.append(_Open(self._state, self._guarded, array))
        self._state = bracket
        return True

    def _close(self, start: int, end: int) -> bool:
        if self._state not in _CLOSES[self._text[start]]:
            return False
        closed = self._stack.pop()
        if closed.array is not None and not closed.protected and len(closed.array.starts) > 2:
            self.spans.arrays.append(closed.array)
        self._end(closed.state, end)
        return True


# --- the cut of a string -------------------------------------------------------------------------------


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
