"""How deep a JSON text is nested, read in pieces: the only thing a framing knows about JSON.

Strings are skipped by one regular expression that cannot fail once it has begun (it ends at the quote or at
the end of the piece), so there is nothing to backtrack into: work is linear for every input and chunking.
Kinds of brackets are not told apart; whoever decodes the text finds out.
"""

from __future__ import annotations

import re

__all__ = ["Nesting"]

_STRING_BODY = rb'[^"\\]*(?:\\.[^"\\]*)*(?:(")|(\\)?\Z)'
_STRING_REST = re.compile(_STRING_BODY, re.DOTALL)
_TOKEN = re.compile(rb'[{}\[\]]|"' + _STRING_BODY, re.DOTALL)
_OPENERS = frozenset(b"{[")
_QUOTE = ord('"')


class Nesting:
    """A position in a JSON text.

    Attributes:
        depth: how many brackets are open.
        in_string: whether the text so far ends inside a string.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.in_string = False
        self._escaped = False  # the text so far ends in a backslash that escapes what comes next

    def scan(self, data: bytes, start: int = 0) -> int:
        """Read on from `start`; return the position behind the closer of the outermost bracket, or -1."""
        if self.in_string:
            start = self._leave_string(data, start)
            if start < 0:
                return -1
        for token in _TOKEN.finditer(data, start):
            first = data[token.start()]
            if first == _QUOTE:
                self._enter(token)
            elif first in _OPENERS:
                self.depth += 1
            elif self.depth <= 1:
                self.depth = 0
                return token.end()
            else:
                self.depth -= 1
        return -1

    def _leave_string(self, data: bytes, start: int) -> int:
        if start >= len(data):
            return -1
        rest = _STRING_REST.match(data, start + self._escaped)
        assert rest is not None  # the expression matches at every position
        self._enter(rest)
        return -1 if self.in_string else rest.end()

    def _enter(self, string: re.Match[bytes]) -> None:
        self.in_string = string[1] is None
        self._escaped = string[2] is not None
