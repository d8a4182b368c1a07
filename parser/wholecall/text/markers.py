"""Markers: find the earliest of many literals in a text that still grows.

Theory of operation. A `Matcher` holds literals as one regular expression made from their trie, so that shared
beginnings are tried once and the longest literal wins. Text arrives in pieces, and its end may be the beginning of a
literal: in the expression each inner node of the trie also matches the end of the text. Because a search finds the
leftmost place, and follows the one path of the trie that the text spells, both halves of holding back hold by
themselves: a literal that may still become a longer one waits, and an earlier place that may still become a literal
beats a later one that is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

_STRETCH: Final = 4096

_Trie = dict[str, Any]


class Matcher:
    """Finds the earliest of its literals, the longest one at its place.

    Attributes:
        literals: the literals to look for.
        first: the characters that a literal can begin with.
        calm: the characters that can matter in the middle of a line that is shown.
        longest: characters of the longest literal.
        pattern: the expression of all of them.
    """

    __slots__ = ("_growing", "_prefixes", "_whole", "calm", "first", "literals", "longest", "pattern")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals: Final = frozenset(literals)
        self.first: Final = "".join(sorted({literal[0] for literal in self.literals}))
        self.calm: Final = calm_of(self.literals)
        self.longest: Final = max(map(len, self.literals), default=0)
        self._prefixes = frozenset(
            literal[:size] for literal in self.literals for size in range(1, len(literal))
        )
        trie = _trie(self.literals)
        never = "(?!)"
        self.pattern: Final = _pattern(trie, "") if trie else never
        self._whole = re.compile(self.pattern)
        self._growing = re.compile(_pattern(trie, r"\Z") if trie else never)

    def find(self, text: str, start: int, *, ended: bool) -> tuple[int, str | None]:
        """Return the place of the earliest literal, and the literal; None for the literal while that is open.

        There is no literal before that place. It is the end of the text if nothing there can begin one.
        """
        start = self._skip(text, start)
        match = (self._whole if ended else self._growing).search(text, start)
        if match is None:
            return len(text), None
        return match.start(), self._settled(match, text, ended=ended)

    def _skip(self, text: str, start: int) -> int:
        """Skip stretches without a first character, which is faster than the expression where they are long."""
        while start < len(text):
            stop = start + _STRETCH
            for first in self.first:
                if text.find(first, start, stop) >= 0:
                    return start
            start = stop
        return start

    def is_begun(self, text: str) -> bool:
        """Return whether the text is an incomplete literal."""
        return text in self._prefixes

    def at(self, text: str, start: int, *, ended: bool) -> tuple[bool, str | None]:
        """Return whether the literal here is decided, and that literal, None for none."""
        match = (self._whole if ended else self._growing).match(text, start)
        if match is None:
            return start < len(text) or ended, None
        literal = self._settled(match, text, ended=ended)
        return literal is not None, literal

    def _settled(self, match: re.Match[str], text: str, *, ended: bool) -> str | None:
        found = match.group()
        if not ended and match.end() == len(text) and found in self._prefixes:
            return None
        return found


def calm_of(literals: Iterable[str]) -> str:
    """Return the characters that literals begin with, and the backtick, which is counted."""
    return "".join(sorted({"`", *(literal[0] for literal in literals)}))


@lru_cache(maxsize=1024)
def _made(literals: frozenset[str]) -> Matcher:
    return Matcher(literals)


def matcher(literals: Iterable[str]) -> Matcher:
    """Return the matcher of these literals, made once."""
    return _made(frozenset(literals))


def _trie(literals: Iterable[str]) -> _Trie:
    root: _Trie = {}
    for literal in literals:
        node = root
        for character in literal:
            node = node.setdefault(character, {})
        node[""] = {}
    return root


def _pattern(node: _Trie, end: str) -> str:
    """Return the expression of the text after a node; `end` matches a text that stops there."""
    ways = [
        re.escape(character) + _rest(child, end) for character, child in sorted(node.items()) if character
    ]
    return "|".join(ways)


def _rest(node: _Trie, end: str) -> str:
    """Return the expression after a character; without branches where there is one way only."""
    onward = [character for character in node if character]
    if not onward:
        return ""
    ways = [_pattern(node, end)]
    if end:
        ways.append(end)
    if "" in node:
        ways.append("")
    if len(onward) == 1 and len(ways) == 1:
        return ways[0]
    return f"(?:{'|'.join(ways)})"
