"""The strings and arrays of a strict JSON text.

Theory of operation. One table lists which token may come in which state; any other is not JSON. All RFC 8259 text
passes, even if a verdict on arguments would refuse it: repeated keys, numbers of any size, lone surrogates, any depth.
Open containers are on a stack, therefore nothing recurses, and each token is examined once.

A value below a protected key is skipped; its place is recorded, so that an array that contains it is not cut.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Container
from typing import Final, NamedTuple

from wholecall.arguments.tokens import ESCAPE, Token, scan

__all__ = ["Array", "Spans", "String", "read_spans"]


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


# The state after a value, by the state before it. A state names the open container, and the last token.
_AFTER: Final = {"start": "end", "{:": "{v", "[": "[v", "[,": "[v"}
_NEXT: Final = {("{v", ","): "{,", ("[v", ","): "[,", ("{k", ":"): "{:"}
_KEY: Final = frozenset({"{", "{,"})
_CLOSES: Final = {"}": frozenset({"{", "{v"}), "]": frozenset({"[", "[v"})}
_WORD = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


_ILLEGAL = re.compile(r"[\\\x00-\x1f]")


def _is_strict(string: str) -> bool:
    """Return whether a closed string is JSON: in double quotes, with legal escapes, without control characters."""
    rest = ESCAPE.sub("", string) if "\\" in string else string
    return string[0] == '"' and not _ILLEGAL.search(rest)


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
        steps: dict[str, Callable[[Token], bool]] = {
            "string": self._string,
            "word": self._word,
            ",": self._mark,
            ":": self._mark,
            "{": self._open,
            "[": self._open,
            "}": self._close,
            "]": self._close,
        }
        for token in scan(self._text):
            step = steps.get(token.kind)
            if step is None or not step(token):
                return False
        return self._state == "end"

    def _mark(self, token: Token) -> bool:
        state = _NEXT.get((self._state, token.kind))
        self._state = state or self._state
        return state is not None

    def _string(self, token: Token) -> bool:
        if not _is_strict(self._text[token.start : token.end]):
            return False
        if self._state in _KEY:
            self._key(token)
            return True
        if self._state not in _AFTER:
            return False
        if not self._guarded and self._state != "start":
            self.spans.strings.append(String(self._n_strings, token.start, token.end))
        self._n_strings += 1
        self._value(token.start, token.end)
        return True

    def _key(self, token: Token) -> None:
        self._state = "{k"
        within = self._stack[-1].protected
        self._guarded = within or (bool(self._protect) and self._name(token) in self._protect)
        if self._guarded and not within:
            self.spans.protect(token.start)

    def _name(self, token: Token) -> str:
        name = self._text[token.start : token.end]
        return str(json.loads(name)) if "\\" in name else name[1:-1]

    def _word(self, token: Token) -> bool:
        if self._state not in _AFTER or not _WORD.fullmatch(self._text, token.start, token.end):
            return False
        self._value(token.start, token.end)
        return True

    def _value(self, start: int, end: int) -> None:
        self._begin(start)
        self._end(self._state, end)

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

    def _open(self, token: Token) -> bool:
        if self._state not in _AFTER:
            return False
        self._begin(token.start)
        array = None
        if self._arrays and token.kind == "[":
            array = Array(self._n_arrays)
            self._n_arrays += 1
        self._stack.append(_Open(self._state, self._guarded, array))
        self._state = token.kind
        return True

    def _close(self, token: Token) -> bool:
        if self._state not in _CLOSES[token.kind]:
            return False
        closed = self._stack.pop()
        if closed.array is not None and not closed.protected and len(closed.array.starts) > 2:
            self.spans.arrays.append(closed.array)
        self._end(closed.state, token.end)
        return True
