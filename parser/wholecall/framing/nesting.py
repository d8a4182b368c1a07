"""The depth of a JSON text that comes in pieces: a framing knows nothing else about JSON.

One regular expression finds quotes, brackets and escapes, and a loop over them keeps count. It matches two
bytes at most, so there is nothing to backtrack into and nothing to remember: work is linear and memory
constant for every input and every chunking. Kinds of brackets are not distinguished, and the text between
them is not checked; that is left to the decoder of the text.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(rb'["{}\[\]]|\\(?:.|\Z)', re.DOTALL)
_OPENERS = (b"{", b"[")


class Nesting:
    """A position in a JSON text.

    Attributes:
        depth: how many brackets are open.
        in_string: whether the text so far ends inside a string.
    """

    depth: int
    in_string: bool
    _escaped: bool

    def __init__(self) -> None:
        self.depth = 0
        self.in_string = False
        self._escaped = False  # the text so far ends in a backslash that escapes the next byte

    def scan(self, data: bytes, start: int = 0) -> int:
        """Read on from `start`; return the position after the closer of the outermost bracket, or -1."""
        if self._escaped and start < len(data):
            self._escaped = False
            start += 1
        for match in _TOKEN.finditer(data, start):
            token = match[0]
            if token == b'"':
                self.in_string = not self.in_string
            elif token[:1] == b"\\":
                self._escaped = len(token) == 1
            elif self.in_string:
                continue
            elif token in _OPENERS:
                self.depth += 1
            else:
                self.depth -= 1
                if self.depth <= 0:
                    self.depth = 0
                    return match.end()
        return -1
