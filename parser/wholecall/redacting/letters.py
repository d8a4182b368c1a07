"""The substitution: each letter and digit becomes another one of its kind, the same in all fields of one kind.

Theory of operation
-------------------
A character is mapped, not a text. So equal texts stay equal and different ones different, a prefix stays a
prefix, and fragments add up to the substitute of the whole, however they are cut. Capitals stay capitals, digits
digits, and every character keeps its size in UTF-8 and in UTF-16: letters that are not ASCII move within the
letters of their size and case, the others keep their high half. What is neither letter nor digit stays.

Each kind of field has a substitution of its own (`Alphabets`), so that what is known of a text, an id for instance,
whose words anybody can guess, finds nothing in arguments.

Argument text is JSON, or is meant to be: numbers, literals and special tokens outside its strings stay, and so do
escapes inside them. Only there does the mapping of a character depend on its neighbours, so the text of a call has to
come whole.

Nothing here is encryption: whoever knows a word of the original can find others.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from functools import cache
from random import Random
from typing import Literal

from wholecall.arguments.recovery import SPECIAL_TOKENS
from wholecall.redacting.spelling import respelled, units

__all__ = ["Alphabets", "Field", "Letters"]

# What kind of field a text stands in: equal letters of two kinds say nothing of one another.
Field = Literal["argument", "id", "name", "text", "comment", "meta"]

_LITERALS = ("true", "false", "null", "True", "False", "None", "NaN", "Infinity", "undefined")
# Names of ids mean something to readers, and some to us.
_PREFIX = re.compile(
    r"(?:call|toolu|fc|ctc|srvtoolu|server_tool|mcptoolu|chatcmpl|cmpl|gen|resp|msg|message|rs|item|ws|ci|mcp"
    r"|mcpr|mcpl|event|run|lc_run|step|thread|asst|tooluse|chatcmpl-tool|functions)(?:--|[-_.])(?=[\w:.|-]+$)"
)
_ABSENT = frozenset({"null", "None"})  # what replaces an id that is absent

_PART = re.compile(
    rf"""
      (?P<string>"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?\Z))
    | (?P<single>'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'(?=\s*(?:[,:\]}}]|\Z)))
    | (?P<token>{"|".join(map(re.escape, SPECIAL_TOKENS))})
    | (?P<exponent>(?<=[0-9.])[eE](?=[+-]?(?:[0-9]|\Z)))
    | (?P<word>[^\W\d_]+)
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|[\s\S]|\Z)")
_ENCODED = re.compile(r'\s*"(?:\s|\\[nrt])*[{\[]')
_HALF = 0x3FF  # the bits of a code point that its low surrogate carries
_ASTRAL = 0x10000


class Letters(dict[int, int]):
    """One substitution, as a table for `str.translate` that fills itself.

    Args:
        seed: equal seeds give equal substitutions.
    """

    def __init__(self, seed: str) -> None:
        random = Random(seed)  # noqa: S311 - reproducible; it hides nothing from cryptanalysis
        self._step = random.randrange(3, 1 << 10, 2)
        self._shift = random.randrange(1, 1 << 10)
        for kind in (string.ascii_lowercase, string.digits):
            others = _deranged(kind, random)
            self |= str.maketrans(kind, others)
            self |= str.maketrans(kind.upper(), others.upper())

    def __missing__(self, code: int) -> int:
        self[code] = found = self._other(code)
        return found

    def _other(self, code: int) -> int:
        if code >= _ASTRAL or 0xDC00 <= code <= 0xDFFF:
            return code & ~_HALF | ((code & _HALF) * self._step + self._shift) & _HALF
        members = _classes().get(_class(code), []) if code >= 0x80 else []
        place = bisect_left(members, code)
        if members[place : place + 1] != [code]:
            return code
        return members[(place + self._shift) % len(members)]

    def plain(self, text: str) -> str:
        """Return the substitute of a text that is not JSON; ids keep the prefix that shows what they are."""
        if text in _ABSENT:
            return text
        prefix = _PREFIX.match(text)
        kept = prefix.end() if prefix else 0
        return text[:kept] + text[kept:].translate(self)

    def arguments(self, text: str) -> str:
        """Return the substitute of the whole argument text of a call, character by character."""
        if _ENCODED.match(text):
            start = text.index('"') + 1
            end = len(text.rstrip()) - 1 if text.rstrip().endswith('"') else len(text)
            spelled = units(text[start:end])
            inner = self.arguments("".join(char for char, _ in spelled))
            return text[:start] + respelled(spelled, inner) + text[end:]
        return _PART.sub(self._part, text)

    def _part(self, match: re.Match[str]) -> str:
        text, kind = match.group(), match.lastgroup
        if kind in {"string", "single"}:
            return self._string(text)
        at_end = match.end() == len(match.string)
        if kind != "word" or text in _LITERALS or (at_end and _begins_literal(text)):
            return text
        return text.translate(self)

    def _string(self, text: str) -> str:
        pieces: list[str] = []
        done = 0
        for escape in _ESCAPE.finditer(text):
            pieces += (text[done : escape.start()].translate(self), self._escape(escape))
            done = escape.end()
        return "".join((*pieces, text[done:].translate(self)))

    def _escape(self, match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        return respelled([(chr(int(match[1], 16)), match[0])], chr(int(match[1], 16)).translate(self))


class Alphabets:
    """The substitutions of one recording, one for each kind of field.

    Args:
        seed: equal seeds give equal substitutions.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._made: dict[Field, Letters] = {}

    def of(self, field: Field) -> Letters:
        """Return the substitution of a kind of field."""
        if field not in self._made:
            self._made[field] = Letters(f"{field}:{self._seed}")
        return self._made[field]


def _begins_literal(text: str) -> bool:
    return any(literal.startswith(text) for literal in _LITERALS)


def _deranged(alphabet: str, random: Random) -> str:
    """Return the letters in an order in which none is at its place."""
    while True:
        others = "".join(random.sample(alphabet, len(alphabet)))
        if all(one != other for one, other in zip(alphabet, others, strict=True)):
            return others


def _class(code: int) -> tuple[bool, bool, bool, bool]:
    char = chr(code)
    return code < 0x800, char.isdecimal(), char.isupper(), char.islower()


@cache
def _classes() -> dict[tuple[bool, bool, bool, bool], list[int]]:
    """Return the letters and digits of each class in order, those of ASCII and of surrogate pairs aside."""
    classes: dict[tuple[bool, bool, bool, bool], list[int]] = {}
    for code in range(0x80, 0xFFFF):
        if chr(code).isalnum():
            classes.setdefault(_class(code), []).append(code)
    return classes
